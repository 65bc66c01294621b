package reading_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// TestTheSameOperationsHaveOneVerdictInEveryForm writes random histories of all models in every form that has a place for
// them. Verdict, operation, sentence and reading are those of the history in EDN.
func TestTheSameOperationsHaveOneVerdictInEveryForm(t *testing.T) {
	t.Parallel()
	r, same := gen.Rand(91), map[string]int{}
	for i := range kit.Histories(120, 3000, 20000) {
		x := someHistory(t, r, i)
		h, want := x.said(t, []byte(x.text))
		for _, to := range forms.All {
			if to == forms.EDN {
				continue
			}
			var b bytes.Buffer
			if _, err := forms.Convert(&b, strings.NewReader(x.text), "h", forms.EDN, to); err != nil {
				same["not "+string(to)]++
				continue
			}
			other, got := x.said(t, b.Bytes())
			switch to {
			case forms.JSON, forms.JSONL:
			case forms.Log, forms.Intervals: // which have no place for an :index
				got, want := got, want
				if sameIndex(h) {
					got.onlyVerdict()
					want.onlyVerdict()
				} else {
					got.inOperations(other)
					want.inOperations(h)
				}
				x.compare(t, to, b.String(), got, want)
				same[string(to)]++
				continue
			default: // these name the object, which begins empty, and have no processes
				got, want := got, want
				if got.cause != want.cause || got.failed || want.failed {
					continue
				}
				got.onlyVerdict()
				want.onlyVerdict()
				x.compare(t, to, b.String(), got, want)
				same[string(to)]++
				continue
			}
			x.compare(t, to, b.String(), got, want)
			same[string(to)]++
		}
		if file, ok := kit.TestJepsen(h); ok {
			_, got := x.said(t, file)
			x.compare(t, "test.jepsen", "", got, want)
			same["test.jepsen"]++
		}
		if isPlain(h) && !strings.Contains(x.spec.Init, ":") { // the flag names a keyword
			text := naturalJSON(h)
			_, got := x.said(t, []byte(text))
			got.onlyWhere()
			want.onlyWhere()
			x.compare(t, "plain JSON", text, got, want)
			same["plain JSON"]++
		}
		same[want.verdict]++
	}
	t.Log(same)
	for _, what := range []string{"jsonl", "json", "log", "intervals", "test.jepsen", "plain JSON", "true", "false"} {
		if same[what] < 20 {
			t.Errorf("%s: only %d", what, same[what])
		}
	}
}

// formed is a history in EDN, and how it is read.
type formed struct {
	text string
	spec models.Spec
	o    clew.Options
}

// someHistory returns a random history: a small one, one of clients side by side, one of keys, or a longer one.
func someHistory(t *testing.T, r *rand.Rand, i uint64) formed {
	names := generated()
	name := names[r.IntN(len(names))]
	x := formed{spec: models.Spec{Name: name}}
	switch i % 4 {
	case 0:
		if name == "semaphore" || name == "owner-semaphore" {
			x.spec.Permits = 1 + r.IntN(3)
		}
		made := gen.New(r, gen.Options{Model: name, Init: true, Permits: x.spec.Permits, Numbers: r.IntN(3) == 0})
		if x.text = made.Text; r.IntN(2) == 0 {
			x.spec.Init = made.Init
		}
	case 1:
		x.spec = kit.Forgetful[r.IntN(len(kit.Forgetful))]
		x.text = kit.Faulty(r, x.spec, 1+r.IntN(20), 1+r.IntN(4), 0.1, 0.2)
	case 2:
		x.spec = kit.Forgetful[r.IntN(2)]
		x.text = kit.OfKeys(r, x.spec)
		x.o.Independent, x.o.Whole = r.IntN(3) == 0, false
	default:
		kinds := gen.KindsOf(name)
		o := gen.LongOptions{Model: name, Kind: kinds[r.IntN(len(kinds))], Operations: 30 + r.IntN(30), Seed: r.Uint64N(1 << 30)}
		if r.IntN(2) == 0 {
			o.Kind = gen.Linearizable
		}
		var b strings.Builder
		if _, err := gen.Long(&b, o); err != nil {
			return someHistory(t, r, i)
		}
		x.text = b.String()
		x.spec, x.o.Independent = kit.SpecOfLong(t, o)
		if r.IntN(2) == 0 {
			x.spec.Init = ""
		}
	}
	if r.IntN(3) == 0 && x.spec.Permits == 0 && x.spec.Init == "" {
		x.spec.Name = "" // inferred
	}
	return x
}

// saying is what is said of a history.
type saying struct {
	verdict, cause, sentence, reading, init, hint string
	index                                         int64 // of the completion that fails
	operation                                     jepsen.Operation
	failed                                        bool // the history cannot be read
}

func (s *saying) onlyWhere() { s.sentence, s.reading, s.init, s.hint = "", "", "", "" }

func (s *saying) onlyVerdict() {
	s.onlyWhere()
	s.index, s.operation = 0, 0 // from another initial value it may fail later
}

// said checks a history in some form.
func (x formed) said(t *testing.T, text []byte) (*jepsen.History, saying) {
	t.Helper()
	h, err := clew.Read(bytes.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, err := clew.Check(context.Background(), h, x.spec, x.o)
	if err != nil {
		return h, saying{failed: true}
	}
	s := saying{verdict: kit.VerdictText(r), cause: string(r.Cause), sentence: r.Explanation + " / " + r.Granted, reading: fmt.Sprint(r.Reading()), init: r.LikelyInit, hint: r.Hint}
	if failing := r.FirstFailing(); failing.Verdict == jepsen.Invalid {
		at := failing.FailEvent.OrNone()
		s.index = failing.History.Index(at)
		s.operation = jepsen.Operation(jepsen.None)
		for e := range jepsen.Event(len(h.Type)) {
			if h.Index(e) == s.index {
				s.operation = h.OpOf[e]
			}
		}
	}
	return h, s
}

func (x formed) compare(t *testing.T, to forms.Form, text string, got, want saying) {
	t.Helper()
	if got != want {
		t.Fatalf("%s, %+v:\n got %+v\nwant %+v\n%s\n%s", to, x.spec, got, want, x.text, text)
	}
}

// inOperations says by their numbers which operations it is about, and spells equal values alike.
func (s *saying) inOperations(h *jepsen.History) {
	equal := strings.NewReplacer("-0.0", "0.0", "(", "[", ")", "]")
	plain := func(text string) string { // a completion may repeat 1 as 1N
		return equal.Replace(kit.Spelling.ReplaceAllString(inOperations(h, text), "$1"))
	}
	s.sentence, s.hint, s.reading, s.init, s.index = plain(s.sentence), plain(s.hint), plain(s.reading), plain(s.init), 0
}

var indices = regexp.MustCompile(`index (\d+)`)

// inOperations has a text name operations by their numbers instead of the indices of their events.
func inOperations(h *jepsen.History, text string) string {
	return indices.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseInt(strings.TrimPrefix(s, "index "), 10, 64)
		for e := range jepsen.Event(len(h.Type)) {
			if h.Index(e) == n {
				return fmt.Sprintf("operation %d, completed %v", h.OpOf[e], h.Completion[h.OpOf[e]] == e)
			}
		}
		return s
	})
}

// sameIndex reports whether two events have one index: that which one tells, and the place of another, which tells none.
func sameIndex(h *jepsen.History) bool {
	seen := map[int64]bool{}
	for e := range jepsen.Event(len(h.Type)) {
		if seen[h.Index(e)] {
			return true
		}
		seen[h.Index(e)] = true
	}
	return false
}

// isPlain reports whether JSON as programs write it tells all values of a history apart.
func isPlain(h *jepsen.History) bool {
	kinds := map[edn.Kind]bool{}
	var plain func(id edn.ID) bool
	plain = func(id edn.ID) bool {
		v := h.Values
		items := v.Items(id)
		switch kind := v.Kind(id); kind {
		case edn.KindInt:
			n, is := v.Int(id)
			return is && v.Text(id) == strconv.FormatInt(n, 10)
		case edn.KindKeyword:
			kinds[kind] = true
			return v.Str(id) != "empty" // which means nothing as a string
		case edn.KindNil, edn.KindBool, edn.KindVector, edn.KindString:
			kinds[kind] = true
		case edn.KindMap:
			for i := 0; i < len(items); i += 2 {
				if v.Kind(items[i]) != edn.KindKeyword && v.Kind(items[i]) != edn.KindInt {
					return false
				}
			}
		default:
			return false
		}
		return !slices.ContainsFunc(items, func(item edn.ID) bool { return !plain(item) })
	}
	for e := range h.Type {
		if !plain(h.Value[e]) || !plain(h.Key(jepsen.Event(e))) || !plain(h.Processes[h.Process[e]]) {
			return false
		}
	}
	return !(kinds[edn.KindKeyword] && kinds[edn.KindString])
}
