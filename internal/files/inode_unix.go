//go:build unix

package files

import (
	"os"
	"syscall"
)

// inode is a number that is the same for one file by whatever name.
func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
