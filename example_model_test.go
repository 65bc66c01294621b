package clew_test

import (
	"context"
	"fmt"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// light is a user's own model: a lamp with a button that turns it on and off, and an observer who looks whether it is
// on.
var light = &models.Definition{
	Name:  "light",
	Fs:    ":press, :look",
	About: "a lamp with a button",
	New:   func(b *models.Binding) (models.Reader, error) { return lamp{b.Values}, nil },
}

// The kinds of its operations. A holds what was seen: 1 if it was on.
const (
	press models.Kind = iota
	look
)

// lamp is the model for one history. A state is 1 if it is on, else 0.
type lamp struct{ values *edn.Values }

// Read says what an operation means.
func (m lamp) Read(o models.Operation) (op models.Op, keep bool, err error) {
	switch o.F() {
	case "press":
		return models.Op{Kind: press}, true, nil
	case "look":
		on, ok := o.Value().Go().(bool)
		switch {
		case o.Status == jepsen.Crashed:
			return op, false, nil // it is not known what it saw
		case !ok:
			return op, false, fmt.Errorf("expected true or false, found %v", o.Value())
		case on:
			return models.Op{Kind: look, A: 1}, true, nil
		}
		return models.Op{Kind: look}, true, nil
	}
	return op, false, models.ErrUnknownF
}

// Traits says what else the model offers to searches: nothing.
func (m lamp) Traits() *models.Traits { return &models.Traits{} }

func (m lamp) Init() models.State { return models.State{0} }

func (m lamp) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case op.Kind == press:
		return append(dst, models.State{1 - s[0]})
	case op.A == s[0]:
		return append(dst, s)
	}
	return dst // it cannot happen
}

func (m lamp) Mutates(op models.Op) bool { return op.Kind == press }

func (m lamp) Why(s models.State, op models.Op) string {
	return fmt.Sprintf("can't see %t: it is %t", op.A == 1, s[0] == 1)
}

func (m lamp) Record(s models.State) edn.Value {
	on, err := m.values.From(map[any]any{edn.Keyword("on?"): s[0] == 1})
	if err != nil {
		panic(err) // it is plain Go
	}
	return on
}

// A history is checked against a user's own model just as against a built-in one, with all of its evidence.
func ExampleCheck_ownModel() {
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "press", nil)
	b.OK(0, "press", nil)
	b.Invoke(1, "press", nil)
	b.Invoke(2, "look", nil)
	b.OK(2, "look", false)
	b.Invoke(2, "look", nil)
	b.OK(2, "look", true)
	b.OK(1, "press", nil)
	h, err := b.History()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := clew.Check(context.Background(), h, models.Own(light), clew.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict)
	fmt.Println(r.Explanation)
	for _, step := range r.Paths[0] {
		if step.Why == "" {
			fmt.Println(h.Op(step.Operation).F, "->", step.State)
		} else {
			fmt.Println(h.Op(step.Operation).F, "->", step.Why)
		}
	}
	// Output:
	// not linearizable
	// process 2's :look true (index 6) cannot happen after process 2's :look false (index 4): can't see true: it is false
	// look -> {:on? false}
	// look -> can't see true: it is false
}
