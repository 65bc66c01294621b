//go:build !linux

package huge

// advise does nothing.
func advise([]byte) {}
