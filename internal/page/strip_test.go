package page_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew/internal/pagetest"
)

// Each stretch of the strip has bars for the operations that began in it and succeeded,
// failed and crashed. The bars are stacked, and their heights show the numbers of
// operations. The operations come one after another, at even times or more and more slowly.
func TestAStripShowsHowOperationsEnded(t *testing.T) {
	const n, stretches, high = 100, 33, 40
	kinds := []string{"ok", "failed", "crashed"}
	for name, time := range map[string]func(e int) int{"evenly": func(e int) int { return e }, "ever more slowly": func(e int) int { return e * e }} {
		var b strings.Builder
		var counts [stretches][3]int
		most := 0
		for i := range n {
			kind := 0
			if i%7 == 3 || i%50 > 40 && i%3 > 0 {
				kind = 1 + i%2
			}
			for e, end := range []string{"invoke", []string{"ok", "fail", "info"}[kind]} {
				fmt.Fprintf(&b, "{:time %d, :process %d, :type :%s, :f :write, :value 1}\n", time(2*i+e), i, end)
			}
			begun := &counts[time(2*i)*stretches/time(2*n-1)]
			begun[kind]++
			most = max(most, begun[0]+begun[1]+begun[2])
		}
		scaled := func(n int) int {
			if n == 0 {
				return 0
			}
			return max(1, n*high/most)
		}
		var want []string
		for x, n := range counts {
			failed, crashed := scaled(n[1]), scaled(n[2])
			y := high
			for kind, height := range []int{min(scaled(n[0]), high-failed-crashed), failed, crashed} {
				if y -= height; height > 0 {
					want = append(want, fmt.Sprintf(`<rect class="s-%s" x="%d" y="%d" width="1" height="%d"/>`, kinds[kind], x, y, height))
				}
			}
		}
		got := regexp.MustCompile(`<rect class="s-(ok|failed|crashed)"[^>]*>`).FindAllString(string(pagetest.Written(t, pagetest.Check(t, b.String(), ""))), -1)
		if !slices.Equal(got, want) {
			t.Errorf("%s: bars\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
