// Package hugepages makes room for columns of millions of rows. The first touch of a page
// costs the kernel more time than all other work on its rows. So the package asks the
// kernel for huge pages, of which there are few.
package hugepages

import "unsafe"

// page is the size of a huge page, on systems that have them. The runtime allocates
// anything that is smaller than worthwhile.
const (
	page       = 2 << 20
	worthwhile = page - 192<<10 // half a million rows of 4 bytes are
)

// Grow returns s with room for the given number of further elements. They must
// not hold pointers. Unlike slices.Grow it makes exactly that room, and does not
// touch it.
func Grow[T any](s []T, more int) []T {
	n := len(s) + more
	if cap(s) >= n {
		return s
	}
	return append(Make[T](n)[:0], s...)
}

// Make returns a column of n rows, which is not nil.
func Make[T any, N int | int32](n N) []T {
	var zero T
	s := make([]T, n)
	if size := uintptr(n) * unsafe.Sizeof(zero); size >= worthwhile {
		// The pages at both ends hold other columns, too, most of them just as large.
		begin := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
		first, end := begin/page*page, (begin+size+page-1)/page*page
		advise(first, end-first)
	}
	return s
}

// More returns for how many more rows a column of n rows should make room if its final
// length is unknown. That is how many the rest of a text holds if its rows are as long
// as those before. If length is 0, the length of the text is unknown, and More returns
// n.
func More(n int, read, length int64) int {
	if left := length - read; n >= 512 && read > 0 && left > 0 {
		return min(int(float64(n)*float64(left)/float64(read)*1.02)+64, 64*n)
	}
	return max(n, 64)
}

// Append appends a row to a column whose final length is unknown. It doubles the room
// of a long one: append's steps of a quarter copy millions of rows several times.
func Append[T any](s []T, x T) []T {
	if len(s) == cap(s) && len(s) >= 512 {
		s = Grow(s, len(s))
	}
	return append(s, x)
}
