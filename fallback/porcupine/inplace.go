package porcupine

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"clew/internal/text"
)

// A step that changes the state that it is given, instead of returning a new one, makes
// any search answer for states that no order of the operations leads to. So before a
// history is called illegal, a short search notes what every state holds when it is
// made, and looks at all of them once more at the end.
//
// What a state holds may change without harm, such as a cache. So the model has the last
// word: the state is made again, by the same steps from the first one on, and the two must
// differ by its Equal. A model without one must call the history linearizable if every
// state is made for one step alone.

// Bounds of that search.
const (
	watchedSteps = 50_000
	watchedTime  = 250 * time.Millisecond
	remade       = 100 // states that are made again
)

// made is a state with how it was made.
type made struct {
	state any
	hash  uint64
	from  *made // nil: it is the one at first
	by    call
}

// changed says which state a step has changed after it was made, "" if none is known.
func changed(ctx context.Context, model Model, events []Event) (what string) {
	p := newPart(events)
	if p == nil || len(events) == 0 {
		return ""
	}
	ctx, stop := context.WithTimeout(ctx, watchedTime)
	defer stop()
	defer func() {
		if recover() != nil { // a step may not like to be asked once more
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
		if contents(m.state) == m.hash {
			continue
		}
		if tries++; tries > remade || ctx.Err() != nil {
			return ""
		}
		if m.differs(ctx, model, p) {
			return m.String()
		}
		if model.Equal == nil {
			return "" // it says the same of the others
		}
	}
	return ""
}

// watch searches, and returns all states that it has met.
func watch(ctx context.Context, model Model, p *part, first *made) []*made {
	all := []*made{first}
	first.hash = contents(first.state)
	watched := Model{
		Init: func() any { return first },
		StepContext: func(ctx context.Context, state, input, output any) (bool, any) {
			m := &made{from: state.(*made), by: call{input, output}}
			ok, next := model.StepContext(ctx, m.from.state, input, output)
			if !ok {
				return false, state
			}
			m.state, m.hash = next, contents(next)
			all = append(all, m)
			return true, m
		},
		Equal: func(a, b any) bool {
			if model.Equal == nil {
				return a.(*made).state == b.(*made).state
			}
			return model.Equal(a.(*made).state, b.(*made).state)
		},
	}
	if model.Hash != nil {
		watched.Hash = func(state any) uint64 { return model.Hash(state.(*made).state) }
	}
	newWGL(watched, p).run(ctx, watchedSteps)
	return all
}

// again makes the state once more. It is false if some step refuses now.
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

// differs says whether the state is another one to the model than when it is made again:
// by its Equal, or else by what it says of the history.
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

// remaking searches with states of which each is made for one step alone.
func remaking(ctx context.Context, model Model, p *part) CheckResult {
	return newWGL(Model{
		Init: func() any { return &made{} },
		StepContext: func(ctx context.Context, state, input, output any) (bool, any) {
			m := &made{from: state.(*made), by: call{input, output}}
			next, ok := m.again(model)
			m.hash = contents(next)
			return ok, m
		},
		Equal: func(a, b any) bool { return a.(*made).hash == b.(*made).hash },
		Hash:  func(state any) uint64 { return state.(*made).hash },
	}, p).run(ctx, watchedSteps)
}

// maxShown bounds the characters of a value in a message.
const maxShown = 100

func (m *made) String() string {
	which := "the state at first"
	if m.from != nil {
		which = text.Shorten(fmt.Sprintf("the state after input %+v with output %+v", m.by.input, m.by.output), maxShown)
	}
	return "a step of the model changes a state in place: " + which + " is not what it was when it was made; " +
		"expected Step to leave the state that it is given as it is, and to return another one, such as a slices.Clone or maps.Clone with the change"
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
