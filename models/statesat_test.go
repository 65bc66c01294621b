package models_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

func TestStatesAtAreThoseOfTheReplay(t *testing.T) {
	r := gen.Rand(3)
	compared := 0
	for _, model := range []string{"cas-register", "fifo-queue", "stack", "multi-register", "bank"} {
		for range 60 {
			g := gen.New(r, gen.Options{Model: model})
			h, err := forms.Read(strings.NewReader(g.Text), "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			ops, err := models.Spec{Name: model, Init: g.Init}.Read(h)
			if err != nil {
				t.Fatal(err)
			}
			order := make([]models.Row, ops.Len())
			for i := range order {
				order[i] = models.Row(i)
			}
			all, err := models.Replay(ops.Model, &ops.Columns, order)
			if err != nil || len(order) < 2 {
				continue // its order cannot happen
			}
			last := len(order)
			op := func(i int) models.Op { return ops.Op(order[i]) }
			some, err := models.StatesAt(context.Background(), ops.Model, last, op, []int{0, 0, 1, last, last})
			if err != nil {
				t.Fatal(err)
			}
			want := []models.State{ops.Model.Init(), ops.Model.Init(), all[0], all[last-1], all[last-1]}
			if model == "fifo-queue" || model == "stack" { // crashed ones may have taken anything: one of the states
				some, want = some[:2], want[:2]
			}
			for i := range want {
				if !slices.Equal(some[i], want[i]) {
					t.Errorf("%s: state %d is %v, want %v\n%s", model, i, some[i], want[i], g.Text)
				}
			}
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("only %d were compared", compared)
	}
}
