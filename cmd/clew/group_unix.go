//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// endWhole makes a command's context end its descendants as well.
func endWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}

// onAsking returns a channel that tells when SIGUSR1 asks for totals.
func onAsking() chan os.Signal {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	return asked
}

// hangups returns the signal of a terminal that closes, unless the program is to outlive that, as under nohup.
func hangups() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return nil
	}
	return []os.Signal{syscall.SIGHUP}
}

// ignorePipes turns the signal about a closed pipe into an error of writing.
func ignorePipes() { signal.Ignore(syscall.SIGPIPE) }
