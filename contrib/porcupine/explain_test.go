package porcupine

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew"
	"clew/internal/effort"
	"clew/jepsen"
	"clew/report"
)

// An explanation has the verdict of the check, and its core fails by itself.
func TestExplanationsHaveTheVerdictOfTheCheck(t *testing.T) {
	n := 300
	if effort.Few() {
		n = 60
	}
	for name, model := range small {
		r := rand.New(rand.NewPCG(39, 3))
		for range n {
			ops := random(r, strings.Contains(name, "cannot compare"))
			want := CheckOperations(model, ops)
			got, err := Explain(model, ops)
			if err != nil || (got.Verdict == jepsen.Valid) != want {
				t.Fatalf("%s: %v, %v; the check says %t of\n%s", name, got, err, want, show(ops))
			}
			if of, err := ExplainEvents(model, eventsOf(ops)); err != nil || of.Verdict != got.Verdict {
				t.Fatalf("%s: %v, %v of the events of\n%s", name, of, err, show(ops))
			}
			if got.Verdict == jepsen.Invalid && (len(got.Core) == 0 || !got.Verified) {
				t.Fatalf("%s: a core of %d operations, verified %t, of\n%s", name, len(got.Core), got.Verified, show(ops))
			}
		}
	}
}

// Operations and states are told, drawn and replayed in the words of the model.
func TestExplanationsHaveTheWordsOfTheModel(t *testing.T) {
	model := small["register"]
	model.DescribeOperation = func(in, out any) string {
		if x := in.(input); x.f == 1 {
			return fmt.Sprintf("put(%d)", x.value)
		}
		return fmt.Sprintf("get() -> %v", out)
	}
	model.DescribeState = func(state any) string { return fmt.Sprintf("x = %v", state) }
	r, err := Explain(model, []Operation{
		{ClientId: 1, Input: input{1, 5}, Call: 0, Return: 1},
		{ClientId: 2, Input: input{1, 6}, Call: 2, Return: 3},
		{ClientId: 1, Input: input{0, 0}, Output: 5, Call: 4, Return: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	var page, svg bytes.Buffer
	if err := clew.WritePage(context.Background(), &page, r, report.WindowOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	for shown, wants := range map[string][]string{r.Text(): {"get() -> 5", "put(6)", "the state is x = 6"}, svg.String(): {"put(6)"}, page.String(): {"put(6)", `"states":["`}} {
		for _, want := range wants {
			if !strings.Contains(strings.ReplaceAll(shown, "&gt;", ">"), want) {
				t.Errorf("there is no %s in\n%.3000s", want, shown)
			}
		}
	}
}

// A sentence names operations as the picture does, with their places in the whole history. A result is vacuous if all
// partitions are.
func TestPartitionsAreExplainedAsPartsOfTheHistory(t *testing.T) {
	model := small["register"]
	model.DescribeOperation = func(in, out any) string { return fmt.Sprintf("op %v -> %v", in, out) }
	model.Partition = func(history []Operation) [][]Operation {
		parts := make([][]Operation, 2)
		for _, o := range history {
			parts[o.ClientId%2] = append(parts[o.ClientId%2], o)
		}
		return parts
	}
	model.PartitionEvent = func(history []Event) [][]Event {
		parts := make([][]Event, 2)
		for _, e := range history {
			parts[e.ClientId%2] = append(parts[e.ClientId%2], e)
		}
		return parts
	}
	history := []Operation{
		{ClientId: 2, Input: input{1, 5}, Call: 0, Return: 1},
		{ClientId: 2, Input: input{0, 0}, Output: 5, Call: 2, Return: 3},
		{ClientId: 1, Input: input{1, 5}, Call: 4, Return: 5},
		{ClientId: 1, Input: input{1, 6}, Call: 6, Return: 7},
		{ClientId: 1, Input: input{0, 0}, Output: 5, Call: 8, Return: 9},
	}
	events := eventsOf(history)
	for i := range events {
		events[i].ClientId = history[events[i].Id].ClientId
	}
	for want, explained := range map[string]func() (*report.Result, error){
		"process 1's op {0 0} -> 5 (index 4)": func() (*report.Result, error) { return Explain(model, history) },
		"process 1's op {0 0} -> 5 (index 9)": func() (*report.Result, error) { return ExplainEvents(model, events) },
	} {
		if r, err := explained(); err != nil || !strings.Contains(r.Explanation, want) {
			t.Errorf("%v, %s; want %s", err, r.Explanation, want)
		}
	}
	for _, vacuous := range []bool{false, true} {
		some := history[:3]
		if vacuous {
			some = []Operation{history[0], history[2]}
		}
		if r, err := Explain(model, some); err != nil || r.Verdict != jepsen.Valid || (r.Vacuous != "") != vacuous {
			t.Errorf("vacuous %t: %v, %q", vacuous, err, r.Vacuous)
		}
	}
}

func TestWhatCannotBeExplainedIsAnError(t *testing.T) {
	panics := Model{Init: func() any { return 0 }, Step: func(_, _, _ any) (bool, any) { panic("no such input") }}
	for want, explained := range map[string]func() (*report.Result, error){
		"in place":      func() (*report.Result, error) { return Explain(register(inPlace), racing(3)) },
		"no such input": func() (*report.Result, error) { return Explain(panics, racing(3)) },
		"no sense": func() (*report.Result, error) {
			return Explain(small["register"], []Operation{{Input: input{1, 3}, Call: 3, Return: 1, Output: 0}})
		},
		"one return": func() (*report.Result, error) { return ExplainEvents(small["register"], []Event{{Kind: ReturnEvent}}) },
	} {
		if r, err := explained(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", r, err, want)
		}
	}
	if r, err := Explain(small["register"], nil); err != nil || r.Verdict != jepsen.Valid {
		t.Errorf("no operation: %v, %v", r, err)
	}
}
