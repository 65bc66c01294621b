package fallback

import (
	"cmp"
	"context"
	"slices"

	"clew/jepsen"
	"clew/models"
)

// maxCoreChecks bounds the decisions that are spent on a core, and maxCoreRows
// the operations in all of them. maxCheckWork bounds the work of each, and
// maxCoreWork that of all. A part of the history can be much harder than the
// whole: without its reads, nothing says which crashed operations have
// happened. maxLooked bounds the operations that all passes of visibility look
// at. Beyond any bound the core is still not linearizable, but may be larger
// than necessary.
const (
	maxCoreChecks = 300
	maxCoreRows   = 500_000
	maxCheckWork  = 10_000_000
	maxCoreWork   = 50_000_000
	maxLooked     = 1_000_000
)

// Core finds a small part of the operations that is still not linearizable if
// cut at fail, the event of the first failing completion. Its rows ascend, and
// the failing operation is among them.
//
// Leaving out the following does not make a linearizable history fail:
//
//   - operations that change nothing;
//   - the operations of a value, if the model is closed under dropping a
//     value and this one was not there at first (for values that some operation
//     ties together, all of theirs);
//   - operations whose values none of the remaining operations can have seen,
//     if a value is gone once another replaces it (visibility.go). This may also
//     turn out to hold for a model of few states;
//   - any operations, if what they make does not count without them (models.Traits.Alone).
//
// So a part that still fails shows a real failure, and more operations never
// make it succeed. The bisection rests on this. For the same reason no part
// fails earlier: as a history of its own, the core first fails at fail. If a
// model allows none of this, as with locks, everything up to the failure is the
// core.
func Core(ctx context.Context, engine Engine, ops *models.Operations, fail int32, lim Limits) []models.Row {
	m := &minimizer{ops: ops, fail: fail, ctx: ctx, engine: engine, limits: lim}
	var rows []models.Row
	for i := models.Row(0); i < models.Row(ops.Len()) && ops.Inv[i] < fail; i++ {
		if ops.Res[i] <= fail || ops.Model.Mutates(ops.Op(i)) {
			rows = append(rows, i)
		}
	}
	traits := ops.Model.Traits()
	if v := traits.Visibility; v != nil && !Counts(ops.Model) {
		return m.replaced(v, rows, m.failing(v, rows))
	}
	if traits.FindVisibility != nil {
		if r := traits.FindVisibility(ops); r != nil {
			if window := m.failing(r, rows); len(window) < len(rows) || len(rows) <= maxWholeRows {
				return m.replaced(r, rows, window)
			}
			m.visibility = nil
		}
	}
	if traits.Alone != nil {
		rows = m.minimize(split(rows, func(i int32) bool { return !m.isFailing(i) }))
		slices.Sort(rows)
		return rows
	}
	rows = m.minimize(split(rows, m.readOnly))
	if Counts(ops.Model) {
		return m.counted(rows)
	}
	if v := traits.Droppable; v != nil {
		rows = m.minimize(m.values(v, rows))
		rows = m.minimize(split(rows, m.readOnly))
	}
	slices.Sort(rows)
	return rows
}

// minimizer looks for a small set of units that still fails.
type minimizer struct {
	ops        *models.Operations
	fail       int32
	ctx        context.Context
	engine     Engine
	limits     Limits
	visibility *visibility // if not nil, only operations within it may be left out
	checks     int
	rows       int   // of all checks
	work       int64 // the same
	looked     int   // rows that visibility looked at
}

// spent says whether the bounds are reached or the context is done.
func (m *minimizer) spent() bool {
	return m.checks >= maxCoreChecks || m.rows >= maxCoreRows || m.work >= maxCoreWork || m.looked >= maxLooked || m.ctx.Err() != nil
}

func (m *minimizer) isFailing(i int32) bool { return m.ops.Res[i] == m.fail }

// fails says whether rows are not linearizable. It returns false if it cannot find out.
func (m *minimizer) fails(rows []int32) bool {
	if m.spent() {
		return false
	}
	slices.Sort(rows)
	if m.visibility != nil {
		rows = m.visibility.within(m.ctx, rows)
		m.looked, m.visibility.looked = m.looked+m.visibility.looked, 0
		if !slices.ContainsFunc(rows, m.isFailing) {
			return false
		}
	}
	m.checks, m.rows = m.checks+1, m.rows+len(rows)
	cut := m.ops.Alone(rows, m.fail)
	return m.decide(cut.Operations).Verdict == jepsen.Invalid
}

// decide decides a part within the bounds.
func (m *minimizer) decide(ops *models.Operations) Answer {
	ctx, lim, stop := m.limits.Within(m.ctx, min(maxCheckWork, maxCoreWork-m.work))
	defer stop()
	a := m.engine.Decide(ctx, ops, lim)
	m.work += a.Work
	return a
}

// minimize keeps only those units that are needed to make fixed and the units
// fail. The shortest failing prefix of the list of units ends in a needed one.
// minimize fixes that one and repeats this: |core| log |units| checks.
func (m *minimizer) minimize(fixed []int32, units [][]int32) []int32 {
	with := func(n int) []int32 {
		rows := slices.Clone(fixed)
		for _, u := range units[:n] {
			rows = append(rows, u...)
		}
		return rows
	}
	for len(units) > 0 && !m.fails(with(0)) {
		low, high := 0, len(units) // with(low) does not fail, with(high) does
		for n := 1; n < high; n *= 2 {
			if m.fails(with(n)) {
				high = n
			} else {
				low = n
			}
		}
		for high-low > 1 {
			if middle := low + (high-low)/2; m.fails(with(middle)) {
				high = middle
			} else {
				low = middle
			}
		}
		if m.spent() {
			return with(high) // the bisection may have been cut short
		}
		fixed = append(slices.Clone(fixed), units[high-1]...)
		units = units[:high-1]
	}
	return fixed
}

// split divides rows into those that stay and those that may go one by one,
// latest first.
func split(rows []int32, mayGo func(int32) bool) (stay []int32, units [][]int32) {
	slices.Sort(rows)
	for _, i := range slices.Backward(rows) {
		if mayGo(i) {
			units = append(units, []int32{i})
		} else {
			stay = append(stay, i)
		}
	}
	return stay, units
}

// readOnly says whether a row changes nothing. The failing one always stays.
func (m *minimizer) readOnly(i int32) bool {
	return m.ops.Res[i] != m.fail && !m.ops.Model.Mutates(m.ops.Op(i))
}

// firstWindow is how many operations the first window holds.
const firstWindow = 16

// maxWholeRows bounds the rows that are searched as a whole for a model that
// turned out to have Visibility. Often no window fails for it, as what an operation
// sees may reach back to the first one.
const maxWholeRows = 1000

// failing returns a window of the rows that fails, for a model in which a value is
// gone once another replaces it. It tries windows of the rows that return last,
// each larger than the one before. If none of them fails, it returns all rows.
func (m *minimizer) failing(r *models.Visibility, rows []int32) []int32 {
	slices.Sort(rows)
	byRes := slices.Clone(rows)
	slices.SortFunc(byRes, func(a, b int32) int { return cmp.Compare(m.ops.Res[b], m.ops.Res[a]) })
	late, _ := slices.BinarySearchFunc(byRes, m.fail, func(a, t int32) int { return cmp.Compare(t, m.ops.Res[a]) })
	for n := firstWindow; late+n < len(rows) && !m.spent(); n *= 4 {
		some := slices.Clone(byRes[:late+n])
		slices.Sort(some)
		m.visibility = newVisibility(m.ops, r, rows, some)
		if m.fails(slices.Clone(some)) {
			return m.visibility.within(context.Background(), some)
		}
	}
	return rows
}

// replaced returns a small part of a window of the rows that fails.
func (m *minimizer) replaced(r *models.Visibility, rows, window []int32) []int32 {
	for n := len(rows) + 1; len(rows) < n && !m.spent(); {
		m.visibility = newVisibility(m.ops, r, rows, window)
		window = m.minimize(split(window, func(i int32) bool { return !m.isFailing(i) }))
		slices.Sort(window)
		n = len(rows)
		rows, window = m.withoutValues(r, rows, m.visibility.within(context.Background(), window))
	}
	return window
}

// withoutValues leaves values out of the rows, as long as the rest of the
// window still fails and is closed in the rest of the rows.
func (m *minimizer) withoutValues(r *models.Visibility, rows, window []int32) (fewer, left []int32) {
	v := m.ops.Model.Traits().Droppable
	if v == nil {
		return rows, window
	}
	_, units := m.values(v, rows)
	for _, unit := range units {
		if m.spent() {
			break
		}
		slices.Sort(unit)
		if left := minus(window, unit); len(left) < len(window) {
			fewer := minus(rows, unit)
			m.visibility = newVisibility(m.ops, r, fewer, left)
			if m.fails(slices.Clone(left)) {
				rows, window = fewer, m.visibility.within(context.Background(), left)
			}
		}
	}
	return rows, window
}

// minus returns the rows of a that are not in b; both ascend.
func minus(a, b []int32) []int32 {
	var rest []int32
	for _, x := range a {
		if _, in := slices.BinarySearch(b, x); !in {
			rest = append(rest, x)
		}
	}
	return rest
}

// values divides rows by the values that they touch. A row stays if it touches no
// value, a value of the failing operation, or a value that lasts. The others may
// go value by value, starting with the value that was touched last.
func (m *minimizer) values(v *models.Droppable, rows []int32) (stay []int32, units [][]int32) {
	parent := map[int32]int32{}
	var root func(x int32) int32
	root = func(x int32) int32 {
		p, seen := parent[x]
		if !seen || p == x {
			parent[x] = x
			return x
		}
		parent[x] = root(p)
		return parent[x]
	}
	var staying []int32
	if v.Lasting != nil {
		staying = v.Lasting()
	}
	for _, i := range rows {
		touched, all := v.Touches(m.ops.Op(i))
		if all {
			return rows, nil
		}
		for _, x := range touched {
			parent[root(x)] = root(touched[0])
		}
		if m.ops.Res[i] == m.fail {
			staying = append(slices.Clone(staying), touched...)
		}
	}
	for _, x := range staying {
		parent[root(x)] = root(staying[0])
	}
	slices.Sort(rows)
	at := map[int32]int{}
	for _, i := range slices.Backward(rows) {
		touched, _ := v.Touches(m.ops.Op(i))
		if len(touched) == 0 || len(staying) > 0 && root(touched[0]) == root(staying[0]) {
			stay = append(stay, i)
			continue
		}
		u, seen := at[root(touched[0])]
		if !seen {
			u = len(units)
			at[root(touched[0])] = u
			units = append(units, nil)
		}
		units[u] = append(units[u], i)
	}
	return stay, units
}

// Smaller returns a core without the operations that it does not need. It is for models
// whose near-linear decision finds larger cores than Core does. These are maps whose keys
// are decided as registers, and registers that count their updates. It has the bounds of
// Core, and keeps the core where minimizing would take longer than the decision did.
// maxLinear bounds the operations, and maxLongCounted the core of a register that counts.
func Smaller(ctx context.Context, engine Engine, ops *models.Operations, core []models.Row, fail int32, lim Limits) []models.Row {
	m := &minimizer{ops: ops, fail: fail, ctx: ctx, engine: engine, limits: lim}
	if Counts(ops.Model) {
		if len(core) > maxLongCounted {
			return core
		}
		return m.counted(core)
	}
	if r := ops.Model.Traits().Visibility; r != nil && ops.Len() <= maxLinear {
		return m.replaced(r, m.visible(r, core), core)
	}
	return core
}

const (
	maxCounted     = 200     // operations of a register that counts: all bounds of Core are used
	maxCountedRows = 100_000 // what is left of maxCoreRows above that
	maxLongCounted = 2_000   // a core of more is left as it is
	maxLinear      = 100_000
)

// visible returns a core and the operations that make a cell that the core
// sees, in order.
func (m *minimizer) visible(r *models.Visibility, core []models.Row) []models.Row {
	seen, all := map[models.Cell]bool{}, false
	for _, row := range core {
		cells, every := r.Sees(nil, m.ops.Op(row))
		all = all || every
		for _, cell := range cells {
			seen[cell] = true
		}
	}
	var rows []models.Row
	var made []models.Cell
	for row := models.Row(0); row < models.Row(m.ops.Len()) && m.ops.Inv[row] < m.fail; row++ {
		made = r.Makes(made[:0], m.ops.Op(row))
		_, inside := slices.BinarySearch(core, row)
		if inside || len(made) > 0 && all || slices.ContainsFunc(made, func(cell models.Cell) bool { return seen[cell] }) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Counts says whether a model counts its updates, as some registers do. A sub-history of such
// a model lacks versions, and fails where the first one is missing. So its core fails
// at the failing operation as a history of its own, and would not without any other of its
// operations.
func Counts(m models.Model) bool {
	_, counts := models.ShapeOf[models.VersionsShape](m)
	p := m.Traits().Positions
	return counts || p != nil && p.Dense
}

// maxSingles bounds the rows that are each looked at once more.
const maxSingles = 64

// counted leaves out of a core what it does not need: reads first, then updates that did
// not return, then the latest versions. It leaves out more of them at a time as long as
// that works. If a version has to stay, those below it have to stay too, except in odd
// cases where another update can take the place of one. Those are looked at if there are
// few rows.
func (m *minimizer) counted(core []models.Row) []models.Row {
	failing := slices.IndexFunc(core, m.isFailing)
	if failing < 0 {
		return core
	}
	kept := slices.Delete(slices.Clone(core), failing, failing+1)
	slices.SortStableFunc(kept, func(a, b models.Row) int {
		return cmp.Or(cmp.Compare(m.lateness(a), m.lateness(b)), cmp.Compare(m.ops.A[a], m.ops.A[b]))
	})
	for n := len(kept) + 1; len(kept) < n && !m.spent(); {
		n = len(kept)
		size := 1
		if n > maxCounted { // all reads at once
			if first := slices.IndexFunc(kept, func(row models.Row) bool { return m.lateness(row) == 2 }); first >= 0 {
				size = n - first
			}
			m.rows = max(m.rows, maxCoreRows-maxCountedRows)
		}
		for end := n; end > 0 && !m.spent(); {
			from := max(0, end-size)
			without := slices.Delete(slices.Clone(kept), from, end)
			switch {
			case m.failsThere(append(slices.Clone(without), core[failing])):
				kept, end, size = without, from, 2*size
			case size > 1:
				size = 1
			case m.lateness(kept[from]) == 0 && len(kept) > maxSingles:
				end = 0
			default:
				end--
			}
		}
		if len(kept) > maxSingles {
			break
		}
	}
	kept = append(kept, core[failing])
	slices.Sort(kept)
	return kept
}

// lateness says what is left out first. It returns 2 for a read, 1 for an update that did not
// return, and 0 for one that did.
func (m *minimizer) lateness(row models.Row) int {
	switch {
	case !m.ops.Model.Mutates(m.ops.Op(row)):
		return 2
	case m.ops.Res[row] > m.fail:
		return 1
	}
	return 0
}

// failsThere says whether rows, as a history of their own, fail at the failing operation.
func (m *minimizer) failsThere(rows []models.Row) bool {
	slices.Sort(rows)
	m.checks, m.rows = m.checks+1, m.rows+len(rows)
	a := m.decide(m.ops.Alone(rows, m.fail).Operations)
	return a.Verdict == jepsen.Invalid && a.FailEvent == m.fail
}
