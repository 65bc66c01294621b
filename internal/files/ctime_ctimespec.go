//go:build darwin || freebsd || netbsd

package files

import (
	"os"
	"syscall"
	"time"
)

// inodeTime returns when the system last noted a change of a file. Programs cannot set that time. It returns the zero
// time if that is not known.
func inodeTime(info os.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix())
	}
	return time.Time{}
}
