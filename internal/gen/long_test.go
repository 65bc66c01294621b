package gen_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

func TestALongHistoryFailsWhereItSaysAndNowhereElse(t *testing.T) {
	seeds := uint64(60)
	if effort.Long() {
		seeds = 3000
	}
	for _, model := range models.All() {
		for _, kind := range gen.LongKinds() {
			if kind != gen.Linearizable && !slices.Contains(gen.KindsOf(model.Name), kind) {
				continue
			}
			t.Run(model.Name+", "+kind.String(), func(t *testing.T) {
				t.Parallel()
				crashed, late := 0, 0
				for seed := range seeds {
					o := gen.LongOptions{Model: model.Name, Kind: kind, Operations: 8, Processes: max(3, kind.Processes()), Values: int(seed % 4), Crashed: int(seed % 5), At: 0.5, Seed: seed}
					if model.Name == "java-queue" {
						o.Operations = 4 // its elements come out one by one before a bug
					}
					if seed%3 == 1 {
						o.Crashes, o.Fails = 0.1, 0.2
					}
					text, ops, fail := readLong(t, o)
					if n := ops.History.CrashedCount(); n < o.Crashed || o.Crashes == 0 && n > o.Crashed || ops.History.Operations() < o.Operations {
						t.Fatalf("%d operations, %d crashed:\n%s", ops.History.Operations(), ops.History.CrashedCount(), text)
					}
					a := oracle.Decide(ops, oracle.Options{})
					if kind.OfWatches() {
						continue // no step shows what is wrong with a watch: TestBrokenWatchesAreFound
					}
					if int(a.Fail) != fail || (fail < 0) != (kind == gen.Linearizable) {
						t.Fatalf("seed %d: the oracle says %d, gen %d:\n%s", seed, a.Fail, fail, text)
					}
					crashed += o.Crashed
					for _, row := range a.Order {
						if ops.Res[row] == models.Open {
							late++
						}
					}
				}
				if kind == gen.Linearizable && late == 0 && crashed > 0 && model.Name != "id-generator" {
					t.Errorf("none of %d crashed operations has taken effect", crashed)
				}
			})
		}
	}
}

// readLong makes a long history, and reads it with the flags that its options name.
func readLong(t *testing.T, o gen.LongOptions) (text string, ops *models.Operations, fail int) {
	t.Helper()
	var b strings.Builder
	fail, err := gen.Long(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := forms.Read(strings.NewReader(b.String()), "", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := models.Spec{Name: o.Model, Init: o.Init()}
	if o.Model == "semaphore" || o.Model == "owner-semaphore" {
		spec.Permits = 2
	}
	if ops, err = spec.Read(h); err != nil {
		t.Fatal(err)
	}
	return b.String(), ops, fail
}

func TestALongHistoryIsPrintedAsJepsenDoes(t *testing.T) {
	var text bytes.Buffer
	if _, err := gen.Long(&text, gen.LongOptions{Model: "register", Operations: 1, Processes: 1, Values: 1, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	const want = "{:index 0, :time 411946, :type :invoke, :process 0, :f :read, :value nil}\n{:index 1, :time 797299, :type :ok, :process 0, :f :read, :value nil}\n"
	if text.String() != want {
		t.Errorf("%s", text.String())
	}
}

func BenchmarkLong(b *testing.B) {
	const operations = 100_000
	for _, model := range []string{"cas-register", "multi-register", "lookup-set", "fifo-queue"} {
		b.Run(fmt.Sprintf("%s/%d", model, operations), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := gen.Long(io.Discard, gen.LongOptions{Model: model, Operations: operations, Processes: 10, Values: 5, Crashed: 100}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A wrong answer is nearly always a failure. Without one, strings that are
// appended to are linearizable.
func TestAWrongAnswerSeldomFits(t *testing.T) {
	for _, model := range []string{"fifo-queue", "stack", "priority-queue", "kv", "multi-register"} {
		for kind, most := range map[gen.LongKind]int{gen.Linearizable: 0, gen.WrongAnswer: 200} {
			failed := 0
			for seed := range uint64(200) {
				var text bytes.Buffer
				o := gen.LongOptions{Model: model, Appends: model == "kv", Kind: kind, Operations: 12, Processes: 3, Values: 3, At: 0.5, Seed: seed}
				if _, err := gen.Long(&text, o); err != nil {
					t.Fatal(err)
				}
				h, err := forms.Read(&text, "", jepsen.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ops, err := models.Spec{Name: model}.Read(h)
				if err != nil {
					t.Fatal(err)
				}
				if oracle.Decide(ops, oracle.Options{}).Fail >= 0 {
					failed++
				}
			}
			if failed > most || 3*failed < most {
				t.Errorf("%s, %d: %d of 200 histories failed", model, kind, failed)
			}
		}
	}
}

// A transfer from the only account to itself changes nothing, and a single key has no half.
func TestBugsThatNeedSeveralKeys(t *testing.T) {
	for _, o := range []gen.LongOptions{{Model: "bank", Kind: gen.StaleRead}, {Model: "bank", Kind: gen.ImpossibleRead}, {Model: "multi-register", Kind: gen.TornRead}} {
		o.Operations, o.Keys = 20, 1
		if _, err := gen.Long(io.Discard, o); err == nil {
			t.Errorf("%v of a %s with one key", o.Kind, o.Model)
		}
		if o.Keys = 2; o.Check() != nil {
			t.Errorf("%v of a %s with two keys: %v", o.Kind, o.Model, o.Check())
		}
	}
}
