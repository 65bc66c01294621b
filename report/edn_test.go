package report_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// What is written is the text of the map that it reads as: the same bytes, keys
// sorted at every level.
func TestWriteEDNWritesTheTextOfItsMap(t *testing.T) {
	var text strings.Builder
	for i, key := range []string{"10", "9", `"k"`, ":k", "1/2", "2.5", "[1 {:b 2, :a 1}]", "nil", "1N", "-3"} {
		read := 1 + i%3/2
		fmt.Fprintf(&text, `
			{:process 0 :type :invoke :f :write :value [%[1]s 1] :time 5}
			{:process 1 :type :invoke :f :write :value [%[1]s 3] :node "n1"}
			{:process 0 :type :ok     :f :write :value [%[1]s 1] :time 007}
			{:process 0 :type :invoke :f :read  :value [%[1]s nil]}
			{:process 0 :type :ok     :f :read  :value [%[1]s %[2]d]}
			{:process 1 :type :info   :f :write :value [%[1]s 3] :error "a \"b\""}`, key, read)
	}
	h, err := clew.Read(strings.NewReader(text.String()), "keys", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Independent: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Keys) != 10 || r.Verdict != jepsen.Invalid {
		t.Fatalf("%d keys, %s", len(r.Keys), r.Verdict)
	}
	results := []string{r.EDN()}
	for _, k := range r.Keys {
		results = append(results, k.Result().EDN())
	}
	for _, got := range results {
		v := edn.NewValues()
		id, err := v.Parse([]byte(got), edn.Pos{})
		if err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if want := v.Text(id); got != want {
			t.Errorf("it writes\n%s\nfor\n%s", got, want)
		}
	}
	if err := r.WriteEDN(full{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

var errFull = errors.New("full")

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
