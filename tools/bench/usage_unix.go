//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peak returns the most memory that an ended process ever held.
func peak(ended *os.ProcessState) int64 {
	if u, ok := ended.SysUsage().(*syscall.Rusage); ok {
		return resident(u)
	}
	return 0
}

// used returns the CPU time that this process has taken, and the most memory it has held.
func used() (cpu time.Duration, memory int64) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), resident(&u)
}

// resident returns bytes. macOS reports bytes, and other systems kilobytes.
func resident(u *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
