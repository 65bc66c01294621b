package edn

import "testing"

// Packed forms of all kinds are the same in another table. A text that is cut off is an error.
func TestPackedFormsAreTheSame(t *testing.T) {
	v := NewValues()
	var ids []ID
	for _, text := range oddForms {
		id, err := v.ParseLenient([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	// Names that an EDN text cannot contain, but names in programs and JSON can.
	ids = append(ids, v.InternKeyword("a b;c"), v.InternSymbol(""), v.InternVector([]ID{v.InternKeyword("}")}), v.InternInt(-1<<63), v.InternTagged("a b", Nil))
	p := v.NewPacker()
	for half := range 2 { // numbers start over
		var numbers []int
		var own []ID
		for i, id := range ids {
			if half == 1 && i%2 == 0 {
				continue
			}
			own = append(own, id)
			numbers = append(numbers, p.Number(id))
		}
		packed := p.Append(nil)
		to := NewValues()
		forms, rest, err := to.Unpack(append(packed, "rest"...))
		if err != nil || string(rest) != "rest" {
			t.Fatalf("%v, rest %q", err, rest)
		}
		for i, n := range numbers {
			if to.Text(forms[n]) != v.Text(own[i]) || to.Kind(forms[n]) != v.Kind(own[i]) {
				t.Errorf("%s became %s", v.Text(own[i]), to.Text(forms[n]))
			}
			for k, m := range numbers {
				if (v.Same(own[i]) == v.Same(own[k])) != (to.Same(forms[n]) == to.Same(forms[m])) {
					t.Errorf("%s and %s are equal only before, or only after they were packed", v.Text(own[i]), v.Text(own[k]))
				}
			}
		}
		for n := range packed {
			if _, _, err := NewValues().Unpack(packed[:n]); err == nil {
				t.Errorf("%d of %d bytes are taken for all", n, len(packed))
			}
		}
	}
}
