package edn_test

import (
	"testing"

	olympos "olympos.io/encoding/edn"

	"clew/edn"
	"clew/internal/goedn"
)

func TestOurValuesAreThoseOfGoEDNWhereItIsRight(t *testing.T) {
	for _, text := range []string{
		"nil", "true", "false", "0", "-17", "12N", "1.50M", "99999999999999999999N", "1.5", "-0.25", "1e10", "1.5e-7", `\a`, `\newline`, `\tab`, `\u00e9`,
		`"plain"`, `"esc\n\t\"\\ \u0041"`, ":k", ":ns/k", "sym", "ns/sym", "a.b$c<d>", "[1 [2 :x] nil]", "(1 2)", "#{1 :a}", "{:a 1, \"b\" [2]}",
		"{[1 2] 3}", "#foo 1", "#bar/baz [1 {:a 2}]", `#inst "2020-02-29T12:34:56.789Z"`, "#{#{1} #{2}}", "[1, 2 ;c\n 3 #_4]",
	} {
		v := edn.NewValues()
		var x any
		if err := olympos.Unmarshal([]byte(text), &x); err != nil {
			t.Errorf("%s: go-edn: %v", text, err)
			continue
		}
		ours, err := v.Parse([]byte(text), edn.Pos{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		theirs := goedn.Value(t, v, x)
		if v.Same(ours) != v.Same(theirs) {
			t.Errorf("%s: ours is %s, go-edn's %s", text, v.Text(ours), v.Text(theirs))
		}
	}
}
