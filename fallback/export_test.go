package fallback

// ProveLocallyAtOnce has searches ask for local proofs at once, of ever longer ends
// of the history, until the function that it returns is called.
func ProveLocallyAtOnce() (restore func()) {
	patience, span := firstPatience, firstSpan
	firstPatience, firstSpan = 1, 1
	return func() { firstPatience, firstSpan = patience, span }
}
