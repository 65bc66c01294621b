//go:build !race

package effort

// Race says whether the race detector is on.
const Race = false
