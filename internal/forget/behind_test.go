package forget_test

import (
	"math/rand/v2"
	"testing"

	"clew/internal/effort"
	"clew/internal/forget"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/models"
)

// TestBehindAgreesWithAges: of all operations, Behind says what Ages says of the oldest in one pass.
func TestBehindAgreesWithAges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	old := 0
	for n := 0; n < 2000 && !(effort.Few() && old >= 200); n++ {
		ops := drawn(t, r)
		versions, _, known := forget.Behind(t.Context(), ops)
		if !known {
			t.Fatal("it is a register with values that are used once")
		}
		var ages forget.Ages
		when := forget.Clock{Place: func(e jepsen.Event) int64 { return int64(e) }, Time: func(jepsen.Event) (int64, bool) { return 0, false }}
		ages.Note(ops, "", false, 0, ops.Events, when)
		most := 0
		for row := range models.Row(ops.Len()) {
			if age, sees := ages.Of(ops, "", false, row, when); sees {
				most = max(most, age.Behind)
			}
		}
		if versions != most {
			t.Fatalf("%d versions behind; one pass says %d: %+v", versions, most, ops.Columns)
		}
		if most > 1 {
			old++
		}
	}
	if old < 200 {
		t.Errorf("only %d histories have reads that are several versions behind", old)
	}
}

// drawn returns random operations on a register, all of which return. Reads see any value that was written before they
// return.
func drawn(t *testing.T, r *rand.Rand) *models.Operations {
	t.Helper()
	b := jepsen.NewBuilder(jepsen.Options{})
	const clients = 3
	var writes [clients]int
	var busy [clients]bool
	written := []int{}
	for e, next := 0, 1; e < 16 || busy != [clients]bool{}; e++ {
		p := r.IntN(clients)
		switch {
		case !busy[p] && e >= 16:
			continue
		case !busy[p] && (r.IntN(2) == 0 || len(written) == 0):
			b.Invoke(p, "write", next)
			writes[p] = next
			next++
		case !busy[p]:
			b.Invoke(p, "read", nil)
			writes[p] = 0
		case writes[p] > 0:
			b.OK(p, "write", writes[p])
			written = append(written, writes[p])
		default:
			b.OK(p, "read", written[r.IntN(len(written))])
		}
		busy[p] = !busy[p]
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	ops, err := models.Spec{Name: "register"}.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	return ops
}
