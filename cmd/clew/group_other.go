//go:build !unix

package main

import (
	"os"
	"os/exec"
	"time"
)

// endWhole makes a command end with its context. Its descendants may go on.
func endWhole(cmd *exec.Cmd) { cmd.WaitDelay = time.Second }

// onAsking returns a channel on which nothing comes: this system has nothing like SIGUSR1.
func onAsking() chan os.Signal { return nil }

// hangups returns nothing: this system has no signal of a terminal that closes.
func hangups() []os.Signal { return nil }

// ignorePipes does nothing: this system has no signal about a closed pipe.
func ignorePipes() {}
