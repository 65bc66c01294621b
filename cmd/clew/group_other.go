//go:build !unix

package main

import (
	"os/exec"
	"time"
)

// endWhole makes a command end with its context. Its descendants may go on.
func endWhole(cmd *exec.Cmd) { cmd.WaitDelay = time.Second }
