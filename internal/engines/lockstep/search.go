package lockstep

import (
	"slices"
	"unsafe"

	"clew/fallback"
	"clew/internal/hugepages"
	"clew/jepsen"
	"clew/models"
)

// A mode says what a configuration is in the middle of. It may be nothing, a
// crashed drain that takes what comes, or a first element of some value. Or it
// is a drain of known values that has taken those before some place in flat.
const (
	idle     int32 = 0
	draining int32 = 1
	front    int32 = 2 // plus the value, or plus the number of values and the place in flat
)

// frame is a configuration on the trail, and what is still to be tried in it. Its bits
// and counts are stored separately.
type frame struct {
	in, out    int32 // places: everything before them is linearized
	mode       int32
	latest     int32 // the latest invocation in the second order so far, or none
	owes       int32 // to the sizes that are linearized: the number of a list
	adds       int32 // how many enqueues are linearized
	why        int32 // where its reasons begin, see sizes
	record     int32 // among those visited, or none
	came       step  // what led here
	from, next int32 // among the choices
}

// step is an operation that is linearized, times two, plus one for an enqueue whose
// element goes to a crashed drain.
type step int32

func stepOf(op int32, drained bool) step {
	if drained {
		return step(op<<1 | 1)
	}
	return step(op << 1)
}

func (s step) op() int32     { return int32(s) >> 1 }
func (s step) drained() bool { return s&1 != 0 }

// search goes depth first.
type search struct {
	*problem
	Rules
	frames  []frame
	bits    []uint64 // of the frames, width words each
	width   int
	choices []step // of the frames, one after another
	visited visited
	sizes   *sizes
	work    int64
	steps   int64

	bound int32 // no configuration gets further in the second order

	// The furthest configuration: its place in the second order, how many frames led
	// to it, and their steps, once they are recorded.
	best  int32
	depth int
	noted bool
	kept  int // how many frames have not changed since they were recorded
	order []step

	// For between: what is offered for each value, and the enqueues.
	offers []offer
	round  int32
	adds   []ranked
}

// offer says how urgently a value is wanted, in its round.
type offer struct{ added, wanted, rank int32 }

// ranked is an enqueue and how urgently it is wanted.
type ranked struct{ op, rank int32 }

// The ranks of enqueues that no operation that returned wants, and how much
// higher a crashed enqueue's rank is than that of another one.
const (
	crashWants int32 = 1<<29 + iota
	anyWants
	nobodyWants
	isCrashed int32 = 1 << 30
)

func newSearch(p *problem, r Rules, guide []int32) *search {
	s := &search{problem: p, Rules: r, width: p.words + p.counts.Words(), offers: make([]offer, len(p.add)), best: none}
	s.frames, s.bits = hugepages.Make[frame](len(p.inv) + 1)[:0], hugepages.Make[uint64](s.width * (len(p.inv) + 1))[:0]
	s.sizes = newSizes(p, guide)
	s.visited = visited{problem: p, Rules: r, sizes: s.sizes}
	if s.bound = int32(len(p.out.ops)); !r.NoCounting {
		s.bound = p.enough()
	}
	return s
}

// stepsPerPoll bounds the steps between two looks at the limits.
const stepsPerPoll = 1 << 10

// run looks for a configuration in which all operations that returned are
// linearized, or for one that gets as far as any can.
func (s *search) run(poll func() bool) jepsen.Verdict {
	s.frames = append(s.frames, frame{latest: none, record: none})
	s.bits = append(s.bits, make([]uint64, s.width)...)
	s.enter(true)
	for len(s.frames) > 0 {
		if s.best == s.bound {
			s.note()
			if int(s.bound) < len(s.out.ops) {
				return jepsen.Invalid
			}
			return jepsen.Valid
		}
		if s.steps++; s.steps%stepsPerPoll == 0 && !poll() {
			return jepsen.Unknown
		}
		top := &s.frames[len(s.frames)-1]
		if int(top.next) == len(s.choices) {
			s.leave()
			continue
		}
		c := s.choices[top.next]
		top.next++
		s.enter(s.apply(c))
	}
	return jepsen.Invalid
}

// leave drops the last frame.
func (s *search) leave() {
	if len(s.frames) == s.depth {
		s.note()
	}
	last := len(s.frames) - 1
	if s.sizes.any {
		s.learn(last)
	}
	s.choices = s.choices[:s.frames[last].from]
	s.frames, s.bits = s.frames[:last], s.bits[:last*s.width]
	s.kept = min(s.kept, last)
}

// note records how the furthest configuration was reached, as long as its frames exist.
func (s *search) note() {
	if s.noted {
		return
	}
	s.order = s.order[:s.kept]
	for _, f := range s.frames[s.kept:s.depth] {
		s.order = append(s.order, f.came)
	}
	s.kept, s.noted = s.depth, true
}

// apply makes a new frame by a step from the last one. It says whether other steps
// may lead to the same configuration.
func (s *search) apply(c step) bool {
	i := len(s.frames)
	s.frames = append(s.frames, s.frames[i-1])
	s.bits = append(s.bits, s.bits[(i-1)*s.width:]...)
	f, w := &s.frames[i], s.bits[i*s.width:]
	f.came, f.record = c, none
	op := c.op()
	switch s.kind[op] {
	case models.Enqueue:
		f.adds++
		s.place(&s.in, &f.in, w, op)
		return s.added(f, w, op, c.drained())
	case models.Peek, models.Size:
		s.seen(f, w, op)
		return true
	case models.DrainAny:
		f.mode = draining
	case models.Drain:
		if place := s.value[op]; !s.last[place] {
			f.mode = front + int32(len(s.add)) + place + 1
			if s.res[op] == models.Open {
				s.seen(f, w, op)
			}
			return false
		}
		fallthrough
	default:
		f.mode = idle
	}
	s.seen(f, w, op)
	return true
}

// added lets the element of an enqueue come first, or go to a drain.
func (s *search) added(f *frame, w []uint64, op int32, drained bool) bool {
	values := int32(len(s.add))
	switch {
	case drained:
		return true
	case f.mode < front+values:
		f.mode = front + s.value[op]
		return false
	}
	place := f.mode - front - values
	if !s.last[place] {
		f.mode++
		return false
	}
	f.mode = idle
	if drain := s.of[place]; s.res[drain] != models.Open {
		s.seen(f, w, drain)
	}
	return true
}

// seen linearizes an operation of the second order.
func (s *search) seen(f *frame, w []uint64, op int32) {
	f.latest = max(f.latest, s.inv[op])
	s.place(&s.out, &f.out, w, op)
}

// enter finds what can be tried in the last frame, if it is new.
func (s *search) enter(remember bool) {
	i := len(s.frames) - 1
	f, w := &s.frames[i], s.bits[i*s.width:]
	f.from = int32(len(s.choices))
	f.next = f.from
	f.why = int32(len(s.sizes.why))
	if s.sizes.any && i > 0 && !s.sizes.owe(f, w) {
		return
	}
	if f.out > s.best {
		s.best, s.depth, s.noted = f.out, len(s.frames), false
	}
	s.work += int64(s.width)
	if int(f.out) == len(s.out.ops) {
		return
	}
	if remember {
		record, ok := s.visited.add(f, w)
		if !ok {
			owes, adds := s.visited.owes(record)
			s.sizes.blameList(f, owes, adds)
			return
		}
		f.record = record
	}
	switch values := int32(len(s.add)); {
	case f.mode >= front+values:
		s.goOn(f, w, f.mode-front-values)
	case f.mode >= front:
		s.size(f, w, s.atFront(f, w, f.mode-front))
	default:
		s.size(f, w, s.between(f, w))
	}
}

// learn keeps what the last frame owed that kept it from getting further, for its record and
// for the frame before it.
func (s *search) learn(last int) {
	f := &s.frames[last]
	if f.record != none && !s.NoReasons {
		s.visited.setOwes(f.record, s.sizes.blamed(f))
	}
	if last > 0 {
		s.sizes.passOn(f, &s.frames[last-1])
	}
}

// size finds the sizes that can come now, if the enqueues that come later make them right.
// Those for which that is likely come before all other choices, the smallest first, which need
// the fewest enqueues. The others come behind them.
func (s *search) size(f *frame, w []uint64, forced bool) {
	if forced || f.out >= s.empties || !s.sizes.any {
		return
	}
	likely := f.from
	harmless := s.harmless(f)
	open := s.out.at(f.out)
	for i, op := range open {
		s.work++
		if s.kind[op] != models.Size || fallback.HasBit(w, s.out.Slot[op]) {
			continue
		}
		twin := false
		for _, first := range open[:i] {
			twin = twin || s.kind[first] == models.Size && s.value[first] == s.value[op] && !fallback.HasBit(w, s.out.Slot[first]) &&
				(s.inv[first] < s.inv[op] || s.inv[first] < harmless)
		}
		switch {
		case twin && !s.NoTwins:
		case s.sizes.likely(f, op):
			at := likely
			for at > f.from && s.value[s.choices[at-1].op()] > s.value[op] {
				at--
			}
			s.choices = slices.Insert(s.choices, int(at), stepOf(op, false))
			likely++
		default:
			s.choose(op)
		}
	}
}

func (s *search) choose(op int32) { s.choices = append(s.choices, stepOf(op, false)) }

// crashed returns the next operation of a class if it was invoked before a time,
// otherwise none. The class may be none.
func (s *search) crashed(class int32, w []uint64, before int32) int32 {
	if class == none {
		return none
	}
	ops, used := s.classes[class], s.counts.Of[class].Used(w)
	if used == len(ops) || s.inv[ops[used]] >= before {
		return none
	}
	return ops[used]
}

// goOn finds the enqueues whose element a drain takes next.
func (s *search) goOn(f *frame, w []uint64, place int32) {
	value, before := s.flat[place], s.out.res[f.out]
	for _, op := range s.in.at(f.in) {
		s.work++
		if s.value[op] == value && s.inv[op] < before && !fallback.HasBit(w, s.in.Slot[op]) {
			if s.choose(op); !s.NoTwins {
				return
			}
		}
	}
	if op := s.crashed(s.add[value], w, min(before, s.in.res[f.in])); op != none {
		s.choose(op)
	}
}

// harmless returns a time. An operation of the second order that was invoked before
// it may as well come first, as far as empty answers are concerned.
func (s *search) harmless(f *frame) int32 {
	if f.out >= s.empties {
		return models.Open
	}
	return max(s.in.res[f.in], f.latest+1)
}

// atFront finds the operations that can see or take the first element. It says whether one of
// them may as well come before anything else. Peeks come before the others: once the element is
// taken, a peek needs another one of its value, and there may be none.
func (s *search) atFront(f *frame, w []uint64, value int32) (eager bool) {
	harmless, before := s.harmless(f), s.out.res[f.out]
	twins := [2]int32{models.Open, models.Open} // of dequeues and peeks, as twin says
	peeks := f.from
	for _, op := range s.out.at(f.out) {
		s.work++
		kind := s.kind[op]
		if fallback.HasBit(w, s.out.Slot[op]) {
			continue
		}
		switch {
		case kind == models.Drain && s.flat[s.value[op]] == value:
			s.choose(op)
		case s.value[op] != value:
		case kind == models.Peek && s.inv[op] < harmless && !s.NoEagerPeeks:
			s.choices = s.choices[:f.from]
			s.choose(op)
			return true
		case kind == models.Dequeue && !s.twin(op, &twins[0], harmless):
			s.choose(op)
		case kind == models.Peek && !s.twin(op, &twins[1], harmless):
			s.choices = slices.Insert(s.choices, int(peeks), stepOf(op, false))
			peeks++
		}
	}
	if len(s.classes) == 0 {
		return false
	}
	for _, class := range [2]int32{s.take[value], s.takeAny} {
		if op := s.crashed(class, w, before); op != none && !s.twin(op, &twins[0], harmless) {
			s.choose(op)
		}
	}
	for _, class := range s.drains {
		if op := s.crashed(class, w, before); op != none && s.flat[s.value[op]] == value {
			s.choose(op)
		}
	}
	if op := s.crashed(s.drainAny, w, before); op != none {
		s.choose(op)
	}
	return false
}

// twin says whether an operation may as well come after one that was found before it
// and does the same, but returns earlier. first is the earliest invocation of such
// operations, or -1 if one of them was harmless.
func (s *search) twin(op int32, first *int32, harmless int32) bool {
	inv := s.inv[op]
	if *first < inv && !s.NoTwins {
		return true
	}
	if inv < harmless {
		inv = -1
	}
	*first = min(*first, inv)
	return false
}

// between finds what can happen if no element is first: empty answers, and enqueues of
// values that something can then see or take. It says whether an empty answer may as well come before
// anything else.
func (s *search) between(f *frame, w []uint64) (eager bool) {
	before := s.out.res[f.out]
	owed := s.sizes.lists[f.owes]
	if f.out < s.empties {
		for _, op := range s.out.at(f.out) {
			s.work++
			if s.kind[op] != models.DequeueEmpty || fallback.HasBit(w, s.out.Slot[op]) || max(f.latest, s.inv[op]) > s.in.res[f.in] {
				continue
			}
			if len(owed) > 0 {
				s.sizes.blame(owed[0].at)
				break
			}
			if f.mode == idle && !s.NoEagerEmpties {
				s.choices = s.choices[:f.from]
				s.choose(op)
				return true
			}
			s.choose(op)
		}
	}
	s.round++
	rank := s.wants(f, w, before)
	s.adds = s.adds[:0]
	for _, op := range s.in.at(f.in) {
		s.work++
		if s.inv[op] < before && !fallback.HasBit(w, s.in.Slot[op]) && !s.sizes.late(f, op) {
			s.offer(op, rank)
		}
	}
	before = min(before, s.in.res[f.in])
	for _, class := range s.adding {
		s.work++
		if op := s.crashed(class, w, before); op != none && !s.sizes.late(f, op) {
			s.offer(op, rank)
		}
	}
	for _, x := range s.adds {
		if x.rank&^isCrashed != nobodyWants || s.NoUses {
			s.choose(x.op)
		}
		if f.mode == draining {
			s.choices = append(s.choices, stepOf(x.op, true))
		}
	}
	return false
}

// offer adds an enqueue to those that can happen, unless its twin is there, in the
// order of their ranks. The fewer crashed ones have been used, the fewer are missing
// later. rank is the rank of values that nothing wants in particular.
func (s *search) offer(op, rank int32) {
	o := &s.offers[s.value[op]]
	if o.added == s.round && !s.NoTwins {
		return
	}
	o.added = s.round
	if o.wanted == s.round {
		rank = o.rank
	}
	if s.class[op] != none {
		rank |= isCrashed
	}
	i := len(s.adds)
	s.adds = append(s.adds, ranked{})
	for ; i > 0 && s.adds[i-1].rank > rank; i-- {
		s.adds[i] = s.adds[i-1]
	}
	s.adds[i] = ranked{op, rank}
}

// wants ranks the values that something can see or take: what returns first is the
// most urgent. It returns the rank of all others.
func (s *search) wants(f *frame, w []uint64, before int32) int32 {
	for i, op := range s.out.at(f.out) {
		s.work++
		value := s.value[op]
		if value == none || s.kind[op] == models.Size || fallback.HasBit(w, s.out.Slot[op]) {
			continue
		}
		if s.kind[op] == models.Drain {
			value = s.flat[value]
		}
		s.want(value, int32(i))
	}
	if len(s.classes) == 0 {
		return nobodyWants
	}
	for _, class := range s.taking {
		s.work++
		if op := s.crashed(class, w, before); op != none {
			s.want(s.value[op], crashWants)
		}
	}
	for _, class := range s.drains {
		if op := s.crashed(class, w, before); op != none {
			s.want(s.flat[s.value[op]], crashWants)
		}
	}
	if s.crashed(s.takeAny, w, before) != none || s.crashed(s.drainAny, w, before) != none {
		return anyWants
	}
	return nobodyWants
}

func (s *search) want(value, rank int32) {
	if o := &s.offers[value]; o.wanted != s.round {
		o.wanted, o.rank = s.round, rank
	}
}

// done returns how much work the search has done, in steps. Records and picked enqueues
// take little.
func (s *search) done() int64 { return s.steps + s.work + (s.visited.work+s.sizes.filler.work)/perStep }

// bytes returns how much memory the search holds.
func (s *search) bytes() int64 {
	frames := int64(unsafe.Sizeof(frame{}))*int64(cap(s.frames)) + 8*int64(cap(s.bits))
	return frames + 4*int64(cap(s.choices)+cap(s.order)) + s.visited.bytes() + s.sizes.bytes()
}
