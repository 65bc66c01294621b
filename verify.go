package clew

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"clew/edn"
	"clew/fallback"
	"clew/internal/certificate"
	"clew/internal/engines"
	"clew/internal/hugepages"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/internal/page"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// WitnessError says why a witness is not a linearization, and at which position: from 0, or the length of the witness
// if an operation is missing.
type WitnessError struct {
	Position int
	Msg      string
}

func (e *WitnessError) Error() string { return fmt.Sprintf("position %d: %s", e.Position, e.Msg) }

// Verify returns nil if a witness, operations of the history in order, is a linearization:
//
//   - every operation that succeeded is in it once, crashed ones at most once, and failed ones not at all unless the
//     model reads them;
//   - no operation comes after one that began after it had returned;
//   - the model can take every step, except those of crashed operations that change nothing, wherever they are.
//
// Verify shares nothing with the engines: it uses the model's sequential step and one pass over the witness. If the
// witness is not a linearization, the error is a *WitnessError. Any other error means that the history or the spec
// makes no sense. Linear time.
func Verify(h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	return verifyWithin(context.Background(), h, spec, witness)
}

// VerifyParts does what Verify does, but if each operation touches one of several objects, such as a key of a map, only the
// operations of each object must be a linearization. Then there is one of the whole (Herlihy and Wing, 1990). A Monitor
// writes such orders. If keys are independent, it does what VerifyKeys does, and that for each key.
func VerifyParts(h *jepsen.History, spec models.Spec, witness []jepsen.Operation, independent bool) error {
	verify := func(h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
		return verified(context.Background(), h, spec, witness, true)
	}
	if independent {
		return verifyKeys(h, spec, witness, verify)
	}
	return verify(h, spec, witness)
}

// verifyWithin does what Verify does for as long as the context is not done: then the error is its cause.
func verifyWithin(ctx context.Context, h *jepsen.History, spec models.Spec, witness []jepsen.Operation) error {
	return verified(ctx, h, spec, witness, false)
}

// verified does what verifyWithin or VerifyParts does.
func verified(ctx context.Context, h *jepsen.History, spec models.Spec, witness []jepsen.Operation, byPart bool) (err error) {
	if f := caught(nil, func() { err = replay(ctx, h, spec, witness, byPart) }); f != nil {
		return f
	}
	return err
}

// replay does what verified does, unless the model fails.
func replay(ctx context.Context, h *jepsen.History, spec models.Spec, witness []jepsen.Operation, byPart bool) error {
	spec, _, err := spec.Infer(h)
	if err != nil {
		return err
	}
	ops, err := spec.ReadWithin(ctx, h)
	if err != nil {
		return err
	}
	parts, rowOf, partOf := []*models.Operations{ops}, ops.Rows(), []int32(nil)
	if byPart && ops.Model.Traits().Partition != nil {
		parts, partOf = ops.Parts(), make([]int32, h.Operations())
		for i, part := range parts {
			for row, op := range part.Of {
				rowOf[op], partOf[op] = models.Row(row), int32(i)
			}
		}
	}
	rows, positions := make([][]models.Row, len(parts)), make([][]int32, len(parts))
	err = inTime(h, witness, rowOf, partOf, func(i int, op jepsen.Operation) error {
		if row := rowOf[op]; row != jepsen.None {
			p := int32(0)
			if partOf != nil {
				p = partOf[op]
			}
			rows[p], positions[p] = append(rows[p], row), append(positions[p], int32(i))
		}
		return nil
	})
	for p, part := range parts {
		if err != nil {
			return err
		}
		var stuck *models.ReplayError
		apart(part.Model, func() { _, err = models.Final(ctx, part.Model, &part.Columns, rows[p]) })
		if errors.As(err, &stuck) {
			at := positions[p][stuck.Position]
			return &WitnessError{int(at), h.Name(witness[at]) + " cannot happen there: " + stuck.Why}
		}
	}
	return err
}

// inTime returns an error unless each operation that succeeded is in a witness once, crashed ones at most once, and
// failed ones not at all. Failed ones that the model reads, whose readAs is not None, count like succeeded ones; a readAs of
// nil means that it reads all. No operation may come after one that began after it had returned, unless partOf says that it
// is of another part, or nothing reads it. inTime calls take with each operation and its position. Linear time.
func inTime(h *jepsen.History, witness []jepsen.Operation, readAs, partOf []int32, take func(i int, op jepsen.Operation) error) error {
	seen := hugepages.Make[bool](h.Operations())
	last := map[int32]jepsen.Operation{} // by part: the operation that began last so far
	latest, part := jepsen.Operation(jepsen.None), int32(0)
	for i, op := range witness {
		if partOf != nil && op >= 0 && int(op) < len(seen) {
			last[part] = latest
			var known bool
			if part = partOf[op]; readAs[op] == jepsen.None {
				part = jepsen.None
			}
			if latest, known = last[part]; !known || part == jepsen.None {
				latest = jepsen.None
			}
		}
		switch {
		case op < 0 || int(op) >= len(seen):
			return &WitnessError{i, "the history has no such operation"}
		case seen[op]:
			return &WitnessError{i, h.Name(op) + " occurs in it twice"}
		case h.Status[op] == jepsen.Failed && readAs != nil && readAs[op] == jepsen.None:
			return &WitnessError{i, h.Name(op) + " failed"}
		case latest >= 0 && h.Status[op] != jepsen.Crashed && h.Completion[op] < h.Invocation[latest]:
			return &WitnessError{i, fmt.Sprintf("%s had returned before %s began, yet comes after it", h.Name(op), h.Name(latest))}
		}
		seen[op] = true
		if latest < 0 || h.Invocation[op] > h.Invocation[latest] {
			latest = op
		}
		if err := take(i, op); err != nil {
			return err
		}
	}
	for op, done := range seen {
		if !done && (h.Status[op] == jepsen.Succeeded || h.Status[op] == jepsen.Failed && (readAs == nil || readAs[op] != jepsen.None)) {
			return &WitnessError{len(witness), h.Name(jepsen.Operation(op)) + " is missing"}
		}
	}
	return nil
}

// CertificateOptions say how a history was read, as far as its result does not know.
type CertificateOptions struct {
	SHA256     string // of the history's file, in hexadecimal digits; "" if it is not known
	AllClients bool   // every process but :nemesis is a client
	Keyless    bool   // an operation without a key belongs to every independent key
}

// WriteCertificate writes a proof of a verdict, as lines of JSON, for checkers that share no code with clew. Its
// format is in docs/certificate.md. The error says what the result lacks, or is that of the writer or the cause that
// ended the context. Linear time for a witness.
func WriteCertificate(ctx context.Context, w io.Writer, r *report.Result, o CertificateOptions) error {
	return certificate.Write(ctx, w, r, certificate.Options(o))
}

// WritePage writes a page for a browser about a result: the verdict, an interactive drawing and the operations.
func WritePage(ctx context.Context, w io.Writer, r *report.Result, o report.WindowOptions) error {
	return page.Write(ctx, w, r, o)
}

// The self-check looks at the evidence of every verdict again, as far as that is cheap. Whether it is cheap depends
// on the history alone, and never on the time that passes:
//
//   - A witness always is. One pass over it shows that every operation is in it once and in time. The steps of the model
//     are those that lead to the final state, which is shown anyway.
//   - A core is cheap if it has at most maxJudged operations and other engines decide it within a bound. Each has
//     judgeWork, and judgePerOperation more for each operation of the history. That is some milliseconds, or about a tenth
//     of the time for reading the history. Among independent keys, the cores of the first maxJudgedKeys that fail are
//     cheap, too: deciding a small key costs less than starting another engine.
//
// Which engine found a core may depend on time, if several ran in parallel. So two of three engines have to agree,
// whichever found it: at least one of them is another.
//
// VerifyAlways checks everything, starting from the history: it reads the operations of a witness again, and
// decides a core however hard it is.
const (
	maxJudged         = 2000
	judgeWork         = 100_000
	judgePerOperation = 20
	maxJudgedKeys     = 1000
	judgeMemory       = 32 << 20 // bytes, whatever other checks hold
)

// byRequest ends the reasons why clew did not check a core again without being asked.
func byRequest() string {
	return fmt.Sprintf("; %s rechecks it, however long that takes", option.Verify)
}

// selfCheck checks the evidence of a result and notes that in it. An error means that the evidence is wrong.
func (c *checking) selfCheck(ctx context.Context, d *decider, r *report.Result, o Options) error {
	switch {
	case c.wrong != nil:
		return fmt.Errorf("the witness is not a linearization: %w", c.wrong)
	case o.Verify == VerifyNever, r.Verdict == jepsen.Unknown:
		return nil
	case r.Verdict == jepsen.Valid && o.Verify != VerifyAlways:
		if r.Verified = len(c.missing) == 0; !r.Verified {
			r.Unverified = "a limit came first: " + string(limits.Stopped(ctx))
		}
		return nil
	case r.Verdict == jepsen.Valid:
		r.Verified = true
		return c.unfinished(ctx, r, verifyWithin(ctx, r.History, c.spec, r.Witness))
	case r.Core == nil:
		r.Unverified = "there was no time for a core"
		return nil
	case len(r.Core) > maxJudged && o.Verify != VerifyAlways:
		r.Unverified = fmt.Sprintf("its core has %d operations, and clew rechecks at most %d by default%s", len(r.Core), maxJudged, byRequest())
		return nil
	case d.judged == maxJudgedKeys && o.Verify != VerifyAlways:
		r.Unverified = fmt.Sprintf("clew rechecks the cores of at most %d keys by default%s", maxJudgedKeys, byRequest())
		return nil
	}
	d.judged++
	var err error
	late := stopped(c.ops.Model, func() { r.Verified, err = d.verifyCore(ctx, c, r, o) })
	switch ended := late || !r.Verified && ctx.Err() != nil; {
	case ended && o.Verify == VerifyAlways:
		c.lacks("its verification")
		fallthrough
	case ended:
		r.Unverified = "a limit came first: " + string(limits.Stopped(ctx))
	case !r.Verified && err == nil:
		r.Unverified = "its core is too hard to recheck within a few milliseconds" + byRequest()
	}
	return err
}

// unfinished returns an error of a replay, unless the error only says that the context ended before the replay did.
func (c *checking) unfinished(ctx context.Context, r *report.Result, err error) error {
	var failed *models.Failure
	switch {
	case errors.As(err, &failed):
		panic(failed)
	case err != nil && err == context.Cause(ctx):
		r.Verified = false
		c.lacks("its verification")
		return nil
	case err != nil:
		return fmt.Errorf("the witness is not a linearization: %w", err)
	}
	return nil
}

// verifyCore decides a core once more, or all that came before the failure if operations have positions. If the user asked for that, another engine than the one that found the core
// decides it. Otherwise as many engines as necessary do.
func (d *decider) verifyCore(ctx context.Context, c *checking, r *report.Result, o Options) (bool, error) {
	part := c.parts[c.verdict.failing]
	fail := int32(r.FailEvent.OrNone())
	core := part.Prefix(fail)
	if part.Model.Traits().Positions == nil { // else a core fails for the positions that it lacks, which proves nothing
		core = part.Alone(part.Among(r.Core), fail)
	}
	finder := strings.TrimPrefix(r.Analyzer, "clew/")
	judges, agree := []fallback.Engine{engines.Judge(finder)}, 1
	if o.Verify != VerifyAlways && !strings.HasPrefix(finder, "fast-") {
		judges, agree = engines.Judges(), 2
	}
	for _, judge := range judges {
		again := *d
		again.fast, again.only, again.engine = false, false, judge
		switch x := again.judgment(ctx, core.Operations, c, o); x.Verdict {
		case jepsen.Invalid:
			agree--
		case jepsen.Valid:
			return false, errors.New("the core is linearizable, says " + x.analyzer)
		}
		if agree == 0 {
			return true, nil
		}
	}
	return false, nil
}

// judgment decides a core. If the user asked for that, it has the limits of the check. Otherwise it has a fixed
// amount of work and memory, whatever else is running.
func (d *decider) judgment(ctx context.Context, core *models.Operations, c *checking, o Options) decision {
	lim := fallback.Limits{Memory: o.limits().Memory}
	if o.Verify != VerifyAlways {
		lim.Memory = models.NewMemory(judgeMemory)
		d = d.within(judgeWork + judgePerOperation*int64(c.h.Operations()))
	}
	return d.part(ctx, core, lim)
}

// ordered returns an error unless a witness is in time and is made of the orders of the parts. The model follows
// these for the final state. Linear time.
func (c *checking) ordered(witness []jepsen.Operation) error {
	var partOf []int32 // nil: one part has all
	if n := c.h.Operations(); len(c.parts) != 1 || c.parts[0].Len() < n {
		partOf = hugepages.Make[int32](n)
		for op := range partOf {
			partOf[op] = jepsen.None
		}
		for i, part := range c.parts {
			for _, op := range part.Of {
				partOf[op] = int32(i)
			}
		}
	}
	next := make([]int32, len(c.parts)) // by part: the place in its order
	err := inTime(c.h, witness, partOf, nil, func(i int, op jepsen.Operation) error {
		p := int32(0)
		if partOf != nil {
			p = partOf[op]
		}
		if p == jepsen.None {
			return nil
		}
		order := c.decisions[p].Order
		if int(next[p]) == len(order) || c.parts[p].Of[order[next[p]]] != op {
			return &WitnessError{i, c.h.Name(op) + " is not at this position in the order that was found"}
		}
		next[p]++
		return nil
	})
	for p, n := range next {
		if order := c.decisions[p].Order; err == nil && int(n) < len(order) {
			err = &WitnessError{len(witness), c.h.Name(c.parts[p].Of[order[n]]) + " is missing"}
		}
	}
	return err
}

// refuted returns the result to show if the evidence of another result is wrong.
func refuted(r *report.Result, wrong error) *report.Result {
	r.Verified = false
	return &report.Result{
		History: r.History, File: r.File, Model: r.Model, Init: r.Init, Inferred: r.Inferred, Spec: r.Spec,
		Verdict: jepsen.Unknown, Cause: jepsen.SelfCheckFailed, Error: wrong.Error(), Analyzer: r.Analyzer, Ms: r.Ms, Refuted: r,
	}
}

// A core is read again by others as a history of its own: it is sent to a colleague, or attached to an issue. It then has to fail
// at the same completion, and in the same way. What it lacks may turn one failure into another. A stale read is told as one of a
// value that was never written if the core has no write of it.

// saveCore finds what is saved of a core: the initial value without which it does not fail as the history does, since what shows
// that value is not in it, and the operations without which its failure is of another kind or is told in other words, such as the
// write of what was read too late. Then it leaves out the operations without which the rest fails in the same way. These may be
// some of Core: that shows that the whole history fails, and a history of its own needs less to fail.
//
// Cost: a check of the core. If that is another failure, a check of the core with the initial value, and some with more
// operations, of mostSaved bytes in all. Then about two checks for each operation of a small core, of mostSaved bytes in all.
func saveCore(ctx context.Context, r *report.Result, spec models.Spec, o Options) {
	failing := r.FirstFailing()
	d, err := r.Spec.Definition()
	if err != nil || !failing.Placed() || r.Spec.IsOwn() || o.growing || o.Verify == VerifyNever || ctx.Err() != nil || len(failing.Core) == 0 || len(failing.Core) > mostAlone {
		return
	}
	spec.Name = cmp.Or(spec.Name, r.Model)
	o = Options{Consistency: o.Consistency, Independent: o.Independent, Keyless: o.Keyless, Whole: o.Whole, Memory: o.Memory, Verify: VerifyNever, work: mostWork}
	bytesRead, ended := 0, false // bytesRead: of all cores that were checked
	alike := func() (how int) {  // how much the failure of what is saved is like that of the history
		var text bytes.Buffer
		if ended = ended || ctx.Err() != nil; ended || bytesRead > mostSaved || r.WriteCore(&text) != nil {
			return otherFailure
		}
		bytesRead += text.Len()
		if o.work == littleWork { // a large core takes longer for each byte
			bytesRead += text.Len() * text.Len() >> 12
		}
		core, err := Read(&text, r.File, spec.Pairing())
		if err != nil {
			return otherFailure
		}
		x, err := Check(ctx, core, spec, o)
		if err != nil || x.Verdict != jepsen.Invalid || x.FailingIndex() != r.FailingIndex() || x.FirstFailing().Init != failing.Init {
			return otherFailure
		}
		if x.FailureKind() != failing.Kind {
			return otherKind
		}
		if x.FirstFailing().Explanation != failing.Explanation {
			return otherWords
		}
		return same
	}
	if failing.Saved == nil {
		failing.Saved = failing.Core
	}
	was := alike()
	if init := cmp.Or(failing.Init, d.Default); d.NoInit == "" && spec.Init == "" && r.History.Record().Init == "" && init != "" && was < otherWords {
		r.CoreInit = init
		if now := alike(); now > was {
			was = now
		} else {
			r.CoreInit = ""
		}
	}
	if was < otherWords && addOperations(failing, mostAlone, func() bool { return alike() >= otherWords }) {
		was = alike()
	}
	isSame := func() bool { return alike() == same }
	if was == same || addOperations(failing, mostAlone, isSame) || addRest(failing, isSame) {
		was = same
	}
	o.work = littleWork
	if bytesRead = 0; was >= otherWords {
		lessen(failing, func() bool { return alike() >= was })
	}
	if ended {
		missing := "the smallest core to be saved"
		if r.Missing != "" {
			r.Missing += ", " + missing
		} else {
			r.Missing = fmt.Sprintf("evidence is missing (%s): %s", limits.Stopped(ctx), missing)
		}
	}
}

// How much the failure of what is saved of a core is like that of the history.
const (
	otherFailure = iota
	otherKind
	otherWords
	same
)

// Bounds of what is saved of a core.
const (
	mostAlone    = 1000       // operations of the core
	mostSaved    = 1 << 20    // bytes of all that are checked while operations are added, and again while they are left out
	mostWork     = 10_000_000 // of each of these checks: some operations can be much harder without others
	littleWork   = 500_000    // the same while operations are left out
	mostRest     = 64         // operations that are added if some of them are not enough
	mostPartners = 4          // earlier ones of its process with which an operation is left out
)

// lessen leaves out of what is saved of a core the operations without which it is like the history: many at once, each one, two of
// a process, such as an acquire with its release, and those that share a value, such as what adds an element with what takes it.
func lessen(r *report.Result, alike func() bool) {
	h, v := r.History, r.History.Values
	failing := h.OpOf[r.FailEvent.OrNone()]
	others := func() []jepsen.Operation { // the latest first
		ops := slices.DeleteFunc(slices.Clone(r.Saved), func(op jepsen.Operation) bool { return op == failing })
		slices.SortFunc(ops, func(a, b jepsen.Operation) int { return int(b - a) })
		return ops
	}
	leave := func(out ...jepsen.Operation) bool {
		before := r.Saved
		r.Saved = slices.DeleteFunc(slices.Clone(before), func(op jepsen.Operation) bool { return slices.Contains(out, op) })
		if len(r.Saved) < len(before) && alike() {
			return true
		}
		r.Saved = before
		return false
	}
	for size := (len(others()) + 1) / 2; size > 1; size /= 2 {
		for ops := others(); len(ops) > 0; ops = ops[min(size, len(ops)):] {
			leave(ops[:min(size, len(ops))]...)
		}
	}
	for again := true; again; {
		again = false
		ops := others()
		for i, op := range ops {
			if leave(op) {
				again = true
				continue
			}
			tried := 0
			for _, other := range ops[i+1:] {
				a, b := h.Invocation[op], h.Invocation[other]
				if h.Process[a] != h.Process[b] || h.F[a] == h.F[b] {
					continue
				}
				if leave(op, other) {
					again = true
					break
				}
				if tried++; tried == mostPartners {
					break
				}
			}
		}
		by := map[edn.ID][]jepsen.Operation{}
		for _, op := range others() {
			with := func(class edn.ID) {
				if of := by[class]; len(of) == 0 || of[len(of)-1] != op {
					by[class] = append(of, op)
				}
			}
			for _, value := range []edn.ID{h.Value[h.Invocation[op]], h.OpValue(op)} {
				if v.Leaves(value, mostAlone, with); v.Kind(value) == edn.KindKeyword {
					with(v.Same(value))
				}
			}
		}
		for _, class := range slices.Sorted(maps.Keys(by)) {
			again = len(by[class]) > 1 && leave(by[class]...) || again
		}
	}
}

// addOperations adds to what is saved of a core as few operations as are necessary to make it like the history, at most a number of
// them. It adds none, and returns false, if those that tell most of the failure do not.
func addOperations(r *report.Result, most int, alike func() bool) bool {
	before, added := r.Saved, tellMore(r, most)
	with := func(some []jepsen.Operation) bool {
		r.Saved = slices.Concat(before, some)
		return alike()
	}
	few, enough := 0, min(1, len(added))
	for !with(added[:enough]) {
		if enough == len(added) {
			r.Saved = before
			return false
		}
		few, enough = enough, min(2*enough, len(added))
	}
	for enough-few > 1 {
		if middle := (few + enough) / 2; with(added[:middle]) {
			enough = middle
		} else {
			few = middle
		}
	}
	r.Saved = slices.Concat(before, added[:enough])
	return true
}

// addRest adds to what is saved of a core all other operations, or all that had begun before the failure, if they are few and make
// it like the history.
func addRest(r *report.Result, alike func() bool) bool {
	before, rest := r.Saved, []jepsen.Operation(nil)
	for op, inv := range r.History.Invocation {
		if op := jepsen.Operation(op); (inv < r.FailEvent.OrNone() || r.History.Operations() <= mostRest) && !slices.Contains(before, op) {
			rest = append(rest, op)
		}
	}
	if r.Saved = slices.Concat(before, rest); len(rest) <= mostRest && alike() {
		return true
	}
	r.Saved = before
	return false
}

// tellMore returns the operations outside what is saved of a core that tell most of its failure, in this order, at most a number of them: those that
// its sentence names, and those that are called with a value of the core that few others are called with, and with few values
// beside it. Linear time.
func tellMore(r *report.Result, most int) (ops []jepsen.Operation) {
	h, v := r.History, r.History.Values
	calls, inside := map[edn.ID]int32{}, map[jepsen.Operation]bool{} // calls: with a value of the core, by class
	for _, op := range r.Saved {
		inside[op] = true
		v.Leaves(h.OpValue(op), mostAlone, func(class edn.ID) { calls[class] = 0 })
	}
	each := func(f func(op jepsen.Operation, class edn.ID)) {
		for op, inv := range h.Invocation {
			v.Leaves(h.Value[inv], mostAlone, func(class edn.ID) { f(jepsen.Operation(op), class) })
		}
	}
	each(func(_ jepsen.Operation, class edn.ID) {
		if _, seen := calls[class]; seen {
			calls[class]++
		}
	})
	rank, values := make([]int32, h.Operations()), make([]int32, h.Operations()) // rank: the calls with its rarest value
	for op := range rank {
		rank[op] = math.MaxInt32
	}
	each(func(op jepsen.Operation, class edn.ID) {
		values[op]++
		if n, seen := calls[class]; seen {
			rank[op] = min(rank[op], n)
		}
	})
	count := map[int32]int{} // by rank
	for _, n := range rank {
		count[n]++
	}
	for _, op := range r.Named {
		rank[op] = -1
	}
	limit := int32(0)
	for n, left := 0, slices.Sorted(maps.Keys(count)); n < most+len(inside) && len(left) > 0; left = left[1:] {
		limit = left[0]
		n += count[limit]
	}
	for op, n := range rank {
		if op := jepsen.Operation(op); n <= limit && !inside[op] {
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b jepsen.Operation) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(values[a], values[b]), cmp.Compare(b, a))
	})
	return ops[:min(len(ops), most)]
}
