package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// linearize finds where the operations of the window take effect, and the states
// after them. It takes these from the witness of a valid history, or from the
// linearization of everything before a failure. Every operation takes effect as
// early as the order allows: just after the latest invocation up to it.
func (b *windowBuilder) linearize(ctx context.Context) {
	order := b.r.Witness
	if b.r.Placed() {
		order = b.r.Before
		for len(order) > 0 && b.r.openAtFailure(order[len(order)-1]) {
			order = order[:len(order)-1] // no operation that returned needs it
		}
	}
	h, w := b.h, b.w
	var points []Point
	var steps []int // by point: how many operations are linearized up to it
	at := jepsen.Event(jepsen.None)
	for i, op := range order {
		at = max(at, h.Invocation[op])
		place, shown := b.placeOf[op]
		if !shown {
			continue
		}
		if len(points) == 0 {
			w.MorePoints = i
		}
		column, exact := slices.BinarySearch(b.marks, at)
		if !exact {
			column-- // after the last mark before it
		}
		points, steps = append(points, Point{Op: place, At: float64(column)}), append(steps, i+1)
	}
	for from := 0; from < len(points); { // points after the same mark share the room after it
		to := from
		for to < len(points) && points[to].At == points[from].At {
			to++
		}
		for i := from; i < to; i++ {
			points[i].At += float64(i-from+1) / float64(to-from+1)
		}
		from = to
	}
	for i, state := range b.states(ctx, order, steps) {
		points[i].State = state
	}
	w.Points = append(points, b.attempt()...)
}

// openAtFailure says whether an operation was open
// at the failure. The failing one has just returned.
func (r *Result) openAtFailure(op jepsen.Operation) bool {
	h := r.History
	c := h.Completion[op]
	return c == jepsen.None || c > r.FailEvent.OrNone() || h.Status[op] == jepsen.Crashed
}

// attempt returns the pending operations of the longest final path from the first
// configuration to the failing operation, which are tried just before the failure.
func (b *windowBuilder) attempt() []Point {
	if b.w.FailAt < 0 {
		return nil
	}
	var longest []Step
	for _, path := range b.r.Paths {
		if len(path) > len(longest) && b.fromFirst(path) {
			longest = path
		}
	}
	var points []Point
	for _, s := range longest[:max(0, len(longest)-1)] {
		place, shown := b.placeOf[s.Operation]
		if s.Operation != b.r.LastOperation.OrNone() && shown {
			points = append(points, Point{Op: place, State: StateText(s.State, maxStateText), Attempt: true})
		}
	}
	for i := range points {
		points[i].At = b.w.FailAt - 1 + float64(i+1)/float64(len(points)+1)
	}
	return points
}

// fromFirst reports whether a final path goes from the first configuration to the failing operation, by updates.
func (b *windowBuilder) fromFirst(path []Step) bool {
	failing, first := b.r.History.OpOf[b.r.FailEvent.OrNone()], b.r.Paths[0]
	if path[len(path)-1].Operation != failing || len(b.r.Configs) == 0 {
		return len(b.r.Configs) == 0
	}
	c := b.r.Configs[0]
	if c.Last != jepsen.None {
		if path[0].Operation != c.Last || path[0].State.ID() != first[0].State.ID() {
			return false
		}
		path = path[1:]
	}
	for i, s := range path {
		if !slices.Contains(c.Pending, s.Operation) || i > 0 && i < len(path)-1 && s.State.ID() == path[i-1].State.ID() {
			return false
		}
	}
	return true
}

// states returns the states after the given numbers of operations of an
// order, as text. It returns none if they cannot be found. A model may fail:
// a part of the author's declarations may run where the whole does not.
func (b *windowBuilder) states(ctx context.Context, order []jepsen.Operation, steps []int) (texts []string) {
	defer func() {
		if p := recover(); p != nil {
			if _, failed := p.(*models.Failure); !failed {
				panic(p)
			}
			texts = nil
		}
	}()
	if len(steps) == 0 || b.r.Keys != nil {
		return nil
	}
	ops := b.r.ModelOps(ctx)
	if ops == nil {
		return nil
	}
	traits := ops.Model.Traits()
	if traits.Within != nil {
		defer traits.Within(ctx, nil)()
	}
	rowOf := ops.Rows()
	var rows []models.Row // of the operations that say something to the model
	var at []int          // how many of these there are up to each step
	for i, op := range order[:steps[len(steps)-1]] {
		if row := rowOf[op]; row >= 0 {
			rows = append(rows, row)
		}
		if i+1 == steps[len(at)] {
			at = append(at, len(rows))
		}
	}
	op := func(i int) models.Op { return ops.Op(rows[i]) }
	if traits.Overwrites != nil { // operations before the last overwriting one make no difference
		for i := at[0] - 1; i >= 0; i-- {
			if traits.Overwrites(op(i)) {
				rows = rows[i:]
				for k := range at {
					at[k] -= i
				}
				break
			}
		}
	}
	states, err := models.StatesAt(ctx, ops.Model, len(rows), op, at)
	if err != nil {
		return nil
	}
	for _, s := range states {
		said := ""
		if len(s) <= maxStateNumbers {
			said = StateText(ops.Model.Record(s), maxStateText)
		}
		texts = append(texts, said)
	}
	return texts
}

// ModelOps returns the operations that are linearized, as the model reads them, or nil if
// the model cannot read them. If a part of the history fails, these are its operations.
func (r *Result) ModelOps(ctx context.Context) *models.Operations {
	if r.Ops != nil {
		return r.Ops
	}
	ops, err := r.Spec.ReadWithin(ctx, r.History)
	if err != nil {
		return nil
	}
	if r.Placed() {
		for _, part := range ops.Parts() {
			if _, in := slices.BinarySearch(part.Of, r.History.OpOf[r.FailEvent.OrNone()]); in {
				return part
			}
		}
	}
	return ops
}

// Bounds of a state in a picture.
const (
	maxStateNumbers = 200 // numbers in a state of the model
	maxStateText    = 24  // characters
)

// StateText returns a state in at most max characters: it omits the name of the
// record, and of a record with one field it shows only the field.
func StateText(record edn.Value, max int) string {
	record = content(record)
	s := record.String()
	if one := onlyField(record); one != record {
		switch locks, s1 := record.Items()[0].String() == ":locked?", one.String(); {
		case !locks:
			s = s1
		case s1 == "true":
			s = "held"
		default:
			s = "free"
		}
	}
	return text.Middle(text.Line(s), max)
}

// content returns what a record holds, without its name.
func content(record edn.Value) edn.Value {
	if record.Kind() == edn.KindTagged {
		return record.Items()[0]
	}
	return record
}

// fieldNames are the fields of records that have only one. A state by key is a record, too, but its only key says something.
var fieldNames = []string{":value", ":items", ":pending", ":s", ":given", ":balances", ":owner", ":locked?"}

// onlyField returns the only field of a record, or the record if it has several.
func onlyField(record edn.Value) edn.Value {
	if fields := record.Items(); record.Kind() == edn.KindMap && len(fields) == 2 && slices.Contains(fieldNames, fields[0].String()) {
		return fields[1]
	}
	return record
}

// StateChange says what an operation changed in a state: "+400" of a set, "x: 1 → 2" of a map,
// "+5 at the end" or "−3 at the front" of a list. It returns "" if it cannot.
func StateChange(from, to edn.Value) string {
	from, to = onlyField(content(from)), onlyField(content(to))
	was, is := from.Items(), to.Items()
	if from.Kind() != to.Kind() {
		return ""
	}
	switch to.Kind() {
	case edn.KindSet, edn.KindMap:
		return changed(from, to)
	case edn.KindVector, edn.KindList:
		front, end := 0, 0
		for front < min(len(was), len(is)) && was[front].Class() == is[front].Class() {
			front++
		}
		for end < min(len(was), len(is))-front && was[len(was)-1-end].Class() == is[len(is)-1-end].Class() {
			end++
		}
		was, is = was[front:len(was)-end], is[front:len(is)-end]
		place := " in the middle"
		if end == 0 {
			place = " at the end"
		} else if front == 0 {
			place = " at the front"
		}
		switch {
		case len(was) == 0 && len(is) == 1:
			return "+" + is[0].String() + place
		case len(was) == 1 && len(is) == 0:
			return "−" + was[0].String() + place
		}
	}
	return ""
}

// changed says how the elements of a set or the entries of a map changed.
func changed(from, to edn.Value) string {
	was, is := entries(from), entries(to)
	var all []string
	for _, key := range keys(to) {
		now := is[key.Class()]
		switch before, there := was[key.Class()]; {
		case there && before.Class() == now.Class():
		case to.Kind() == edn.KindSet:
			all = append(all, "+"+key.String())
		case there:
			all = append(all, fmt.Sprintf("%s: %s → %s", key, before, now))
		default:
			all = append(all, fmt.Sprintf("+%s %s", key, now))
		}
	}
	for _, key := range keys(from) {
		if _, there := is[key.Class()]; !there {
			all = append(all, "−"+key.String())
		}
	}
	return strings.Join(all, ", ")
}

// keys returns the elements of a set, or the keys of a map.
func keys(x edn.Value) []edn.Value {
	items := x.Items()
	if x.Kind() != edn.KindMap {
		return items
	}
	var all []edn.Value
	for i := 0; i < len(items); i += 2 {
		all = append(all, items[i])
	}
	return all
}

// entries returns the values of a map by the class of their keys, or the elements of a set.
func entries(x edn.Value) map[int32]edn.Value {
	items, of := x.Items(), map[int32]edn.Value{}
	for i := 0; i < len(items); i++ {
		if key := items[i]; x.Kind() == edn.KindMap {
			i++
			of[key.Class()] = items[i]
		} else {
			of[key.Class()] = key
		}
	}
	return of
}

// difference says how a set or map that was seen differs from another one, or returns "" if it cannot.
func difference(saw, was edn.Value) string {
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch {
	case saw.Kind() == edn.KindSet && was.Kind() == edn.KindSet:
		seen, there := entries(saw), entries(was)
		for _, x := range was.Items() {
			if _, in := seen[x.Class()]; !in {
				say("%s is missing", x)
			}
		}
		for _, x := range saw.Items() {
			if _, in := there[x.Class()]; !in {
				say("%s is not in the set", x)
			}
		}
	case saw.Kind() == edn.KindMap && was.Kind() == edn.KindMap:
		there, items := entries(was), saw.Items()
		for i := 0; i < len(items); i += 2 {
			if x, in := there[items[i].Class()]; in && x.Class() != items[i+1].Class() {
				say("%s is %s, not %s", items[i], x, items[i+1])
			}
		}
	}
	return strings.Join(all, "; ")
}
