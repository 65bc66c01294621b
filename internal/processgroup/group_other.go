//go:build !unix

package processgroup

import (
	"os/exec"
	"time"
)

// EndWhole makes a command end with its context. Its descendants may go on.
func EndWhole(cmd *exec.Cmd) { cmd.WaitDelay = time.Second }
