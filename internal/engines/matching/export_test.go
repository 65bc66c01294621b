package matching

// ReachAtMost makes tries for a matching reach at most n cas, until the caller
// calls restore.
func ReachAtMost(n int) (restore func()) {
	usual := farthest
	farthest = n
	return func() { farthest = usual }
}
