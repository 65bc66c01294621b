package reading_test

import (
	"clew/internal/effort"
	"context"
	"errors"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// TestVacuousVerdicts checks why the verdicts on histories in the .log form are vacuous.
func TestVacuousVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, text, want string }{
		{"register", "", report.NoOperations},
		{"register", ":nemesis :info :start nil", report.NoOperations},
		{"register", "0 :invoke :write 1; 0 :info :write 1", report.NoneReturned},
		{"register", "0 :invoke :read nil; 0 :fail :read nil; 1 :invoke :write 1", report.NoneReturned},
		{"register", "0 :invoke :read nil; 0 :ok :read nil", report.AnswersNil},
		{"register", "0 :invoke :write 1; 0 :ok :write 1; 0 :invoke :read nil; 0 :ok :read nil", report.AnswersNil},
		{"register", "0 :invoke :write 1; 0 :ok :write 1", report.NotRefusable},
		{"register", "0 :invoke :write 1; 0 :ok :write 1; 0 :invoke :read nil; 0 :ok :read 1", ""},
		{"cas-register", "0 :invoke :cas [nil 1]; 0 :ok :cas [nil 1]", ""},
		{"multi-register", "0 :invoke :txn [[:read :x nil] [:write :y 1]]; 0 :ok :txn [[:read :x nil] [:write :y 1]]", report.NotRefusable},
		{"multi-register", "0 :invoke :txn [[:write :x 1] [:read :x nil]]; 0 :ok :txn [[:write :x 1] [:read :x 1]]", ""},
		{"list-append", "0 :invoke :txn [[:append :x 1]]; 0 :ok :txn [[:append :x 1]]", report.NotRefusable},
		{"list-append", "0 :invoke :txn [[:append :x 1]]; 0 :info :txn nil", report.NoneReturned},
		{"list-append", "0 :invoke :txn [[:append :x 1] [:r :x nil]]; 0 :ok :txn [[:append :x 1] [:r :x [1]]]", ""},
		{"mutex", "0 :invoke :acquire nil; 0 :ok :acquire nil", ""},
		{"mutex", "0 :invoke :acquire nil; 0 :info :acquire nil", report.NoneReturned},
		{"set", "0 :invoke :add 1; 0 :ok :add 1; 1 :invoke :add 2; 1 :ok :add 2", report.NotRefusable},
		{"set", "0 :invoke :add 1; 0 :ok :add 1; 1 :invoke :read nil; 1 :ok :read #{1}", ""},
		{"fifo-queue", "0 :invoke :enqueue 1; 0 :ok :enqueue 1", report.NotRefusable},
		{"fifo-queue", "0 :invoke :dequeue nil; 0 :ok :dequeue nil", report.AnswersNil},
		{"fifo-queue", "0 :invoke :enqueue 1; 0 :ok :enqueue 1; 0 :invoke :dequeue nil; 0 :ok :dequeue 1", ""},
		{"lookup-set", "0 :invoke :insert 2; 0 :ok :insert [2 true]", ""},
		{"kv", "0 :invoke :put [:x 1]; 0 :ok :put [:x 1]", report.NotRefusable},
		{"kv", "0 :invoke :get [:x nil]; 0 :ok :get [:x nil]", report.NotRefusable},
		{"log", "0 :invoke :append 0; 0 :ok :append nil; 0 :invoke :append 1; 0 :ok :append 1", report.NotRefusable},
		{"id-generator", "0 :invoke :generate nil; 0 :ok :generate 7", ""},
	} {
		h, err := clew.Read(strings.NewReader(strings.ReplaceAll(c.text, "; ", "\n")+"\n"), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: c.model}, clew.Options{})
		if err != nil || r.Verdict != jepsen.Valid || r.Vacuous != c.want {
			t.Errorf("%s %s: %v, vacuous %q, %v; want %q", c.model, c.text, r.Verdict, r.Vacuous, err, c.want)
		}
	}
}

// The keys of a history are vacuous together if each of them is.
func TestVacuousKeys(t *testing.T) {
	t.Parallel()
	const nothing = "0 :invoke :read [1 nil]\n0 :ok :read [1 nil]\n"
	const write = "0 :invoke :write [2 5]\n0 :ok :write [2 5]\n"
	for text, want := range map[string]string{
		nothing:         report.AnswersNil,
		nothing + write: report.NotRefusable,
		nothing + write + "0 :invoke :read [2 nil]\n0 :ok :read [2 5]\n": "",
	} {
		h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Independent: true})
		if err != nil || r.Vacuous != want || r.Keys[0].Vacuous() != report.AnswersNil || r.Keys[0].Result().Vacuous != report.AnswersNil {
			t.Errorf("%s: vacuous %q, %v; want %q", text, r.Vacuous, err, want)
		}
	}
}

// If the model could not have refused any operation, those that returned can happen one after the other in every
// order.
func TestWhatIsNotRefusableIsValidInEveryOrder(t *testing.T) {
	t.Parallel()
	vacuous := 0
	for seed := range effort.Histories(300, 200_000) {
		r := gen.Rand(seed)
		configs := campaign.Configs()
		spec := campaign.WithParameters(r, configs[r.IntN(len(configs))])
		o := campaign.GenOptions(spec)
		o.Operations, o.Init = 3, false
		h, err := clew.Read(strings.NewReader(gen.New(r, o).Text), "h", spec.Pairing())
		if err != nil {
			t.Fatal(err)
		}
		first, err := clew.Check(context.Background(), h, spec, clew.Options{})
		if err != nil || first.Vacuous != report.NotRefusable {
			continue
		}
		vacuous++
		for range 4 {
			var text strings.Builder
			for _, op := range r.Perm(h.Operations()) {
				if h.Status[op] == jepsen.Succeeded {
					text.WriteString(h.EventMap(h.Invocation[op]).String() + "\n" + h.EventMap(h.Completion[op]).String() + "\n")
				}
			}
			shuffled, err := clew.Read(strings.NewReader(text.String()), "shuffled", spec.Pairing())
			if err != nil {
				t.Fatal(err)
			}
			if again, err := clew.Check(context.Background(), shuffled, spec, clew.Options{}); err != nil || again.Verdict != jepsen.Valid {
				t.Fatalf("%v: %v, %v:\n%s", spec, again.Verdict, err, text.String())
			}
		}
	}
	if vacuous == 0 {
		t.Error("no history is vacuous")
	}
	t.Log(vacuous)
}

// A step that fails where no operation need happen does not fail the check.
func TestAStepThatNeedNotHappenMayFail(t *testing.T) {
	t.Parallel()
	queue := models.Func[int]{Name: "counted", Other: func(n int, c models.Call) ([]int, error) {
		switch {
		case c.F == "put":
			return []int{n + 1}, nil
		case n == 0:
			return nil, errors.New("it is empty")
		}
		return []int{n - 1}, nil
	}}
	b := jepsen.NewBuilder(jepsen.Options{})
	for _, f := range []string{"put", "take"} {
		b.Invoke(0, f, nil)
		b.OK(0, f, nil)
	}
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(t.Context(), h, models.Own(queue.Definition()), clew.Options{})
	if err != nil || r.Verdict != jepsen.Valid {
		t.Errorf("%+v, %v", r, err)
	}
}
