package set

import (
	"cmp"
	"context"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # Grow-only set
//
// Decides: adds of values, and reads of the whole set.
//
// Precondition: none. A value may be added many times.
//
// Cost: O(operations + events + ids + the sizes of all sets read), no sort. Ids are
// only the values of adds and of sets. Sparse ones are renumbered, which costs a sort.
//
// Rests on: reads must form a chain by inclusion; reads of equal sets are a group. A value's first
// add must come before the first group that has it, and all its adds after the groups that do not.
// Of several adds of a value, let the one that was invoked first be the first: it is the least
// constrained. That gives stages: the adds of the values that are new in group 0, group 0, the adds
// of group 1, and so on, and finally the adds of values that were never read. The stages can be
// kept iff no operation that must come later returned before one that must come earlier was
// invoked. One pass that tracks the latest invocation so far decides this.
//
// Crashed operations: a crashed read says nothing. A crashed add never returns, so it can come
// at any later stage. It is omitted if its value was never read, or if another add is the first.
//
// # Core
//
// A choice is a set of values and a set of reads: all adds of these values, and the
// reads, of which only these values count. The core is a choice that contains the
// read that fails and is not linearizable, while every smaller one is. It has at
// most two values and two reads. It also has one add of each other value in the read
// that does not fail. So it fails at the same operation as a history of its own.

// growOnly decides a history of the kinds of a grow-only set. The sets that were read list
// each value once, in ascending order. The A of a ReadSet is an index into these sets.
func growOnly(ctx context.Context, c *models.Columns, shape models.GrowSetShape, want fastpath.Want) fastpath.Decision {
	for i, kind := range c.Kind {
		if kind > models.ReadNoSet {
			return fastpath.Undecided(fastpath.Unsupported.Of(int32(i)))
		}
	}
	d := fastpath.WithInitial(c, shape.Init, models.Add, func(all *models.Columns) fastpath.Decision {
		in, sets := growSetInput(ctx, all, shape.Sets)
		a := fastpath.Algorithm{
			Decide: func(in fastpath.Input, witness bool) fastpath.Result { return decideGrowSet(in, sets, witness) },
			Evidence: func(cut fastpath.Input, r fastpath.Result, d *fastpath.Decision) {
				growSetCore(in, cut, sets, r, d)
			},
		}
		return a.Run(in, want)
	})
	if why := d.Why; why != nil && why.Rows[0] == fastpath.Initial {
		why.About(without(shape.Init, shape.Sets[c.A[why.Rows[len(why.Rows)-1]]])...)
	}
	return d
}

// growSetInput renumbers events and values if they are sparse.
func growSetInput(ctx context.Context, c *models.Columns, sets [][]int32) (fastpath.Input, [][]int32) {
	in := fastpath.PlainInput(ctx, c)
	size := int64(c.Len())
	top := int32(0)
	for i, kind := range c.Kind {
		switch kind {
		case models.Add:
			top = max(top, c.A[i])
		case models.ReadSet:
			set := sets[c.A[i]]
			size += int64(len(set))
			if len(set) > 0 {
				top = max(top, set[len(set)-1])
			}
		}
	}
	in.IDs = top + 1
	if !fastpath.Sparse(int64(top)+1, size) {
		return in, sets
	}
	ids := []int32{}
	for i, kind := range c.Kind {
		switch kind {
		case models.Add:
			ids = append(ids, c.A[i])
		case models.ReadSet:
			ids = append(ids, sets[c.A[i]]...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	in.IDs = int32(len(ids))
	dense := func(v int32) int32 {
		k, _ := slices.BinarySearch(ids, v)
		return int32(k)
	}
	renumbered := *in.Columns
	renumbered.A = slices.Clone(c.A)
	own := make([][]int32, len(sets))
	for i, kind := range c.Kind {
		switch kind {
		case models.Add:
			renumbered.A[i] = dense(c.A[i])
		case models.ReadSet:
			if k := c.A[i]; own[k] == nil {
				for _, v := range sets[k] {
					own[k] = append(own[k], dense(v))
				}
			}
		}
	}
	in.Columns = &renumbered
	return in, own
}

// growSet holds what is known about a history.
type growSet struct {
	in    fastpath.Input
	sets  [][]int32
	reads []int32 // the completed ones, by size
	group []int32 // by place in reads: its group
	// By value: the group in which it is new, or the number of groups if it was
	// never read; and its first add, or -1.
	newIn, chosen []int32
	stages        []stage // by group, adds then reads
}

// stage holds the adds of the values that are new in a group, or its reads.
type stage struct {
	minRes, maxInv         int32 // over the completed operations; over those that must be early
	firstToReturn, lastInv int32 // the operations
	from                   int32 // the latest invocation in earlier stages
}

// decideGrowSet decides a history. The End of its result is an event by
// which the history has gone wrong.
func decideGrowSet(in fastpath.Input, sets [][]int32, witness bool) fastpath.Result {
	s := growSet{in: in, sets: sets}
	if o := s.sortReads(); o >= 0 {
		return fastpath.Result{Verdict: jepsen.Invalid, End: in.Res[o], Why: NotASet.Of(o)}
	}
	if why := s.notAChain(); why != nil {
		return s.invalid(why)
	}
	if why := s.fillStages(); why != nil {
		return s.invalid(why)
	}
	if why := s.outOfStage(); why != nil {
		return s.invalid(why)
	}
	r := fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = s.witness()
	}
	return r
}

// invalid returns the result for a violation. The history has gone wrong
// once the reads of the violation have returned.
func (s *growSet) invalid(why *fastpath.Finding) fastpath.Result {
	r := fastpath.Result{Verdict: jepsen.Invalid, Why: why}
	for _, o := range why.Rows {
		if o >= 0 && s.in.Kind[o] == models.ReadSet {
			r.End = max(r.End, s.in.Res[o])
		}
	}
	return r
}

// sortReads puts the completed reads in order of size. It returns a read
// that did not read a set, or -1.
func (s *growSet) sortReads() int32 {
	in := s.in
	var starts []int32
	for i, kind := range in.Kind {
		if kind == models.Add || in.Res[i] == models.Open {
			continue
		}
		if kind == models.ReadNoSet {
			return int32(i)
		}
		size := len(s.sets[in.A[i]]) + 1
		for len(starts) <= size {
			starts = append(starts, 0)
		}
		starts[size]++
	}
	total := int32(0)
	for size := range starts {
		total += starts[size]
		starts[size] = total
	}
	s.reads = make([]int32, total)
	for i, kind := range in.Kind {
		if kind == models.ReadSet && in.Res[i] != models.Open {
			size := len(s.sets[in.A[i]])
			s.reads[starts[size]] = int32(i)
			starts[size]++
		}
	}
	return -1
}

func (s *growSet) set(read int32) []int32 { return s.sets[s.in.A[read]] }

// notAChain finds two reads of which neither has all that the other has. A value must be in all
// reads from the first one that has it on. If there are no such reads, it fills in group and newIn.
func (s *growSet) notAChain() *fastpath.Finding {
	m := int32(len(s.reads))
	count := make([]int32, s.in.IDs)
	first := make([]int32, s.in.IDs)
	for k := m - 1; k >= 0; k-- {
		for _, v := range s.set(s.reads[k]) {
			count[v]++
			first[v] = k
		}
	}
	s.group = make([]int32, m+1)
	for k := int32(1); k <= m; k++ {
		s.group[k] = s.group[k-1]
		if k == m || len(s.set(s.reads[k])) > len(s.set(s.reads[k-1])) {
			s.group[k]++
		}
	}
	for v, n := range count {
		if n == 0 {
			first[v] = m
		} else if n != m-first[v] {
			return s.incomparable(first[v], int32(v))
		}
		first[v] = s.group[first[v]]
	}
	s.newIn = first
	return nil
}

// incomparable explains that a read after the k-th lacks v, which the k-th
// has. So the later one must have something that the k-th lacks.
func (s *growSet) incomparable(k, v int32) *fastpath.Finding {
	x := s.reads[k]
	y := int32(-1)
	for _, o := range s.reads[k+1:] {
		if _, has := slices.BinarySearch(s.set(o), v); !has && (y < 0 || s.in.Res[o] < s.in.Res[y]) {
			y = o
		}
	}
	switch {
	case s.in.Res[x] < s.in.Inv[y]:
		return NotRead.Of(x, y)
	case s.in.Res[y] < s.in.Inv[x]:
		return NotRead.Of(y, x)
	}
	return Incomparable.Of(x, y)
}

// fillStages finds what matters about the operations of each stage, or a
// value that was read but never added.
func (s *growSet) fillStages() *fastpath.Finding {
	in := s.in
	groups := s.group[len(s.reads)]
	s.stages = make([]stage, 2*groups+2)
	for g := range s.stages {
		s.stages[g] = stage{minRes: models.Open, maxInv: -1}
	}
	s.chosen = make([]int32, in.IDs)
	for v := range s.chosen {
		s.chosen[v] = -1
	}
	for i, kind := range in.Kind {
		if kind != models.Add {
			continue
		}
		v := in.A[i]
		g := s.newIn[v]
		st := &s.stages[2*g]
		st.completes(int32(i), in.Res[i])
		if s.chosen[v] < 0 {
			s.chosen[v] = int32(i)
			if g < groups {
				st.begins(int32(i), in.Inv[i])
			}
		}
	}
	for k, o := range s.reads {
		st := &s.stages[2*s.group[k]+1]
		st.completes(o, in.Res[o])
		st.begins(o, in.Inv[o])
		if k > 0 && s.group[k] == s.group[k-1] {
			continue // it is equal
		}
		for _, v := range s.set(o) {
			if s.chosen[v] < 0 {
				return fastpath.NeverAdded.Of(o, fastpath.Missing)
			}
		}
	}
	return nil
}

func (st *stage) completes(o, res int32) {
	if res < st.minRes {
		st.minRes, st.firstToReturn = res, o
	}
}

func (st *stage) begins(o, inv int32) {
	if inv > st.maxInv {
		st.maxInv, st.lastInv = inv, o
	}
}

// outOfStage finds an operation that returned before one of an earlier stage was invoked.
// It may also find a read that returned before one of the adds that it needs was invoked.
func (s *growSet) outOfStage() *fastpath.Finding {
	from, latest := int32(-1), int32(-1) // the latest invocation so far, and its operation
	for g := range s.stages {
		st := &s.stages[g]
		st.from = from
		if st.minRes < from {
			return s.tooLate(st.firstToReturn, latest)
		}
		if st.maxInv > from {
			from, latest = st.maxInv, st.lastInv
		}
	}
	return nil
}

// tooLate explains that x had returned before y was invoked, although y must come before x.
func (s *growSet) tooLate(x, y int32) *fastpath.Finding {
	in := s.in
	switch {
	case in.Kind[y] == models.ReadSet:
		return NotRead.Of(x, y)
	case in.Kind[x] == models.ReadSet:
		return fastpath.NeverAdded.Of(x, fastpath.Missing)
	}
	r := int32(-1) // the first read to return of the group in which y is new
	for k, o := range s.reads {
		if s.group[k] == s.newIn[in.A[y]] && (r < 0 || in.Res[o] < in.Res[r]) {
			r = o
		}
	}
	return AddedBefore.Of(x, y, r)
}

// witness gives every operation the earliest point that its stage allows,
// and sorts by point, then stage.
func (s *growSet) witness() []int32 {
	in := s.in
	stageOf := make([]int32, in.Len())
	perStage := make([]int32, len(s.stages)+1)
	for k, o := range s.reads {
		stageOf[o] = 2*s.group[k] + 1
	}
	groups := s.group[len(s.reads)]
	for i, kind := range in.Kind {
		if kind == models.Add {
			g := s.newIn[in.A[i]]
			stageOf[i] = 2 * g
			if in.Res[i] == models.Open && (g == groups || s.chosen[in.A[i]] != int32(i)) {
				stageOf[i] = -1
			}
		} else if in.Res[i] == models.Open {
			stageOf[i] = -1
		}
		perStage[stageOf[i]+1]++ // and those omitted before all others
	}
	perPoint := make([]int32, in.Events+1)
	point := func(o int32) int32 { return max(s.stages[stageOf[o]].from, in.Inv[o]) }
	total := int32(0)
	for g := range perStage {
		total, perStage[g] = total+perStage[g], total
	}
	left := perStage[1]
	byStage := make([]int32, in.Len())
	for i, g := range stageOf {
		byStage[perStage[g+1]] = int32(i)
		perStage[g+1]++
	}
	byStage = byStage[left:]
	for _, o := range byStage {
		perPoint[point(o)+1]++
	}
	for t := range in.Events {
		perPoint[t+1] += perPoint[t]
	}
	order := make([]int32, len(byStage))
	for _, o := range byStage {
		p := point(o)
		order[perPoint[p]] = o
		perPoint[p]++
	}
	return order
}

// growSetCore finds the core. Some of the reads and values of the violation
// are enough, and there are only a few choices of them. cut is the history up to the failure.
func growSetCore(in, cut fastpath.Input, sets [][]int32, r fastpath.Result, d *fastpath.Decision) {
	fail := in.OpReturning(d.FailEvent)
	if r.Why.Is(NotASet) {
		d.Core, d.Why = []int32{fail}, r.Why
		return
	}
	reads, values := involved(in, cut, sets, r.Why)
	for _, n := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {2, 2}} {
		for _, rs := range choices(reads, n[0]) {
			for _, vs := range choices(values, n[1]) {
				if slices.Contains(rs, fail) && tryGrowSetCore(cut, sets, rs, vs, d) {
					if d.Why.Is(fastpath.NeverAdded) {
						d.Why.Rows[1] = firstAdd(in, vs[0])
					}
					d.Why.About(elementsOf(cut, sets, d.Why)...)
					explainReads(in, sets, fail, vs, d)
					return
				}
			}
		}
	}
	panic("the violation is not one")
}

// elementsOf returns the elements that a violation is about, unless it has one in each direction: those that no operation had
// added when they were read, or those that were there before and are missing.
func elementsOf(in fastpath.Input, sets [][]int32, why *fastpath.Finding) []int32 {
	first, last := why.Rows[0], why.Rows[len(why.Rows)-1]
	switch {
	case why.Is(Incomparable):
		return nil
	case why.Is(fastpath.NeverAdded):
		return slices.DeleteFunc(slices.Clone(sets[in.A[first]]), func(v int32) bool {
			add := firstAdd(in, v)
			return add >= 0 && in.Inv[add] < in.Res[first]
		})
	case in.Kind[first] == models.Add:
		return []int32{in.A[first]}
	}
	return without(sets[in.A[first]], sets[in.A[last]])
}

// without returns the elements of a sorted set that another one lacks.
func without(set, other []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(set), func(v int32) bool {
		_, has := slices.BinarySearch(other, v)
		return has
	})
}

// involved returns the reads and values of a violation. in is the whole history up to it. The numbers of values say nothing, so
// they choose no kind of failure: of several values the one counts that nothing adds, or else that is added first.
func involved(whole, in fastpath.Input, sets [][]int32, why *fastpath.Finding) (reads, values []int32) {
	for _, o := range why.Rows {
		if o < 0 {
			continue
		}
		if in.Kind[o] == models.Add {
			values = append(values, in.A[o])
		} else {
			reads = append(reads, o)
		}
	}
	began := make([]int32, whole.IDs) // by value: its first invocation, plus 1; 0: nothing adds it
	for i, kind := range whole.Kind {
		if v := whole.A[i]; kind == models.Add && (began[v] == 0 || whole.Inv[i] < began[v]-1) {
			began[v] = whole.Inv[i] + 1
		}
	}
	first := func(a, b int32) int { return cmp.Compare(began[a], began[b]) }
	for _, x := range reads {
		for _, y := range reads {
			if more := without(sets[in.A[x]], sets[in.A[y]]); len(more) > 0 {
				values = append(values, slices.MinFunc(more, first))
			}
		}
	}
	if why.Is(fastpath.NeverAdded) {
		values = append(values, neverAdded(whole, sets[in.A[reads[0]]], in.Res[reads[0]]))
	}
	slices.Sort(reads)
	slices.Sort(values)
	values = slices.Compact(values)
	slices.SortStableFunc(values, first)
	return slices.Compact(reads), values
}

// neverAdded returns an element of a set that nothing had added by an event: one that nothing adds, or else the one that is
// added last. So the kind of the failure does not depend on the numbers of values.
func neverAdded(in fastpath.Input, set []int32, by int32) (value int32) {
	first := map[int32]int32{}
	for i := in.Len() - 1; i >= 0; i-- {
		if in.Kind[i] == models.Add {
			first[in.A[i]] = in.Inv[i]
		}
	}
	latest := by
	for _, v := range set {
		if inv, ok := first[v]; !ok {
			return v
		} else if inv > latest {
			value, latest = v, inv
		}
	}
	return value
}

// choices returns every way to choose n items of list.
func choices(list []int32, n int) (all [][]int32) {
	for i, x := range list {
		if n == 1 {
			all = append(all, []int32{x})
			continue
		}
		for _, y := range list[i+1:] {
			all = append(all, []int32{x, y})
		}
	}
	return all
}

// tryGrowSetCore makes a choice the core if the choice is not linearizable.
func tryGrowSetCore(in fastpath.Input, sets [][]int32, reads, values []int32, d *fastpath.Decision) bool {
	sub := in
	sub.Columns = &models.Columns{Events: in.Events}
	var seen [][]int32
	var core []int32
	for i, kind := range in.Kind {
		op := in.Op(int32(i))
		switch {
		case kind == models.Add && slices.Contains(values, in.A[i]):
		case kind == models.ReadSet && slices.Contains(reads, int32(i)):
			var set []int32
			for _, v := range values {
				if _, has := slices.BinarySearch(sets[in.A[i]], v); has {
					set = append(set, v)
				}
			}
			op.A = int32(len(seen))
			seen = append(seen, set)
		default:
			continue
		}
		sub.Append(in.Inv[i], in.Res[i], op)
		core = append(core, int32(i))
	}
	r := decideGrowSet(sub, seen, false)
	if r.Verdict != jepsen.Invalid {
		return false
	}
	d.Core, d.Why = core, r.Why
	d.Why.Renumber(func(o models.Row) models.Row { return core[o] })
	return true
}

// explainReads completes a core of some values. It adds the first adds of
// all other values in the reads of the core, except for the read that fails.
func explainReads(in fastpath.Input, sets [][]int32, fail int32, values []int32, d *fastpath.Decision) {
	held := make([]bool, in.IDs)
	for _, i := range d.Core {
		if in.Kind[i] == models.ReadSet && i != fail {
			for _, v := range sets[in.A[i]] {
				held[v] = !slices.Contains(values, v)
			}
		}
	}
	for _, i := range d.Before {
		if in.Kind[i] == models.Add && held[in.A[i]] {
			held[in.A[i]] = false
			d.Core = append(d.Core, i)
		}
	}
	slices.Sort(d.Core)
}

// firstAdd returns the first add of a value, or Missing.
func firstAdd(in fastpath.Input, value int32) models.Row {
	for i, kind := range in.Kind {
		if kind == models.Add && in.A[i] == value {
			return int32(i)
		}
	}
	return fastpath.Missing
}

// Incomparable: two reads of sets, neither of which contains the other.
var Incomparable = &fastpath.Pattern{Name: "incomparable", Kind: models.LongFork, Says: "{name 0} and {name 1}: neither read contains the other, so neither can have come first"}

// NotRead (shown, read): shown added a value or read it (Initial: it was there initially).
// It had returned before read, which did not read the value, was invoked.
var NotRead = &fastpath.Pattern{Name: "not-read", Kind: models.LostElement, Relate: fastpath.Against(0, 1), Choose: func(t models.Teller, v []models.Row) string {
	if v[0] == fastpath.Initial {
		return "{name 1} is missing {elements}, which was there initially"
	}
	if t.Op(v[0]).Kind == models.Add {
		return "{name 1} is missing {value 0}, although {name 0} had completed before the read began"
	}
	return "{name 1} is missing {elements}, which {name 0} had seen before"
}}

// AddedBefore (first, second, read): first added a value (Initial: it was there initially). It
// had returned before second, which was the first to add another value, was
// invoked. But read read the other value without the first.
var AddedBefore = &fastpath.Pattern{Name: "added-before", ChooseKind: addedBefore, Relate: fastpath.Steps(fastpath.Returned(0, 1), fastpath.Seen(1, 2), fastpath.Must(2, 0)), Choose: func(_ models.Teller, v []models.Row) string {
	if v[0] == fastpath.Initial {
		return "{name 2} is missing {elements}, which was there initially"
	}
	return "{name 2} contains {value 1}, but not {value 0}, although {name 0} had completed before {name 1} began"
}}

// addedBefore is AddedBefore.ChooseKind. Nothing added an initial element.
func addedBefore(_ models.Teller, v []models.Row) models.Anomaly {
	if v[0] == fastpath.Initial {
		return models.LostElement
	}
	return models.CausalReverse
}

// NotASet: the operation read something that is not a set.
var NotASet = &fastpath.Pattern{Name: "not-a-set", Says: "{name 0} read something that is not a set"}
