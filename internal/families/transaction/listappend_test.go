package transaction

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// step is a micro-operation of a small history: it appends a value to a key, or it read a list.
type step struct {
	key   int
	value byte // 0: it read
	list  string
}

// small is a small history of transactions, with the events at which each began and returned.
type small struct {
	models.Columns // A is the place in txns
	txns           [][]step
	init           string // of key 0
}

const keys = 3

// add adds a transaction. Of one that crashed it is not known what it read.
func (h *small) add(inv, res int32, txn []step) {
	if res == models.Open {
		txn = slices.DeleteFunc(slices.Clone(txn), func(s step) bool { return s.value == 0 })
	}
	h.Append(inv, res, models.Op{A: int32(len(h.txns))})
	h.txns = append(h.txns, txn)
}

// shape returns the shape as a model would build it.
func (h *small) shape() models.TxnListsShape {
	numbers := map[[2]byte]int32{}
	number := func(key int, value byte) int32 {
		n, known := numbers[[2]byte{byte(key), value}]
		if !known {
			n = int32(len(numbers))
			numbers[[2]byte{byte(key), value}] = n
		}
		return n
	}
	numbered := func(key int, list string) (all []int32) {
		for _, value := range []byte(list) {
			all = append(all, number(key, value))
		}
		return all
	}
	s := models.TxnListsShape{Slots: keys, From: []int32{0}, Longest: make([][]int32, keys), Value: func(e int32) edn.ID { return edn.ID(e) }, Init: [][]int32{numbered(0, h.init)}}
	s.Longest[0] = s.Init[0]
	for _, txn := range h.txns {
		for _, x := range txn {
			step := models.ListStep{Slot: int32(x.key), Append: x.value != 0}
			if step.Append {
				step.Value = number(x.key, x.value)
			} else {
				list := numbered(x.key, x.list)
				longest := s.Longest[x.key]
				n := min(len(list), len(longest))
				if step.Value = int32(len(list)); !slices.Equal(list[:n], longest[:n]) {
					s.Odd = append(s.Odd, list)
					step.Value = -int32(len(s.Odd))
				} else if len(list) > n {
					s.Longest[x.key] = list
				}
			}
			s.Steps = append(s.Steps, step)
		}
		s.From = append(s.From, int32(len(s.Steps)))
	}
	s.Elements = len(numbers)
	return s
}

// spec is the meaning of transactions: a state is the list of each key, each followed by a slash.
func (h *small) spec() oracle.Spec {
	return oracle.Spec{Init: h.init + "///", Step: func(dst []string, op models.Op, state string) []string {
		lists := strings.Split(state, "/")
		for _, x := range h.txns[op.A] {
			if x.value != 0 {
				lists[x.key] += string(x.value)
			} else if lists[x.key] != x.list {
				return dst
			}
		}
		return append(dst, strings.Join(lists, "/"))
	}}
}

// alone returns some of the transactions begun before an event, without what others of these append.
func (h *small) alone(some []models.Row, end int32) *small {
	own := func(key int, value byte) bool {
		for row, txn := range h.txns {
			if h.Inv[row] < end && !slices.Contains(some, models.Row(row)) && slices.ContainsFunc(txn, func(x step) bool { return x.key == key && x.value == value }) {
				return false
			}
		}
		return true
	}
	kept := func(key int, list string) (left string) {
		for _, value := range []byte(list) {
			if own(key, value) {
				left += string(value)
			}
		}
		return left
	}
	a := &small{init: kept(0, h.init)}
	a.Events = h.Events
	for _, row := range some {
		var txn []step
		for _, x := range h.txns[row] {
			if x.list = kept(x.key, x.list); x.value == 0 || own(x.key, x.value) {
				txn = append(txn, x)
			}
		}
		a.Append(h.Inv[row], h.Res[row], models.Op{A: int32(len(a.txns))})
		a.txns = append(a.txns, txn)
	}
	return a
}

// repeats says whether a value is appended twice to a key.
func (h *small) repeats() bool {
	seen := map[[2]byte]bool{}
	for _, value := range []byte(h.init) {
		seen[[2]byte{0, value}] = true
	}
	for _, txn := range h.txns {
		for _, x := range txn {
			if x.value != 0 && seen[[2]byte{byte(x.key), x.value}] {
				return true
			}
			seen[[2]byte{byte(x.key), x.value}] = x.value != 0
		}
	}
	return false
}

func (h *small) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "initially %q\n", h.init)
	for row, txn := range h.txns {
		fmt.Fprintf(&b, "%d: %d to %d:", row, h.Inv[row], h.Res[row])
		for _, x := range txn {
			if x.value != 0 {
				fmt.Fprintf(&b, " append %d %c", x.key, x.value)
			} else {
				fmt.Fprintf(&b, " read %d %q", x.key, x.list)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// judge says what is wrong with the decision of a small history, by trying all orders.
func (h *small) judge() (jepsen.Verdict, error) {
	path, _ := Path(h.shape())
	d := path.Decide(context.Background(), &h.Columns, fastpath.WantWitness|fastpath.WantFailure)
	all := oracle.New(&h.Columns, h.spec())
	fail := all.FirstFailing()
	switch {
	case d.Verdict == jepsen.Unknown && h.repeats() && d.Reason.Is(twice):
		return d.Verdict, nil
	case d.Verdict == jepsen.Unknown:
		return d.Verdict, fmt.Errorf("unknown: %v", d.Reason)
	case h.repeats():
		return d.Verdict, fmt.Errorf("a value is appended twice: %v", d.Verdict)
	case (fail < 0) != (d.Verdict == jepsen.Valid):
		return d.Verdict, fmt.Errorf("%v; the first failing completion is %d", d.Verdict, fail)
	case fail < 0:
		return d.Verdict, all.Shows(d.Witness, h.Events)
	case d.FailEvent != fail:
		return d.Verdict, fmt.Errorf("fails at %d, not at %d", fail, d.FailEvent)
	}
	if err := all.Shows(d.Before, fail); err != nil {
		return d.Verdict, fmt.Errorf("before: %w", err)
	}
	if d.Why == nil {
		return d.Verdict, fmt.Errorf("no reason")
	}
	return d.Verdict, h.core(d, fail)
}

// core says what is wrong with a core: it must fail where the whole does, and no smaller one may.
func (h *small) core(d fastpath.Decision, fail int32) error {
	if !slices.IsSorted(d.Core) || len(slices.Compact(slices.Clone(d.Core))) != len(d.Core) {
		return fmt.Errorf("core %v does not ascend", d.Core)
	}
	for _, row := range append(slices.Clone(d.Core), d.Why.Rows...) {
		if later := d.Why.Is(neverAppended) && row == d.Why.Rows[1] && row >= 0 && h.Inv[row] > fail; !later && row >= 0 && !slices.Contains(d.Core, row) {
			return fmt.Errorf("core %v, explained by %v", d.Core, d.Why)
		}
	}
	for subset := range 1 << len(d.Core) {
		var some []models.Row
		for i, row := range d.Core {
			if subset>>i&1 != 0 {
				some = append(some, row)
			}
		}
		a := h.alone(some, fail)
		alone := oracle.New(&a.Columns, a.spec())
		whole := subset == 1<<len(d.Core)-1
		if alone.Linearizable(fail+1, alone.All()) == whole {
			return fmt.Errorf("core %v: linearizable is %t for %v", d.Core, whole, some)
		}
		if whole && !alone.Linearizable(fail, alone.All()) {
			return fmt.Errorf("core %v fails earlier", d.Core)
		}
	}
	return nil
}

// random returns a history of 2 to 6 transactions, each of which takes effect at one instant, except for a few answers that
// are changed.
func random(r *rand.Rand) *small {
	h := &small{}
	value, used := byte('a'), 1+r.IntN(keys)
	if r.IntN(4) == 0 {
		h.init, value = "a", 'b'
	}
	n := 2 + r.IntN(5)
	type open struct {
		txn         []step
		inv         int32
		done, crash bool
	}
	lists := [keys]string{h.init}
	var opened []*open
	var done [][3]int32
	var txns []*open
	wrong := r.IntN(3) > 0
	effect := func(o *open) {
		now := lists
		for i := range o.txn {
			x := &o.txn[i]
			if x.value != 0 {
				now[x.key] += string(x.value)
			} else if x.list = now[x.key]; wrong && r.IntN(3) == 0 {
				x.list = other(r, x.list, byte('a'+r.IntN(6)))
			}
		}
		if o.done = true; r.IntN(12) > 0 { // else it failed, or its appends were lost
			lists = now
		}
	}
	t := int32(0)
	for len(txns) < n || len(opened) > 0 {
		if len(txns) < n && (len(opened) == 0 || r.IntN(3) == 0) {
			o := &open{inv: t, crash: r.IntN(5) == 0}
			for range 1 + r.IntN(3) {
				x := step{key: r.IntN(used)}
				if r.IntN(2) == 0 {
					if x.value = value; r.IntN(60) > 0 {
						value++
					}
				}
				o.txn = append(o.txn, x)
			}
			t++
			txns, opened = append(txns, o), append(opened, o)
			continue
		}
		at := r.IntN(len(opened))
		switch o := opened[at]; {
		case !o.done && r.IntN(2) == 0:
			effect(o)
		case o.crash && r.IntN(2) == 0: // it may never take effect
			done = append(done, [3]int32{int32(slices.Index(txns, o)), models.Open})
			opened = slices.Delete(opened, at, at+1)
		case o.done && !o.crash:
			done = append(done, [3]int32{int32(slices.Index(txns, o)), t})
			opened = slices.Delete(opened, at, at+1)
			t++
		}
	}
	h.Events = t
	slices.SortFunc(done, func(a, b [3]int32) int { return int(a[0] - b[0]) })
	failed := r.IntN(8) == 0 // nothing is known of one then, but what it appends may have been read
	for i, o := range txns {
		if failed && i == 0 {
			continue
		}
		h.add(o.inv, done[i][1], o.txn)
	}
	return h
}

// other returns another list.
func other(r *rand.Rand, list string, value byte) string {
	if len(list) == 0 || r.IntN(6) == 0 {
		return list + string(value)
	}
	at := r.IntN(len(list))
	switch r.IntN(5) {
	case 0:
		return list[:at] + list[at+1:]
	case 1:
		return list[at:] + list[:at]
	case 2:
		return list[:at] + string(value) + list[at:]
	}
	return list[:len(list)-1]
}

// Verdict, first failing completion, witness and core of random histories are those of an exhaustive search.
func TestListAppendIsWhatEveryOrderSays(t *testing.T) {
	r, counts := rand.New(rand.NewPCG(42, 42)), map[jepsen.Verdict]int{}
	for range effort.Histories(4000, 1_000_000) {
		h := random(r)
		verdict, err := h.judge()
		if err != nil {
			t.Fatalf("%v\n%v", err, h)
		}
		counts[verdict]++
	}
	if few := counts[jepsen.Valid] + counts[jepsen.Invalid]; counts[jepsen.Valid] < few/4 || counts[jepsen.Invalid] < few/4 || counts[jepsen.Unknown] == 0 {
		t.Errorf("verdicts %v", counts)
	}
	t.Log(counts)
}

// lists yields all lists of some values without repetition, and one with a value that nothing appended.
func lists(values string, f func(list string)) {
	var extend func(list string)
	extend = func(list string) {
		f(list)
		for _, value := range values {
			if !strings.ContainsRune(list, value) {
				extend(list + string(value))
			}
		}
	}
	extend("")
	f(values[:min(1, len(values))] + "z")
}

// timings are orders of the events of three transactions, by number: each begins and returns, or only begins if it crashes. They
// begin in order.
func timings() (all [][]int) {
	var extend func(order []int, begun int, open []int)
	extend = func(order []int, begun int, open []int) {
		if begun == 3 {
			all = append(all, slices.Clone(order)) // the others crash
		}
		if begun < 3 {
			extend(append(order, begun), begun+1, append(slices.Clone(open), begun))
		}
		for i, x := range open {
			extend(append(order, x), begun, slices.Delete(slices.Clone(open), i, i+1))
		}
	}
	extend(nil, 0, nil)
	return all
}

// Every history of three transactions of two steps on two keys, with any lists as answers. Usually one in some thousands is
// taken; the long mode takes all 28.7 million.
func TestListAppendOnEverySmallHistory(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 0 // else each collection of garbage goes through ever more samples: hardly two stacks here are the same
	const all = 28_704_156
	orders, number, taken := timings(), uint64(0), 0
	stride := all / effort.Histories(6000, all)
	try := func(txns [][]step) {
		for _, order := range orders {
			if number++; number%stride != 0 {
				continue
			}
			h := &small{}
			var inv, res [3]int32
			for i := range inv {
				inv[i], res[i] = -1, models.Open
			}
			for at, x := range order {
				if inv[x] < 0 {
					inv[x] = int32(at)
				} else {
					res[x] = int32(at)
				}
			}
			h.Events = int32(len(order))
			for i, txn := range txns {
				h.add(inv[i], res[i], txn)
			}
			taken++
			if _, err := h.judge(); err != nil {
				t.Fatalf("%v\n%v", err, h)
			}
		}
	}
	for kinds := range 1 << 12 { // two bits for each step: its key, and whether it appends
		appended, txns := [2]string{}, make([][]step, 3)
		for i := range 6 {
			x := step{key: kinds >> (2 * i) & 1}
			if kinds>>(2*i)&2 != 0 {
				x.value = byte('a' + i)
				appended[x.key] += string(x.value)
			}
			txns[i/2] = append(txns[i/2], x)
		}
		var fill func(i int)
		fill = func(i int) {
			switch {
			case i == 6:
				try(txns)
			case txns[i/2][i%2].value != 0:
				fill(i + 1)
			default:
				lists(appended[txns[i/2][i%2].key], func(list string) {
					txns[i/2][i%2].list = list
					fill(i + 1)
				})
			}
		}
		fill(0)
	}
	if t.Logf("%d of %d", taken, number); number != all || taken < 1000 {
		t.Errorf("%d of %d histories", taken, number)
	}
}
