//go:build unix

package processgroup

import (
	"os/exec"
	"syscall"
	"time"
)

// EndWhole makes a command's context end its descendants as well.
func EndWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}
