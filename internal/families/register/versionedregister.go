package register

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// # Versioned register
//
// Decides: a register that counts its updates (write, cas), and whose operations
// say the value and the version that they made or read. A is the version plus 1,
// or 0 if an operation does not say it. B is an index into the shape's Args.
//
// Precondition: every update that returned says its version. Then versions order all operations
// that returned, except reads without a version. Most updates that never returned do not say a
// version. They fill gaps: versions that some operation needs but that no returned update made.
// Whether they can do so is decided in two cases: if it is certain which value each gap follows,
// or if none of them is a cas. Otherwise the history may be ambiguous (versiongaps.go). If there
// are such updates, it may also be ambiguous which version a read without one saw.
//
// Cost: O(operations + u log u + r log operations), if u updates never returned and r reads have
// no version. If the gaps are hard to fill, up to stepsPerOperation more steps for each operation.
// Finding the first failing completion repeats all this for every halving of the history.
//
// Rests on: the order of versions. It is a linearization if each operation
// returned after all operations before it were invoked, which a running
// maximum shows. Reads of one version may stand in any order.
//
// Consider a read without a version, and the versions of operations that had returned before it began.
// It goes to the first version with its value that is not before any of these. No linearization has it
// earlier. So if that is too late for one of these reads, there is no linearization.
//
// Crashed operations: they are omitted unless they fill a gap.
//
// # Core
//
// A choice of operations leaves room for others: operations that are not chosen may have made any version, with
// any value, at any time. If one or two operations contradict this, they are the core. It also has the updates
// up to the version of the one that does not fail. So the core fails at the same operation as a history of its
// own. If updates are missing, so that no version is possible for the failing operation, that operation is the
// core. It also has the operation after which they are missing. If it cannot have any of the versions that it
// might have, the core is the history up to the failure. Callers remove what is not needed (fallback.Smaller).

// versionedRegister decides a history of Read, Write and CAS on a versioned register.
func versionedRegister(ctx context.Context, c *models.Columns, register models.VersionsShape, want fastpath.Want) fastpath.Decision {
	for i, kind := range c.Kind {
		if kind > models.CAS {
			return fastpath.Undecided(fastpath.Unsupported.Of(int32(i)))
		}
	}
	a := fastpath.Algorithm{Evidence: versionsCore, Decide: func(in fastpath.Input, witness bool) fastpath.Result {
		s := versionSweep{in: in, VersionsShape: register}
		return s.decide(witness)
	}}
	return a.Run(fastpath.PlainInput(ctx, c), want)
}

// versionsCore finds the core of a history that ends where it fails.
func versionsCore(in fastpath.Input, r fastpath.Result, d *fastpath.Decision) {
	d.Core, d.Why = r.Keys, r.Why
	if d.Core == nil {
		if core := unmade(d.Why); len(core) > 0 && in.Res[core[0]] == d.FailEvent {
			d.Core = core
		} else {
			d.Core = slices.DeleteFunc(in.UpTo(d.FailEvent), func(i int32) bool { return in.Kind[i] == models.Read && in.Res[i] == models.Open })
			return
		}
	}
	d.Core = withUpdates(in.Columns, d.Before, d.Core)
}

// unmade returns the operation whose version nothing can have made, if a
// violation is about one, and the operation after which updates are missing.
func unmade(why *fastpath.Finding) []models.Row {
	if !why.Is(TooFewUpdates) && !why.Is(NoUpdate) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(why.Rows), func(row models.Row) bool { return row < 0 })
}

// withUpdates returns a core and all updates that come before the last of
// its operations in an order.
func withUpdates(c *models.Columns, order, core []models.Row) []models.Row {
	all := slices.Clone(core)
	last := len(order)
	for last > 0 && !slices.Contains(core, order[last-1]) {
		last--
	}
	for _, i := range order[:last] {
		if c.Kind[i] != models.Read && !slices.Contains(core, i) {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return all
}

// version holds what is known about a version.
type version struct {
	update int32 // the update that made it, plus 1
	read   int32 // a read of its value, plus 1
	// The first return and the last invocation of its reads.
	minRes, maxInv int32
}

type versionSweep struct {
	in fastpath.Input
	models.VersionsShape
	versions []version // from First to the last one named by an operation that returned
	last     int32     // the last return
	open     []int32   // updates that did not return
	unnamed  []int32   // reads without a version
	at       []int32   // the versions that these saw
	gaps     []gap
}

func (s *versionSweep) decide(witness bool) fastpath.Result {
	if r, found := s.measure(); found {
		return r
	}
	versionless, r, found := s.enter()
	if found {
		return r
	}
	if r, found = s.compare(); found {
		return r
	}
	if versionless >= 0 {
		return fastpath.Result{Reason: Versionless.Of(versionless)}
	}
	if len(s.gaps) > 0 {
		if r := s.fillGaps(); r.Verdict != jepsen.Valid {
			return r
		}
	}
	if len(s.unnamed) > 0 {
		if r := s.place(); r.Verdict != jepsen.Valid {
			return r
		}
	}
	r = fastpath.Result{Verdict: jepsen.Valid}
	if witness {
		r.Witness = s.order()
	}
	return r
}

// missing returns the result for a violation that only the whole history shows.
func (s *versionSweep) missing(why *fastpath.Finding) fastpath.Result {
	return fastpath.Result{Verdict: jepsen.Invalid, End: s.last, Loose: true, Why: why}
}

// measure finds how many versions there are, and what contradicts the first version.
func (s *versionSweep) measure() (r fastpath.Result, found bool) {
	in := s.in
	top, highest, updates := s.First+1, int32(-1), int32(0)
	for i, res := range in.Res {
		if in.Kind[i] != models.Read {
			updates++
		}
		if res == models.Open {
			continue
		}
		s.last = max(s.last, res)
		v := in.A[i]
		if v > top {
			top, highest = v, int32(i)
		}
		if v > 0 && v <= s.First+2 {
			if r, found = s.early(int32(i)); found {
				return r, true
			}
		}
	}
	n := top - s.First - 1
	if n > updates {
		r = fastpath.Result{Verdict: jepsen.Invalid, End: in.Res[highest], Why: TooFewUpdates.Of(highest)}
		return r, true
	}
	s.versions = make([]version, n+1)
	for v := range s.versions {
		s.versions[v].minRes, s.versions[v].maxInv = models.Open, -1
	}
	return r, false
}

// early compares an operation of one of the first versions with the initial version and value.
func (s *versionSweep) early(i int32) (r fastpath.Result, found bool) {
	kind, v, value := s.in.Kind[i], s.in.A[i]-1-s.First, s.Args[s.in.B[i]][0]
	switch {
	case v < 0 || v == 0 && kind != models.Read:
		return s.in.Wrong(BeforeFirst.Of(i)), true
	case v == 0 && value != s.Nil && value != s.Value || v == 1 && kind == models.CAS && value != s.Value:
		return s.in.Wrong(OtherValue.Of(i, fastpath.Initial)), true
	}
	return r, false
}

// enter puts the operations into their versions. versionless is an update
// that returned without one, or -1.
func (s *versionSweep) enter() (versionless int32, r fastpath.Result, found bool) {
	in := s.in
	versionless = -1
	for k, a := range in.A {
		i, res := int32(k), in.Res[k]
		if in.Kind[i] != models.Read {
			switch {
			case res == models.Open:
				s.open = append(s.open, i)
			case a == 0:
				versionless = i
			default:
				v := &s.versions[a-1-s.First]
				if v.update != 0 {
					return versionless, s.in.Wrong(MadeTwice.Of(i, v.update-1)), true
				}
				v.update = i + 1
			}
			continue
		}
		if res == models.Open {
			continue
		}
		if a == 0 {
			s.unnamed = append(s.unnamed, i)
			continue
		}
		v := &s.versions[a-1-s.First]
		v.minRes, v.maxInv = min(v.minRes, res), max(v.maxInv, in.Inv[i])
		if value := s.Args[in.B[i]][0]; value == s.Nil {
			continue
		} else if v.read == 0 {
			v.read = i + 1
		} else if value != s.leaves(v.read-1) {
			return versionless, s.in.Wrong(OtherValue.Of(i, v.read-1)), true
		}
	}
	return versionless, r, false
}

// leaves returns the value after an operation.
func (s *versionSweep) leaves(i int32) int32 {
	args := s.Args[s.in.B[i]]
	if s.in.Kind[i] == models.CAS {
		return args[1]
	}
	return args[0]
}

// compare checks the operations that returned, in the order of versions, and finds the gaps.
func (s *versionSweep) compare() (r fastpath.Result, found bool) {
	in := s.in
	latest := int32(-1) // the latest invocation so far
	for k := range s.versions {
		v := &s.versions[k]
		if o := v.update - 1; o >= 0 {
			if in.Res[o] < latest {
				return s.in.Wrong(WrongVersion.Of(in.OpInvoked(latest), o)), true
			}
			latest = max(latest, in.Inv[o])
			if v.read != 0 && s.leaves(v.read-1) != s.leaves(o) {
				return s.in.Wrong(OtherValue.Of(v.read-1, o)), true
			}
			if in.Kind[o] == models.CAS {
				if by, value, told := s.told(int32(k) - 1); told && value != s.Args[in.B[o]][0] {
					return s.in.Wrong(OtherValue.Of(o, by)), true
				}
			}
		} else if k > 0 {
			s.gaps = append(s.gaps, gap{version: int32(k)})
		}
		if v.minRes < latest {
			return s.in.Wrong(WrongVersion.Of(in.OpInvoked(latest), in.OpReturning(v.minRes))), true
		}
		latest = max(latest, v.maxInv)
	}
	return r, false
}

// told returns the value of a version, if known, and the operation that
// told it: the one that made it, a read, or a cas that found it.
func (s *versionSweep) told(v int32) (by, value int32, ok bool) {
	if v == 0 {
		return fastpath.Initial, s.Value, true
	}
	if by = s.versions[v].update - 1; by >= 0 {
		return by, s.leaves(by), true
	}
	if by = s.versions[v].read - 1; by >= 0 {
		return by, s.leaves(by), true
	}
	if int(v)+1 < len(s.versions) {
		by = s.versions[v+1].update - 1
		if by >= 0 && s.in.Kind[by] == models.CAS && s.in.Res[by] != models.Open {
			return by, s.Args[s.in.B[by]][0], true
		}
	}
	return none, 0, false
}

// place finds versions for the reads without one.
func (s *versionSweep) place() fastpath.Result {
	in := s.in
	n := len(s.versions)
	latest := make([]int32, n) // the latest invocation of what stands before the reads of a version
	due := make([]int32, n+1)  // the return of what stands after the reads of the previous version
	byValue := make([]uint64, n)
	t := int32(-1)
	for v := range s.versions {
		if o := s.versions[v].update - 1; o >= 0 {
			t = max(t, in.Inv[o])
		}
		latest[v] = t
		t = max(t, s.versions[v].maxInv)
		_, value, _ := s.told(int32(v))
		byValue[v] = uint64(value)<<32 | uint64(v)
	}
	slices.Sort(byValue)
	due[n] = models.Open
	for v := n - 1; v >= 0; v-- {
		due[v] = min(due[v+1], s.versions[v].minRes)
		if o := s.versions[v].update - 1; o >= 0 {
			due[v] = min(due[v], in.Res[o])
		}
	}
	byRes := make([]uint64, len(s.unnamed))
	for k, i := range s.unnamed {
		byRes[k] = uint64(in.Res[i])<<32 | uint64(k)
	}
	slices.Sort(byRes)
	s.at = make([]int32, len(s.unnamed))
	low := int32(0) // a read that begins now saw at least this version
	for k, i := range s.unnamed {
		for ; int32(byRes[0]>>32) < in.Inv[i]; byRes = byRes[1:] {
			low = max(low, s.at[uint32(byRes[0])])
		}
		for due[low+1] < in.Inv[i] {
			low++
		}
		value := s.leaves(i)
		p, _ := slices.BinarySearch(byValue, uint64(value)<<32|uint64(low))
		if p < n && int32(byValue[p]>>32) == value && latest[uint32(byValue[p])] < in.Res[i] {
			s.at[k] = int32(uint32(byValue[p]))
			continue
		}
		if len(s.gaps) > 0 || slices.ContainsFunc(s.open, func(o int32) bool { return s.leaves(o) == value && in.Inv[o] < in.Res[i] }) {
			return fastpath.Result{Reason: Unplaced.Of(i)}
		}
		return s.missing(NeverCurrent.Of(i))
	}
	return fastpath.Result{Verdict: jepsen.Valid}
}

// order returns the order of versions.
func (s *versionSweep) order() []int32 {
	in := s.in
	first := make([]int32, len(s.versions)) // the first read, plus 1
	next := make([]int32, in.Len())
	k := len(s.unnamed)
	for i := int32(in.Len()) - 1; i >= 0; i-- {
		if in.Kind[i] != models.Read || in.Res[i] == models.Open {
			continue
		}
		v := in.A[i] - 1 - s.First
		if in.A[i] == 0 {
			k--
			v = s.at[k]
		}
		next[i] = first[v]
		first[v] = i + 1
	}
	order := make([]int32, 0, in.Len())
	for v := range s.versions {
		if o := s.versions[v].update; o != 0 {
			order = append(order, o-1)
		}
		for i := first[v]; i != 0; i = next[i-1] {
			order = append(order, i-1)
		}
	}
	return order
}

// versionOf returns the version that an operation says, or the first version for Initial.
func versionOf(t models.Teller, row models.Row) int {
	if row == fastpath.Initial {
		return int(t.Init()[0])
	}
	return int(t.Op(row).A) - 1
}

// MadeTwice: both operations made the same version.
var MadeTwice = &fastpath.Pattern{Name: "made-twice", Kind: models.ReusedID, Choose: func(t models.Teller, v []models.Row) string {
	return "{name 0} and {name 1} cannot both have made version " + strconv.Itoa(versionOf(t, v[0]))
}}

// BeforeFirst: the operation made or read a version before the first.
var BeforeFirst = &fastpath.Pattern{Name: "before-first", Choose: func(t models.Teller, v []models.Row) string {
	if first := versionOf(t, fastpath.Initial); versionOf(t, v[0]) == first {
		return fmt.Sprintf("{name 0} cannot have made version %d, which was there initially", first)
	}
	return "{name 0} has a version older than the initial one"
}}

// WrongVersion (late, early): late began after early had returned, but is of an earlier
// version; or late made the version that early read.
var WrongVersion = &fastpath.Pattern{Name: "wrong-version", Relate: fastpath.Against(1, 0), ChooseKind: lateVersion, Choose: func(t models.Teller, v []models.Row) string {
	if versionOf(t, v[0]) == versionOf(t, v[1]) {
		return "{name 0} made the version that {name 1} had read before it began"
	}
	return "{name 0} began after {name 1} had returned, but has an earlier version"
}}

// lateVersion is WrongVersion.ChooseKind.
func lateVersion(t models.Teller, v []models.Row) models.Anomaly {
	switch {
	case versionOf(t, v[0]) == versionOf(t, v[1]):
		return models.FutureRead
	case t.Op(v[0]).Kind == models.Read:
		return models.StaleRead
	}
	return models.NotMonotonic
}

// OtherValue (op, other): op and other (Initial: the initial value) disagree on the
// value of a version that both made, read or found.
var OtherValue = &fastpath.Pattern{Name: "other-value", Kind: models.Diverged, Choose: func(t models.Teller, v []models.Row) string {
	if v[1] == fastpath.Initial {
		return "{name 0} does not agree with the initial value"
	}
	version := min(versionOf(t, v[0]), versionOf(t, v[1]))
	return "{name 0} does not agree with {name 1} on the value of version " + strconv.Itoa(version)
}}

// TooFewUpdates: the operation has a version that requires more updates than had begun by then.
var TooFewUpdates = &fastpath.Pattern{Name: "too-few-updates", Kind: models.GhostUpdate, Says: "{name 0} has a version that requires more updates than had begun by then"}

// NeverCurrent: the operation read a value that no version had while it ran.
var NeverCurrent = &fastpath.Pattern{Name: "never-current", Says: "{name 0} read a value that no version had while it ran"}

// Versionless: the operation updated the register but does not say which version it made.
var Versionless = &fastpath.Pattern{Says: "{name 0} does not say which version it made"}

// Unplaced: the operation needs a version or value that may come from several operations that never returned.
var Unplaced = &fastpath.Pattern{Says: "{name 0} needs a version or value that may come from several operations that never returned"}
