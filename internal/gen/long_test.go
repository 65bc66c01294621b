package gen_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

var longKinds = map[gen.LongKind]string{
	gen.Linearizable: "linearizable", gen.StaleRead: "stale read", gen.LostWrite: "lost write", gen.ImpossibleRead: "impossible read",
}

func TestALongHistoryFailsWhereItSaysAndNowhereElse(t *testing.T) {
	for _, model := range []string{"register", "cas-register", "multi-register", "kv", "lookup-set", "bank", "fifo-queue", "unordered-queue", "stack", "priority-queue", "counter", "id-generator", "log"} {
		few := !slices.Contains([]string{"register", "cas-register", "multi-register", "kv", "lookup-set", "bank"}, model)
		for kind, name := range longKinds {
			if few && (kind == gen.StaleRead || kind == gen.LostWrite) {
				continue
			}
			t.Run(model+", "+name, func(t *testing.T) {
				t.Parallel()
				crashed, late := 0, 0
				for seed := range uint64(300) {
					o := gen.LongOptions{Model: model, Kind: kind, Operations: 8, Processes: 3, Values: int(seed % 4), Crashed: int(seed % 5), At: 0.5, Seed: seed}
					if model == "id-generator" {
						o.Crashed = 0 // they say nothing, and the fault needs one that returned
					}
					var text bytes.Buffer
					fail, err := gen.Long(&text, o)
					if err != nil {
						t.Fatal(err)
					}
					h, err := forms.Read(bytes.NewReader(text.Bytes()), "", jepsen.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if h.CrashedCount() != o.Crashed || h.Operations() < o.Operations {
						t.Fatalf("%d operations, %d crashed:\n%s", h.Operations(), h.CrashedCount(), text.String())
					}
					ops, err := models.Spec{Name: model, Init: o.Init()}.Read(h)
					if err != nil {
						t.Fatal(err)
					}
					a := oracle.Decide(ops, oracle.Options{})
					if int(a.Fail) != fail || (fail < 0) != (kind == gen.Linearizable) {
						t.Fatalf("seed %d: the oracle says %d, gen %d:\n%s", seed, a.Fail, fail, text.String())
					}
					crashed += o.Crashed
					for _, row := range a.Order {
						if ops.Res[row] == models.Open {
							late++
						}
					}
				}
				if kind == gen.Linearizable && late == 0 && crashed > 0 {
					t.Errorf("none of %d crashed operations has taken effect", crashed)
				}
			})
		}
	}
}

func TestALongHistoryIsPrintedAsJepsenDoes(t *testing.T) {
	var text bytes.Buffer
	if _, err := gen.Long(&text, gen.LongOptions{Model: "register", Operations: 1, Processes: 1, Values: 1, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	const want = "{:process 0, :type :invoke, :f :write, :value 0, :index 0}\n{:process 0, :type :ok, :f :write, :value 0, :index 1}\n"
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

// A wrong answer is nearly always a failure, and strings that are appended to are
// linearizable without one.
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
