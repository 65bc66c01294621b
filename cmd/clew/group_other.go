//go:build !unix

package main

import (
	"os/exec"
	"time"
)

func endWholeGroup(cmd *exec.Cmd) { cmd.WaitDelay = time.Second }
