package story

import (
	"context"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Replay lets a page try every order of a core, with and without each of its operations: it holds what each operation
// does in each state that any of these orders leads to. Its rows and states are numbers from 0, and its first state is
// the initial one.
type Replay struct {
	Ops      []jepsen.Operation `json:"ops"`
	Failing  int                `json:"failing"`  // a row
	Optional []bool             `json:"optional"` // by row: it had not returned, and may not happen
	States   []string           `json:"states"`
	// Next says by state and row what the operation does: the states to which it may lead. If it is impossible, it is the
	// one number -1-i, and Whys[i] says why. It is empty where no order comes to it.
	Next [][][]int32 `json:"next"`
	Whys []string    `json:"whys"`
	// Change says what changes from one state to another if that is shorter than the state: From, To and the words.
	Change []Change `json:"change"`
	// Without says that there are orders without each of the rows, too.
	Without bool `json:"without"`
}

// Change is how one state of a replay differs from another.
type Change struct {
	From int32  `json:"from"`
	To   int32  `json:"to"`
	Said string `json:"said"`
}

// Bounds of a replay.
const (
	maxEntries   = 10_000  // states and rows
	maxText      = 100_000 // characters of all texts
	maxStateText = 160     // characters
	shortState   = 24      // a state of so many characters is shown itself
)

// NewReplay returns the replay of a core that fails at an event, or nil if it is too large.
//
// An order of the core respects which operation had returned before which was invoked. Whatever is tried, the steps up to
// the first impossible one lead through configurations that explore finds, so the table knows each of them. A crashed
// operation, or one that was open, may come at any place after its invocation, or never: it is Optional, and the orders
// without it are among those that explore finds.
//
// Complexity: that of Tell for the core, and for the core without each of its operations.
func NewReplay(ctx context.Context, ops *models.Operations, fail jepsen.Event, core []models.Row) (r *Replay) {
	if len(core) > maxOps {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			if _, failed := p.(*models.Failure); !failed {
				panic(p)
			}
			r = nil // a model of the user's own that fails in a state which no engine came to
		}
	}()
	if bound := ops.Model.Traits().Within; bound != nil {
		defer bound(ctx, nil)()
	}
	s := newStoryteller(ctx, ops, fail, core, 0)
	if s.failing < 0 || !s.explore() {
		return nil
	}
	n := s.ops.Len()
	b := &replayBuilder{s: s, r: &Replay{Failing: s.failing, Ops: s.ops.Of, Whys: []string{}, Change: []Change{}, Without: true}, numbers: map[string]int32{}, whys: map[string]int32{}, changes: map[[2]int32]bool{}}
	for row := range n {
		b.r.Optional = append(b.r.Optional, s.ops.Res[row] == models.Open)
	}
	b.state(s.ops.Model.Init())
	if !b.add(s) {
		return nil
	}
	for row := range n {
		without := newStoryteller(ctx, ops, fail, core, 1<<row)
		without.explore()
		if len(without.nodes) > maxNodes || ctx.Err() != nil || !b.add(without) {
			b.r.Without = false // and what was added does no harm
			break
		}
	}
	return b.r
}

type replayBuilder struct {
	s       *storyteller
	r       *Replay
	states  []models.State
	numbers map[string]int32
	whys    map[string]int32
	changes map[[2]int32]bool
	text    int // characters so far
}

// state returns the number of a state.
func (b *replayBuilder) state(state models.State) int32 {
	key := string(stateKey(nil, state))
	number, known := b.numbers[key]
	if !known {
		number = int32(len(b.states))
		b.numbers[key] = number
		b.states = append(b.states, state)
		b.r.States = append(b.r.States, b.note(report.StateText(b.s.ops.Model.Record(state), maxStateText)))
		b.r.Next = append(b.r.Next, make([][]int32, b.s.ops.Len()))
	}
	return number
}

// add adds what the rows do in each configuration. It returns false if that is too much.
func (b *replayBuilder) add(s *storyteller) bool {
	for _, x := range s.nodes {
		from := b.state(x.state)
		for _, row := range s.byEnd {
			if b.r.Next[from][row] != nil || !s.enabled(x.done, row) {
				continue
			}
			var next []int32
			for _, state := range models.SomeStates(s.ops.Model, maxNodes, x.state, s.ops.Op(models.Row(row))) {
				to := b.state(state)
				next = append(next, to)
				b.change(from, to)
			}
			if next == nil {
				next = []int32{-1 - b.why(s.why(x, row))}
			}
			b.r.Next[from][row] = next
		}
		if len(b.states)*s.ops.Len() > maxEntries || b.text > maxText {
			return false
		}
	}
	return true
}

// note counts the characters of a text.
func (b *replayBuilder) note(s string) string {
	b.text += len(s)
	return s
}

// why returns the number of a reason.
func (b *replayBuilder) why(said string) int32 {
	number, known := b.whys[said]
	if !known {
		number = int32(len(b.r.Whys))
		b.whys[said] = number
		b.r.Whys = append(b.r.Whys, b.note(text.Shorten(text.Line(said), maxWhy)))
	}
	return number
}

// change notes how two states differ if that is shorter than the second.
func (b *replayBuilder) change(from, to int32) {
	if from == to || len(b.r.States[to]) <= shortState || b.changes[[2]int32{from, to}] {
		return
	}
	b.changes[[2]int32{from, to}] = true
	m := b.s.ops.Model
	said := text.Line(report.StateChange(m.Record(b.states[from]), m.Record(b.states[to])))
	if said != "" && len(said) < len(b.r.States[to]) {
		b.r.Change = append(b.r.Change, Change{from, to, b.note(said)})
	}
}
