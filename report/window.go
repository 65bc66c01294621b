package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// Window is the part of a history that a picture shows, and where
// everything in it stands. Text, SVG and HTML are all drawn from it.
//
//	           0     1     2     3     4     5     6     7   Width
//	process 0  ├─ write 1 ─┤                 ├──── read 1 ───X    Failing
//	process 1        ├──── write 2 ────┤        … 3 more          a Gap
//	process 2              ├─ write 3 ░░░░░░░░░░░░░░░░░░░░░░░░    Crashed
//	                    ▒▒▒▒▒ :start-partition ▒▒▒▒▒              a Band
//
// Places on the axis are columns, from 0 to Width: one for each invocation and
// completion that is shown, in order, or as far apart as their times.
type Window struct {
	Result *Result // the result that it shows, of one key if there are keys
	Title  string  // one line: what is shown
	Width  float64 // the end of the axis
	ByTime bool    // distances are those of :time

	Rows      []WindowRow
	Ops       []WindowOp // in order of invocation
	Bands     []Band
	Relations []WindowRelation // the contradiction
	Points    []Point          // a linearization, in order

	// FailAt is the place of the first failing completion, or -1 if it is not shown.
	FailAt float64
	// MoreRows and MoreOps say how many processes are omitted, and how
	// many operations of theirs. MoreNamed counts the omitted operations
	// that the sentence names, and MoreCore those of the core.
	MoreRows, MoreOps, MoreNamed, MoreCore int
	// MoreBands says how many bands are omitted.
	MoreBands int
	// MorePoints says how many operations were linearized before the first point that is shown.
	MorePoints int
	// MoreTxns says how many transactions of an anomaly are omitted.
	MoreTxns int

	// Below is drawn below it in a picture of its own: the worst anomaly of transactions, unless this window shows it. It may be nil.
	Below *Window
}

// WindowRow is a row of a window: a process, and those that took its place after it had crashed.
type WindowRow struct {
	Processes []string
	Gaps      []Gap
}

// Name returns the names of the row's processes: "process 3", or "process 3, 8, 13".
func (r WindowRow) Name() string {
	s := "process " + text.Shorten(text.Line(r.Processes[0]), maxProcess)
	for i, p := range r.Processes[1:] {
		if i == maxFolded {
			return s + ", …"
		}
		s += ", " + text.Shorten(text.Line(p), maxProcess)
	}
	return s
}

const (
	maxProcess = 16 // characters of the name of a process
	maxFolded  = 2  // processes named after the first of a row
)

// maxWhy bounds the text that says why the failing operation cannot happen, in characters.
const maxWhy = 200

// why returns what pictures say: the message at the end of the first final path, unless there is a better one. Knossos's words leave out a nil, and so may end in a blank.
func (r *Result) why() string {
	if r.Drawn != "" || len(r.Paths) == 0 {
		return r.Drawn
	}
	path := r.Paths[0]
	return strings.TrimRight(path[len(path)-1].Why, " ")
}

// mark returns what pictures say of the failing operation. Where it saw another value than that which was there, it is expected
// what is there in the story, whose operations are drawn.
func (r *Result) mark() string {
	why := r.shortWhy()
	if read := readOfRegister().FindStringSubmatch(why); read != nil { // cas-register's words for the same
		why = cmp.Or(read[2], "nil") + "≠" + cmp.Or(read[1], "nil")
	}
	if _, _, differs := differing(why); !differs {
		return why
	}
	if end := r.Story.End; r.Drawn == "" && end != nil {
		if _, _, differs := differing(end.Why); differs {
			why = text.Line(end.Why)
		}
	}
	was, saw, _ := differing(why)
	return "expected " + text.Shorten(was, maxMarked) + ", got " + text.Shorten(saw, maxMarked)
}

var readOfRegister = text.Pattern(`^can't read (.*) from register ?(.*)$`)

// maxMarked bounds the characters of each of the two values.
const maxMarked = 40

// differing splits Knossos's message of two values that differ. It returns false for another one, or if a value has the sign, too.
func differing(why string) (was, saw string, differs bool) {
	was, saw, differs = strings.Cut(why, "≠")
	return was, saw, differs && !strings.Contains(saw, "≠")
}

// shortWhy returns why, or how what the failing operation saw differs from the state if that is shorter.
func (r *Result) shortWhy() string {
	why := text.Line(r.why())
	if len(r.Paths) == 0 || len(r.Configs) == 0 || !strings.HasPrefix(why, "can't read ") {
		return why
	}
	path, state := r.Paths[0], r.Configs[0].State
	if len(path) > 1 {
		state = path[len(path)-2].State
	}
	saw := r.History.Values.Value(r.History.OpValue(path[len(path)-1].Operation))
	for _, was := range []edn.Value{content(state), onlyField(content(state))} {
		if said := text.Line(difference(saw, was)); said != "" && len(said) < len(why) {
			return said
		}
	}
	if end := r.Story.End; end != nil && end.Why != "" {
		return text.Line(end.Why)
	}
	return why
}

// Gap says where operations of a row are omitted: between two columns.
type Gap struct {
	From, To float64
	Count    int
}

// WindowOp is an operation in a window.
type WindowOp struct {
	Operation jepsen.Operation
	Row       int
	// From is the column of its invocation. To is that of its completion, or the end
	// of the window if it is Open. If it is Crashed, To is the column of its :info, or
	// From if there is none.
	From, To float64
	// Until says how far it is drawn: to To, or further to the
	// right if it is Crashed, as it may still take effect.
	Until   float64
	Open    bool // it returned after the end of the window
	Crashed bool
	Failed  bool   // it failed, and did not happen
	Failing bool   // it is the first failing completion
	Core    bool   // in a core that is small enough to matter
	Named   bool   // the sentence or a relation names it
	Label   string // as people would say it: "read 471"
	Name    string // in full: "process 13's :read 471 (index 983)"
	Why     string // of the failing one: why it cannot happen
}

// WindowRelation is a Relation in a window.
type WindowRelation struct {
	Kind     models.RelationKind
	From, To int    // places in Ops
	Text     string // "process 1's write 2 returned before process 3's read 1"
	Number   int
	Label    string // of a step between transactions: "rw :x 5"
}

// Band is something that happened around the operations, such
// as a nemesis's partition. It is not an operation of a client.
type Band struct {
	From, To float64 // the same column if it is a moment
	Name     string  // ":start-partition :majority"
	Process  string  // ":nemesis"
	Index    int64   // the :index of its first event
}

// Point says where an operation takes effect in a linearization.
type Point struct {
	Op      int     // its place in Ops
	At      float64 // the column
	State   string  // the state after it, "" if it is too large to show
	Attempt bool    // it was open at the failure: it is tried, and does not help either
}

// WindowOptions say what a window shows.
type WindowOptions struct {
	// Around is the :index of the event to show with its surroundings. If it
	// is nil, the window shows the failure, or the beginning if there is none.
	Around *int64
	// Rows and Operations bound what is shown. 0 stands for DefaultRows and DefaultOperations.
	Rows, Operations int
	// ByTime makes distances those of :time, which must have been read with the history.
	ByTime bool

	// Core leaves out operations that do not belong to a small core, and where any takes effect: a core
	// is a history of its own.
	Core bool
}

// SmallCore says whether the core is small enough to be drawn as a whole, without anything else.
func (r *Result) SmallCore() bool { return r.fails() && len(r.Core) > 1 && len(r.Core) <= coreOps }

// How much a window shows by default.
const (
	DefaultRows       = 12
	DefaultOperations = 60
)

// Window returns a window of the result. If there are independent keys, it shows the key of the
// event in o.Around, or else the key that fails first. If none fails, it shows all keys together.
// If the context ends early, the states after the points are missing. An error of the model's Label
// is an error. Linear time in the history.
func (r *Result) Window(ctx context.Context, o WindowOptions) (*Window, error) {
	key := ""
	if r.Keys != nil {
		r, key = r.keyAround(o.Around)
	}
	b, err := r.begin(o)
	if err != nil {
		return nil, err
	}
	if err := b.complete(ctx); err != nil {
		return nil, err
	}
	b.w.Title = text.Line(cmp.Or(r.File, "history")) + ": " + key + r.verdict()
	if worst := r.worst(); worst != nil && !o.Core && o.Around == nil {
		b.w.Below, err = r.AnomalyWindow(ctx, worst, o)
	}
	return b.w, err
}

// worst returns the worst anomaly of transactions, or nil if the picture of the failure shows it or there is none.
func (r *Result) worst() *TxnAnomaly {
	if r.Levels == nil || !r.fails() {
		return nil
	}
	worst := r.Levels.Worst()
	switch {
	case worst == nil, r.Told != nil && r.Told.Says == worst.Says:
		return nil
	case worst.Steps == nil && !slices.ContainsFunc(worst.Txns, func(op jepsen.Operation) bool { return !slices.Contains(r.Core, op) && !slices.Contains(r.Named, op) }):
		return nil
	}
	return worst
}

// complete puts everything else into a window of chosen operations.
func (b *windowBuilder) complete(ctx context.Context) error {
	b.label(ctx)
	if !b.o.Core {
		b.linearize(ctx)
	}
	b.lanes()
	if !b.alone {
		b.gaps()
	}
	b.relate()
	b.bands()
	if b.o.ByTime {
		return b.byTime()
	}
	return nil
}

// AnomalyWindow returns a window of an anomaly of the result. Of the options, only the scale counts.
func (r *Result) AnomalyWindow(ctx context.Context, a *TxnAnomaly, o WindowOptions) (*Window, error) {
	h := r.History
	if h == nil || len(a.Txns) == 0 {
		return nil, errors.New("a picture shows operations; found an anomaly without any")
	}
	of := &Result{File: r.File, History: h, Spec: r.Spec, Told: a, Explanation: a.Line()}
	b := &windowBuilder{r: of, h: h, o: WindowOptions{Core: true, ByTime: o.ByTime}, w: &Window{Result: of, FailAt: -1}, threads: threadsOf(h), alone: true}
	b.ops = a.ShownTxns()
	for _, op := range b.ops {
		b.end = max(b.end, h.Invocation[op], h.Completion[op])
	}
	slices.Sort(b.ops)
	b.ops = slices.Compact(b.ops)
	of.Core = b.ops
	b.columns()
	if i := a.wrong(); i >= 0 {
		x := &b.w.Ops[b.placeOf[a.Txns[i]]]
		x.Failing, x.Why = true, text.Shorten(text.Line(a.Wrong), maxWhy)
	}
	b.w.MoreTxns = len(a.Txns) - len(b.ops)
	if err := b.complete(ctx); err != nil {
		return nil, err
	}
	b.w.Title = text.Line(cmp.Or(r.File, "history")) + ": " + a.Type
	return b.w, nil
}

// begin chooses the operations of a window and their columns, which is all that text shows.
func (r *Result) begin(o WindowOptions) (*windowBuilder, error) {
	h := r.History
	switch {
	case h == nil || h.Operations() == 0:
		return nil, errors.New("a picture shows operations; found a history without any")
	case o.Around == nil && r.Verdict == jepsen.Unknown:
		return nil, errors.New("a picture shows a failure, a witness, or what is around an index; found an undecided history and no index")
	}
	o.Rows = cmp.Or(o.Rows, DefaultRows)
	o.Operations = cmp.Or(o.Operations, max(DefaultOperations, DefaultOperations/DefaultRows*o.Rows))
	b := &windowBuilder{r: r, h: h, o: o, w: &Window{Result: r, FailAt: -1}}
	if err := b.choose(); err != nil {
		return nil, err
	}
	b.columns()
	return b, nil
}

// keyAround returns the result of the key of an event,
// given by its :index, or of the key that fails first. It
// also returns "key K: ", or "" if no key is chosen.
func (r *Result) keyAround(index *int64) (of *Result, name string) {
	named := func(k *KeyResult) (*Result, string) {
		return k.Result(), "key " + text.Shorten(text.Line(k.Key.String()), maxKeyTitle) + ": "
	}
	if index != nil {
		if e := r.History.EventAt(*index); e != jepsen.None {
			if items := r.History.Values.Items(r.History.Value[e]); len(items) == 2 {
				for _, k := range r.Keys {
					if k.Key.Class() == int32(r.History.Values.Same(items[0])) {
						return named(&k)
					}
				}
			}
		}
	}
	if k := r.FailingKey(); k != nil {
		return named(k)
	}
	return r, ""
}

// maxKeyTitle bounds the characters of a key in a title.
const maxKeyTitle = 40

type windowBuilder struct {
	r       *Result
	h       *jepsen.History
	o       WindowOptions
	w       *Window
	alone   bool                     // what else happened is not counted
	threads []int32                  // by process: the processes of one thread have one number
	ops     []jepsen.Operation       // in order
	from    jepsen.Event             // the first event that is shown
	end     jepsen.Event             // the last one
	marks   []jepsen.Event           // the events that have columns, in order
	placeOf map[jepsen.Operation]int // among the operations of the window
}

// columns assigns every operation its place on the axis.
func (b *windowBuilder) columns() {
	h, w := b.h, b.w
	b.placeOf = map[jepsen.Operation]int{}
	for i, op := range b.ops {
		b.placeOf[op] = i
		b.marks = append(b.marks, h.Invocation[op])
		if c := h.Completion[op]; c != jepsen.None && c <= b.end {
			b.marks = append(b.marks, c)
		}
	}
	slices.Sort(b.marks)
	b.from = b.marks[0]
	w.Width = float64(len(b.marks))
	core := map[jepsen.Operation]bool{}
	for _, op := range b.r.Core {
		core[op] = len(b.r.Core) <= coreOps // if everything is in the core, that says nothing
		if _, shown := b.placeOf[op]; !shown {
			w.MoreCore++
		}
	}
	for _, op := range b.ops {
		x := WindowOp{Operation: op, From: b.at(h.Invocation[op]), To: w.Width, Core: core[op],
			Crashed: h.Status[op] == jepsen.Crashed, Failed: h.Status[op] == jepsen.Failed,
			Named: slices.Contains(b.r.Named, op), Name: text.Line(h.Name(op))}
		switch c := h.Completion[op]; {
		case c != jepsen.None && c <= b.end:
			x.To = b.at(c)
		case x.Crashed:
			x.To = x.From
		default:
			x.Open = true
		}
		if x.Until = x.To; x.Crashed {
			x.Until = w.Width
		}
		if b.r.fails() && h.Completion[op] == b.r.FailEvent.OrNone() {
			x.Failing, x.Why = true, text.Shorten(b.r.mark(), maxWhy)
			if !x.Open {
				w.FailAt = x.To
			}
		}
		w.Ops = append(w.Ops, x)
	}
}

// label says what every operation did.
func (b *windowBuilder) label(ctx context.Context) {
	for i := range b.w.Ops {
		x := &b.w.Ops[i]
		x.Label = b.r.Spec.Words(ctx, b.h, x.Operation)
		if b.r.Told == nil {
			continue
		}
		if n := slices.Index(b.r.Told.Txns, x.Operation); n >= 0 {
			x.Label = fmt.Sprintf("T%d ", n+1) + cmp.Or(b.concerned(n), x.Label)
		}
	}
}

// Bounds of the label of a transaction of an anomaly.
const (
	maxParts = 4  // of its parts
	maxPart  = 24 // characters of a part
)

// concerned returns those parts of a transaction of the anomaly that concern a key that it is about, or "" if there are none.
func (b *windowBuilder) concerned(txn int) string {
	a, v := b.r.Told, b.h.Values
	keys := []string{a.Key}
	if n := len(a.Steps); n > 0 {
		keys = []string{a.Steps[txn].Key, a.Steps[(txn+n-1)%n].Key}
	}
	parts, failed := []string{}, ""
	if b.h.Status[a.Txns[txn]] == jepsen.Failed {
		failed = "failed "
	}
	n, skipped := 0, false
	for _, part := range v.Items(b.h.OpValue(a.Txns[txn])) {
		items := v.Items(part)
		switch {
		case len(items) != 3 || !slices.Contains(keys, v.Text(items[1])) || n == maxParts:
			skipped = true
			continue
		case skipped:
			parts = append(parts, "…")
		}
		n, skipped = n+1, false
		parts = append(parts, text.Middle(text.Line(strings.TrimPrefix(v.Text(items[0]), ":")+" "+v.Text(items[1])+" "+v.Text(items[2])), maxPart))
	}
	switch {
	case n == 0:
		return ""
	case skipped:
		parts = append(parts, "…")
	}
	return failed + strings.Join(parts, ", ")
}

// at returns the column of an event, or that of the next event that has one.
func (b *windowBuilder) at(e jepsen.Event) float64 {
	i, _ := slices.BinarySearch(b.marks, e)
	return float64(i)
}

// relate keeps the relations between operations that are shown.
func (b *windowBuilder) relate() {
	if t := b.r.Told; t != nil && t.Steps != nil {
		b.steps(t)
		return
	}
	for _, r := range b.r.Relations {
		from, fromShown := b.placeOf[r.From]
		to, toShown := b.placeOf[r.To]
		if fromShown && toShown {
			said := fmt.Sprintf("%s of process %s %s %s of process %s", b.w.Ops[from].Label, b.h.ProcessName(r.From), r.Kind, b.w.Ops[to].Label, b.h.ProcessName(r.To))
			b.w.Relations = append(b.w.Relations, WindowRelation{r.Kind, from, to, text.Line(said), len(b.w.Relations) + 1, ""})
		}
	}
}

// stepKinds are the kinds of relations that steps between transactions are. Others say what must be before.
var stepKinds = map[string]models.RelationKind{"wr": models.Saw, "process": models.ReturnedBefore, "realtime": models.ReturnedBefore}

// maxStep bounds the characters of a key and of a value beside an arrow.
const maxStep = 10

// steps keeps the steps of a cycle between transactions that are shown.
func (b *windowBuilder) steps(a *TxnAnomaly) {
	for _, i := range a.ShownSteps() {
		from, fromShown := b.placeOf[a.Txns[i]]
		to, toShown := b.placeOf[a.Txns[(i+1)%len(a.Txns)]]
		if !fromShown || !toShown {
			continue
		}
		s := a.Steps[i]
		kind, known := stepKinds[s.Type]
		if !known {
			kind = models.MustBeBefore
		}
		label := s.Type
		for _, of := range []string{s.Key, s.Value} {
			if of != "" {
				label += " " + text.Shorten(text.Line(of), maxStep)
			}
		}
		b.w.Relations = append(b.w.Relations, WindowRelation{kind, from, to, text.Line(s.Says), i + 1, label})
	}
}

// byTime moves everything to where the times of the events put it.
// It does not follow times that go back: the order of events holds.
func (b *windowBuilder) byTime() error {
	times := make([]float64, len(b.marks))
	for i, e := range b.marks {
		t, ok := b.h.EventMap(e).Get("time")
		n, isInt := t.Int()
		if !ok || !isInt {
			return b.h.Errorf(e, "the event (index %d) has no integer :time; a picture with the scale time needs one", b.h.Index(e))
		}
		if times[i] = float64(n); i > 0 {
			times[i] = max(times[i], times[i-1])
		}
	}
	w, last := b.w, len(times)-1
	span := max(1, times[last]-times[0])
	move := func(x *float64) { // places after the last event keep their distance to it
		i := min(int(max(0, *x)), last)
		switch beyond := *x - float64(i); {
		case *x < 0:
		case i == last:
			*x = float64(last) + beyond
		default:
			*x = (times[i] + beyond*(times[i+1]-times[i]) - times[0]) / span * float64(last)
		}
	}
	w.ByTime = true
	for i := range w.Ops {
		move(&w.Ops[i].From)
		move(&w.Ops[i].To)
		move(&w.Ops[i].Until)
	}
	for i := range w.Points {
		move(&w.Points[i].At)
	}
	for i := range w.Bands {
		move(&w.Bands[i].From)
		move(&w.Bands[i].To)
	}
	for i := range w.Rows {
		for k := range w.Rows[i].Gaps {
			move(&w.Rows[i].Gaps[k].From)
			move(&w.Rows[i].Gaps[k].To)
		}
	}
	move(&w.FailAt)
	return nil
}

// Bounds of bands.
const (
	maxBands    = 12
	maxBandName = 40 // characters
)

func (b *windowBuilder) bands() {
	h, w := b.h, b.w
	for _, s := range h.NemesisWindows() {
		if s.To <= b.from && s.From < s.To || s.To < b.from || s.From > b.end {
			continue
		}
		if len(w.Bands) == maxBands {
			w.MoreBands++
			continue
		}
		said := h.Values.Text(s.F)
		if s.Value != edn.Nil {
			said += " " + h.Values.Text(s.Value)
		}
		w.Bands = append(w.Bands, Band{From: b.before(s.From), To: b.before(s.To), Name: text.Shorten(text.Line(said), maxBandName),
			Process: text.Shorten(text.Line(h.Values.Text(s.Process)), maxProcess), Index: s.Index})
	}
}

func (b *windowBuilder) before(e jepsen.Event) float64 {
	switch {
	case e <= b.from:
		return 0
	case e > b.end:
		return b.w.Width
	}
	return b.at(e) - 0.5
}
