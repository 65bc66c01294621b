package page_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each stretch of the strip has bars of what began in it and succeeded, failed and
// crashed, as high as there are many, the one on the other: here the operations come one
// after another at even times.
func TestAStripShowsHowOperationsEnded(t *testing.T) {
	const n, stretches, high = 100, 33, 40
	kinds := []string{"ok", "failed", "crashed"}
	var b strings.Builder
	var counts [stretches][3]int
	most := 0
	for i := range n {
		kind := 0
		if i%7 == 3 || i%50 > 40 && i%3 > 0 {
			kind = 1 + i%2
		}
		event(&b, 2*i, i, "invoke", "write", "1")
		event(&b, 2*i+1, i, []string{"ok", "fail", "info"}[kind], "write", "1")
		begun := &counts[2*i*stretches/(2*n-1)]
		begun[kind]++
		most = max(most, begun[0]+begun[1]+begun[2])
	}
	var want []string
	for x, n := range counts {
		failed, crashed := n[1]*high/most, n[2]*high/most
		y := high
		for kind, height := range []int{min(n[0]*high/most, high-failed-crashed), failed, crashed} {
			if y -= height; height > 0 {
				want = append(want, fmt.Sprintf(`<rect class="s-%s" x="%d" y="%d" width="1" height="%d"/>`, kinds[kind], x, y, height))
			}
		}
	}
	got := regexp.MustCompile(`<rect class="s-(ok|failed|crashed)"[^>]*>`).FindAllString(string(written(t, check(t, b.String(), ""))), -1)
	if !slices.Equal(got, want) {
		t.Errorf("bars\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
