package porcupine

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"clew/internal/text"
)

// A step may change the state that it is given, instead of returning a new one. Then any
// search answers for states that no order of the operations leads to. So before a history
// is called illegal, a short search records what every state holds when it is made, and
// looks at all of them once more at the end.
//
// Some of what a state holds, such as a cache, may change without harm. So the model has
// the last word: the same steps make the state again, from the first one on, and the two
// states must differ by its Equal. For a model without one, a search that makes every
// state for one step only must call the history linearizable.

// Bounds of that search.
const (
	watchedSteps = 50_000
	watchedTime  = 250 * time.Millisecond
	remade       = 100 // states that are made again
)

// made is a state, and how it was made.
type made struct {
	state any
	hash  uint64
	from  *made // nil for the initial state
	by    call
}

// changed says which state a step has changed after it was made, or returns "".
func changed(ctx context.Context, model Model, events []Event) (what string) {
	p := newPart(events)
	if p == nil || len(events) == 0 {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, watchedTime)
	defer stop()
	defer func() {
		if recover() != nil { // a step may not expect to be called once more
			what = ""
		}
	}()
	first := &made{state: model.Init()}
	if first.state != nil && isPlain(reflect.TypeOf(first.state)) {
		return ""
	}
	all := watch(ctx, model, p, first)
	tries := 0
	for _, m := range all {
		if contents(m.state, false) == m.hash {
			continue
		}
		if tries++; tries > remade || ctx.Err() != nil {
			return ""
		}
		if m.differs(ctx, model, p) {
			return m.String()
		}
		if model.Equal == nil {
			return "" // it says the same about the others
		}
	}
	return ""
}

// watch searches, and returns all states that it has met.
func watch(ctx context.Context, model Model, p *part, first *made) []*made {
	all := []*made{first}
	first.hash = contents(first.state, false)
	watched := Model{
		Init: func() any { return first },
		StepContext: func(ctx context.Context, state, input, output any) (bool, any) {
			m := &made{from: state.(*made), by: call{input, output}}
			ok, next := model.StepContext(ctx, m.from.state, input, output)
			if !ok {
				return false, state
			}
			m.state, m.hash = next, contents(next, false)
			all = append(all, m)
			return true, m
		},
		Equal: func(a, b any) bool {
			if model.Equal == nil {
				return a.(*made).state == b.(*made).state
			}
			return model.Equal(a.(*made).state, b.(*made).state)
		},
		Hash: func(state any) uint64 { return state.(*made).hash },
	}
	newWGL(newNumbered(ctx, watched, p), p).run(ctx, watchedSteps)
	return all
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

// differs says whether the state differs, for the model, from the same state made again.
// It asks the model's Equal or, without one, what the model says of the history.
func (m *made) differs(ctx context.Context, model Model, p *part) bool {
	fresh, ok := m.again(model)
	if !ok {
		return true
	}
	if model.Equal != nil {
		return !model.Equal(fresh, m.state)
	}
	return remaking(ctx, model, p) != Illegal
}

// remaking searches with states that are each made for one step only.
func remaking(ctx context.Context, model Model, p *part) CheckResult {
	return newWGL(newNumbered(ctx, Model{
		Init: func() any { return &made{} },
		StepContext: func(ctx context.Context, state, input, output any) (bool, any) {
			m := &made{from: state.(*made), by: call{input, output}}
			next, ok := m.again(model)
			m.hash = contents(next, false)
			return ok, m
		},
		Equal: func(a, b any) bool { return a.(*made).hash == b.(*made).hash },
		Hash:  func(state any) uint64 { return state.(*made).hash },
	}, p), p).run(ctx, watchedSteps)
}

// maxShown bounds the characters of a value in a message.
const maxShown = 100

func (m *made) String() string {
	which := "the initial state"
	if m.from != nil {
		which = text.Shorten(fmt.Sprintf("the state after input %+v with output %+v", m.by.input, m.by.output), maxShown)
	}
	return "a step of the model changes a state in place: " + which + " has changed since it was made; " +
		"expected Step to leave the given state unchanged and to return a new one, such as a slices.Clone or maps.Clone with the change"
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
