package porcupine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// kvInput is an operation of the models here: a put of a value, or a get that returned one.
type kvInput struct {
	get   bool
	value int
}

// racing returns a history that is linearizable if the put of 1 comes before the put
// of 2. A search tries the other order first.
func racing(last int) []Operation {
	return []Operation{
		{ClientId: 0, Input: kvInput{value: 2}, Call: 0, Output: 0, Return: 100},
		{ClientId: 1, Input: kvInput{value: 1}, Call: 10, Output: 0, Return: 90},
		{ClientId: 2, Input: kvInput{get: true}, Call: 110, Output: last, Return: 120},
	}
}

// register returns a register in a slice of one value. The given function writes to it.
func register(write func(s []int, value int) []int) Model {
	return Model{
		Init: func() any { return []int{0} },
		Step: func(state, input, output any) (bool, any) {
			s, in := state.([]int), input.(kvInput)
			if in.get {
				return output == s[0], s
			}
			return true, write(s, in.value)
		},
		Equal: func(a, b any) bool { return slices.Equal(a.([]int), b.([]int)) },
	}
}

// said returns the result of a check, and what it panics with, or "" if it does not.
func said(check func() CheckResult) (r CheckResult, panicked string) {
	defer func() {
		if x := recover(); x != nil {
			panicked = fmt.Sprint(x)
		}
	}()
	return check(), ""
}

func inPlace(s []int, value int) []int { s[0] = value; return s }

var stateChanged = regexp.MustCompile(`^porcupine: a step of the model changes a state in place: the (initial state|state after) `)

// A pure model answers. One that writes into its state does not answer Illegal for a
// history that is legal, but panics with the reason.
func TestAStepThatChangesItsStateInPlaceIsToldOf(t *testing.T) {
	pure := register(func(s []int, value int) []int { return []int{value} })
	dirty := register(inPlace)
	for last, want := range map[int]CheckResult{1: Ok, 2: Ok, 3: Illegal, 0: Illegal} {
		for name, check := range map[string]func(Model) CheckResult{
			"alone":               func(m Model) CheckResult { return CheckOperationsTimeout(m, racing(last), 0) },
			"verbose":             func(m Model) CheckResult { r, _ := CheckOperationsVerbose(m, racing(last), 0); return r },
			"events":              func(m Model) CheckResult { return CheckEventsTimeout(m, eventsOf(racing(last)), 0) },
			"beside a clock":      func(m Model) CheckResult { return CheckOperationsTimeout(m, racing(last), time.Minute) },
			"without porcupine's": func(m Model) CheckResult { ourselves(t, true); return CheckOperationsTimeout(m, racing(last), 0) },
		} {
			if r, panicked := said(func() CheckResult { return check(pure) }); r != want || panicked != "" {
				t.Errorf("a pure model, read %d, %s: %s, want %s; %s", last, name, r, want, panicked)
			}
			r, panicked := said(func() CheckResult { return check(dirty) })
			if r == Illegal || want == Illegal && !stateChanged.MatchString(panicked) {
				t.Errorf("a model that changes its state, read %d, %s: %s, %s", last, name, r, panicked)
			}
		}
	}
}

// Without an Equal, a changed pointer is reported only if it makes a legal
// history illegal.
func TestAPointerThatIsChangedIsNoFalseAlarm(t *testing.T) {
	model := Model{
		Init: func() any { return new(int) },
		Step: func(state, input, output any) (bool, any) {
			s, in := state.(*int), input.(kvInput)
			if in.get {
				return output == *s, s
			}
			*s = in.value
			return true, s
		},
	}
	r, panicked := said(func() CheckResult { return CheckOperationsTimeout(model, racing(2), 0) })
	if !strings.Contains(panicked, "changes a state in place") {
		t.Errorf("%s, %q", r, panicked)
	}
}

// shared is a state of which only functions know what it holds.
type shared struct {
	get func() int
	set func(int)
}

func sharing(value int) shared {
	return shared{func() int { return value }, func(other int) { value = other }}
}

// TestWhatCountsAsAChange has models of each kind of state.
func TestWhatCountsAsAChange(t *testing.T) {
	type cell struct {
		value int
		sum   *int // a cache
	}
	pointers := func(write func(*cell, int) *cell) Model {
		return Model{
			Init: func() any { return &cell{} },
			Step: func(state, input, output any) (bool, any) {
				s, in := state.(*cell), input.(kvInput)
				if in.get {
					if s.sum == nil {
						s.sum = new(int)
					}
					*s.sum++
					return output == s.value, s
				}
				return true, write(s, in.value)
			},
		}
	}
	withEqual := func(m Model) Model {
		m.Equal = func(a, b any) bool { return a.(*cell).value == b.(*cell).value }
		return m
	}
	for _, x := range []struct {
		name  string
		model Model
		told  bool
	}{
		{"a slice that is appended to twice", Model{
			Init: func() any { return make([]int, 0, 10) },
			Step: func(state, input, output any) (bool, any) {
				s, in := state.([]int), input.(kvInput)
				if in.get {
					return len(s) == 2 && s[0] == output, s
				}
				return true, append(s, in.value)
			},
			Equal: func(a, b any) bool { return slices.Equal(a.([]int), b.([]int)) },
		}, true},
		{"a slice with room that is cloned", Model{
			Init: func() any { return make([]int, 0, 10) },
			Step: func(state, input, output any) (bool, any) {
				s, in := state.([]int), input.(kvInput)
				if in.get {
					return len(s) == 2 && s[0] == output, s
				}
				return true, append(slices.Clone(s), in.value)
			},
			Equal: func(a, b any) bool { return slices.Equal(a.([]int), b.([]int)) },
		}, false},
		{"a map", Model{
			Init: func() any { return map[string]int{} },
			Step: func(state, input, output any) (bool, any) {
				s, in := state.(map[string]int), input.(kvInput)
				if in.get {
					return s["x"] == output, s
				}
				s["x"] = in.value
				return true, s
			},
			Equal: func(a, b any) bool { return maps.Equal(a.(map[string]int), b.(map[string]int)) },
			Hash:  func(s any) uint64 { return uint64(s.(map[string]int)["x"]) },
		}, true},
		{"a pointer, which matters to no answer", pointers(func(s *cell, value int) *cell { s.value = value; return s }), false},
		{"a pointer to a new one, with a cache", pointers(func(_ *cell, value int) *cell { return &cell{value: value} }), false},
		{"a pointer with an Equal", withEqual(pointers(func(s *cell, value int) *cell { s.value = value; return s })), true},
		{"a pointer to a new one, with a cache and an Equal", withEqual(pointers(func(_ *cell, value int) *cell { return &cell{value: value} })), false},
		{"what functions share", Model{
			Init: func() any { return sharing(0) },
			Step: func(state, input, output any) (bool, any) {
				s, in := state.(shared), input.(kvInput)
				if in.get {
					return output == s.get(), s
				}
				s.set(in.value)
				return true, s
			},
			Equal: func(a, b any) bool { return a.(shared).get() == b.(shared).get() },
		}, true},
		{"a step that refuses, and has changed its state", Model{
			Init: func() any { return []int{0} },
			Step: func(state, input, output any) (bool, any) {
				s, in := state.([]int), input.(kvInput)
				if in.get {
					s[0]++
					return output == s[0]-1, s
				}
				return true, []int{in.value}
			},
			Equal: func(a, b any) bool { return slices.Equal(a.([]int), b.([]int)) },
		}, true},
	} {
		r, panicked := said(func() CheckResult { return CheckOperationsTimeout(x.model, racing(7), 0) })
		if (panicked != "") != x.told || !x.told && r != Illegal {
			t.Errorf("%s: %s, %q", x.name, r, panicked)
		}
	}
}

// A state that steps have changed more than once may look as it was made.
func TestAStateThatLooksAsItWasMade(t *testing.T) {
	type box struct{ value int }
	model := Model{
		Init: func() any { return &box{} },
		Step: func(state, input, output any) (bool, any) {
			s := state.(*box)
			if in := input.(kvInput); !in.get {
				s.value = in.value
				return true, s
			}
			return output == s.value, s
		},
	}
	history := []Operation{
		{ClientId: 0, Input: kvInput{value: 1}, Call: 1, Return: 1},
		{ClientId: 0, Input: kvInput{get: true}, Output: 0, Call: 2, Return: 8},
		{ClientId: 1, Input: kvInput{value: 0}, Call: 6, Return: 12},
	}
	if r, panicked := said(func() CheckResult { return CheckOperationsTimeout(model, history, 0) }); panicked == "" && r != Ok {
		t.Errorf("%s; expected a panic, or %s", r, Ok)
	}
}
