package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"clew/jepsen"
	"clew/models"
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
		table := NewTable(TextOptions{})
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

// On a terminal, no line of a table is longer than it, and verdicts have their colors.
func TestATableFitsTheTerminal(t *testing.T) {
	for width := 44; width <= 200; width += 13 {
		for _, test := range []string{"a", strings.Repeat("long", 10), "register/20250101T000000.000Z/history.edn", "größer"} {
			for _, time := range []string{"", "20250101T000000Z"} {
				if time != "" && width < 60 {
					continue
				}
				table := NewTable(TextOptions{Width: width, Color: true})
				table.Fit(test, time)
				r := &Result{Verdict: jepsen.Invalid, Model: "reentrant-fenced-mutex", Init: "{:a 1, :b 2, :c 3}", Kind: models.StaleRead, Analyzer: "clew/fast-reentrant-fenced-mutex",
					Explanation: "value 2 was read by process 0 (index 17) after value 3 had been read by process 2 (index 10); before that, value 2 had been written by process 2 (index 5)"}
				text := table.Header() + table.Row(NewRun(test, time, r), r.Line())
				if !strings.Contains(text, red+"INVALID"+usual) {
					t.Errorf("%d: no color in\n%s", width, text)
				}
				for _, line := range strings.Split(strings.NewReplacer(red, "", usual, "").Replace(text), "\n") {
					if utf8.RuneCountInString(line) > width {
						t.Errorf("%d: %q", width, line)
					}
				}
			}
		}
	}
}
