package guess_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/guess"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// register is much like the model of the registry, but it takes no 2, and a read of nil saw nil.
var register = models.Func[string]{
	Name: "own", Init: "nil",
	Ops: map[string]models.StepFunc[string]{
		"write": func(_ string, c models.Call) ([]string, error) {
			if c.Value.String() == "2" {
				return nil, models.Inconsistent("2 is too much")
			}
			return []string{c.Value.String()}, nil
		},
		"read": func(s string, c models.Call) ([]string, error) {
			if c.OK && c.Out.String() != s {
				return nil, models.Inconsistent("it is %s", s)
			}
			return []string{s}, nil
		},
	},
}

// An order has all operations that returned, keeps their order in time, and can happen. So it proves what it is about.
func TestAnOrderIsALinearization(t *testing.T) {
	r, found, refused := rand.New(rand.NewPCG(1, 40)), 0, 0
	for range effort.Histories(2000, 200000) {
		text := gen.New(r, gen.Options{Model: "register"}).Text
		h, err := forms.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		twin := guess.Twin(t.Context(), h)
		ops, err := models.Own(register.Definition()).Read(h)
		if twin == nil || err != nil {
			continue // it is not about a register, or has none of its operations
		}
		order, ok := guess.Order(t.Context(), ops, twin)
		if !ok {
			refused++
			continue
		}
		found++
		last, returned := int32(-1), 0 // the latest call
		for _, row := range order {
			if ops.Res[row] < last {
				t.Fatalf("%v puts row %d behind one that was called after it returned, in\n%s", order, row, text)
			}
			if last = max(last, ops.Inv[row]); ops.Res[row] != models.Open {
				returned++
			}
		}
		for _, res := range ops.Res {
			if res != models.Open {
				returned--
			}
		}
		if returned != 0 {
			t.Fatalf("%d operations are missing in %v, of\n%s", -returned, order, text)
		}
		if _, err := models.Replay(ops.Model, &ops.Columns, order); err != nil {
			t.Fatalf("%v: %v, in\n%s", order, err, text)
		}
	}
	if found < 100 || refused < 100 {
		t.Errorf("%d orders, and none for %d histories", found, refused)
	}
}
