package edn

import (
	"math/rand/v2"
	"testing"
)

// After some forms were forgotten, all that is interned is equal to what it was equal to before.
func TestForgottenFormsLeaveNothingBehind(t *testing.T) {
	for lasting := range oddForms {
		v := NewValues()
		intern := func(texts []string) (ids []ID) {
			for _, text := range texts {
				id, err := v.ParseLenient([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			return ids
		}
		before := intern(oddForms[:lasting])
		v.InternKeyword("a-late-name")
		v.Settle()
		size := v.Len()
		all := append(before[:lasting:lasting], intern(oddForms[lasting:])...)
		var same [][]bool
		for _, a := range all {
			row := make([]bool, len(all))
			for k, b := range all {
				row[k] = v.Same(a) == v.Same(b)
			}
			same = append(same, row)
		}
		for range 3 {
			names := len(v.keywords) + len(v.symbols)
			v.Forget(nil)
			if names == v.names && size == v.lasting && v.Len() != size {
				t.Fatalf("%d forms are left, of which %d last", v.Len(), size)
			}
			again := append(before[:lasting:lasting], intern(oddForms[lasting:])...)
			for i, a := range again {
				if v.Text(a) != oddText(oddForms[i]) {
					t.Errorf("%s became %s", oddForms[i], v.Text(a))
				}
				for k, b := range again {
					if i != k && (v.Same(a) == v.Same(b)) != same[i][k] {
						t.Errorf("%s and %s: equal is %t, before it was %t", oddForms[i], oddForms[k], !same[i][k], same[i][k])
					}
				}
			}
		}
	}
}

// oddText returns how a form prints in a table of its own.
func oddText(text string) string {
	v := NewValues()
	id, _ := v.ParseLenient([]byte(text))
	return v.Text(id)
}

func TestATableThatForgetsStaysSmall(t *testing.T) {
	v := NewValues()
	f := v.InternKeyword("write")
	for n := range int64(1_000_000) {
		v.InternVector([]ID{f, v.InternInt(n), v.InternString(string(rune('a' + n%20)))})
		if v.Settle(); v.Len() > 1000 {
			v.Forget(nil)
		}
	}
	if len(v.sparse) > 10_000 || len(v.dense) > 10_000 || cap(v.forms) > 10_000 || len(v.texts) > 1000 || len(v.table) > 10_000 || cap(v.arena) > 100 || cap(v.arena[len(v.arena)-1]) > 10_000 {
		t.Error(len(v.sparse), len(v.dense), cap(v.forms), len(v.texts), len(v.table), cap(v.arena), cap(v.arena[len(v.arena)-1]))
	}
	if v.InternKeyword("write") != f {
		t.Error("a name that lasts has another ID")
	}
}

// Forms that are kept are what they were, and equal what they equaled.
func TestKeptFormsStay(t *testing.T) {
	v := NewValues()
	v.InternKeyword("a")
	var ids, want []ID
	whole := NewValues()
	for _, text := range oddForms {
		id, err := v.ParseLenient([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		id, _ = whole.ParseLenient([]byte(text))
		want = append(want, id)
	}
	for range 3 {
		var keep []*ID
		for i := range ids {
			keep = append(keep, &ids[i])
		}
		v.Forget(keep)
		for i, a := range ids {
			if v.Text(a) != whole.Text(want[i]) {
				t.Errorf("%s became %s", oddForms[i], v.Text(a))
			}
			for k, b := range ids {
				if (v.Same(a) == v.Same(b)) != (whole.Same(want[i]) == whole.Same(want[k])) {
					t.Errorf("%s and %s: equal is %t", oddForms[i], oddForms[k], v.Same(a) == v.Same(b))
				}
			}
		}
	}
}

// Integers are found again, whether they are small, in a row, or neither.
func TestIntegersAreFoundAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		v, ids := NewValues(), map[int64]ID{}
		v.Settle()
		last := int64(r.Uint64())
		for range 3000 {
			var n int64
			switch r.IntN(6) {
			case 0:
				n = int64(r.IntN(5000))
			case 1:
				n = int64(r.Uint64())
			case 2:
				n = int64(r.IntN(100)) << r.IntN(64)
			default:
				last++
				n = last - int64(r.IntN(20))
			}
			id := v.InternInt(n)
			if is, found := ids[n]; found && is != id || !found && int(id) != v.Len()-1 {
				t.Fatal(n, id, is, found)
			}
			if ids[n] = id; r.IntN(500) > 0 {
				continue
			}
			var numbers []int64
			var keep []*ID
			for n := range ids {
				if r.IntN(3) == 0 {
					id := ids[n]
					numbers, keep = append(numbers, n), append(keep, &id)
				}
			}
			v.Forget(keep)
			clear(ids)
			for i, n := range numbers {
				if is, _ := v.Int(*keep[i]); is != n {
					t.Fatal(n, is)
				}
				ids[n] = *keep[i]
			}
		}
	}
}

// Integers that would all begin at one slot without the salt do not: they are found after few steps.
func TestIntegersCannotCrowd(t *testing.T) {
	inverse := uint64(1) // of the factor in home
	for range 6 {
		inverse *= 2 - 0x9e3779b97f4a7c15*inverse
	}
	v := NewValues()
	var numbers []int64
	for i := uint64(1); len(numbers) < 20_000; i++ {
		if n := i * inverse; n < 1<<59 { // in groups of 16
			numbers = append(numbers, int64(n)<<4)
			v.InternInt(int64(n) << 4)
		}
	}
	steps := 0
	for _, n := range numbers {
		steps += (v.slotOf(n) - v.home(n)) & (len(v.sparse) - 1)
	}
	if steps > 100*len(numbers) {
		t.Errorf("%d steps for %d integers", steps, len(numbers))
	}
}
