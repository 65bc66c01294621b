package home_test

import (
	"math/rand/v2"
	"testing"

	"clew/internal/home"
	"clew/models"
)

func TestKeysAreFoundInStatesOfAnyLength(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 1))
	for n := range 120 {
		var s models.State
		want := map[int32]int32{}
		for range n {
			key, value := r.Int32N(200), r.Int32N(9)
			s, want[key] = home.Set1(s, key, value), value
		}
		if len(s) != 2*len(want) {
			t.Fatalf("%v has %d pairs, not %d", s, len(s)/2, len(want))
		}
		for i := 2; i < len(s); i += 2 {
			if s[i-2] >= s[i] {
				t.Fatalf("%v does not ascend", s)
			}
		}
		for key := int32(-1); key < 202; key++ {
			value, there := want[key]
			if i, found := home.Find1(s, key); found != there || i > 0 && s[i-2] >= key || i < len(s) && s[i] < key || found && s[i+1] != value {
				t.Fatalf("%d is at %d (%t) of %v", key, i, found, s)
			}
		}
	}
}
