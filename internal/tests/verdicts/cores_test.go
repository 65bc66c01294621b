package verdicts_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// The file of a core fails as the history does when it is checked with the same flags and no more: at the same completion, of the same
// kind, in the same words. Without any group of operations that belong together, it does not.
func TestACoreFailsAsItsHistory(t *testing.T) {
	t.Parallel()
	cores, said := 0, 0
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 900)
		for range kit.Histories(10, 100, 1000) {
			spec := campaign.WithParameters(r, spec)
			o := clew.Options{Memory: clew.NewMemory(64 << 20), Independent: spec.Name != "kv" && r.IntN(3) == 0}
			var text string
			switch transactions := spec.Name == "list-append" || spec.Name == "multi-register"; {
			case o.Independent:
				text = kit.OfKeys(r, spec)
			case transactions || r.IntN(2) == 0:
				made := campaign.GenOptions(spec)
				made.Operations, made.Init = 14, true
				small := gen.New(r, made)
				text = oneSpelling.Replace(spelled.ReplaceAllString(small.Text, "$1"))
				if r.IntN(2) == 0 {
					spec.Init = oneSpelling.Replace(spelled.ReplaceAllString(small.Init, "$1"))
				}
			default:
				text = kit.Faulty(r, spec, 5+r.IntN(30), 1+r.IntN(5), []float64{0, 0.2}[r.IntN(2)], []float64{0.05, 0.2}[r.IntN(2)])
			}
			h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
			if err != nil {
				continue
			}
			x, err := clew.Check(t.Context(), h, spec, o)
			if err != nil || x.Verdict != jepsen.Invalid {
				continue
			}
			if cores++; x.CoreInit != "" {
				said++
			}
			if wrong := savedCore(t, x, spec, o); wrong != "" {
				t.Errorf("%s: %s\nof\n%s\n%s", campaign.Name(spec), wrong, text, x.Text())
			}
		}
	}
	if t.Logf("%d cores, of which %d say the initial value", cores, said); cores < 100 || said == 0 {
		t.Error("too few")
	}
}

// So does the core of a bug that was planted in a longer history.
func TestACoreOfABugFailsAsItsHistory(t *testing.T) {
	t.Parallel()
	cores := 0
	for _, d := range models.All() {
		for _, kind := range gen.KindsOf(d.Name) {
			for seed := range kit.Histories(1, 4, 40) {
				h, spec, _ := kit.LongHistory(t, gen.LongOptions{Model: d.Name, Kind: kind, Operations: 150, Seed: seed + 1})
				x, err := clew.Check(t.Context(), h, spec, clew.Options{})
				if err != nil || x.Verdict != jepsen.Invalid {
					continue
				}
				cores++
				if wrong := savedCore(t, x, spec, clew.Options{}); wrong != "" {
					t.Errorf("%s %v %d: %s\n%s", d.Name, kind, seed, wrong, x.Text())
				}
			}
		}
	}
	if t.Logf("%d cores", cores); cores < 50 {
		t.Errorf("only %d cores", cores)
	}
}

// oneSpelling has one spelling of each value: sentences use the first one, which a core may lack.
var oneSpelling = strings.NewReplacer("+1", "1", "+2", "2", "+3", "3", "-0.0", "0.0", "(1 2)", "[1 2]")

// mostMinimal is how many operations a core has of which none can be left out. It would take too long for larger ones.
const mostMinimal = 40

// savedCore says what is wrong with the file of a result's core.
func savedCore(t *testing.T, x *report.Result, spec models.Spec, o clew.Options) string {
	if x.FirstFailing().Core == nil {
		return "no core"
	}
	var file bytes.Buffer
	if err := x.WriteCore(&file); err != nil {
		return err.Error()
	}
	again := func(text string) (*jepsen.History, *report.Result, error) {
		h, err := clew.Read(strings.NewReader(text), "core", spec.Pairing())
		if err != nil {
			return nil, nil, err
		}
		r, err := clew.Check(t.Context(), h, spec, o)
		return h, r, err
	}
	failure := func(r *report.Result) string {
		if r.Verdict != jepsen.Invalid {
			return r.Verdict.String()
		}
		return fmt.Sprintf("%s at %d: %s", r.FailureKind(), r.FailingIndex(), r.FirstFailing().Explanation)
	}
	core, r, err := again(file.String())
	if err != nil || failure(r) != failure(x) {
		return fmt.Sprintf("%v, %v\nof the core\n%s", err, r, &file)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(file.String(), "\n"), "\n")
	if core.Operations() > mostMinimal {
		return ""
	}
	first := len(lines) - core.Events // the initial value
	for _, group := range groups(t, core, spec, o) {
		var rest strings.Builder
		for i, line := range lines {
			if i < first || !slices.Contains(group, core.OpOf[i-first]) {
				rest.WriteString(line)
			}
		}
		if _, less, err := again(rest.String()); err == nil && failure(less) == failure(x) && less.FirstFailing().Init == x.FirstFailing().Init {
			return fmt.Sprintf("%s of the core is enough\n%s", &rest, &file)
		}
	}
	return ""
}

// groups returns the operations of a core that belong together: an acquire with
// its release; what touches an element; a write with what saw it. Where nothing does, there is a group for each operation.
func groups(t *testing.T, h *jepsen.History, spec models.Spec, o clew.Options) (all [][]jepsen.Operation) {
	group := make([]jepsen.Operation, h.Operations()) // the first operation of each
	for op := range group {
		group[op] = jepsen.Operation(op)
	}
	join := func(a, b jepsen.Operation) {
		for op, g := range group {
			if g == group[a] && a != b {
				group[op] = group[b]
			}
		}
	}
	alone := o.Independent || spec.Name == "list-append" || spec.Name == "multi-register" || spec.Name == "bank"
	var ops *models.Operations
	if !alone {
		var err error
		if ops, err = spec.Read(h); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case alone:
	case strings.Contains(spec.Name, "mutex") || strings.Contains(spec.Name, "semaphore") || spec.Name == "lease":
		held := map[int32][]jepsen.Operation{}
		for op, inv := range h.Invocation {
			p := h.Process[inv]
			if mine := held[p]; h.Values.Text(h.F[inv]) != ":release" {
				held[p] = append(mine, jepsen.Operation(op))
			} else if last := len(mine) - 1; last >= 0 {
				join(mine[last], jepsen.Operation(op))
				held[p] = mine[:last]
			}
		}
	case ops.Model.Traits().Droppable != nil && ops.Model.Traits().Visibility == nil:
		by := map[int32]jepsen.Operation{}
		for row, op := range ops.Of {
			values, _ := ops.Model.Traits().Droppable.Touches(ops.Op(models.Row(row)))
			for _, v := range values {
				if first, seen := by[v]; seen {
					join(op, first)
				} else {
					by[v] = op
				}
			}
		}
	case models.Seeing(ops.Model) != nil:
		sees := models.Seeing(ops.Model)
		for a := range ops.Of {
			for b := range ops.Of {
				if sees(ops.Op(models.Row(a)), ops.Op(models.Row(b))) {
					join(ops.Of[a], ops.Of[b])
				}
			}
		}
	}
	for op := range group {
		var of []jepsen.Operation
		for other, g := range group {
			if g == jepsen.Operation(op) {
				of = append(of, jepsen.Operation(other))
			}
		}
		if len(of) > 0 {
			all = append(all, of)
		}
	}
	return all
}
