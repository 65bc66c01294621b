package page_test

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/geometry"
	"clew/internal/pagetest"
	"clew/models"
	"clew/report"
)

// ofTransactions checks transactions on lists.
func ofTransactions(t *testing.T, history string, o clew.Options) *report.Result {
	t.Helper()
	return pagetest.CheckAs(t, history, models.Spec{Name: "list-append"}, o)
}

// levelsOf returns the part of a page about levels, and its drawings.
func levelsOf(t *testing.T, page []byte) (part string, drawings []geometry.Picture) {
	t.Helper()
	_, rest, _ := strings.Cut(string(page), `<section id="levels"`)
	part, _, _ = strings.Cut(rest, "</section>")
	for _, figure := range regexp.MustCompile(`(?s)<figure><div class="canvas" role="group" tabindex="0" aria-label="Drawing of [^"]+">(<svg.*?</svg>)`).FindAllStringSubmatch(part, -1) {
		p, err := geometry.Read([]byte(figure[1]))
		if err != nil {
			t.Fatal(err)
		}
		drawings = append(drawings, p)
	}
	return part, drawings
}

// said removes the tags of a page.
func said(part string) string {
	return html.UnescapeString(regexp.MustCompile(`\s*<[^>]*>\s*`).ReplaceAllString(part, "|"))
}

func TestAPageHasThePartAboutLevels(t *testing.T) {
	r := ofTransactions(t, pagetest.Transactions(10, "7"), clew.Options{})
	part, drawings := levelsOf(t, pagetest.Written(t, r))
	text := regexp.MustCompile(`\|+`).ReplaceAllString(said(part), "|")
	for _, want := range []string{
		"|level|verdict|strict-serializable|does not hold|", "|read-committed|does not hold|", "|read-uncommitted|holds|",
		"|anomaly|found|breaks|", "|G1a|1|read-committed|", "|G1c|1|read-committed|", "|lost-update|1|snapshot-isolation|",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the part lacks %s: %s", want, text)
		}
	}
	for kind, n := range r.Levels.Count {
		if !strings.Contains(text, fmt.Sprintf("|%s|%d|", kind, n)) {
			t.Errorf("it does not count %d of %s", n, kind)
		}
	}
	if len(drawings) != len(r.Levels.Anomalies) || len(drawings) < 12 {
		t.Errorf("there are %d drawings of %d anomalies", len(drawings), len(r.Levels.Anomalies))
	}
	steps := regexp.MustCompile(`<li value="(\d+)">([^<]*)</li>`).FindAllStringSubmatch(part, -1)
	for _, a := range r.Levels.Anomalies {
		for i, s := range a.Steps {
			if !slices.ContainsFunc(steps, func(x []string) bool { return x[1] == fmt.Sprint(i+1) && html.UnescapeString(x[2]) == s.Says }) {
				t.Errorf("step %d is not told: %s", i+1, s.Says)
			}
		}
		if a.Steps == nil && !strings.Contains(text, a.Says) {
			t.Errorf("%s is not told", a.Says)
		}
		for _, op := range a.Txns {
			if !strings.Contains(text, r.History.Name(op)) {
				t.Errorf("%s is not named", r.History.Name(op))
			}
		}
	}
	for _, p := range drawings {
		for _, overlap := range p.Overlaps() {
			t.Error(overlap)
		}
	}
}

func TestALongCycleIsToldInPart(t *testing.T) {
	var invoked, returned strings.Builder
	for i := range 40 {
		pagetest.Event(&invoked, i, i, "invoke", "txn", fmt.Sprintf("[[:r %d nil] [:append %d 1]]", i, (i+1)%40))
		pagetest.Event(&returned, 40+i, i, "ok", "txn", fmt.Sprintf("[[:r %d []] [:append %d 1]]", i, (i+1)%40))
	}
	part, drawings := levelsOf(t, pagetest.Written(t, ofTransactions(t, invoked.String()+returned.String(), clew.Options{})))
	if len(drawings) != 1 || !strings.Contains(part, `<li class="on">and so on</li><li value="40">`) || !strings.Contains(part, "<li>and 28 more transactions</li>") {
		t.Errorf("%d drawings: %s", len(drawings), said(part))
	}
}

func TestThePartAboutLevelsIsBoundedAndHoldsAnyText(t *testing.T) {
	long := `"` + strings.Repeat("<&v", 10_000) + `"`
	for _, value := range append([]string{long}, pagetest.Hostile...) {
		r := ofTransactions(t, pagetest.Transactions(12, value), clew.Options{})
		page := pagetest.Written(t, r)
		part, drawings := levelsOf(t, page)
		if len(drawings) < 6 || len(part) > 800_000 {
			t.Errorf("%d drawings, %d bytes", len(drawings), len(part))
		}
		if bytes.Contains(page, []byte("<script>window.pwned")) || bytes.Contains(page, []byte("<img")) || bytes.Contains(page, []byte("<b onclick")) {
			t.Errorf("%s is more than text", value)
		}
	}
}

func TestAPageSaysWhichLevelHolds(t *testing.T) {
	history := pagetest.Transactions(1, "7")
	part, drawings := levelsOf(t, pagetest.Written(t, ofTransactions(t, history, clew.Options{Consistency: models.ReadUncommitted})))
	text := said(part)
	for level, word := range map[models.Level]string{models.ReadUncommitted: "holds", models.ReadCommitted: "not decided"} {
		if !regexp.MustCompile(string(level) + `\|+` + word).MatchString(text) {
			t.Errorf("of %s it does not say %s: %s", level, word, text)
		}
	}
	if len(drawings) > 0 {
		t.Errorf("there are %d drawings", len(drawings))
	}
	if part, _ := levelsOf(t, pagetest.Written(t, pagetest.Check(t, pagetest.StaleRead, ""))); part != "" {
		t.Errorf("the page of a register has levels: %s", part)
	}
}
