package memory

import (
	"encoding/binary"
	"syscall"
)

// available returns half of the machine's memory: macOS has no single number for what is free.
func available() int64 {
	text, err := syscall.Sysctl("hw.memsize")
	if err != nil {
		return unknown
	}
	var number [8]byte
	copy(number[:], text) // it has lost a last byte of 0, which ends a text
	if bytes := binary.LittleEndian.Uint64(number[:]); bytes > 0 {
		return int64(bytes / 2)
	}
	return unknown
}
