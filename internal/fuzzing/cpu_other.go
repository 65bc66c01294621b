//go:build !unix

package fuzzing

import "time"

// cpu would be the CPU time of the process so far: elsewhere only memory is watched.
func cpu() time.Duration { return 0 }
