package forget

import (
	"fmt"
	"testing"

	"clew/edn"
)

// A value that was written long ago is still known to have been written if it is an integer.
func TestWrittenRemembersWhatItCan(t *testing.T) {
	var w Written
	v := edn.NewValues()
	x, y := KeyOf("x"), KeyOf("y")
	if was, certain := w.Was(ValueOf(x, v, v.InternInt(1))); was || !certain {
		t.Error("something was written already")
	}
	const writes = 2*mostWrites + 1000
	for n := range int64(writes) {
		w.Note(ValueOf(x, v, v.InternInt(n)), Write{Began: 2 * n, Ended: 2*n + 1, At: 10 * n, Returned: true})
	}
	name := func(n int64) Value { return ValueOf(x, v, v.InternInt(n)) }
	for _, n := range []int64{0, 1, mostWrites, writes - 1} {
		if was, certain := w.Was(name(n)); !was || !certain {
			t.Errorf("%d: %t, %t", n, was, certain)
		}
	}
	for _, of := range []Value{name(writes), name(-1), ValueOf(y, v, v.InternInt(5)), ValueOf(x, v, v.InternString("a"))} {
		if was, certain := w.Was(of); was || !certain {
			t.Errorf("%+v: %t, %t", of, was, certain)
		}
	}
	if behind, since, known := w.Behind(name(writes-100), 2*(writes-10), false); !known || behind != 89 || since != 10*(writes-99) {
		t.Errorf("%d since %d, %t", behind, since, known)
	}
	if _, _, known := w.Behind(name(5), 2*writes, false); known {
		t.Error("a write is in order for longer than it is remembered")
	}
	for n := range int64(mostWrites) + 1 {
		w.Note(ValueOf(y, v, v.InternString(fmt.Sprint("s", n))), Write{Began: n, Ended: n, Returned: true})
	}
	if was, certain := w.Was(ValueOf(y, v, v.InternString("s0"))); was || certain {
		t.Error("a text is known for longer than it is remembered")
	}
	// Of the texts that were written last, a bucket may have had too little room for a few.
	remembered := 0
	for n := mostWrites / 2; n < mostWrites; n++ {
		if w.of(ValueOf(y, v, v.InternString(fmt.Sprint("s", n))).Hash) != nil {
			remembered++
		}
	}
	if remembered < mostWrites/2*95/100 {
		t.Errorf("%d of %d texts are remembered", remembered, mostWrites/2)
	}
	last := ValueOf(y, v, v.InternString(fmt.Sprint("s", mostWrites)))
	if w.of(last.Hash) == nil {
		t.Error("the last text is not remembered")
	}
	w.Note(last, Write{Returned: true})
	if x := w.of(last.Hash); x == nil || !x.Again {
		t.Error("a value that was written twice has one place")
	}
}

// Values of different keys, integers and pairs of them have different hashes.
func TestValuesHaveDifferentHashes(t *testing.T) {
	v := edn.NewValues()
	seen := map[uint64]string{}
	note := func(k string, id edn.ID) {
		name, hash := k+" "+v.Text(id), ValueOf(KeyOf(k), v, id).Hash
		if other, found := seen[hash]; found {
			t.Fatalf("%s and %s", name, other)
		}
		seen[hash] = name
	}
	for _, k := range []string{"", " 1", " 2"} {
		for n := int64(-50); n < 50; n++ {
			note(k, v.InternInt(n))
			note(k, v.InternVector([]edn.ID{v.InternInt(n)}))
			for m := int64(-50); m < 50; m++ {
				note(k, v.InternVector([]edn.ID{v.InternInt(n), v.InternInt(m)}))
			}
		}
	}
}

// A table that grows loses nothing: what it knows of a few thousand texts is what one of full length knows.
func TestAFewValuesAreNeverLost(t *testing.T) {
	var grown Written
	whole := Written{At: make([]uint64, mostWrites*ways)}
	v := edn.NewValues()
	text := func(n int) Value { return ValueOf(KeyOf("x"), v, v.InternString(fmt.Sprint("s", n))) }
	const writes = 5000
	for n := range writes {
		for _, w := range []*Written{&grown, &whole} {
			w.Note(text(n), Write{Began: int64(n), Ended: int64(n), Returned: true})
			w.Note(text(n/2), Write{Began: int64(n), Ended: int64(n), Returned: true})
		}
		if n == 20 && len(grown.At) >= len(whole.At)/50 {
			t.Errorf("%d slots for %d writes", len(grown.At), n)
		}
	}
	for n := range writes {
		a, b := grown.of(text(n).Hash), whole.of(text(n).Hash)
		if a == nil || b == nil || *a != *b {
			t.Fatalf("text %d: %+v, and %+v in a whole table", n, a, b)
		}
	}
	if grown.Lost || whole.Lost {
		t.Errorf("something was forgotten: %t, in a whole table %t", grown.Lost, whole.Lost)
	}
}
