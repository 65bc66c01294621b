package verdicts_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/edn"
	"clew/internal/fuzzing"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
)

// FuzzCompare reads any text as the results.edn of a history, and another one as a table of verdicts. It compares
// their claims with what clew says: without a panic, with errors that have a place, and with an answer to every claim
// that prints.
func FuzzCompare(f *testing.F) {
	histories := []string{
		"{:process 0 :type :invoke :f :write :value 1}{:process 0 :type :ok :f :write :value 1}{:process 1 :type :invoke :f :read}{:process 1 :type :ok :f :read :value 1}",
		"{:process 0 :type :invoke :f :write :value 1}{:process 1 :type :invoke :f :read}{:process 1 :type :ok :f :read :value 2}{:process 0 :type :ok :f :write :value 1}",
		"{:process 0 :type :invoke :f :cas :value [:a [1 2]]}{:process 0 :type :ok :f :cas :value [:a [1 2]]}{:process 1 :type :invoke :f :read :value [(1) nil]}{:process 1 :type :ok :f :read :value [(1) nil]}",
	}
	for i := range histories {
		for _, results := range []string{
			"{:valid? true, :configs (), :final-paths (), :analyzer :wgl}",
			"{:linear {:valid? false, :op {:index 2, :type :ok, :f :read, :value 2}, :configs ({:model #knossos.model.Register{:value 1}})}, :perf {:valid? true}, :valid? false}",
			"{:valid? :unknown :cause :timeout :analyzer :linear}",
			"#r{:x {:results {:a {:valid? false :op #jepsen.history.Op{:index 1} :final-paths []} [1N] {:linear {:valid? true :configs ()}}} :failures [:a]}}",
			"{:valid? false :op nil :configs [{:model {:a {:b [#knossos.model.CASRegister{:value 3}]}}}]}",
		} {
			f.Add(uint8(i), results, "file\tverdict\tmodel\talgo\tms\tfail_index\nh.edn\tinvalid\tregister:0\tlinear\t12.5\t2\n# x\nh.edn\ttrue\r\n")
		}
	}
	f.Add(uint8(0), "nil", "h.edn\tunknown\n\tvalid")
	f.Add(uint8(0), strings.Repeat("#a {:b ", 300)+strings.Repeat("}", 300), "file\tverdict\tms\nh\ttrue\tInf")
	f.Add(uint8(0), "nil", "file\tverdict\tms\nh\ttrue\tNaN")
	f.Add(uint8(0), "nil", "file\tverdict\tms\nh\ttrue\t-1\nh\tfalse\t1e300")
	f.Fuzz(func(t *testing.T, which uint8, results, table string) {
		defer fuzzing.Guard(t)()
		h, err := clew.Read(strings.NewReader(histories[int(which)%len(histories)]), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		claims, err := store.ReadClaims(strings.NewReader(results), "results.edn", h.Values)
		hasPlace(t, err)
		rows, err := store.ReadTable(strings.NewReader(table), "verdicts")
		hasPlace(t, err)
		for _, row := range rows {
			claims = append(claims, row.Claim)
		}
		claims = claims[:min(len(claims), 50)]
		compared, err := clew.Compare(context.Background(), h, models.Spec{}, clew.Options{TimeLimit: 300 * time.Millisecond}, claims)
		if err != nil || len(compared) != len(claims) {
			t.Fatalf("%d answers to %d claims, %v", len(compared), len(claims), err)
		}
		for _, c := range compared {
			if lines := strings.Count(c.Text(), "\n"); lines == 0 {
				t.Errorf("no line of text: %q", c.Text())
			}
			if _, err := json.Marshal(&c); err != nil {
				t.Errorf("%v: %+v", err, c.Claim)
			}
		}
	})
}

func hasPlace(t *testing.T, err error) {
	t.Helper()
	var at *edn.Error
	if err != nil && (!errors.As(err, &at) || at.Pos.File == "" || at.Pos.Line < 1) {
		t.Fatalf("the error has no place: %v", err)
	}
}
