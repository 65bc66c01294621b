//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import "os"

// Without locks that end with their process there is no way to say that a file is left.
func hold(*os.File) {}

func isLeft(string, os.FileInfo) bool { return false }
