//go:build unix

package files

import (
	"os"
	"syscall"
)

// inode returns a number that is the same for one file under all its names.
func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
