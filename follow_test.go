package clew_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew"
	"clew/fallback"
	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// At every cut, the verdict on a growing history holds for the whole: there is no false alarm, and the alarm comes at
// the end at the latest.
func TestNoFalseAlarmAtAnyCut(t *testing.T) {
	kit.CollectLess(t)
	specs := campaign.Configs()
	n := int(kit.Histories(7, 20, 20))
	if effort.Long() {
		n = kit.LongHistories(t)/len(specs) + 1
	}
	histories, cuts, early, invalid := 0, 0, 0, 0
	for i, spec := range specs {
		if d, err := spec.Definition(); err != nil || d.LooksAhead {
			continue
		}
		r := gen.Rand(uint64(i + 77))
		for range n {
			histories++
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			o.Init = true
			h := gen.New(r, o)
			text := h.Text
			spec.Init = h.Init
			whole, err := clew.Read(strings.NewReader(text), "whole", spec.Pairing())
			if err != nil {
				t.Fatal(err)
			}
			want, err := clew.Check(context.Background(), whole, spec, clew.Options{})
			if err != nil {
				t.Fatal(err)
			}
			first, begins := jepsen.Event(jepsen.None), "" // the one that fails at the first cut that shows it, and the initial value there
			got, err := forms.Follow(context.Background(), lineByLine{strings.NewReader(text)}, "cut", spec.Pairing(), forms.Following{Look: func(h *jepsen.History) bool {
				cuts++
				found := clew.Look(h, spec)
				if found != nil && want.Verdict != jepsen.Invalid {
					t.Fatalf("%s: a false alarm after %d events of\n%s", campaign.Name(spec), len(h.Type), text)
				}
				if found != nil && first == jepsen.None {
					early++
					first, begins = found.FailEvent.OrNone(), found.Init
				}
				return true
			}})
			if err != nil {
				t.Fatal(err)
			}
			last, err := clew.Check(context.Background(), got, spec, clew.Options{})
			if err != nil || last.Verdict != want.Verdict || last.FailEvent != want.FailEvent {
				t.Fatalf("%s: followed it is %v (event %d), read at once %v (event %d): %v\n%s", campaign.Name(spec), last.Verdict, last.FailEvent.OrNone(), want.Verdict, want.FailEvent.OrNone(), err, text)
			}
			if want.Verdict == jepsen.Invalid {
				// Later reads may show that the initial value was not what the first ones said.
				if invalid++; first != jepsen.None && first != want.FailEvent.OrNone() && begins == want.Init {
					t.Fatalf("%s: event %d fails at a cut, and %d in the whole of\n%s", campaign.Name(spec), first, want.FailEvent.OrNone(), text)
				}
			}
		}
	}
	t.Logf("%d histories of at most %d models, %d cuts; %d of %d failures were seen at a cut", histories, len(specs), cuts, early, invalid)
	if 5*early < invalid {
		t.Error("few failures are seen early")
	}
}

// passing counts looks: those that passed, those at what is linearizable, the others, and operations that were not held.
type passing struct{ passed, valid, failed, forgot int }

// look looks at some cuts of a history. No look may pass what is not linearizable.
func (p *passing) look(t *testing.T, r *rand.Rand, spec models.Spec, o clew.Options, text string) {
	t.Helper()
	looks, share := clew.Looks(spec, o), 1+r.IntN(4)
	_, err := forms.Follow(t.Context(), lineByLine{strings.NewReader(text)}, "cut", spec.Pairing(), forms.Following{Look: func(h *jepsen.History) bool {
		if r.IntN(share) > 0 {
			return true
		}
		whole, err := clew.Check(t.Context(), h, spec, o)
		is := err == nil && whole.Verdict == jepsen.Valid
		if is {
			p.valid++
		} else {
			p.failed++
		}
		if looks.Passes(h) {
			if p.passed++; !is && (err != nil || whole.Cause != jepsen.Timeout) {
				t.Fatalf("%s: it passed %d events, but %v %s\n%s", campaign.Name(spec), len(h.Type), err, whole.Text(), kit.Numbered(text))
			}
			p.forgot += h.Operations() - looks.Held()
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// A look that decides only what has come since the one before passes nothing that fails, and most of what does not.
func TestALookThatDoesNotDecideTheWholePassesNothingThatFails(t *testing.T) {
	kit.CollectLess(t)
	for _, spec := range kit.Forgetful {
		spec := spec.FromDefault()
		r := gen.Rand(79)
		var p passing
		for range kit.Histories(10, 30, 1000) {
			if o := kit.Unverified; spec.Name != "kv" && r.IntN(4) == 0 {
				o.Independent = true
				p.look(t, r, spec, o, kit.OfKeys(r, spec))
			} else {
				p.look(t, r, spec, o, kit.Faulty(r, spec, 5+r.IntN(60), 1+r.IntN(5), []float64{0, 0.1, 0.3}[r.IntN(3)], []float64{0, 0, 0.05}[r.IntN(3)]))
			}
		}
		t.Logf("%s: %+v", spec.Name, p)
		if p.passed < p.valid/2 || p.failed == 0 || p.forgot < p.passed {
			t.Errorf("%s: too few looks passed, or too much was held", spec.Name)
		}
	}
}

// The same is true of small histories of all models, in all ways to read them.
func TestALookPassesNothingThatFailsInAnyModel(t *testing.T) {
	kit.CollectLess(t)
	var p passing
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i + 790))
		for range kit.Histories(6, 20, 1000) {
			spec, o := campaign.WithParameters(r, spec), kit.Soon()
			g := campaign.GenOptions(spec)
			g.Init, g.Operations, g.Unique, g.Values = true, 4+r.IntN(12), r.IntN(2) == 0, []int{0, 100}[r.IntN(2)]
			made := gen.New(r, g)
			spec.Init = made.Init
			p.look(t, r, spec, o, made.Text)
		}
	}
	if t.Logf("%+v", p); p.passed < p.valid/3 || p.failed < p.valid/10 {
		t.Error("too few looks tell something")
	}
}

// Looks forget operations that need not be held, but not the values, which are those of the history that is followed.
func TestLooksForgetNoValues(t *testing.T) {
	for _, model := range []string{"register", "cas-register", "versioned-register", "set", "lookup-set", "log"} {
		spec := models.Spec{Name: model}.FromDefault()
		var text bytes.Buffer
		if _, err := gen.Long(&text, gen.LongOptions{Model: model, Operations: 4000, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		whole, err := clew.Read(bytes.NewReader(text.Bytes()), "whole", spec.Pairing())
		if err != nil {
			t.Fatal(err)
		}
		looks, passed, next := clew.Looks(spec, kit.Unverified), 0, 0
		got, err := forms.Follow(t.Context(), lineByLine{strings.NewReader(text.String())}, "followed", spec.Pairing(), forms.Following{Look: func(h *jepsen.History) bool {
			if len(h.Type) >= next {
				if next += 500; looks.Passes(h) {
					passed++
				}
			}
			return true
		}})
		if err != nil || len(got.Type) != len(whole.Type) {
			t.Fatalf("%s: %v, or not all events", model, err)
		}
		for e := range whole.Type {
			if is, want := string(got.Values.AppendText(nil, got.Value[e])), string(whole.Values.AppendText(nil, whole.Value[e])); is != want {
				t.Fatalf("%s: event %d has the value %s; expected %s", model, e, is, want)
			}
		}
		if passed < 10 {
			t.Errorf("%s: only %d looks passed", model, passed)
		}
	}
}

// sleeper is an engine that has not decided anything when a signal comes.
type sleeper struct {
	signal func()
	wake   chan struct{}
}

func (s sleeper) Name() string { return "sleeper" }

func (s sleeper) Decide(context.Context, *models.Operations, fallback.Limits) fallback.Answer {
	s.signal()
	<-s.wake
	return fallback.Answer{Cause: jepsen.Interrupted}
}

// If there is no time for another decision of the whole, the verdict is that of the looks, the last of which comes after the
// signal. It has no evidence, and it is no other than that decision would have.
func TestASignalLeavesTheVerdictOfTheLooks(t *testing.T) {
	text := "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n" +
		"{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value %d}\n"
	for read, want := range map[int]string{1: "valid\n  register, 2 operations, clew/fast-register, not verified, 0.0 ms\n  evidence is missing (interrupted): everything except the verdict\n", 2: "unknown: interrupted"} {
		spec := models.Spec{Name: "register"}
		looks, n := clew.Looks(spec, kit.Unverified), 0
		ctx, end := context.WithCancel(t.Context())
		defer end()
		wake := make(chan struct{})
		defer close(wake)
		_, err := forms.Follow(t.Context(), lineByLine{strings.NewReader(fmt.Sprintf(text, read))}, "h", jepsen.Options{}, forms.Following{Look: func(h *jepsen.History) bool {
			if n = len(h.Type); n == 2 && !looks.Passes(h) {
				t.Error("it does not pass")
			} else if n == 4 {
				r, err := looks.Ends(ctx, h, sleeper{end, wake})
				if err != nil || !strings.HasPrefix(r.Text(), "h: "+want) {
					t.Errorf("%v, want %s: %s", err, want, r.Text())
				}
			}
			return true
		}})
		if err != nil || n != 4 {
			t.Fatal(n, err)
		}
	}
}

// lineByLine returns one line per Read.
type lineByLine struct{ text *strings.Reader }

func (l lineByLine) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c, err := l.text.ReadByte()
		if err != nil {
			return n, err
		}
		if p[n] = c; c == '\n' {
			return n + 1, nil
		}
		n++
	}
	return n, nil
}

// A test.jepsen is read again and again. A warning about an earlier reading, such as that it is cut off, is not
// repeated for the last one.
func TestTheLastReadingCountsAndNotTheOneThatWasLookedAt(t *testing.T) {
	spec := models.Spec{Name: "register"}
	read := func() *jepsen.History {
		h, err := clew.Read(strings.NewReader("{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"), "x", spec.Pairing())
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	seen, whole := read(), read()
	seen.Warnings = append(seen.Warnings, "it is cut off")
	if r, err := clew.FollowTo(seen, whole, spec); err != nil || r.History != whole || r.Verdict != jepsen.Valid {
		t.Errorf("%v, warnings %q", err, r.History.Warnings)
	}
}
