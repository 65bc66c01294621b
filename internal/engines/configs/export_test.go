package configs

// ProveLocallyAtOnce makes searches ask for local proofs at once, of longer and
// longer ends of the history, until the caller calls the function that it returns.
func ProveLocallyAtOnce() (restore func()) {
	patience, span := firstPatience, firstSpan
	firstPatience, firstSpan = 1, 1
	return func() { firstPatience, firstSpan = patience, span }
}

// NarrowBeams makes beams so narrow that they drop almost everything, until the caller calls
// the function that it returns.
func NarrowBeams() (restore func()) {
	before := beams
	beams = []beam{{most: 1}, {most: 2, least: 1}}
	return func() { beams = before }
}
