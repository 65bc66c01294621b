package porcupine

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"clew/internal/text"
	"clew/models"
)

// A step may change the state that it is given, instead of returning a new one. Then any
// search answers for states that no order of the operations leads to. So its answers are
// looked at once more:
//
//   - A linearization is replayed from a new initial state. If a step refuses, it is not one.
//   - If there is none, the states are made again, each from the one that led to it. They must be
//     equal to those that the search has.
//
// Some of what a state holds, such as a cache, may change without harm. So the model's Equal has
// the last word. For a model without one, a search that makes every state for one step only must call the
// history linearizable.
//
// This asks for as many steps as the history has operations, or more. It is not needed if states have numbers by their
// contents, and nothing has changed those (numbered.doubt): each state is looked at after each step that was possible in it.
// If a step that refuses has changed a state, it may have made others refuse. So if there is no linearization, all states
// are looked at in the end.

// Bounds of the second look.
const (
	watchedSteps = 10_000
	watchedTime  = 250 * time.Millisecond
)

// origin is the state that led to a state first, and the class of operations by which it did.
type origin struct{ from, class int32 }

// isAsMade says whether a state holds what it held when it got its number.
func (m *numbered) isAsMade(state int32) bool {
	if m.plain || !m.byContents() {
		return true
	}
	hash, _ := contents(m.states[state], m.sets)
	return hash == m.byHash.chains[state].hash
}

// areAsMade says whether all states are.
func (m *numbered) areAsMade() bool {
	for state := range m.states {
		if !m.isAsMade(int32(state)) {
			return false
		}
	}
	return true
}

// replays says whether an order of rows is possible from a new initial state on.
func (m *numbered) replays(p *part, order []models.Row) (ok bool) {
	ok = true
	state := m.model.Init()
	for _, row := range order {
		if ok, state = m.model.StepContext(m.ctx, state, p.calls[row].input, p.calls[row].output); !ok {
			break
		}
	}
	return ok
}

// changed says which state a step has changed after it was made, or returns "".
func (m *numbered) changed(p *part) (what string) {
	if !m.doubt && m.areAsMade() {
		return ""
	}
	ctx, stop := context.WithTimeout(m.ctx, watchedTime)
	defer stop()
	defer func() {
		if recover() != nil { // a step may not expect to be called once more
			what = ""
		}
	}()
	if m.model.Equal == nil && !m.plain && !m.byContents() && remaking(ctx, m.model, p) == Ok {
		return m.said(0) // a state that was changed more than once may look as it was made
	}
	fresh := []any{m.model.Init()}
	for n, state := range m.states[:min(len(m.states), watchedSteps)] {
		if ctx.Err() != nil {
			return ""
		}
		if by := m.origins[n]; n > 0 {
			ok, again := m.model.StepContext(ctx, fresh[by.from], m.calls[by.class].input, m.calls[by.class].output)
			if !ok && ctx.Err() == nil {
				return m.said(n)
			}
			fresh = append(fresh, again)
		}
		switch {
		case m.model.Equal != nil && !m.model.Equal(fresh[n], state):
			return m.said(n)
		case m.model.Equal == nil:
			is, _ := contents(state, false)
			if was, _ := contents(fresh[n], false); is == was {
				continue
			}
			if remaking(ctx, m.model, p) != Illegal {
				return m.said(n)
			}
			return ""
		}
	}
	return ""
}

// maxShown bounds the characters of a value in a message.
const maxShown = 100

func (m *numbered) said(state int) string {
	which := "the initial state"
	if state > 0 {
		by := m.calls[m.origins[state].class]
		which = text.Shorten(fmt.Sprintf("the state after input %+v with output %+v", by.input, by.output), maxShown)
	}
	return "a step of the model changes a state in place: " + which + " has changed since it was made; " +
		"expected Step to leave the given state unchanged and to return a new one, such as a slices.Clone or maps.Clone with the change"
}

// made says how a state was made.
type made struct {
	hash uint64
	from *made // nil for the initial state
	by   call
}

// again makes the state once more. It returns false if some step refuses now.
func (m *made) again(model Model) (state any, ok bool) {
	var path []call
	for ; m.from != nil; m = m.from {
		path = append(path, m.by)
	}
	state = model.Init()
	for i := len(path) - 1; i >= 0; i-- {
		if ok, state = model.StepContext(context.Background(), state, path[i].input, path[i].output); !ok {
			return nil, false
		}
	}
	return state, true
}

// remaking searches with states that are each made for one step only.
func remaking(ctx context.Context, model Model, p *part) CheckResult {
	return newWGL(newNumbered(ctx, Model{
		Init: func() any { return &made{} },
		StepContext: func(ctx context.Context, state, input, output any) (bool, any) {
			m := &made{from: state.(*made), by: call{input, output}}
			next, ok := m.again(model)
			m.hash, _ = contents(next, false)
			return ok, m
		},
		Equal: func(a, b any) bool { return a.(*made).hash == b.(*made).hash },
		Hash:  func(state any) uint64 { return state.(*made).hash },
	}, p), p).run(ctx, watchedSteps)
}

// isPlain says whether nothing can change a value of a type in place.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}
