package report

import (
	"testing"

	"clew/internal/store"
	"clew/jepsen"
)

// Columns are as wide as what is known for them, and
// there is a column of times only if some are known.
func TestATableFitsItsTestsAndTimes(t *testing.T) {
	of := func(test, time string) store.Source {
		return store.Source{Path: "p", Stored: true, Test: test, Time: time}
	}
	for _, c := range []struct {
		sources []store.Source
		want    string
	}{
		{[]store.Source{of("long-name", ""), of("b", "")},
			"test       model                    verdict     operations  crashed  skipped  engine                  ms\n" +
				"long-name  register                 timeout\n" +
				"b          register                 timeout\n"},
		{[]store.Source{of("a", "20250101T000000Z"), of("b", "2025")},
			"test  time              model                    verdict     operations  crashed  skipped  engine                  ms\n" +
				"a     20250101T000000Z  register                 timeout\n" +
				"b     2025              register                 timeout\n"},
	} {
		table := NewTable(c.sources)
		got := table.Header()
		for _, s := range c.sources {
			got += table.Row(s, &Result{Model: "register", Cause: jepsen.Timeout})
		}
		if got != c.want {
			t.Errorf("\n%swant\n%s", got, c.want)
		}
	}
}
