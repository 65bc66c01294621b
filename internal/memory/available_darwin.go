package memory

import "golang.org/x/sys/unix"

// available returns half of the machine's memory: macOS has no single number for what is free.
func available() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil || bytes == 0 {
		return unknown
	}
	return int64(bytes / 2)
}
