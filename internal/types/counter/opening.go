package counter

import (
	"iter"
	"maps"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// opening is the Opening of counter. Every total bounds what was there at first (home.Sums). If there are few numbers within
// all bounds, they are tried. Otherwise fromAny decides.
//
// If only the adds that failed allow for 0, the reads saw what a failed add left, which is an error.
type opening struct {
	models.NoNeeds
	m           *counter
	sums, dirty home.Sums // dirty: adds that failed may have happened
	had         map[jepsen.Operation][]home.Amounts
	seen        bool           // a total
	failed      bool           // when a total was seen, only adds that failed allowed for 0
	failedSums  map[int64]bool // what some of the adds that failed add up to
	unexplained bool           // some total is not what failed adds left
	refuted     bool           // no number was there at first; whatever comes later does not matter
	mayBeZero   bool           // the number was not known to be another one, up to the total that refuted all
}

func newOpening(m *counter) *opening {
	o := &opening{m: m, had: map[jepsen.Operation][]home.Amounts{}, failedSums: map[int64]bool{0: true}, mayBeZero: true}
	o.sums.Grow(1, -maxInitial, maxInitial)
	o.dirty.Grow(1, -maxInitial, maxInitial)
	return o
}

func (o *opening) Call(i jepsen.Operation, op models.Op, status jepsen.Status) {
	if op.Kind != models.Plus && status == jepsen.Succeeded {
		o.had[i] = o.sums.Returned()
	}
	if op.Kind == models.Total {
		return
	}
	o.dirty.Call(0, int64(op.A))
	if status != jepsen.Failed {
		o.sums.Call(0, int64(op.A))
	} else {
		o.fail(int64(op.A))
	}
}

// maxFailedSums bounds the sums of failed adds. If there are more, any number within their bounds counts as one.
const maxFailedSums = 4096

// fail notes that an add of n failed.
func (o *opening) fail(n int64) {
	if len(o.failedSums) > maxFailedSums {
		return
	}
	for _, sum := range slices.Collect(maps.Keys(o.failedSums)) {
		o.failedSums[sum+n] = true
	}
}

// byFailed reports whether a total may be what some failed adds left, together with what had been added to 0.
func (o *opening) byFailed(total, least, most int64) bool {
	if !o.dirty.Divides(0, total) {
		return false
	}
	if len(o.failedSums) > maxFailedSums {
		return true
	}
	for sum := range o.failedSums {
		if left := home.Minus(total, sum); least <= left && left <= most {
			return true
		}
	}
	return false
}

func (o *opening) Return(i jepsen.Operation, op models.Op, _ bool) {
	if o.refuted {
		return
	}
	if op.Kind != models.Plus {
		before, had := home.Minus(o.m.totals.List[op.B], int64(op.A)), o.had[i]
		o.seen = true
		least, most := o.sums.Added(0, int64(op.A), had)
		o.unexplained = o.unexplained || !o.byFailed(before, least, most)
		o.sums.Read(0, before, int64(op.A), had)
		o.dirty.Read(0, before, int64(op.A), had)
		o.failed = o.failed || !mayBeZero(&o.sums) && mayBeZero(&o.dirty) && !o.unexplained
		delete(o.had, i)
		if least, most := o.sums.Bounds(0); least > most {
			o.refuted = true
			return
		}
		o.mayBeZero = mayBeZero(&o.sums)
	}
	if op.Kind != models.Total {
		o.sums.Return(0, int64(op.A))
	}
}

func (o *opening) Puts(op models.Op) bool { return op.Kind != models.Total }

func (o *opening) Later() bool { return !o.refuted }

func mayBeZero(sums *home.Sums) bool {
	least, most := sums.Bounds(0)
	return least <= 0 && 0 <= most
}

func (o *opening) Starts() (starts []edn.ID) {
	least, most := o.sums.Bounds(0)
	if !o.seen || o.failed || o.Else().More {
		return nil
	}
	for n := least; n <= most; n++ {
		if n != 0 {
			starts = append(starts, o.m.V.InternInt(n))
		}
	}
	return starts
}

func (o *opening) Else() models.Else {
	least, most := o.sums.Bounds(0)
	return models.Else{More: o.seen && !o.failed && (o.refuted || most-least >= models.MaxOpenings), Refuted: o.refuted, MayBeDefault: o.mayBeZero}
}

// begins is the kind of the operation that is the first to show a total.
const begins = models.PlusTotal + 1

// fromAny is Traits.FromAny. Until a total is shown, only what was added counts. The first operation that shows one may
// always happen, and says what the number was at first. Whatever comes after it depends on the total alone.
func (m *counter) fromAny(ops *models.Operations) iter.Seq[models.FromAny] {
	return func(yield func(models.FromAny) bool) {
		for _, first := range home.First(&ops.Columns, func(op models.Op) bool { return op.Kind != models.Plus }) {
			from := models.FromAny{Operations: ops.Under(newOpenCounter(m)), Start: func(order []models.Row) (edn.ID, bool) {
				return m.startOf(ops, order, first)
			}}
			from.Kind = slices.Clone(ops.Kind)
			from.Kind[first] = begins
			if !yield(from) {
				return
			}
		}
	}
}

// startOf returns the number before all rows of an order, of which one shows a total.
func (m *counter) startOf(ops *models.Operations, order []models.Row, first models.Row) (edn.ID, bool) {
	at := slices.Index(order, first)
	if at < 0 {
		return edn.Nil, false
	}
	start := m.totals.List[ops.B[first]]
	for _, row := range order[:at+1] {
		start = home.Minus(start, int64(ops.A[row]))
	}
	return m.V.InternInt(start), true
}

// openCounter is a counter that nothing is known of before an operation begins it. Until then, a state has a third number
// and is what was added.
type openCounter struct {
	*counter
	offered models.Traits
}

func newOpenCounter(m *counter) *openCounter {
	open := &openCounter{counter: m}
	open.offered = models.Traits{Hard: m.Offered.Hard, Lookahead: &models.Lookahead{MayFollow: open.mayFollow, MayLead: m.mayLead}}
	return open
}

func (m *openCounter) Traits() *models.Traits { return &m.offered }

func (m *openCounter) Init() models.State { return append(home.StateOf(0), 0) }

func isOpen(s models.State) bool { return len(s) > 2 }

func (m *openCounter) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case !isOpen(s):
		return m.counter.Step(dst, s, op)
	case op.Kind == begins:
		return append(dst, home.StateOf(m.totals.List[op.B]))
	case op.Kind == models.Plus:
		return append(dst, append(home.StateOf(home.Number(s)+int64(op.A)), 0))
	}
	return dst
}

// mayFollow is Lookahead.MayFollow.
func (m *openCounter) mayFollow(s models.State, op models.Op, others []models.Op) bool {
	if !isOpen(s) {
		return m.counter.mayFollow(s, op, others)
	}
	return op.Kind == models.Plus || op.Kind == begins || slices.ContainsFunc(others, func(other models.Op) bool { return other.Kind == begins })
}
