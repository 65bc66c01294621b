package memory

import (
	"syscall"
	"unsafe"
)

// memoryStatus is Windows's MEMORYSTATUSEX.
type memoryStatus struct {
	length, load     uint32
	total, available uint64
	_                [5]uint64 // of the page file and of addresses
}

var globalMemoryStatus = syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// available returns how much memory of the machine is free at the moment.
func available() int64 {
	var s memoryStatus
	s.length = uint32(unsafe.Sizeof(s))
	done, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&s)))
	if done == 0 || s.available == 0 {
		return unknown
	}
	return int64(s.available)
}
