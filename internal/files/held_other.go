//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import "os"

// hold does nothing: without locks that end with their process, a file that was left cannot be recognized.
func hold(*os.File) {}

func isLeft(string, os.FileInfo) bool { return false }
