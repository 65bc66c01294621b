package reading_test

import (
	"strings"
	"testing"

	"clew"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// Reads of nil that all may have come first make no difference, so nothing else is decided for them: with each of them exact, a
// valid history is valid. If one of them is late, a warning says so where that is what makes the history valid.
func TestReadsOfNilThatMayComeFirstMakeNoDifference(t *testing.T) {
	t.Parallel()
	r := gen.Rand(6300)
	first, warned := 0, 0
	for i := range effort.Histories(20_000, 200_000) {
		spec := models.Spec{Name: []string{"register", "cas-register"}[i%2]}
		d, err := spec.Definition()
		if err != nil {
			t.Fatal(err)
		}
		text := gen.New(r, gen.Options{Model: spec.Name, Operations: 3 + r.IntN(6)}).Text
		h, err := clew.Read(strings.NewReader(text), "", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, late := d.NilReads(h)
		if n == 0 {
			continue
		}
		exact := spec
		exact.NilReadsExact = true
		got, err := clew.Check(t.Context(), h, spec, kit.Unverified)
		other, err2 := clew.Check(t.Context(), h, exact, kit.Unverified)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		differs := got.Verdict == jepsen.Valid && other.Verdict == jepsen.Invalid
		if differs && !late {
			t.Fatalf("%s: no read of nil is late, but with exact ones the history is invalid: %s\n%s", spec.Name, other.Explanation, text)
		}
		if differs != strings.Contains(got.Granted, "nil read") {
			t.Fatalf("%s: %q, and with exact ones %v\n%s", spec.Name, got.Granted, other.Verdict, text)
		}
		if !late && got.Verdict == jepsen.Valid {
			first++
		}
		if differs {
			warned++
		}
	}
	if first < 20 || warned < 20 {
		t.Errorf("%d histories whose reads of nil come first, %d where they matter", first, warned)
	}
}
