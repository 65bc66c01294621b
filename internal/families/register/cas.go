package register

import (
	"fmt"
	"slices"

	"clew/fastpath"
	"clew/internal/hugepages"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// # CAS register
//
// Decides: Read, Write and CAS of one register with an initial value. A cas that crashed may have
// failed, and then it did nothing. FailedCAS is not supported: it makes a history ambiguous.
//
// Precondition: the value that a completed read or cas saw has exactly one
// possible producer: the initial value, a write or a cas, including crashed
// ones. Here "possible" is narrower than "of the same value":
//
//   - the producer was invoked before its effect was first known, and
//   - (the prune) no completed operation that replaced the value or saw another
//     one lies entirely between producer and reader.
//
// Cost: O(operations + ids), no sort.
//
// Rests on: Gibbons and Korach's zones (zones.go), with chains as blocks. A cas stands directly
// after what it saw; only reads may come between. So a write, the cas that replaced it, the cas
// that replaced that, and so on, form one block with their reads. Its order is fixed.
//
// Crashed operations: an operation whose value was never seen is omitted, as for the
// register. If a completed operation saw the value of a crashed one, the crashed one did
// happen. If that was a cas, so did the one whose value it saw. So "known" is followed back
// from every completed reader. All of them have happened by the time of the first reader.
//
// If values are ambiguous, the blocks of what is known are still blocks or parts of blocks, so a
// violation among them is a violation. Only a cas whose producer is unknown does not begin a block.
//
// The core is as for the register (register.go).

var casRegister = &fastpath.Algorithm{Decide: decideCAS, Needs: needsProducers, Step: stepRegister, Later: laterWriter}

// prune is set to false in tests, to switch off the prune. The prune rules
// out ambiguity; it never changes a verdict.
var prune = true

// A node is something that can produce a value: the initial value is node
// first, operation i is node i+2, and 0 is not a node.
const first int32 = 1

func nodeOf(op int32) int32 { return op + 2 }
func opOf(node int32) int32 { return node - 2 } // Initial for first

// casNode is what is known about an operation, mostly as a producer.
type casNode struct {
	known          int32 // the node of the completed operation that first showed that this one happened
	next           int32 // the cas that replaced its value
	minRes, maxInv int32 // over the reads that saw its value
}

// tops holds the two producers of a value that return last, among those invoked so
// far. If a reader cannot have seen one producer, it cannot have seen any that
// returned earlier. So these two show whether none, one or several can have been seen.
type tops struct{ last, second int32 }

type casPass struct {
	fastpath.Input
	nodes  []casNode
	values []tops
	prune  *replaced // nil: do not prune
	saw    []int32   // for the witness: the node that each read saw
	linked int32     // how many cas have a known producer
	fastpath.Result
}

// decideCAS first tries without the prune, which costs more than everything else.
func decideCAS(in fastpath.Input, witness bool) fastpath.Result {
	for i, kind := range in.Kind {
		if kind > models.CAS {
			return fastpath.Result{Reason: fastpath.Unsupported.Of(int32(i))}
		}
	}
	a := newCASPass(in, witness)
	r := a.decide()
	if r.Reason.Is(fastpath.Repeated) && prune {
		a = newCASPass(in, witness)
		a.prune = newReplaced(in)
		r = a.decide()
	}
	return r
}

func newCASPass(in fastpath.Input, witness bool) casPass {
	a := casPass{Input: in, nodes: hugepages.Make[casNode](in.Len() + 2), values: hugepages.Make[tops](in.IDs)}
	a.nodes[first] = casNode{minRes: models.Open, maxInv: -1}
	a.values[in.Init].last = first
	if witness {
		a.saw = hugepages.Make[int32](in.Len())
	}
	return a
}

func (a *casPass) decide() fastpath.Result {
	ends := a.Returns()
	a.Poll()
	if !a.link(ends) {
		return a.Result
	}
	a.Poll()
	clear(ends)
	a.order(zones(ends))
	return a.Result
}

// leaves returns the value that an operation leaves, if it changes the state.
func leaves(in fastpath.Input, o int32) (value int32, ok bool) {
	switch in.Kind[o] {
	case models.Write:
		return in.A[o], true
	case models.CAS:
		return in.B[o], in.A[o] != in.B[o]
	}
	return 0, false
}

// isRead also returns true for a cas that changes nothing.
func (a *casPass) isRead(o int32) bool {
	return a.Kind[o] == models.Read || a.Kind[o] == models.CAS && a.A[o] == a.B[o]
}

func (a *casPass) inv(node int32) int32 {
	if node == first {
		return -1
	}
	return a.Inv[opOf(node)]
}

func (a *casPass) res(node int32) int32 {
	if node == first {
		return -1
	}
	return a.Res[opOf(node)]
}

// link goes through the events and finds what each completed operation saw,
// at its return. It reports whether there is reason to continue.
func (a *casPass) link(ends []int32) bool {
	next := 0 // operation to be invoked
	for t, e := range ends {
		switch {
		case e != 0:
			if !a.complete(e - 1) {
				return false
			}
		case next < len(a.Inv) && a.Inv[next] == int32(t):
			a.invoke(int32(next))
			next++
		}
	}
	return true
}

// invoke makes an operation a possible producer of the value that it leaves.
func (a *casPass) invoke(o int32) {
	x := nodeOf(o)
	a.nodes[x] = casNode{minRes: models.Open, maxInv: -1}
	v, ok := leaves(a.Input, o)
	if !ok {
		return
	}
	top := &a.values[v]
	switch {
	case top.last == 0 || a.Res[o] > a.res(top.last):
		top.last, top.second = x, top.last
	case top.second == 0 || a.Res[o] > a.res(top.second):
		top.second = x
	}
}

// complete follows known effects back from a returning operation.
func (a *casPass) complete(o int32) bool {
	by := nodeOf(o)
	for a.nodes[nodeOf(o)].known == 0 {
		a.nodes[nodeOf(o)].known = by
		if a.Kind[o] == models.Write {
			return true
		}
		p, ok := a.producer(o)
		if !ok {
			return a.Verdict != jepsen.Invalid && (a.prune != nil || !prune)
		}
		if !a.attach(o, p) {
			return false
		}
		if p == first {
			return true
		}
		o = opOf(p)
	}
	return true
}

// producer returns the node whose value o can have seen, if there is only
// one. If there is none, the history is invalid.
func (a *casPass) producer(o int32) (node int32, ok bool) {
	top := a.values[a.A[o]]
	last, second := top.last, top.second
	if a.prune != nil {
		if second != 0 && a.prune.replacedBefore(a.res(second), a.A[o], a.Inv[o]) {
			second = 0
		}
		if last != 0 && a.prune.replacedBefore(a.res(last), a.A[o], a.Inv[o]) {
			last = 0
		}
	}
	switch {
	case top.last == 0:
		a.fail(NeverWritten.Of(o, fastpath.Missing))
	case last == 0:
		q := a.prune.by(a.res(top.last), a.A[o])
		a.fail(Overwritten.Of(o, opOf(top.last), q))
	case second != 0:
		if a.Reason == nil {
			a.Reason = fastpath.Repeated.Of(o, opOf(second), opOf(last))
		}
	default:
		return last, true
	}
	return 0, false
}

// attach records that o saw what node p left. Two cas cannot have seen the same node.
func (a *casPass) attach(o, p int32) bool {
	x := &a.nodes[p]
	if a.isRead(o) {
		x.minRes, x.maxInv = min(x.minRes, a.Res[o]), max(x.maxInv, a.Inv[o])
		if a.saw != nil {
			a.saw[o] = p
		}
		return true
	}
	if x.next != 0 {
		a.fail(ReplacedTwice.Of(opOf(x.next), o, opOf(p)))
		return false
	}
	x.next = nodeOf(o)
	a.linked++
	return true
}

// order puts the chains in order, or finds that they have no order.
func (a *casPass) order(z zones) {
	start, ok := a.chain(first)
	if !ok {
		return
	}
	end := start.maxInv
	var starts []int32
	if a.saw != nil {
		starts = hugepages.Make[int32](a.Events)
	}
	for i, kind := range a.Kind {
		x := nodeOf(int32(i))
		if kind != models.Write || a.nodes[x].known == 0 {
			continue
		}
		b, ok := a.chain(x)
		if !ok {
			return
		}
		if s := z.add(b); starts != nil {
			starts[s] = x
		}
	}
	if x, y, found := z.clash(end); found {
		a.fail(whyReplaced(a.Input, x, y))
		return
	}
	if a.Reason != nil {
		return
	}
	if a.linked != 0 {
		a.fail(Circle.Of(a.circle()...))
		return
	}
	a.Verdict = jepsen.Valid
	if a.saw != nil {
		a.Witness = a.casWitness(starts)
	}
}

// chain walks along the cas that follow node x and sums up the block. An operation
// in the block must not return before one that stands earlier in it was invoked.
func (a *casPass) chain(x int32) (b block, ok bool) {
	b = block{models.Open, -1}
	for p := x; p != 0; p = a.nodes[p].next {
		n := &a.nodes[p]
		if p != first {
			if a.res(p) < b.maxInv {
				a.backwards(a.res(p), b.maxInv)
				return b, false
			}
			b.minRes, b.maxInv = min(b.minRes, a.res(p)), max(b.maxInv, a.inv(p))
		}
		if n.minRes < b.maxInv {
			a.backwards(n.minRes, b.maxInv)
			return b, false
		}
		b.minRes, b.maxInv = min(b.minRes, n.minRes), max(b.maxInv, n.maxInv)
		if p != x {
			a.linked--
		}
	}
	return b, true
}

// backwards fails because an operation returned at event res, before an
// operation that it depends on was invoked at event inv.
func (a *casPass) backwards(res, inv int32) {
	a.fail(Backwards.Of(a.OpReturning(res), a.OpInvoked(inv)))
}

// fail makes the history invalid. The operations of the violation show this, together with those
// that show that they happened. When all of these have returned, the history has gone wrong.
func (a *casPass) fail(why *fastpath.Finding) {
	a.Result = fastpath.Result{Verdict: jepsen.Invalid, Why: why}
	for _, o := range why.Rows {
		if o < 0 {
			continue
		}
		a.Keys = append(a.Keys, o)
		if by := a.nodes[nodeOf(o)].known; by != 0 {
			a.Keys = append(a.Keys, opOf(by))
			a.End = max(a.End, a.res(by))
		}
	}
}

// Overwritten (reader, writer, replacer): reader saw a value last written by writer (or Initial).
// But replacer, which ran between them, had replaced the value or seen another one.
var Overwritten = &fastpath.Pattern{Name: "overwritten", Relate: fastpath.Against(2, 0),
	ChooseKind: func(t models.Teller, v []models.Row) models.Anomaly { return sawOld(t, v[0]) }, Choose: func(_ models.Teller, v []models.Row) string {
		if v[1] == fastpath.Initial {
			return "{did 0} after {had 2}; value {value 0} is the initial value"
		}
		return "{did 0} after {had 2}; before that, {had 1}"
	}}

// Backwards (later, earlier): in a chain of cas, each of which replaces what the one before
// it left, later comes after earlier. Each is a link, or a read of what a
// link left. But later had returned before earlier was invoked.
var Backwards = &fastpath.Pattern{Name: "backwards", Relate: fastpath.Against(0, 1), ChooseKind: sawInChain, Choose: func(t models.Teller, v []models.Row) string {
	later, earlier := t.Op(v[0]), t.Op(v[1])
	value, from := t.Text(left(later)), t.Text(left(earlier))
	made := fmt.Sprintf("value %s can only have been made from value %s", value, from)
	switch {
	case left(later) == left(earlier):
		return "{did 1} after {had 0}, but nothing else can have left value " + value
	case left(earlier) != earlier.A:
		return "{did 1} after {had 0}, but " + made
	case later.Kind == models.CAS && later.A == earlier.A:
		return "{did 1} after {had 0}, and nothing can have brought value " + from + " back"
	}
	return "{did 1} after {had 0}, but " + made + ", and nothing can have brought that back"
}}

// left returns the value that is there after an operation of a chain of cas.
func left(op models.Op) int32 {
	if op.Kind == models.CAS {
		return op.B
	}
	return op.A
}

// sawInChain is Backwards.ChooseKind. A late read saw what the chain had replaced. A late link had already been seen.
func sawInChain(t models.Teller, v []models.Row) models.Anomaly {
	if op := t.Op(v[1]); op.Kind == models.Read || op.A == op.B {
		return models.StaleRead
	}
	return models.FutureRead
}

// ReplacedTwice (first, second, writer): first and second are cas operations that both replaced
// the single value that writer (or Initial) had written.
var ReplacedTwice = &fastpath.Pattern{Name: "replaced-twice", Kind: models.LostUpdate, Relate: fastpath.Steps(fastpath.Seen(2, 0), fastpath.Seen(2, 1)), Choose: func(_ models.Teller, v []models.Row) string {
	left := "what {who 2} had written"
	if v[2] == fastpath.Initial {
		left = "the initial value"
	}
	return "only one operation can have replaced " + left + ", but {did 0}, and {did 1}"
}}

// Circle: each operation is a cas that saw a value which only the next one leaves,
// and the last one saw the value of the first. So none can have come first.
var Circle = &fastpath.Pattern{Name: "circle", Kind: models.Circular,
	Choose: func(_ models.Teller, v []models.Row) string {
		each := make([]string, len(v))
		for i := range v {
			each[i] = fmt.Sprintf("{did %d}", i)
		}
		return "none of these can have come first: " + text.AllOf(each)
	},
	Relate: func(v []models.Row) []models.Relation {
		each := make([]models.Relation, len(v))
		for i, op := range v {
			each[i] = fastpath.Seen(v[(i+1)%len(v)], op)
		}
		return each
	}}

// circle finds cas operations that each saw what another of them left.
func (a *casPass) circle() []int32 {
	in := make([]bool, len(a.nodes)) // reached from a chain's start
	mark := func(x int32) {
		for ; x != 0 && !in[x]; x = a.nodes[x].next {
			in[x] = true
		}
	}
	mark(first)
	for i, kind := range a.Kind {
		if kind == models.Write {
			mark(nodeOf(int32(i)))
		}
	}
	for x := first + 1; int(x) < len(in); x++ {
		if !in[x] && a.nodes[x].next != 0 {
			var ops []int32
			for p := x; len(ops) == 0 || p != x; p = a.nodes[p].next {
				ops = append(ops, opOf(p))
			}
			slices.Reverse(ops)
			return ops
		}
	}
	return nil
}

// casWitness puts the blocks in the order of their zones' starts. Each block
// follows its chain, with the reads of each node directly after the node.
func (a *casPass) casWitness(starts []int32) []int32 {
	after := hugepages.Make[int32](len(a.nodes)) // where the next read of a node goes
	for _, p := range a.saw {
		after[p]++
	}
	order := hugepages.Make[int32](a.Len())
	k := a.place(first, order, after, 0)
	for _, x := range starts {
		if x != 0 {
			k = a.place(x, order, after, k)
		}
	}
	for o, p := range a.saw {
		if p != 0 {
			order[after[p]] = int32(o)
			after[p]++
		}
	}
	return order[:k]
}

// place puts a chain into the order from position k on and leaves room for its reads. At first,
// after holds how many reads each node has; place replaces this with the position of the next read.
func (a *casPass) place(x int32, order, after []int32, k int32) int32 {
	for p := x; p != 0; p = a.nodes[p].next {
		if p != first {
			order[k] = opOf(p)
			k++
		}
		k, after[p] = k+after[p], k
	}
	return k
}

// replaced knows the event by which a value had certainly been replaced.
type replaced struct {
	in   fastpath.Input
	next []int32 // by event: the first operation invoked at it or later
	from []soon  // by operation: about it and those invoked later
}

// soon describes some completed operations: the one that returns first, and
// the first to return among those that do not confirm the same value.
type soon struct {
	res1, value1 int32 // the value that the operation saw and kept; -1 if it replaced a value
	res2         int32
}

func newReplaced(in fastpath.Input) *replaced {
	n := in.Len()
	r := &replaced{in, make([]int32, in.Events+1), make([]soon, n+1)}
	s := soon{models.Open, -1, models.Open}
	r.from[n] = s
	t := in.Events
	for i := n - 1; i >= 0; i-- {
		for ; t > in.Inv[i]; t-- {
			r.next[t] = int32(i) + 1
		}
		value, res := in.A[i], in.Res[i]
		if _, changes := leaves(in, int32(i)); changes {
			value = -1
		}
		switch {
		case res < s.res1:
			if value != s.value1 {
				s.res2 = s.res1
			}
			s.res1, s.value1 = res, value
		case value != s.value1:
			s.res2 = min(s.res2, res)
		}
		r.from[i] = s
	}
	return r
}

// until returns the event by which value had been replaced. An operation
// that returned at event res produced value; a later operation that returns
// at the resulting event wrote, or saw another value.
func (r *replaced) until(res, value int32) int32 {
	if res == models.Open {
		return models.Open
	}
	s := r.from[r.next[res+1]]
	if s.value1 == value {
		return s.res2
	}
	return s.res1
}

func (r *replaced) replacedBefore(res, value, event int32) bool {
	return r.until(res, value) <= event
}

// by returns the operation that returns at the event given by until.
func (r *replaced) by(res, value int32) int32 {
	return r.in.OpReturning(r.until(res, value))
}
