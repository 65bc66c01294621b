package held_test

import (
	"slices"
	"testing"

	"clew/internal/held"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/models"
)

// An operation that crashes and is read by itself is as if all were read again.
func TestACrashedOperationIsReadByItself(t *testing.T) {
	type call struct {
		f            string
		asked, given any
	}
	for model, calls := range map[string][]call{
		"register":        {{"write", 1, 1}, {"write", 2, 2}},
		"cas-register":    {{"write", 1, 1}, {"cas", []any{1, 2}, []any{1, 2}}},
		"fifo-queue":      {{"enqueue", 1, 1}, {"dequeue", nil, 1}},
		"unordered-queue": {{"enqueue", 1, 1}, {"dequeue", nil, 1}},
		"stack":           {{"push", 1, 1}, {"pop", nil, 1}},
		"mutex":           {{"acquire", nil, nil}, {"release", nil, nil}},
		"semaphore":       {{"acquire", 2, 2}, {"release", 1, 1}},
		"priority-queue":  {{"enqueue", 1, 1}, {"poll", nil, 1}}, // others may change
		"lookup-set":      {{"insert", 1, true}},                 // it may be of another part
	} {
		for crashed := range calls {
			b := jepsen.NewBuilder(jepsen.Options{})
			for i, c := range calls {
				b.Invoke(i, c.f, c.asked)
				b.OK(i, c.f, c.given)
			}
			h, err := b.SoFar()
			if err != nil {
				t.Fatal(err)
			}
			spec := models.Spec{Name: model}
			if model == "semaphore" {
				spec.Permits = 2
			}
			read := func() *models.Operations {
				ops, err := spec.Read(h)
				if err != nil {
					t.Fatal(model, err)
				}
				return ops
			}
			j := (&held.History{}).Judge(h, "", true, read())
			b.Crash(jepsen.Operation(crashed))
			if one := model != "priority-queue" && model != "lookup-set"; j.Crash(0, models.Row(crashed)) != one {
				t.Errorf("%s: a %s is read by itself is %v, expected %v", model, calls[crashed].f, !one, one)
			} else if want := read(); one && (!slices.Equal(j.Parts[0].Of, want.Of) || !equal(&j.Parts[0].Columns, &want.Columns)) {
				t.Errorf("%s: a crashed %s is read as %v, expected %v", model, calls[crashed].f, j.Parts[0].Columns, want.Columns)
			}
		}
	}
}

// equal says whether columns have the same operations.
func equal(a, b *models.Columns) bool {
	return slices.Equal(a.Inv, b.Inv) && slices.Equal(a.Res, b.Res) && slices.Equal(a.Kind, b.Kind) && slices.Equal(a.A, b.A) && slices.Equal(a.B, b.B)
}
