package matching

// ReachAtMost has tries for a matching reach so many cas, until it is restored.
func ReachAtMost(n int) (restore func()) {
	usual := farthest
	farthest = n
	return func() { farthest = usual }
}
