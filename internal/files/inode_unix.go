//go:build unix

package files

import (
	"os"
	"syscall"
)

// links returns how many names a file has, or 0 if that is not known.
func links(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 0
}

// inode returns a number that is the same for one file under all its names.
func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
