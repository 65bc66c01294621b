// Package huge makes room for columns of millions of rows. The first touch of a page
// takes the kernel longer than all that is done with its rows, so it is asked for
// huge pages, of which there are few.
package huge

import (
	"slices"
	"unsafe"
)

// page is the size of a huge page, where there are any. Less than worthwhile is left
// to the runtime.
const (
	page       = 2 << 20
	worthwhile = 2 * page
)

// Grow returns s with room for so many elements more, which must hold no pointers.
// Unlike slices.Grow it gives exactly that room, and does not touch it.
func Grow[T any](s []T, more int) []T {
	var zero T
	size := unsafe.Sizeof(zero)
	n := len(s) + more
	if cap(s) >= n || uintptr(n)*size < worthwhile {
		return slices.Grow(s, more)
	}
	grown := make([]T, 0, n)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(grown)))
	skipped := -at % page
	if whole := (uintptr(n)*size - skipped) / page * page; whole > 0 {
		advise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(grown)), skipped)), whole))
	}
	return append(grown, s...)
}

// Make is a column of so many rows.
func Make[T any](n int) []T { return Grow([]T(nil), n)[:n] }

// More is for how many rows more a column needs room once it has n, of which nobody
// knows how many there will be: for as many as the rest of a text holds if they are as
// long as those before, or as many again if the length of the text is 0, unknown.
func More(n int, read, length int64) int {
	if left := length - read; n >= 512 && read > 0 && left > 0 {
		return min(int(float64(n)*float64(left)/float64(read)*1.02)+64, 64*n)
	}
	return max(n, 64)
}

// Append appends a row to a column of which nobody knows how long it becomes. It
// doubles the room of a long one: append's steps, of a quarter, copy millions of rows
// several times.
func Append[T any](s []T, x T) []T {
	if len(s) == cap(s) && len(s) >= 512 {
		s = Grow(s, len(s))
	}
	return append(s, x)
}
