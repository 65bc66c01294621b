//go:build !unix

package main

import (
	"os"
	"time"
)

// peak is unknown here.
func peak(*os.ProcessState) int64 { return 0 }

// used is unknown here.
func used() (cpu time.Duration, memory int64) { return 0, 0 }
