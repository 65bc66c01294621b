package explanations_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// smallHistories calls f with small histories of every way to read a model, and with their operations.
func smallHistories(t *testing.T, full uint64, f func(spec models.Spec, text string, h *jepsen.History, ops *models.Operations)) {
	kit.CollectLess(t)
	n := effort.Histories(full, 10*full)
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 100)
		for range n {
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			o.Init = true
			made := gen.New(r, o)
			spec.Init = made.Init
			if h, ops, err := campaign.ReadText(spec, made.Text); err == nil {
				f(spec, made.Text, h, ops)
			}
		}
	}
}

// If a model names a kind for an operation, what had begun by its return is not linearizable.
func TestModelsNameKindsOnlyOfFailures(t *testing.T) {
	t.Parallel()
	named := map[models.Anomaly]int{}
	smallHistories(t, 1000, func(spec models.Spec, text string, _ *jepsen.History, ops *models.Operations) {
		for _, part := range append(ops.Parts(), ops) {
			of := part.Model.Traits().Anomaly
			if of == nil {
				continue
			}
			for row := range models.Row(part.Len()) {
				kind := of(part, row)
				if kind == "" {
					continue
				}
				named[kind]++
				if oracle.Decide(part.Prefix(part.Res[row]).Operations, oracle.Options{}).Linearizable {
					t.Fatalf("%s: %s of operation %d, although it is linearizable by then:\n%s", campaign.Name(spec), kind, part.Of[row], text)
				}
			}
		}
	})
	t.Log(named)
	for _, kind := range []models.Anomaly{models.StaleRead, models.LostUpdate, models.NeverWritten, models.FutureRead, models.TornRead, models.Duplicate, models.Resurrected,
		models.WrongEmpty, models.WrongSize, models.SplitBrain, models.ForeignRelease, models.ReusedID, models.NotMonotonic, models.WrongSum, models.WrongTotal, models.NegativeBalance} {
		if named[kind] == 0 {
			t.Errorf("%s was named %d times only", kind, named[kind])
		}
	}
}

// The kinds of failures of small histories are those that docs/failures.md lists for their models. Those of registers
// are what they say.
func TestKindsOfFailures(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(kit.Path("docs/failures.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{} // by kind and model
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		heading, rest, _ := strings.Cut(section, "\n")
		_, names, _ := strings.Cut(rest, "\n* Models: ")
		names, _, _ = strings.Cut(names, "\n* ")
		for i, name := range strings.Split(names, "`") {
			if i%2 == 1 {
				listed[strings.ReplaceAll(strings.ToLower(heading), " ", "-")+" "+name] = true
			}
		}
	}
	kinds, without := map[string]int{}, map[string]int{}
	smallHistories(t, 300, func(spec models.Spec, text string, h *jepsen.History, _ *models.Operations) {
		r, err := campaign.Checked(h, spec, "auto")
		if err != nil || r.Verdict != jepsen.Invalid {
			return
		}
		if r.Kind == "" {
			without[spec.Name]++
			return
		}
		kinds[string(r.Kind)+" "+spec.Name]++
		if spec.Init == "" && (spec.Name == "register" || spec.Name == "cas-register") {
			if wrong := wrongKind(r); wrong != "" {
				t.Fatalf("%s: %s: %s\n%s", campaign.Name(spec), r.Kind, wrong, text)
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t.Log(kinds[name], name)
		if !listed[name] {
			t.Errorf("docs/failures.md does not list %s", name)
		}
	}
	t.Log("without a kind:", without)
}

// wrongKind says what contradicts the kind of a register's failure, or returns "". It looks at the text of values alone.
func wrongKind(r *report.Result) string {
	h, v := r.History, r.History.Values
	value := func(op jepsen.Operation, ofCAS int) string {
		if items := v.Items(h.OpValue(op)); f(h, op) == ":cas" && len(items) > 1 {
			return v.Text(v.Same(items[ofCAS]))
		}
		return v.Text(v.Same(h.OpValue(op)))
	}
	updates, unwritten, dirty := 0, 0, false
	for _, op := range r.Core {
		if f(h, op) == ":write" {
			continue
		}
		if f(h, op) == ":cas" {
			updates++
		}
		saw, before, failed, certain, later := value(op, 0), false, false, false, false
		for other, inv := range h.Invocation {
			switch other := jepsen.Operation(other); {
			case other == op || f(h, other) == ":read" || value(other, 1) != saw || f(h, other) == ":cas" && value(other, 0) == saw:
			case h.Status[other] == jepsen.Failed:
				failed = failed || inv < r.FailEvent.OrNone()
				certain = certain || failed && f(h, other) == ":write" // a failed cas may not have found its old value
			case inv < h.Completion[op]:
				before = true
			default:
				later = true
			}
		}
		dirty = dirty || failed
		if before || saw == "nil" {
			continue
		}
		unwritten++
		switch {
		case r.Kind == models.FutureRead && !later:
			return "nothing wrote " + saw + " later"
		case r.Kind == models.NeverWritten && certain:
			return "a failed operation wrote " + saw
		}
	}
	missing := r.Kind == models.DirtyRead || r.Kind == models.FutureRead || r.Kind == models.NeverWritten
	switch {
	case r.Kind == models.DirtyRead && !dirty: // a cas may have been called to write the same value, but not have found its own
		return "no failed operation wrote what one of the core saw"
	case missing && unwritten == 0 && updates == 0: // cas may depend on each other
		return "every value was written before it was seen"
	case r.Kind == models.StaleRead && unwritten > 0:
		return "a value was seen that nothing had written"
	case r.Kind == models.LostUpdate && updates == 0:
		return "there is no update that saw a value"
	}
	return ""
}

func f(h *jepsen.History, op jepsen.Operation) string { return h.Values.Text(h.F[h.Invocation[op]]) }
