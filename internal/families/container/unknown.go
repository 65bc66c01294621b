package container

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # Unknown removes
//
// A remove that crashed without a known value took some element, or nothing.
//
// Decides: which values the unknown removes took. The rest of the history must
// be linearizable with a remove that never returned for each of these values.
//
// Precondition: those of the container. If the search for the values
// branches too often, the history is ambiguous.
//
// Cost: a decision for every value taken, and about as many again, with a minimal core of
// each that fails. It is exponential in the worst case, and cut off by maxTries and maxWork.
//
// Rests on: only values without a completed remove can have been taken. Let x(v) be the
// time from which v may have been removed: that of an unknown remove, or never. If the
// history with these removes is not linearizable, take a minimal core. An earlier remove
// only widens an interval, so some value of the core needs an earlier x. The latest of
// the earlier times is tried first. Some choice of removes has given times iff the k-th
// smallest of these times is no earlier than the k-th smallest unknown remove (Hall).
//
// In a prefix, a value with an open remove of its own initially has that
// remove's time for x, and uses up no unknown remove.

// maxTries bounds the decisions after a branch, and maxWork bounds the
// operations of all decisions. Without a branch, there are at most as many
// decisions as unknown removes times values. Tests change maxTries.
var maxTries = 300

const maxWork = 500_000_000

// Branching: the remove and others took unknown values, and there are too many possibilities.
var Branching = &fastpath.Pattern{Says: "{name 0} and others crashed, and there are too many possibilities for what they took"}

// matching says which values unknown removes took.
type matching struct {
	at taken
	// invalid: no choice is right, as the operations of these elements show, and these operations
	invalid  bool
	elements []int32
	ops      []int32
}

// taker searches for the values that the unknown removes took.
type taker struct {
	*contents
	k       *container
	plain   *fastpath.Algorithm
	known   fastpath.Input  // without unknown removes and ambiguous values
	rows    []int32         // of known: the operations of the contents
	removes []int32         // the events of the unknown removes, ascending
	early   map[int32]int32 // by value that can have been taken: how many of the removes would make a difference
	witness bool

	decisions    int
	depth, tries int             // how many branches deep, and the decisions after a branch
	seen         map[string]bool // choices that have been searched
	lost         bool            // no choice is right
	blame        map[int32]bool  // the operations of all cores
	found        fastpath.Result
}

// taken says when values were taken: events of unknown removes, by value.
type taken map[int32]int32

// withUnknown decides contents that are not linearizable if no unknown remove took anything.
func (k *container) withUnknown(c *contents, witness bool) fastpath.Result {
	s := &taker{contents: c, k: k, witness: witness, blame: map[int32]bool{},
		plain: &fastpath.Algorithm{Decide: k.decide, Needs: needsValues, Explain: k.explain}}
	for _, o := range c.unknown {
		s.removes = append(s.removes, c.Inv[o])
	}
	s.known, s.rows = sub(c.Input, func(i int32) bool {
		kind := c.Kind[i]
		return kind == models.DequeueEmpty || hasValue(kind) && c.of[c.A[i]] != 0
	})
	s.removable()
	if k.match != nil {
		if m, ok := k.match(c); ok {
			return s.matched(m)
		}
	}
	switch s.search(taken{}) {
	case jepsen.Valid:
		return s.found
	case jepsen.Invalid:
		var keys []int32
		for o := range s.blame {
			keys = append(keys, o)
		}
		return s.fail(nil, nil, keys...)
	}
	return fastpath.Result{Reason: Branching.Of(c.unknown[0])}
}

// sub returns some of the operations at their times, and their rows.
func sub(in fastpath.Input, keep func(i int32) bool) (fastpath.Input, []int32) {
	c := &models.Columns{Events: in.Events}
	var rows []int32
	for i := range int32(in.Len()) {
		if keep(i) {
			c.Append(in.Inv[i], in.Res[i], in.Op(i))
			rows = append(rows, i)
		}
	}
	in.Columns = c
	return in, rows
}

// removable finds the values that an unknown remove can have taken.
func (s *taker) removable() {
	s.early = map[int32]int32{}
	for i := range s.elements {
		e := &s.elements[i]
		switch {
		case e.rem == none:
			s.early[s.A[e.add]] = int32(len(s.removes))
		case s.Res[e.rem] == models.Open:
			n, _ := slices.BinarySearch(s.removes, s.Inv[e.rem])
			s.early[s.A[e.add]] = int32(n)
		}
	}
}

// original turns rows of a history with removes into operations of the
// contents, without the removes.
func (s *taker) original(ops, rows []int32) []int32 {
	var old []int32
	for _, o := range ops {
		if rows[o] >= 0 {
			old = append(old, s.rows[rows[o]])
		}
	}
	return old
}

// matched returns the result if a matching settles it.
func (s *taker) matched(m matching) fastpath.Result {
	if m.invalid {
		return s.fail(nil, m.elements, m.ops...)
	}
	h, rows := withRemoves(s.known, m.at)
	r := s.k.decide(h, s.witness)
	if r.Verdict == jepsen.Invalid { // whatever the unknown removes took
		return s.fail(nil, nil, s.original(r.Keys, rows)...)
	}
	return s.use(r, rows, m.at)
}

// use turns the witness of a history with removes into one of the contents.
func (s *taker) use(r fastpath.Result, rows []int32, at taken) fastpath.Result {
	which := map[int32]int32{}
	for k, v := range at.values() {
		which[v] = s.unknown[k]
	}
	for k, o := range r.Witness {
		if rows[o] >= 0 {
			r.Witness[k] = s.rows[rows[o]]
		} else {
			r.Witness[k] = which[^rows[o]]
		}
	}
	return fastpath.Result{Verdict: jepsen.Valid, Witness: r.Witness}
}

// values returns the values taken, by time.
func (at taken) values() []int32 {
	values := make([]int32, 0, len(at))
	for v := range at {
		values = append(values, v)
	}
	slices.SortFunc(values, func(v, w int32) int { return cmp.Or(cmp.Compare(at[v], at[w]), cmp.Compare(v, w)) })
	return values
}

// withRemoves adds removes that never returned, each invoked just after the
// event at which its value was taken. rows says which operation each was;
// for a remove it is the complement of the value.
func withRemoves(in fastpath.Input, at taken) (out fastpath.Input, rows []int32) {
	values := at.values()
	times := make([]int32, len(values))
	for k, v := range values {
		times[k] = at[v]
	}
	moved := func(t int32) int32 {
		n, _ := slices.BinarySearch(times, t)
		return t + int32(n)
	}
	c := &models.Columns{Events: in.Events + int32(len(values))}
	next := 0
	until := func(t int32) {
		for ; next < len(times) && times[next] < t; next++ {
			c.Append(times[next]+int32(next)+1, models.Open, models.Op{Kind: models.Dequeue, A: values[next]})
			rows = append(rows, ^values[next])
		}
	}
	for i := range int32(in.Len()) {
		until(in.Inv[i])
		res := in.Res[i]
		if res != models.Open {
			res = moved(res)
		}
		c.Append(moved(in.Inv[i]), res, in.Op(i))
		rows = append(rows, i)
	}
	until(models.Open)
	in.Columns = c
	return in, rows
}

// search looks for values that make the history linearizable. at gives the
// latest times at which some of them were taken.
func (s *taker) search(at taken) jepsen.Verdict {
	for s.enough(at) {
		if s.decisions++; s.depth > 0 {
			s.tries++
		}
		switch {
		case s.lost:
			return jepsen.Invalid
		case s.tries > maxTries || s.decisions*s.known.Len() > maxWork:
			return jepsen.Unknown
		case s.decisions == patience && s.hopeless():
			s.lost = true
			return jepsen.Invalid
		}
		h, rows := withRemoves(s.known, at)
		r := s.k.decide(h, s.witness)
		if r.Verdict == jepsen.Valid {
			s.found = s.use(r, rows, at)
			return jepsen.Valid
		}
		core := s.core(h, r, rows)
		switch can := s.candidates(core, at); len(can) {
		case 0:
			return jepsen.Invalid
		case 1:
			if !s.tighten(core, can[0], at) {
				return jepsen.Invalid
			}
		default:
			return s.branch(can, at)
		}
	}
	return jepsen.Invalid
}

// patience is the number of decisions after which another one is spent on
// evidence that no choice is right.
const patience = 12

// hopeless reports whether the history is not linearizable even if the first
// unknown remove took every value. If so, it records the operations to blame.
func (s *taker) hopeless() bool {
	most := taken{}
	for v, n := range s.early {
		if n > 0 {
			most[v] = s.removes[0]
		}
	}
	h, rows := withRemoves(s.known, most)
	r := s.k.decide(h, false)
	if r.Verdict != jepsen.Invalid {
		return false
	}
	for _, o := range s.original(r.Keys, rows) {
		s.blame[o] = true
	}
	return true
}

// branch tries to take each of the values earlier.
func (s *taker) branch(values []int32, at taken) jepsen.Verdict {
	s.depth++
	defer func() { s.depth-- }()
	verdict := jepsen.Invalid
	for _, v := range values {
		earlier := maps.Clone(at)
		s.advance(v, earlier)
		if key := earlier.key(); s.seen[key] {
			continue // it is not a choice
		} else if s.seen == nil {
			s.seen = map[string]bool{key: true}
		} else {
			s.seen[key] = true
		}
		switch s.search(earlier) {
		case jepsen.Valid:
			return jepsen.Valid
		case jepsen.Unknown:
			verdict = jepsen.Unknown
		}
	}
	return verdict
}

// key returns a text that distinguishes choices.
func (at taken) key() string {
	var key []byte
	for _, v := range at.values() {
		key = binary.LittleEndian.AppendUint32(key, uint32(v))
		key = binary.LittleEndian.AppendUint32(key, uint32(at[v]))
	}
	return string(key)
}

// enough reports whether there are enough unknown removes, early enough.
func (s *taker) enough(at taken) bool {
	if len(at) > len(s.removes) {
		return false
	}
	for k, v := range at.values() {
		if at[v] < s.removes[k] {
			return false
		}
	}
	return true
}

// core returns the operations of known from which a minimal core of h was
// made: all those of its values, and its empty answers.
func (s *taker) core(h fastpath.Input, r fastpath.Result, rows []int32) fastpath.Input {
	in, empty := make([]bool, h.IDs), map[int32]bool{}
	for _, o := range s.minimal(h, r) {
		if hasValue(h.Kind[o]) {
			in[h.A[o]] = true
		} else {
			empty[rows[o]] = true
		}
	}
	core, kept := sub(s.known, func(i int32) bool {
		if hasValue(s.known.Kind[i]) {
			return in[s.known.A[i]]
		}
		return empty[i]
	})
	for _, i := range kept {
		s.blame[s.rows[i]] = true
	}
	return core
}

// minimal returns a minimal core of h. The evidence that h is not linearizable is
// usually small. If it is not, minimal looks for the first failing completion.
func (s *taker) minimal(h fastpath.Input, r fastpath.Result) []int32 {
	if sub := h.Pick(r.Keys); !r.Loose && s.plain.Invalid(sub) {
		var core []int32
		for _, k := range s.plain.Shrink(sub) {
			core = append(core, r.Keys[k])
		}
		return core
	}
	var d fastpath.Decision
	s.plain.Failure(h, r, false, &d)
	return d.Core
}

// candidates returns the values of a core that can be taken earlier.
func (s *taker) candidates(core fastpath.Input, at taken) []int32 {
	var can []int32
	for i, kind := range core.Kind {
		if v := core.A[i]; kind == models.Enqueue && s.later(v, at) > 0 {
			can = append(can, v)
		}
	}
	return can
}

// later returns how many of the unknown removes come before the one that took v.
func (s *taker) later(v int32, at taken) int32 {
	if t, ok := at[v]; ok {
		n, _ := slices.BinarySearch(s.removes, t)
		return int32(n)
	}
	return s.early[v]
}

// advance lets the previous remove take v.
func (s *taker) advance(v int32, at taken) {
	at[v] = s.removes[s.later(v, at)-1]
}

// tighten takes v earlier and earlier until the core is linearizable.
func (s *taker) tighten(core fastpath.Input, v int32, at taken) bool {
	for s.later(v, at) > 0 {
		s.advance(v, at)
		part := taken{}
		for i, kind := range core.Kind {
			if t, ok := at[core.A[i]]; ok && kind == models.Enqueue {
				part[core.A[i]] = t
			}
		}
		h, _ := withRemoves(core, part)
		if s.k.decide(h.DenseEvents().DenseIDs(), false).Verdict == jepsen.Valid {
			return true
		}
	}
	return false
}
