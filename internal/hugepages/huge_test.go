package hugepages

import "testing"

func TestGrowKeepsWhatIsThere(t *testing.T) {
	for _, more := range []int{0, 1, 100, page, 10*page + 1} {
		s := []int32{1, 2, 3}
		g := Grow(s, more)
		if len(g) != 3 || cap(g) < 3+more || g[0] != 1 || g[2] != 3 {
			t.Fatalf("%d more: %d elements, room for %d", more, len(g), cap(g))
		}
		for i, x := range g[3 : 3+more] {
			if x != 0 {
				t.Fatalf("%d more: the %d-th is %d", more, i, x)
			}
			g[3:][:more][i] = 1
		}
		if again := Grow(g, more); cap(g) >= 3+more && &again[0] != &g[0] {
			t.Errorf("%d more: there was room, and it has moved", more)
		}
	}
}

func TestAppendDoublesTheRoomOfALongColumn(t *testing.T) {
	var s []int32
	for i := range int32(page) {
		long := len(s) == cap(s) && len(s) >= 512
		if s = Append(s, i); long && cap(s) < 2*int(i) {
			t.Fatalf("room for %d after %d", cap(s), i)
		}
	}
	for i, x := range s {
		if x != int32(i) {
			t.Fatalf("the %d-th is %d", i, x)
		}
	}
}

// BenchmarkFirstTouch measures the time to use a column of 40 MB.
func BenchmarkFirstTouch(b *testing.B) {
	for b.Loop() {
		s := Grow([]int32(nil), 10_000_000)
		for len(s) < cap(s) {
			s = append(s, 1)
		}
	}
}

func TestAColumnWithoutRowsIsNotNil(t *testing.T) {
	if Make[int32](0) == nil {
		t.Error("a column without rows is nil, which stands for one that is not there")
	}
}
