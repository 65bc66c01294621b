package report_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// inShort returns a short form of a window: its rows with their operations and what is omitted.
func inShort(w *report.Window) string {
	var all []string
	for i, r := range w.Rows {
		s := r.Name()
		for _, g := range r.Gaps {
			s += fmt.Sprintf(" (%g-%g: %d)", g.From, g.To, g.Count)
		}
		for _, x := range w.Ops {
			if x.Row == i {
				s += fmt.Sprintf(" [%g %s %g", x.From, x.Label, x.To)
				if x.Crashed {
					s += fmt.Sprintf(" ..%g", x.Until)
				}
				s += "]"
			}
		}
		all = append(all, s)
	}
	if w.MoreRows > 0 {
		all = append(all, fmt.Sprintf("%d more rows of %d", w.MoreRows, w.MoreOps))
	}
	return strings.Join(all, "\n")
}

func TestAWindowHasARowForEveryThread(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a process takes the place of a crashed one", []string{
			"0 invoke write 1", "1 invoke write 2", "0 info write 1", "1 ok write 2", "2 invoke read", "2 ok read 2", "1 invoke read", "1 ok read 7",
		}, "process 0, 2 [0 write 1 2 ..4] [4 read 2 5]\nprocess 1 [1 write 2 3] [6 read 7 7]"},
		{"numbers that look like no threads", []string{
			"0 invoke write 1", "1 invoke write 2", "0 info write 1", "1 ok write 2", "9 invoke read", "9 ok read 2", "3 invoke read", "3 ok read 7",
		}, "process 0 [0 write 1 2 ..8]\nprocess 1 [1 write 2 3]\nprocess 3 [6 read 7 7]\nprocess 9 [4 read 2 5]"},
		{"a process that goes on after a crash", []string{
			"0 invoke write 1", "0 info write 1", "0 invoke write 2", "1 invoke read", "0 ok write 2", "1 ok read 7",
		}, "process 0 [0 write 1 1 ..2] [2 write 2 4]\nprocess 1 [3 read 7 5]"},
		{"a crash that took effect after the thread had gone on", []string{
			"0 invoke write 1", "0 info write 1", "0 invoke write 2", "0 ok write 2", "1 invoke read", "1 ok read 1", "1 invoke read", "1 ok read 7",
		}, "process 0 [0 write 1 1 ..8]\nprocess 0 [2 write 2 3]\nprocess 1 [4 read 1 5] [6 read 7 7]"},
		{"no completion at all", []string{
			"0 invoke write 1", "1 invoke read", "1 ok read 7",
		}, "process 0 [0 write 1 0 ..3]\nprocess 1 [1 read 7 2]"},
	} {
		r := check(t, models.Spec{Name: "register", Init: "nil"}, clew.Options{}, c.lines...)
		w, err := r.Window(context.Background(), report.WindowOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := inShort(w); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestAWindowCountsWhatItLeavesOut(t *testing.T) {
	var lines []string
	for i := range 200 {
		p, write := i%20, fmt.Sprint("write ", i)
		lines = append(lines, fmt.Sprintf("%d invoke %s", p, write), fmt.Sprintf("%d ok %s", p, write))
	}
	lines = append(lines, "0 invoke read", "0 ok read 0")
	r := check(t, models.Spec{Name: "register"}, clew.Options{}, lines...)
	for _, o := range []report.WindowOptions{{}, {Rows: 3}, {Rows: 3, Operations: 5}, {Rows: 20}, {Operations: 1}} {
		for _, around := range []int64{-1, 0, 200, 401} {
			if o.Around = &around; around < 0 {
				o.Around = nil
			}
			w, err := r.Window(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			counted := w.MoreOps + len(w.Ops)
			for _, row := range w.Rows {
				for _, g := range row.Gaps {
					counted += g.Count
				}
			}
			invoked, end := 0, w.Ops[0]
			for _, x := range w.Ops {
				if x.To > end.To {
					end = x
				}
			}
			last := r.History.Completion[end.Operation]
			for op := range jepsen.Operation(r.History.Operations()) {
				if r.History.Invocation[op] <= last {
					invoked++
				}
			}
			if counted != invoked {
				t.Errorf("%+v around %d: %d operations are counted, of %d", o, around, counted, invoked)
			}
			must := 3 // of the sentence
			if around >= 0 {
				must = 1
			}
			most, mostOps := o.Rows, o.Operations
			if most == 0 {
				most = report.DefaultRows
			}
			if mostOps == 0 {
				mostOps = max(report.DefaultOperations, 5*most)
			}
			if len(w.Rows) > max(most, must) || len(w.Ops) > max(mostOps, must) || len(w.Rows)+w.MoreRows != 20 && around != 0 {
				t.Errorf("%+v around %d: %d rows and %d more, %d operations", o, around, len(w.Rows), w.MoreRows, len(w.Ops))
			}
		}
	}
}

func TestAWindowIsOfSomething(t *testing.T) {
	unknown := &report.Result{History: check(t, models.Spec{Name: "register"}, clew.Options{}, "0 invoke read", "0 ok read 1").History}
	index := int64(7)
	for _, c := range []struct {
		r    *report.Result
		o    report.WindowOptions
		want string
	}{
		{&report.Result{}, report.WindowOptions{}, "a picture shows operations; found a history without any"},
		{unknown, report.WindowOptions{}, "a picture shows a failure, a witness, or what is around an index; found an undecided history and no index"},
		{unknown, report.WindowOptions{Around: &index}, "no event has :index 7"},
	} {
		if _, err := c.r.Window(context.Background(), c.o); fmt.Sprint(err) != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
