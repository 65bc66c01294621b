package verdicts_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
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

// What has no part in a failure does not change what is said of it. The verdict, the kind, the operation that fails and the
// sentence are the same if processes and values have other names, a nemesis does something, and another key is added. If
// invocations change places that no completion divides, which orders nothing, the verdict and the operation are the same; one
// of two operations that show the same may be named instead of the other, which is counted. At a level that is asked for, the
// verdict is the same; of several cycles another one may be told.
func TestWhatHasNoPartInAFailureDoesNotChangeIt(t *testing.T) {
	t.Parallel()
	for i, spec := range campaign.Configs() {
		t.Run(campaign.Name(spec), func(t *testing.T) {
			t.Parallel()
			r := gen.Rand(uint64(i) + 1700)
			pairs, invalid, otherwise := 0, 0, 0
			for range kit.Histories(20, 60, 5_000) {
				spec := campaign.WithParameters(r, spec)
				events := indexed(t, spec, kit.Faulty(r, spec, 3+r.IntN(12), 1+r.IntN(5), []float64{0, 0.2}[r.IntN(2)], []float64{0.05, 0.2}[r.IntN(2)]))
				if r.IntN(2) == 0 || spec.Name == "list-append" || spec.Name == "multi-register" {
					o := campaign.GenOptions(spec)
					o.Operations, o.Numbers = 12, true // each number has one spelling
					events = indexed(t, spec, gen.New(r, o).Text)
				}
				o := clew.Options{Memory: clew.NewMemory(64 << 20), Verify: clew.VerifyNever}
				if levels := models.AllLevels(); (spec.Name == "list-append" || spec.Name == "multi-register") && r.IntN(3) > 0 {
					o.Consistency = levels[r.IntN(len(levels))]
				}
				for _, name := range slices.Sorted(maps.Keys(changes)) {
					c := changes[name](r, spec, events, o.Consistency != "")
					if c == nil {
						continue
					}
					o.Independent = c.keys && o.Consistency == ""
					if c.keys && !o.Independent {
						continue
					}
					was, is := saidOf(t, spec, c.before, o), saidOf(t, c.spec, c.after, o)
					if was == nil && is == nil {
						continue
					}
					both := fmt.Sprintf("%v of\n%s\nand\n%s", spec.Given(), strings.Join(c.before, "\n"), strings.Join(c.after, "\n"))
					if was == nil || is == nil {
						t.Fatalf("%s: only one of them can be read, %s", name, both)
					}
					pairs++
					if was.Verdict == jepsen.Invalid {
						invalid++
					}
					verdict := func(r *report.Result) string {
						if o.Consistency != "" {
							return fmt.Sprint(o.Consistency, r.Verdict)
						}
						return fmt.Sprintf("%v %s at %d", r.Verdict, r.Cause, r.FailingIndex())
					}
					told := func(r *report.Result) string {
						said, _, _ := strings.Cut(r.Explanation, ": Spec.Init ") // of all keys
						return fmt.Sprintf("%s: %s", r.FailureKind(), spelled.ReplaceAllString(said, "$1"))
					}
					a, b := told(was), c.back(told(is))
					switch {
					case verdict(was) != verdict(is):
						t.Errorf("%s: %s and %s, %s", name, verdict(was), verdict(is), both)
					case a != b && (name == "places" || o.Consistency != "" || strings.Contains(a+b, "…")): // other names have other lengths
						otherwise++
					case a != b:
						t.Errorf("%s: %s\nand then: %s\n%s", name, a, b, both)
					}
				}
			}
			t.Logf("%d pairs, %d of invalid histories, %d told otherwise", pairs, invalid, otherwise)
			if otherwise > 3+pairs/200 {
				t.Errorf("%d of %d pairs are told otherwise", otherwise, pairs)
			}
		})
	}
}

func saidOf(t *testing.T, spec models.Spec, events []string, o clew.Options) *report.Result {
	h, err := clew.Read(strings.NewReader(strings.Join(events, "\n")), "h", spec.Pairing())
	if err != nil {
		return nil
	}
	r, err := clew.Check(t.Context(), h, spec, o)
	if err != nil {
		return nil
	}
	return r
}

var (
	eventIndex   = regexp.MustCompile(`:(index|time) \d+, `)
	eventProcess = regexp.MustCompile(`:process (\d+)`)
	spelled      = regexp.MustCompile(`(\d)N\b`) // as the number is first
	namedProcess = regexp.MustCompile(`\bprocess (\d+)`)
)

// indexed returns the events of a text, with their indices and no times. Their values come last.
func indexed(t *testing.T, spec models.Spec, text string) (events []string) {
	h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
	if err != nil {
		t.Fatal(err)
	}
	var written strings.Builder
	if err := h.WriteEDN(&written); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(written.String()) {
		events = append(events, fmt.Sprintf("{:index %d, %s", len(events), eventIndex.ReplaceAllString(strings.TrimSpace(line), "")[1:]))
	}
	return events
}

// changed is a history before and after a change that makes no difference, and what turns a sentence about the second into one
// about the first.
type changed struct {
	before, after []string
	spec          models.Spec // of the second
	back          func(string) string
	keys          bool // they have independent keys
}

func unchanged(s string) string { return s }

// changes makes changes; nil if a history has nothing to be changed.
var changes = map[string]func(r *rand.Rand, spec models.Spec, events []string, level bool) *changed{
	"processes": func(r *rand.Rand, spec models.Spec, events []string, level bool) *changed {
		if spec.Threads > 0 { // they are owners
			return nil
		}
		to, back := map[string]string{}, map[string]string{}
		free := r.Perm(90)
		after := make([]string, len(events))
		for i, e := range events {
			after[i] = eventProcess.ReplaceAllStringFunc(e, func(s string) string {
				p := s[len(":process "):]
				if to[p] == "" {
					to[p] = fmt.Sprint(10 + free[len(to)])
					back[to[p]] = p
				}
				return ":process " + to[p]
			})
		}
		return &changed{events, after, spec, func(s string) string {
			return namedProcess.ReplaceAllStringFunc(s, func(s string) string { return "process " + back[s[len("process "):]] })
		}, false}
	},
	"places": func(r *rand.Rand, spec models.Spec, events []string, level bool) *changed {
		if spec.Threads > 0 { // a thread is one client, and processes of one may say that they are two
			return nil
		}
		after, transactions := slices.Clone(events), spec.Name == "list-append" && level
		for range 4 {
			i := r.IntN(max(1, len(events)-1))
			if i+1 >= len(after) {
				return nil
			}
			a, b := after[i], after[i+1]
			if eventProcess.FindString(a) != eventProcess.FindString(b) && strings.Contains(a, ":type :invoke") == strings.Contains(b, ":type :invoke") && (strings.Contains(a, ":type :invoke") || transactions) {
				after[i], after[i+1] = b, a
			}
		}
		return &changed{events, after, spec, unchanged, false}
	},
	"nemesis": func(r *rand.Rand, spec models.Spec, events []string, level bool) *changed {
		after := slices.Clone(events)
		for range 3 {
			after = slices.Insert(after, r.IntN(len(after)+1), fmt.Sprintf("{:index %d, :process :nemesis, :type :info, :f :kill, :value nil}", 100_000+len(after)))
		}
		return &changed{events, after, spec, unchanged, false}
	},
	"values": func(_ *rand.Rand, spec models.Spec, events []string, _ bool) *changed {
		if !slices.Contains(opaque, spec.Name) || !plain.MatchString(spec.Init) {
			return nil
		}
		more := func(s string) string { return number.ReplaceAllString(s, "70000$0") }
		after := make([]string, len(events))
		for i, e := range events {
			head, value, has := strings.Cut(e, ":value ")
			if has && !plain.MatchString(value) {
				return nil
			}
			after[i] = head
			if has {
				after[i] += ":value " + more(value)
			}
		}
		spec.Init = more(spec.Init)
		return &changed{events, after, spec, func(s string) string { return strings.ReplaceAll(s, "70000", "") }, false}
	},
	"a key": func(r *rand.Rand, spec models.Spec, events []string, level bool) *changed {
		if spec.Name == "kv" || len(events) == 0 {
			return nil
		}
		before := make([]string, len(events))
		for i, e := range events {
			head, value, has := strings.Cut(e, ":value ")
			if !has || !strings.HasSuffix(value, "}") {
				return nil
			}
			before[i] = head + ":value [0 " + strings.TrimSuffix(value, "}") + "]}"
		}
		// An operation of another key that crashed fits into any history.
		call := eventProcess.ReplaceAllString(eventIndex.ReplaceAllString(strings.Replace(before[0], ":value [0 ", ":value [1 ", 1), ""), ":process 77")
		if !strings.Contains(call, ":type :invoke") {
			return nil
		}
		at := r.IntN(len(before) + 1)
		after := slices.Insert(slices.Clone(before), at, "{:index 100000, "+call[1:], "{:index 100001, "+strings.Replace(call[1:], ":type :invoke", ":type :info", 1))
		return &changed{before, after, spec, unchanged, true}
	},
}

// opaque are models to which a value is a name: no order, no sum.
var opaque = []string{"register", "cas-register", "fifo-queue", "unordered-queue", "stack", "lookup-set", "list-append"} // sentences about sets shorten them

var (
	plain  = regexp.MustCompile(`^[\d\s\[\]{}#(),a-z:]*$`) // whole numbers, none of them negative or with a suffix
	number = regexp.MustCompile(`\b\d+\b`)
)

// Of two lists that contradict each other, neither order is certain, whichever was read first. So no level fails for its order.
func TestWhichOfTwoContradictingListsIsReadFirstMakesNoDifference(t *testing.T) {
	const before = `{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:append :y 2]]}
{:process 1, :type :invoke, :f :txn, :value [[:append :x 3] [:append :y 4]]}
{:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:append :y 2]]}
{:process 1, :type :ok, :f :txn, :value [[:append :x 3] [:append :y 4]]}
{:process 2, :type :invoke, :f :txn, :value [[:r :y nil]]}
{:process 2, :type :ok, :f :txn, :value [[:r :y [4 2]]]}
`
	for _, lists := range [][2]string{{"[1 3]", "[3 1]"}, {"[3 1]", "[1 3]"}} {
		text := before
		for _, list := range lists {
			text += "{:process 3, :type :invoke, :f :txn, :value [[:r :x nil]]}\n{:process 3, :type :ok, :f :txn, :value [[:r :x " + list + "]]}\n"
		}
		for level, want := range map[models.Level]jepsen.Verdict{models.ReadUncommitted: jepsen.Valid, models.ReadCommitted: jepsen.Invalid} {
			r := kit.CheckedText(t, text, models.Spec{Name: "list-append", Init: "{}"}, clew.Options{Consistency: level})
			if r.Verdict != want {
				t.Errorf("%s, %v: %s", level, lists, r.Text())
			}
		}
	}
}
