package sequence

// place holds what waits for a number to be reached.
type place struct {
	number int64
	add    int32 // the add that tells it and returns first, plus 1
	reads  int32 // the first read that sees it, plus 1; the sweep links the others
}

func (p *place) empty() bool { return p.add == 0 && p.reads == 0 }

// waiting holds the places of numbers, by hash: open addressing with linear
// probing. It holds only open operations, so it stays small.
type waiting struct {
	places []place
	n      int
	shift  uint
}

// firstWaiting is the initial size of the table, as a power of 2. Below
// roomy places the table is mostly empty, so that numbers seldom collide.
const (
	firstWaiting = 7
	roomy        = 1 << 12
)

func newWaiting() waiting {
	return waiting{places: make([]place, 1<<firstWaiting), shift: 64 - firstWaiting}
}

// home returns where a number stands if its place is free.
func (w *waiting) home(n int64) int { return int(uint64(n) * 0x9e3779b97f4a7c15 >> w.shift) }

// slot returns where a number stands, or would stand.
func (w *waiting) slot(n int64) int {
	at := w.home(n)
	for !w.places[at].empty() && w.places[at].number != n {
		at = (at + 1) & (len(w.places) - 1)
	}
	return at
}

// of returns the place of a number, for an operation that waits there.
func (w *waiting) of(n int64) *place {
	at := w.slot(n)
	if w.places[at].empty() {
		if w.n++; 2*w.n > len(w.places) || 8*w.n > len(w.places) && len(w.places) < roomy {
			w.grow()
			at = w.slot(n)
		}
		w.places[at].number = n
	}
	return &w.places[at]
}

func (w *waiting) grow() {
	old := w.places
	w.shift--
	w.places = make([]place, 2*len(old))
	for _, p := range old {
		if !p.empty() {
			w.places[w.slot(p.number)] = p
		}
	}
}

// add returns the add that waits for a number, plus 1, or 0.
func (w *waiting) add(n int64) int32 { return w.places[w.slot(n)].add }

// take empties the place of a number and returns its reads. Later places
// move up, so that none stands behind a gap.
func (w *waiting) take(n int64) (reads int32) {
	if w.n == 0 {
		return 0
	}
	at, mask := w.slot(n), len(w.places)-1
	if w.places[at].empty() {
		return 0
	}
	reads = w.places[at].reads
	w.n--
	for next := (at + 1) & mask; !w.places[next].empty(); next = (next + 1) & mask {
		if home := w.home(w.places[next].number); (next-home)&mask >= (next-at)&mask {
			w.places[at] = w.places[next]
			at = next
		}
	}
	w.places[at] = place{}
	return reads
}
