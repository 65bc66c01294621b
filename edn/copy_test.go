package edn

import "testing"

// oddForms are forms of every kind, some of which are equal.
var oddForms = []string{
	"nil", "true", "false", "0", "1", "-1", "255", "256", "1N", "99999999999999999999N", "1/2", "2/4", "1.5", "1e3", "-0.0", "##Inf", "1.50M", "\\a", "\\newline",
	`"a"`, `"nil"`, `"a\nb"`, ":a", ":a/b", "a", "nil?", "[]", "()", "#{}", "{}", "[1 (2N) nil]", "(1 2)", "#{1 [2]}", "{:a #{1} [1] nil}", "#a [1]", "#inst \"2020-01-01T00:00:00.000-00:00\"",
	"#inst \"2020-01-01\"", `#"a.b"`, "#<Foo x>", "[##NaN]", "10.0.0.1", "{:a}",
}

// Forms that were read in parts are the same as if they had been read at once.
func TestCopiedFormsAreTheSame(t *testing.T) {
	v := NewValues()
	var want []ID
	for _, text := range oddForms {
		id, err := v.ParseLenient([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, id)
	}
	parts := []*Values{NewValues(), NewLooseValues()}
	whole := NewValues()
	var got []ID
	for i, text := range oddForms {
		part := parts[i%2]
		id, _ := part.ParseLenient([]byte(text))
		copier := part.CopierInto(whole)
		to := copier.ID(id)
		if copier.ID(id) != to {
			t.Errorf("%s is copied twice", text)
		}
		if whole.Text(to) != v.Text(want[i]) || whole.Kind(to) != v.Kind(want[i]) {
			t.Errorf("%s became %s", text, whole.Text(to))
		}
		got = append(got, to)
	}
	for i := range oddForms {
		for k := range oddForms {
			if (v.Same(want[i]) == v.Same(want[k])) != (whole.Same(got[i]) == whole.Same(got[k])) {
				t.Errorf("%s and %s are equal only before, or only after they were copied", oddForms[i], oddForms[k])
			}
		}
	}
}
