//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"time"
)

// endWhole makes a command's context end its descendants as well.
func endWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}
