package memory

import "golang.org/x/sys/unix"

// available is half of what the machine has: how much of it others could do without,
// macOS does not say in one number.
func available() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil || bytes == 0 {
		return unknown
	}
	return int64(bytes / 2)
}
