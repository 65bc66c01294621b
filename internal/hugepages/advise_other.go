//go:build !linux

package hugepages

// advise does nothing.
func advise(at, size uintptr) {}
