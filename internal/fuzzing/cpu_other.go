//go:build !unix

package fuzzing

import "time"

// cpu would return the CPU time of the process so far. On this system Guard watches
// only memory.
func cpu() time.Duration { return 0 }
