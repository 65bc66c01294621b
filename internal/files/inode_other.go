//go:build !unix

package files

import "os"

// inode returns a number that is the same for one file under all its names.
func inode(os.FileInfo) uint64 { return 0 }

// links returns 0: how many names a file has is not known.
func links(os.FileInfo) uint64 { return 0 }
