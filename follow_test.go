package clew_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// At every cut, the verdict on a growing history holds for the whole: there is no false alarm, and the alarm comes at
// the end at the latest.
func TestNoFalseAlarmAtAnyCut(t *testing.T) {
	collectLess(t)
	specs := campaign.Configs()
	n := 20
	if long() {
		n = longHistories(t)/len(specs) + 1
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
			first := jepsen.Event(jepsen.None) // the one that fails at the first cut that shows it
			got, err := forms.Follow(context.Background(), lineByLine{strings.NewReader(text)}, "cut", spec.Pairing(), forms.Following{Look: func(h *jepsen.History) bool {
				cuts++
				found := clew.Look(h, spec)
				if found != nil && want.Verdict != jepsen.Invalid {
					t.Fatalf("%s: a false alarm after %d events of\n%s", campaign.Name(spec), len(h.Type), text)
				}
				if found != nil && first == jepsen.None {
					early++
					first = found.FailEvent.OrNone()
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
				if invalid++; first != jepsen.None && first != want.FailEvent.OrNone() {
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

// A failure is reported while the writer is still there.
func TestFollowEndsAtAFailure(t *testing.T) {
	text, err := os.ReadFile("testdata/histories/stale-read.edn")
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	defer w.Close()
	go w.Write(append(text, "\n{:process 90, :type :invoke, :f :write, :value 77}\n"...))
	spec := models.Spec{Name: "register"}
	got, err := clew.Follow(context.Background(), r, "x", jepsen.Options{}, spec, clew.Options{Verify: clew.VerifyAlways}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := judged(t, spec, string(text), "")
	if got.Verdict != jepsen.Invalid || got.FailEvent != want.FailEvent || got.Explanation != want.Explanation || !got.Verified {
		t.Errorf("%s\nCheck says\n%s", got.Text(), want.Text())
	}
	if _, err := clew.Follow(context.Background(), r, "x", jepsen.Options{}, models.Spec{}, clew.Options{}, 0); err == nil || !strings.Contains(err.Error(), "needs a model") {
		t.Errorf("without a model: %v", err)
	}
}

// A later get shows whether nothing is the empty string in a kv, so no failure is final before it.
func TestFollowWaitsForWhatNothingIs(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		w.Write([]byte(`{:process 0 :type :invoke :f :cas :value ["x" ["" "a"]]}` + "\n" + `{:process 0 :type :ok :f :cas :value ["x" ["" "a"]]}` + "\n"))
		time.Sleep(500 * time.Millisecond)
		w.Write([]byte(`{:process 0 :type :invoke :f :get :value ["y" nil]}` + "\n" + `{:process 0 :type :ok :f :get :value ["y" ""]}` + "\n"))
		w.Close()
	}()
	got, err := clew.Follow(t.Context(), r, "x", jepsen.Options{}, models.Spec{Name: "kv"}, clew.Options{}, 0)
	if err != nil || got.Verdict != jepsen.Valid {
		t.Fatalf("%v\n%s", err, got.Text())
	}
}

// A failure of one key is final, whatever is open in another.
func TestFollowEndsAtAFailureOfAKey(t *testing.T) {
	text := `{:process 0, :type :invoke, :f :write, :value [:a 1]}
{:process 1, :type :invoke, :f :write, :value [:b 5]}
{:process 0, :type :ok, :f :write, :value [:a 1]}
{:process 0, :type :invoke, :f :read, :value [:a nil]}
{:process 2, :type :invoke, :f :read, :value [:a nil]}
{:process 0, :type :ok, :f :read, :value [:a 2]}
{:process 2, :type :ok, :f :read, :value [:a 1]}
`
	r, w := io.Pipe()
	defer w.Close()
	go w.Write([]byte(text))
	got, err := clew.Follow(context.Background(), r, "x", jepsen.Options{}, models.Spec{Name: "register"}, clew.Options{Independent: true}, 0)
	if err != nil || got.Verdict != jepsen.Invalid || got.FailingIndex() != 5 || got.History.Operations() != 4 {
		t.Errorf("%v: %s", err, got.Text())
	}
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

// A model that does not know an :f will not know it later.
func TestFollowEndsWhenTheModelIsTheWrongOne(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n")
	_, err := clew.Follow(t.Context(), r, "h", jepsen.Options{}, models.Spec{Name: "mutex"}, clew.Options{}, 0)
	if err == nil || !strings.Contains(err.Error(), "mutex does not know :f :write") {
		t.Error(err)
	}
}
