package explanations_test

import (
	"bytes"
	"context"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Every model and every bug: what a story says is true of its core, and text, picture and page show the same operations,
// each with its arguments, its key and its answer.
func TestTextPicturesAndPagesAgree(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	seeds := kit.Histories(2, 10, 125) // of each of about 90 pairs
	told := 0
	for _, model := range models.All() {
		for _, kind := range gen.KindsOf(model.Name) {
			for seed := range seeds {
				o := gen.LongOptions{Model: model.Name, Kind: kind, Operations: 24, Processes: 4, Values: int(seed % 3 * 2), Crashed: int(seed % 4), At: 0.6, Seed: seed}
				if seed%2 == 1 {
					o.Crashes, o.Fails, o.Operations = 0.05, 0.1, 40
				}
				h, spec, _ := kit.LongHistory(t, o)
				r, err := clew.Check(context.Background(), h, spec, clew.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != jepsen.Invalid {
					t.Fatalf("%s, %s, seed %d: %v", model.Name, kind, seed, r.Verdict)
				}
				if told++; r.Ops == nil {
					t.Fatalf("%s, %s, seed %d: no operations", model.Name, kind, seed)
				}
				if err := oracle.Told(r, r.Ops); err != nil && r.Kind != models.BrokenGuarantee { // no step can tell that
					t.Errorf("%s, %s, seed %d: %v in\n%s", model.Name, kind, seed, err, r.Text())
				}
				for _, complaint := range disagreements(t, r) {
					t.Errorf("%s, %s, seed %d: %s in\n%s", model.Name, kind, seed, complaint, r.Text())
				}
				if t.Failed() {
					return
				}
			}
		}
	}
	t.Log(told, "failures")
}

var titled = regexp.MustCompile(`\(index (\d+)\)</title>`)

var indexed = regexp.MustCompile(`\(index (\d+)\)`)

// disagreements says what a story names that is not in the core, and what text, picture and page do not show of it.
func disagreements(t *testing.T, r *report.Result) (all []string) {
	h := r.History
	in := map[string]bool{}
	for _, op := range r.Core {
		in[strconv.FormatInt(h.LastIndex(op), 10)] = true
	}
	for _, sentence := range r.Story.Sentences {
		for _, found := range indexed.FindAllStringSubmatch(sentence, -1) {
			if !in[found[1]] {
				all = append(all, "index "+found[1]+" is not in the core, but in "+sentence)
			}
		}
	}
	var page, svg bytes.Buffer
	if err := clew.WritePage(context.Background(), &page, r, report.WindowOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for _, drawn := range titled.FindAllStringSubmatch(svg.String(), -1) {
		index, err := strconv.ParseInt(drawn[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		// Below, the anomaly of a level may be drawn, which may come later.
		if op := h.OpOf[h.EventAt(index)]; r.Levels == nil && h.Invocation[op] > r.FailEvent.OrNone() {
			all = append(all, "the picture draws "+h.Name(op)+", which was called after the failure")
		}
	}
	if len(r.Core) == 0 || len(r.Core) > 12 {
		return all // the drawings leave out some
	}
	text := r.Text()
	for _, op := range r.Core {
		label := r.Spec.Words(context.Background(), h, op)
		for place, shown := range map[string]string{"the page has no " + label: page.String(), "the picture has no " + h.Name(op): svg.String(), "the text has no " + r.Spec.CallOf(h, op): text} {
			if _, want, _ := strings.Cut(place, " has no "); !strings.Contains(html.UnescapeString(shown), want) {
				all = append(all, place)
			}
		}
		for _, said := range []string{label, r.Spec.CallOf(h, op)} {
			words := strings.FieldsFunc(said, func(c rune) bool { return !strings.ContainsRune("-0123456789", c) })
			for _, want := range numbers(h, op) {
				if !strings.Contains(said, "…") && !slices.Contains(words, want) {
					all = append(all, said+" has no "+want)
				}
			}
		}
	}
	return all
}

// numbers returns the numbers in what an operation was asked and what it answered.
func numbers(h *jepsen.History, op jepsen.Operation) (all []string) {
	var collect func(id edn.ID)
	collect = func(id edn.ID) {
		if n, is := h.Values.Int(id); is {
			all = append(all, strconv.FormatInt(n, 10))
		}
		for _, item := range h.Values.Items(id) {
			collect(item)
		}
	}
	collect(h.Value[h.Invocation[op]])
	if key := h.Key(h.Invocation[op]); key != edn.Nil {
		collect(key)
	}
	if h.Status[op] == jepsen.Succeeded {
		collect(h.Value[h.Completion[op]])
	}
	return all
}

// What clew says about the failures of the archive is true, too.
func TestTheArchivesFailuresAgree(t *testing.T) {
	t.Parallel()
	for file, spec := range kit.InvalidHistories(t) {
		r, err := kit.CheckFile(file, spec)
		if err != nil {
			t.Fatal(err)
		}
		complaints := disagreements(t, r)
		if r.Ops != nil {
			if err := oracle.Told(r, r.Ops); err != nil {
				complaints = append(complaints, err.Error())
			}
		}
		for _, complaint := range complaints {
			t.Errorf("%s: %s in\n%s", file, complaint, r.Text())
		}
	}
}
