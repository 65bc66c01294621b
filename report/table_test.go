package report

import (
	"testing"

	"clew/jepsen"
)

// Columns are as wide as what is known for them, and
// there is a column of times only if some are known.
func TestATableFitsItsTestsAndTimes(t *testing.T) {
	type run struct{ test, time string }
	for _, c := range []struct {
		runs []run
		want string
	}{
		{[]run{{"long-name", ""}, {"b", ""}},
			"test       model                              verdict     operations  crashed  skipped  engine                  ms\n" +
				"long-name  register                           timeout\n" +
				"b          register                           timeout\n"},
		{[]run{{"a", "20250101T000000Z"}, {"b", "2025"}},
			"test  time              model                              verdict     operations  crashed  skipped  engine                  ms\n" +
				"a     20250101T000000Z  register                           timeout\n" +
				"b     2025              register                           timeout\n"},
	} {
		table := NewTable()
		for _, x := range c.runs {
			table.Fit(x.test, x.time)
		}
		got := table.Header()
		for _, x := range c.runs {
			r := &Result{Model: "register", Cause: jepsen.Timeout}
			got += table.Row(NewRun(x.test, x.time, r), r.Line())
		}
		if got != c.want {
			t.Errorf("\n%swant\n%s", got, c.want)
		}
	}
}
