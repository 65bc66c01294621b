package report_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func TestAPictureFitsItsTerminal(t *testing.T) {
	r := check(t, models.Spec{Name: "register"}, clew.Options{},
		"0 invoke write 1", "0 ok write 1", `1 invoke write "a value of very many letters"`, `1 ok write "a value of very many letters"`,
		"12 invoke write 3", "2 invoke read", "2 ok read 1")
	r.Core = append(r.Core, 2) // a core has crashed operations if they could matter
	picture := func(width int) (lines []string) {
		for line := range strings.Lines(r.TextFor(report.TextOptions{Width: width})) {
			if strings.HasPrefix(line, "  process ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	for width := 33; width < 120; width++ {
		for _, line := range picture(width) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d characters in a picture for %d: %s", n, width, line)
			}
		}
	}
	for width, want := range map[int]string{
		30: `
  process 0   :write 1  ├┤
  process 1   :write …    ├┤
  process 12  :write 3      ├───▶
  process 2   :read 1        ├┤ ✗
`, 60: `
  process 0   :write 1                             ├┤
  process 1   :write "a value of very many lette…    ├┤
  process 12  :write 3                                 ├───▶
  process 2   :read 1                                   ├┤ ✗
`, 70: `
  process 0   :write 1                               ├─┤
  process 1   :write "a value of very many letters"      ├─┤
  process 12  :write 3                                       ├──────▶
  process 2   :read 1                                          ├─┤ ✗
`, 90: `
  process 0   :write 1                               ├──┤
  process 1   :write "a value of very many letters"        ├──┤
  process 12  :write 3                                           ├─────────▶
  process 2   :read 1                                               ├──┤ ✗ expected "a va…
`, 0: `
  process 0   :write 1                               ├──┤
  process 1   :write "a value of very many letters"        ├──┤
  process 12  :write 3                                           ├─────────▶
  process 2   :read 1                                               ├──┤ ✗ expected "a value of very many letters", got 1
`} {
		if got := "\n" + strings.Join(picture(width), ""); got != want {
			t.Errorf("for %d characters:%s", width, got)
		}
	}
}

// A value may have megabytes, but its sentence and its picture do not.
func TestAValueOfAnyLengthIsShortened(t *testing.T) {
	a, b := `"`+strings.Repeat("a", 5000)+`"`, `"`+strings.Repeat("b", 5000)+`"`
	for model, lines := range map[string][]string{
		"register":     {"0 invoke write " + a, "0 ok write " + a, "0 invoke read", "0 ok read " + b},
		"cas-register": {"0 invoke write " + a, "0 ok write " + a, "0 invoke cas [" + b + " 1]", "0 ok cas [" + b + " 1]"},
		"fifo-queue":   {"0 invoke enqueue " + a, "0 ok enqueue " + a, "0 invoke dequeue", "0 ok dequeue " + b},
		"set":          {"0 invoke add " + a, "0 ok add " + a, "0 invoke read", "0 ok read #{" + b + "}"},
		"log":          {"0 invoke append " + a, "0 ok append 0", "0 invoke read", "0 ok read [" + b + "]"},
	} {
		r := check(t, models.Spec{Name: model}, clew.Options{}, lines...)
		if r.Verdict != jepsen.Invalid {
			t.Errorf("%s: %v", model, r.Verdict)
		}
		for line := range strings.Lines(r.Text()) {
			if n := utf8.RuneCountInString(line); n > 600 {
				t.Errorf("%s: a line of %d characters begins with %.80s", model, n, line)
			}
		}
	}
}

func TestAKeyOfAnyLengthIsShortened(t *testing.T) {
	key := `"` + strings.Repeat("k", 50_000) + `"`
	r := check(t, models.Spec{Name: "register"}, clew.Options{Independent: true}, "0 invoke read ["+key+" nil]", "0 ok read ["+key+" 7]")
	if text := r.Text(); len(text) > 5000 || len(r.Explanation) > 2000 || !strings.Contains(text, `key "kkk`) {
		t.Errorf("%d characters, %d of them explain it: %.200s", len(text), len(r.Explanation), text)
	}
}

// Of very many keys that fail, only some are shown.
func TestATextShowsTenKeys(t *testing.T) {
	var lines []string
	for key := range 12 {
		lines = append(lines, fmt.Sprintf("0 invoke read [%d nil]", key), fmt.Sprintf("0 ok read [%d 7]", key))
	}
	text := check(t, models.Spec{Name: "register", Init: "nil"}, clew.Options{Independent: true}, lines...).Text()
	if n := strings.Count(text, "  key "); n != 10 || !strings.Contains(text, "  key 9: INVALID") || !strings.Contains(text, "\n  and 2 more keys that are not valid\n") {
		t.Errorf("%d keys are shown:\n%s", n, text)
	}
}
