package configs

// ProveLocallyAtOnce makes searches ask for local proofs at once, of longer and
// longer ends of the history, until the caller calls the function that it returns.
func ProveLocallyAtOnce() (restore func()) {
	patience, span := firstPatience, firstSpan
	firstPatience, firstSpan = 1, 1
	return func() { firstPatience, firstSpan = patience, span }
}
