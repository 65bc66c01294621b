package configs

import "clew/fallback"

// way holds the configurations under test, each with its frame, one above another. A search of a linearizable history
// holds about one for each operation. They are in chunks, so that none is ever copied.
type way struct {
	budget  *fallback.Budget
	width   int // words of a configuration
	n       int // how many frames there are
	frames  [][]frame
	configs [][]uint64
}

// A chunk holds this many configurations.
const (
	wayBits  = 6
	wayChunk = 1 << wayBits
)

// frame returns the i-th frame.
func (w *way) frame(i int) *frame { return &w.frames[i>>wayBits][i&(wayChunk-1)] }

// config returns the words of the i-th configuration, which may be the one above the top.
func (w *way) config(i int) []uint64 {
	chunk, at := i>>wayBits, i&(wayChunk-1)*w.width
	if chunk == len(w.configs) {
		w.budget.Take(wayChunk * (frameBytes + 8*int64(w.width)))
		w.frames = append(w.frames, make([]frame, wayChunk))
		w.configs = append(w.configs, make([]uint64, wayChunk*w.width))
	}
	return w.configs[chunk][at : at+w.width : at+w.width]
}

// add adds a frame for the configuration above the top.
func (w *way) add(f frame) {
	*w.frame(w.n) = f
	w.n++
}

// above returns a copy of the configuration on top, above it.
func (w *way) above() []uint64 {
	c := w.config(w.n)
	copy(c, w.config(w.n-1))
	return c
}
