package sequence

import (
	"context"
	"slices"

	"clew/fastpath"
	"clew/internal/bitset"
	"clew/jepsen"
	"clew/models"
)

// # Logs
//
// Decides: AppendTo, AppendNever, ReadAt, ReadNothing, Tail and ReadLog of a list.
//
// Precondition: an append that does not tell its place shares its value with no other append. If
// some completed appends tell their places and some do not, a history may stay undecided, or a
// prefix of an invalid one: see Mixed appends.
//
// Cost: O(operations * log(events) + events + values in the lists that are
// read), where the logarithm's base is 64. A failure costs a few such decisions.
// A core costs up to a logarithm of them for each read that stays in it.
//
// Rests on: the list only grows, one place after the other. Operations that returned tell what
// stands at some places: an append that tells the place, or a read that shows it. Then the append
// that put it there is also known: one that tells that place and has that value, or else the only
// append of that value. Two operations that tell different values of one place contradict each
// other. What is left is a counter. A Tail or a ReadLog needs one length, a ReadAt a length beyond
// its place, and a ReadNothing a length not beyond it. An append that tells its place needs the
// length before it. The sweep lets the list grow only when an operation that needs it to returns.
// Reads happen as soon as they can.
//
// Lemma: what the sweep linearizes by an event, every linearization has linearized by then. Only
// which appends fill unknown places may differ. Proof, by induction: the way to the length that an
// operation needs leads through every place, and where the append is known, it is in every
// linearization. At an unknown place there are two cases. If appends tell their places, an open one
// that would tell this place is of no use elsewhere, and neither is a second one. All others that
// could stand here are crashed ones that tell no place and were never seen: any two of these that
// have begun can change places. So the sweep takes the one that would tell, else one of the crashed
// ones. If no append tells its place, all appends that were never seen can change places as soon as
// they have begun. So the sweep takes the one that returns first, and one that returns without a
// place takes the next free one. So the sweep goes the only way, and where it cannot, no order can.
//
// # Mixed appends
//
// An append that would tell its place, but is open or crashed, may stand there or not.
// One that returned, does not tell its place and was never seen must stand somewhere.
// If a history holds both, which of them fills an unknown place is a choice. The sweep
// runs with the first preferred to the second, and then the other way round. What it
// finds is a linearization. If it finds none, and none even if the second need not
// stand anywhere, there is none. Otherwise the history is not decided.
//
// # Crashes
//
// Crashed operations: a crashed append is known if its value was seen, and
// stands before those that saw it. Otherwise it fills a place only if no
// other can, or none at all. A crashed read says nothing. In a prefix, open
// appends are crashed ones that may tell a place, and open reads say nothing.
//
// The first failing completion is found by deciding prefixes, because the
// sweep knows from the start what is seen only later; see logfailure.go.

// logging is the decision of a log.
type logging struct {
	*models.Columns
	shape   models.LogShape
	appends appended
	witness bool
	choice  choice
	known   int32 // what returns at this event or later says nothing about places; Open: all counts

	base, most int32 // the initial length, and the length if all appends happened

	// By place:
	value  []int32 // what stands there, plus 1; 0: unknown
	said   []int32 // a row that says so, plus 1
	holder []int32 // the append that stands there, or may if value is 0; plus 1

	// By row: for an append the place where it stands, plus 1, or 0; for a read
	// the next one that waits for the same length, plus 1.
	link []int32

	now     int32   // the length
	begun   int32   // how many rows have begun
	waiting []int32 // by length: the first read that waits for it, plus 1
	by      []int32 // by length: the row that forced the list to grow to it, plus 1
	due     due
	plain   bitset.Set // by return: appends without a place that are due
	left    int        // how many these are
	crashed []models.Row
	seen    int32 // the sweep went by the places before this one
	order   []models.Row

	bad logFault
}

// choice says which appends the sweep prefers at an unknown place.
type choice uint8

const (
	tellersFirst  choice = iota // those that would tell it
	returnedFirst               // those that return and tell no place
	needless                    // the same as tellersFirst, but those that return and tell no place need none
)

// logFault says what is wrong: Op is impossible because of what Other (or -1)
// says or needed. end is an event by which that should show; it may be too early.
type logFault struct {
	op, other models.Row
	end       int32
	passed    bool // the list had grown beyond what Op needs
}

// decideLog decides columns that fulfill the precondition, and otherwise returns why it cannot.
func decideLog(in fastpath.Input, shape models.LogShape, witness bool) (*logging, *fastpath.Finding) {
	in.Poll()
	l := &logging{Columns: in.Columns, shape: shape, witness: witness, known: models.Open}
	if reason := l.places(); reason != nil {
		return nil, reason
	}
	if l.bad.op < 0 {
		l.sweep(tellersFirst)
	}
	if l.bad.op < 0 || l.begun == 0 || !l.mixed() {
		return l, nil
	}
	if l.sweep(returnedFirst); l.bad.op < 0 {
		return l, nil
	}
	if l.sweep(needless); l.bad.op < 0 {
		return nil, Mixed.Of(l.appends.unseen, l.appends.teller)
	}
	return l, nil
}

// places finds out what stands at each place, or returns why that cannot be known.
func (l *logging) places() (reason *fastpath.Finding) {
	if l.appends, reason = newAppended(l.Columns); reason != nil {
		return reason
	}
	l.base, l.bad = int32(len(l.shape.Init)), logFault{op: -1, other: -1, end: models.Open}
	l.most = l.base + l.appends.n
	l.value, l.said, l.holder = make([]int32, l.most), make([]int32, l.most), make([]int32, l.most)
	l.link = make([]int32, l.Len())
	if l.facts(); l.bad.op < 0 {
		l.hold()
	}
	return nil
}

// mixed reports whether the sweep has a choice, and records between which appends.
func (l *logging) mixed() bool {
	x := &l.appends
	x.unseen, x.teller = -1, -1
	for i, kind := range l.Kind {
		switch {
		case kind != models.AppendTo:
		case l.B[i] == 0 && l.link[i] == 0 && l.Res[i] != models.Open:
			x.unseen = models.Row(i)
		case l.B[i] > l.base && l.B[i] <= l.most && l.value[l.B[i]-1] == 0:
			x.teller = models.Row(i)
		}
	}
	return x.unseen >= 0 && x.teller >= 0
}

// valid reports whether nothing is wrong.
func (l *logging) valid() bool { return l.bad.op < 0 }

// contradict records that two rows are not both possible; if other is -1,
// that one row is impossible.
func (l *logging) contradict(row, other models.Row) {
	if other >= 0 && l.Res[other] > l.Res[row] {
		row, other = other, row
	}
	if l.Res[row] < l.bad.end {
		l.bad = logFault{op: row, other: other, end: l.Res[row]}
	}
}

// facts records what operations that returned say about places.
func (l *logging) facts() {
	for i, class := range l.shape.Init {
		l.value[i] = class + 1
	}
	var first []int32 // by list: the row that read it and returned first, plus 1
	if !fastpath.Sparse(int64(len(l.shape.Lists)), int64(l.Len())) {
		first = make([]int32, len(l.shape.Lists))
	}
	for i, kind := range l.Kind {
		row, a, b := models.Row(i), l.A[i], l.B[i]
		switch {
		case l.Res[i] >= l.known:
		case kind == models.AppendTo && b > l.base && b <= l.most:
			l.say(row, b-1, a)
			l.link[row] = b
			if other := l.holder[b-1]; other != 0 {
				l.contradict(row, other-1)
			}
			l.holder[b-1] = row + 1
		case kind == models.ReadAt:
			l.say(row, b, a)
		case kind == models.ReadLog && first == nil:
			l.sayList(row)
		case kind == models.ReadLog:
			if k := first[a]; k == 0 || l.Res[row] < l.Res[k-1] {
				first[a] = row + 1
			}
		}
	}
	for _, k := range first {
		if k != 0 {
			l.sayList(k - 1)
		}
	}
}

// say records that a row says what stands at a place. It ignores a place
// that is never reached, which the sweep finds.
func (l *logging) say(row models.Row, place, class int32) {
	if place >= l.most {
		return
	}
	switch {
	case l.value[place] == 0:
		l.value[place], l.said[place] = class+1, row+1
	case l.value[place] != class+1:
		l.contradict(row, l.said[place]-1)
	}
}

func (l *logging) sayList(row models.Row) {
	for place, class := range l.shape.Lists[l.A[row]] {
		l.say(row, int32(place), class)
	}
}

// hold finds the append that stands at each place.
func (l *logging) hold() {
	if l.appends.tellsOpen || l.known < models.Open {
		l.holdOpen()
	}
	for place := l.base; place < l.most; place++ {
		if l.value[place] == 0 || l.holder[place] != 0 {
			continue
		}
		row := l.appends.plain(l.Columns, l.value[place]-1)
		switch {
		case row < 0:
			l.contradict(l.said[place]-1, -1)
		case l.link[row] != 0:
			l.contradict(l.said[place]-1, l.said[l.link[row]-1]-1)
		default:
			l.holder[place], l.link[row] = row+1, place+1
		}
	}
}

// holdOpen finds appends that would tell the place where they stand, or may stand.
func (l *logging) holdOpen() {
	for i, kind := range l.Kind {
		if b := l.B[i]; kind == models.AppendTo && l.Res[i] >= l.known && b > l.base && b <= l.most &&
			l.holder[b-1] == 0 && (l.value[b-1] == 0 || l.value[b-1] == l.A[i]+1) {
			l.holder[b-1] = int32(i) + 1
		}
	}
}

// sweep goes through the events. tellersFirst must be the first choice tried.
func (l *logging) sweep(prefer choice) {
	l.choice = prefer
	l.now, l.begun, l.seen, l.crashed, l.left = l.base, 0, l.base, l.crashed[:0], 0
	l.bad = logFault{op: -1, other: -1, end: models.Open}
	l.waiting, l.by = make([]int32, l.most+1), make([]int32, l.most+1)
	l.due, l.plain = newDue(l.Events), bitset.New(l.Events)
	if l.witness {
		l.order = make([]models.Row, 0, l.Len())
	}
	for i, inv := range l.Inv {
		for l.due.before(inv) {
			if row := l.due.first(); !l.finish(row) {
				l.fail(row)
				return
			}
		}
		l.invoke(models.Row(i))
		l.begun++
	}
	for end := min(l.Events, l.known); l.due.before(end); {
		if row := l.due.first(); !l.finish(row) {
			l.fail(row)
			return
		}
	}
}

// fail records that a row cannot return.
func (l *logging) fail(row models.Row) {
	l.bad = logFault{op: row, other: -1, end: l.Res[row]}
	for _, k := range l.said[l.base:l.seen] {
		if k != 0 {
			l.bad.end = max(l.bad.end, l.Res[k-1])
		}
	}
	if l.Kind[row] == models.AppendTo || l.Kind[row] == models.AppendNever {
		return
	}
	if to := l.length(row); l.now > to {
		l.bad.passed = true
		if to >= l.base {
			l.bad.other = l.by[to+1] - 1
		}
	}
}

// length returns the length that a read needs: the least one for a ReadAt,
// the greatest for a ReadNothing.
func (l *logging) length(row models.Row) int32 {
	switch l.Kind[row] {
	case models.ReadLog:
		return int32(len(l.shape.Lists[l.A[row]]))
	case models.ReadAt:
		return l.B[row] + 1
	}
	return l.B[row]
}

func (l *logging) invoke(row models.Row) {
	kind, res := l.Kind[row], l.Res[row]
	switch {
	case kind == models.AppendNever:
	case kind == models.AppendTo:
		switch {
		case l.B[row] != 0 || l.link[row] != 0:
		case res == models.Open || l.choice == needless:
			l.crashed = append(l.crashed, row)
		default:
			l.plain.Add(res)
			l.left++
		}
	case res == models.Open:
	default:
		to := l.length(row)
		switch {
		case to == l.now || to < l.now && kind == models.ReadAt || to > l.now && kind == models.ReadNothing:
			l.happen(row)
			return
		case to > l.now && to <= l.most:
			l.link[row], l.waiting[to] = l.waiting[to], row+1
		}
	}
	if res != models.Open {
		l.due.add(row, res)
	}
}

// happen records that a row is linearized.
func (l *logging) happen(row models.Row) {
	if l.witness {
		l.order = append(l.order, row)
	}
}

// linearize linearizes a row that may be due.
func (l *logging) linearize(row models.Row) {
	if res := l.Res[row]; res != models.Open {
		l.due.drop(res)
	}
	l.happen(row)
}

// finish linearizes an operation that returns, and reports whether it can.
func (l *logging) finish(row models.Row) bool {
	to := int32(0)
	switch kind := l.Kind[row]; {
	case kind == models.AppendNever:
		return false
	case kind != models.AppendTo:
		to = l.length(row)
	case l.B[row] != 0:
		to = l.B[row]
	case l.link[row] != 0:
		to = l.link[row]
	default:
		return l.place(row)
	}
	return to > l.now && to <= l.most && l.grow(to, row)
}

// place linearizes an append that tells no place and was never seen, at the
// next unknown place, and reports whether it can.
func (l *logging) place(row models.Row) bool {
	if l.choice == needless {
		l.due.drop(l.Res[row])
	}
	for l.due.has(l.Res[row]) {
		to := l.now
		for to < l.most && l.value[to] != 0 {
			to++
		}
		if to == l.most || !l.grow(to+1, row) {
			return false
		}
	}
	return true
}

// grow lets the list grow to a length that a row needs, and reports whether it can.
func (l *logging) grow(to int32, row models.Row) bool {
	for l.now < to {
		place := l.now
		h := l.holder[place] - 1
		l.seen = place + 1
		switch {
		case h >= 0 && h < l.begun && (l.value[place] != 0 || l.choice != returnedFirst || l.left == 0):
			l.linearize(h)
		case l.value[place] != 0:
			return false
		case l.left > 0:
			res := l.plain.TakeFirst(int32(l.due.word * 64))
			l.left--
			l.due.drop(res)
			l.happen(l.due.row[res])
		case len(l.crashed) > 0:
			l.linearize(l.crashed[0])
			l.crashed = l.crashed[1:]
		default:
			return false
		}
		l.now++
		l.by[l.now] = row + 1
		for k := l.waiting[l.now]; k > 0; k = l.link[k-1] {
			l.linearize(k - 1)
		}
	}
	return true
}

// appended finds appends that tell no place by their values.
type appended struct {
	n         int32
	tellsOpen bool // some that did not return would tell their places
	// If there is a choice: one that returned, and one that would tell its place.
	unseen, teller models.Row

	rows []int32 // by value: an append of it, plus 1
	// If values are sparse: value and row, sorted.
	pairs []uint64
}

// newAppended finds the appends, or returns why a history is not decided.
func newAppended(c *models.Columns) (x appended, reason *fastpath.Finding) {
	top, told, open, kinds := int32(0), int32(0), int32(0), models.Kind(0)
	for i, kind := range c.Kind { // without a branch, because kinds are mixed at random
		kinds = max(kinds, kind)
		is := (int32(kind) - 1) >> 31 // all ones for AppendTo, 0 for others
		tells := is & nonzero(c.B[i])
		x.n -= is
		told -= tells
		open |= tells & ((c.Res[i]-models.Open)>>31 ^ -1)
		top = max(top, c.A[i]&is)
	}
	if kinds > models.ReadLog {
		at := slices.IndexFunc(c.Kind, func(kind models.Kind) bool { return kind > models.ReadLog })
		return x, fastpath.Unsupported.Of(models.Row(at))
	}
	x.tellsOpen = open != 0
	if told == x.n {
		return x, nil
	}
	if fastpath.Sparse(int64(top), int64(x.n)) {
		return x, x.sort(c)
	}
	x.rows = make([]int32, top+2)
	twice := int32(0)
	for i, kind := range c.Kind {
		is := (int32(kind) - 1) >> 31
		k := &x.rows[(c.A[i]+1)&is]
		twice |= is & nonzero(*k)
		*k = int32(i) + 1
	}
	if x.rows = x.rows[1:]; twice == 0 {
		return x, nil
	}
	clear(x.rows)
	for i, kind := range c.Kind {
		if kind != models.AppendTo {
			continue
		}
		if k := x.rows[c.A[i]]; k == 0 {
			x.rows[c.A[i]] = int32(i) + 1
		} else if c.B[i] == 0 || c.B[k-1] == 0 {
			return x, Twins.Of(k-1, models.Row(i))
		}
	}
	return x, nil
}

// sort makes the pairs.
func (x *appended) sort(c *models.Columns) *fastpath.Finding {
	x.pairs = make([]uint64, 0, x.n)
	for i, kind := range c.Kind {
		if kind == models.AppendTo {
			x.pairs = append(x.pairs, uint64(c.A[i])<<32|uint64(i))
		}
	}
	slices.Sort(x.pairs)
	for i := 1; i < len(x.pairs); i++ {
		a, b := models.Row(uint32(x.pairs[i-1])), models.Row(uint32(x.pairs[i]))
		if c.A[a] == c.A[b] && (c.B[a] == 0 || c.B[b] == 0) {
			return Twins.Of(a, b)
		}
	}
	return nil
}

// plain returns the append of a value that tells no place, or -1.
func (x *appended) plain(c *models.Columns, class int32) models.Row {
	row := models.Row(-1)
	if x.rows == nil { // there may be no pairs either
		if k, _ := slices.BinarySearch(x.pairs, uint64(class)<<32); k < len(x.pairs) && int32(x.pairs[k]>>32) == class {
			row = models.Row(uint32(x.pairs[k]))
		}
	} else if int(class) < len(x.rows) {
		row = x.rows[class] - 1
	}
	if row >= 0 && c.B[row] != 0 {
		return -1
	}
	return row
}

// Mixed (plain, told): told may stand at the place that it would tell, and plain must
// stand somewhere. The verdict may depend on which of them stands where.
var Mixed = &fastpath.Pattern{Says: "{name 1} and {name 0} may both be at an offset that no operation has seen"}

// Twins: these two append the same value, and one does not tell its place.
var Twins = &fastpath.Pattern{Says: "{name 0} and {name 1} append the same value"}

func decideLogs(ctx context.Context, c *models.Columns, shape models.LogShape, want fastpath.Want) fastpath.Decision {
	in := fastpath.PlainInput(ctx, c)
	l, reason := decideLog(in, shape, want&fastpath.WantWitness != 0)
	if reason != nil {
		return fastpath.Undecided(reason)
	}
	if l.valid() {
		return fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1, BoundEvent: -1, Witness: l.order}
	}
	d := fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: -1, BoundEvent: -1}
	if want&fastpath.WantFailure != 0 {
		f := &logFailure{in: in, shape: shape}
		f.find(l.bad, &d)
		d.FailEvent, d.BoundEvent = in.Original(d.FailEvent), in.Original(d.BoundEvent)
	}
	return d
}
