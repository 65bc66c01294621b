// Package asked makes a model of steps that another program takes. That program has the states and the operations, and
// numbers both; docs/stdio.md describes the questions. The package does not know how they reach the program.
package asked

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
)

// Ask asks the program a question, a value that JSON can hold. It gives up when stop is closed.
type Ask = func(stop <-chan struct{}, question any) (json.RawMessage, error)

const (
	maxOps   = 64      // of the state that a question is about
	ahead    = 1000    // operations among which they are
	maxSteps = 512     // of a question
	maxNear  = 16      // of any other state
	behind   = 8       // how many operations before the one that is asked for are asked for, too
	maxChain = 4096    // steps of a question, each in the state after the one before
	maxKnown = 1 << 18 // steps that are kept; beyond, all are forgotten
	maxText  = 1 << 16 // bytes of a state as it prints
)

// question asks for steps, a list of [state, [operation ..]], for a chain of steps, a state and operations, or for the
// texts of states.
type question struct {
	Steps []any   `json:"steps,omitempty"`
	Chain []any   `json:"chain,omitempty"`
	Print []int32 `json:"print,omitempty"`
}

// step is what the program says of an operation in a state: the number of the next state, or why there is none.
type step struct {
	next   int32
	cannot bool
	why    string
	failed error // of the program's own code
}

// none reports whether there is no next state.
func (s *step) none() bool { return s.cannot || s.failed != nil }

// UnmarshalJSON implements json.Unmarshaler.
func (s *step) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		s.cannot = true
		return json.Unmarshal(b, &s.why)
	case '{':
		var x struct{ Error *string }
		if err := json.Unmarshal(b, &x); err != nil {
			return err
		}
		if x.Error == nil {
			return fmt.Errorf(`expected {"error":".."}, found %s`, text.Shorten(string(b), 40))
		}
		s.failed = errors.New(*x.Error)
		return nil
	case 'n':
		return errors.New("expected the number of a state, found null")
	}
	return json.Unmarshal(b, &s.next)
}

// model is a model of a program, for one request of it.
type model struct {
	name string
	ask  Ask

	mu     sync.Mutex
	tables map[*edn.Values]*table
	asked  atomic.Int64 // how many steps were asked for, which bounds the numbers of states
}

// table holds the steps of a history that are known, and of the histories of all its keys. A step is asked for once,
// however often the history is read.
type table struct {
	mu      sync.Mutex
	classes map[class]int32
	ops     []int64 // by class: the index of an event with its :f and its value
	known   map[[2]int32]step

	asking sync.Mutex // is held while a question is asked
}

// class identifies an operation, of which the steps of Knossos's models see the :f and the value that counts.
type class struct{ f, value, key edn.ID }

// Definition returns the model of a program that is asked for its steps.
func Definition(name string, ask Ask) *models.Definition {
	m := &model{name: name, ask: ask, tables: map[*edn.Values]*table{}}
	d := models.Func[int32]{Name: name, About: "a model of the program that asks", Other: (&bound{}).step}.Definition()
	d.New = m.bind
	return d
}

// bound is the model for one reading of a history.
type bound struct {
	models.Reader
	model *model
	table *table
	stop  <-chan struct{}

	// As operations are read, each is a call with a number:
	calls []int32   // in order
	at    [][]int32 // by number: where it stands among calls
	class []int32   // by number

	chain []int32         // calls that are to be made one after another
	last  int             // where the call stands that was asked for last
	made  map[int32]int32 // by place among calls: a state that the call leads to, and none before it was known to
	met   map[int32]bool  // the states of made
}

// wanted is a step to be asked for, of the call at a place.
type wanted struct{ state, class, place int32 }

func (m *model) bind(b *models.Binding) (models.Reader, error) {
	x := &bound{model: m, table: m.tableOf(b.Values), made: map[int32]int32{}, met: map[int32]bool{0: true}}
	var err error
	x.Reader, err = models.Func[int32]{
		Name: m.name, Other: x.step, Describe: x.describe,
		Begin: func(stop <-chan struct{}) { x.stop = stop },
	}.Reader(b)
	if err == nil {
		x.Reader.Traits().Expects = x.expects
	}
	return x, err
}

func (x *bound) expects(steps []models.Op) {
	x.chain = make([]int32, len(steps))
	for i, op := range steps {
		x.chain[i] = op.A
	}
}

func (m *model) tableOf(v *edn.Values) *table {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tables[v]
	if t == nil {
		t = &table{classes: map[class]int32{}, known: map[[2]int32]step{}}
		m.tables[v] = t
	}
	return t
}

// Read implements models.Reader. An operation that crashed is the same as one that returned what it was invoked with:
// Knossos's models do not tell them apart.
func (x *bound) Read(o models.Operation) (models.Op, bool, error) {
	if o.History == nil { // the program does not know it
		return models.Op{}, false, models.ErrUnknownF
	}
	if len(x.calls) == 0 {
		if err := ascending(o.History); err != nil {
			return models.Op{}, false, err
		}
	}
	o.GivenID, o.Status = o.ValueID, jepsen.Succeeded
	op, keep, err := x.Reader.Read(o)
	if err != nil {
		return op, keep, err
	}
	if int(op.A) == len(x.class) {
		v := o.Values
		x.class = append(x.class, x.table.class(class{o.FID, v.Same(o.ValueID), v.Same(o.KeyID)}, o.History.LastIndex(o.Of)))
		x.at = append(x.at, nil)
	}
	x.at[op.A] = append(x.at[op.A], int32(len(x.calls)))
	x.calls = append(x.calls, op.A)
	return op, keep, nil
}

// ascending returns an error if the indices of a history's events do not ascend, and so may name several.
func ascending(h *jepsen.History) error {
	last := int64(math.MinInt64)
	for e := range jepsen.Event(len(h.Type)) {
		if i := h.Index(e); i <= last {
			return fmt.Errorf("expected ascending :index, by which the program knows its operations, found %d after %d", i, last)
		} else {
			last = i
		}
	}
	return nil
}

// class returns the number of a class. index is that of an event with its :f and its value.
func (t *table) class(c class, index int64) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, known := t.classes[c]
	if !known {
		n = int32(len(t.ops))
		t.classes[c] = n
		t.ops = append(t.ops, index)
	}
	return n
}

func (t *table) step(state, class int32) (step, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, known := t.known[[2]int32{state, class}]
	return s, known
}

func (x *bound) step(state int32, c models.Call) ([]int32, error) {
	s, err := x.stepOf(state, c.Number())
	switch {
	case err != nil:
		return nil, err
	case s.failed != nil:
		return nil, s.failed
	case s.cannot:
		return nil, models.Inconsistent("%s", s.why)
	}
	return []int32{s.next}, nil
}

func (x *bound) stepOf(state, call int32) (step, error) {
	s, known := x.table.step(state, x.class[call])
	if known {
		return s, nil
	}
	x.table.asking.Lock()
	defer x.table.asking.Unlock()
	if s, known := x.table.step(state, x.class[call]); known {
		return s, nil
	}
	if i := slices.Index(x.chain, call); i >= 0 {
		x.chain = x.chain[i:]
		return x.follow(state)
	}
	list := x.wanted(state, call)
	steps, err := x.ask(list)
	if err != nil {
		return step{}, err
	}
	t := x.table
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	for i, s := range steps {
		w := list[i]
		t.known[[2]int32{w.state, w.class}] = s
		if !x.met[s.next] {
			x.met[s.next], x.made[w.place] = true, s.next
		}
	}
	return steps[0], nil
}

// forget keeps the table from growing without bound. The caller holds its lock.
func (t *table) forget() {
	if len(t.known) > maxKnown {
		clear(t.known)
	}
}

// follow asks for the first steps of the chain, from a state on, and returns the first one.
func (x *bound) follow(state int32) (step, error) {
	calls := x.chain[:min(maxChain, len(x.chain))]
	ops := make([]int64, len(calls))
	x.table.mu.Lock()
	for i, call := range calls {
		ops[i] = x.table.ops[x.class[call]]
	}
	x.table.mu.Unlock()
	steps, err := x.told(question{Chain: []any{state, ops}}, len(ops))
	if err != nil {
		return step{}, err
	}
	if slices.ContainsFunc(steps[:len(steps)-1], func(s step) bool { return s.none() }) {
		return step{}, errors.New("the program's answer goes on behind a step that cannot happen")
	}
	if x.chain = x.chain[len(steps):]; steps[len(steps)-1].none() {
		x.chain = nil
	}
	t := x.table
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
	for i, s := range steps {
		t.known[[2]int32{state, x.class[calls[i]]}] = s
		state = s.next
	}
	return steps[0], nil
}

// wanted returns what to ask for: the step of a call in a state, first, and those that a search is likely to need soon.
// These are the steps of the operations near the call in this state, and in the states that are known to follow, those
// of the operations near the ones that lead there.
func (x *bound) wanted(state, call int32) []wanted {
	at := x.at[call]
	i, _ := slices.BinarySearch(at, int32(x.last))
	x.last = int(at[min(i, len(at)-1)])
	x.table.mu.Lock()
	defer x.table.mu.Unlock()
	list := []wanted{{state, x.class[call], int32(x.last)}}
	list = x.near(list, state, x.last, maxOps, ahead)
	for place := x.last + 1; place <= x.last+maxOps && len(list) < maxSteps-maxNear; place++ {
		if s, known := x.made[int32(place)]; known && s != state {
			list = x.near(list, s, place, maxNear, maxNear)
			delete(x.made, int32(place)) // whatever else it takes is asked for when it is needed
		}
	}
	return list
}

// near adds the steps in a state of up to most operations near a place, and not far ahead of it, unless they are known
// or in the list. The caller holds the table's lock.
func (x *bound) near(list []wanted, state int32, place, most, ahead int) []wanted {
	from := len(list)
	if list[from-1].state == state {
		from-- // the list begins with one
	}
	for p := max(0, place-behind); p < min(len(x.calls), place+ahead) && len(list)-from < most; p++ {
		c := x.class[x.calls[p]]
		_, known := x.table.known[[2]int32{state, c}]
		if !known && !slices.ContainsFunc(list[from:], func(w wanted) bool { return w.class == c }) {
			list = append(list, wanted{state, c, int32(p)})
		}
	}
	return list
}

// ask asks for steps. The program may answer for only the first of them.
func (x *bound) ask(list []wanted) ([]step, error) {
	var q question
	x.table.mu.Lock()
	for i := 0; i < len(list); {
		state, ops := list[i].state, []int64{}
		for ; i < len(list) && list[i].state == state; i++ {
			ops = append(ops, x.table.ops[list[i].class])
		}
		q.Steps = append(q.Steps, [2]any{state, ops})
	}
	x.table.mu.Unlock()
	return x.told(q, len(list))
}

// told asks a question about a number of steps.
func (x *bound) told(q question, n int) ([]step, error) {
	states := x.model.asked.Add(int64(n))
	told, err := x.model.ask(x.stop, q)
	if err != nil {
		return nil, err
	}
	var steps []step
	if err := json.Unmarshal(told, &steps); err != nil {
		return nil, fmt.Errorf("the program's answer is not a list of steps: %w", err)
	}
	if len(steps) < 1 || len(steps) > n {
		return nil, fmt.Errorf("the program answers with %d steps; expected 1 to %d", len(steps), n)
	}
	for _, s := range steps {
		if s.next < 0 || int64(s.next) > min(states, math.MaxInt32) {
			return nil, fmt.Errorf("the program answers with state %d; expected at most %d, since it numbers states one after another", s.next, states)
		}
	}
	return steps, nil
}

// describe returns a state as the program prints it, in EDN.
func (x *bound) describe(state int32) any {
	unprinted := fmt.Sprintf("state %d of %s", state, x.model.name) // a limit must not cost the verdict
	told, err := x.model.ask(x.stop, question{Print: []int32{state}})
	if err != nil {
		return unprinted
	}
	var texts []string
	if err := json.Unmarshal(told, &texts); err != nil || len(texts) != 1 || len(texts[0]) > maxText {
		panic(fmt.Errorf("expected the program's answer to be the text of a state, in a list, of at most %d bytes", maxText))
	}
	v := edn.NewValues()
	id, err := v.ParseLenient([]byte(texts[0]))
	if err != nil { // it may be nested too deeply
		return unprinted
	}
	return v.Value(id)
}
