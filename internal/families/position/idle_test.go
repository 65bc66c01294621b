package position_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// at is what a map of one key may be: whether something is there, and the position, -1 before the first was told.
type at struct {
	there    bool
	position int
}

// idleStep returns the states after an operation of a client that is alone. A delete of nothing may count as an update.
func idleStep(states map[at]bool, put, told bool, position int, found string) map[at]bool {
	after := map[at]bool{}
	for s := range states {
		counts := []bool{true}
		if !put && !s.there {
			counts = []bool{true, false}
		}
		if !put && found != "" {
			if counts = []bool{found == "true"}; s.there != counts[0] {
				continue
			}
		}
		for _, counted := range counts {
			next := at{put, s.position}
			switch {
			case counted && s.position >= 0:
				next.position++
			case told && s.position < 0:
				next.position = position // the first that is told may be any
			}
			if !told || next.position == position {
				after[next] = true
			}
		}
	}
	return after
}

// readMap reads a history of a map whose operations say their revision.
func readMap(t *testing.T, b *jepsen.Builder) *models.Operations {
	t.Helper()
	h, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	ops, err := models.Spec{Name: "kv", Position: "revision"}.Read(h)
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

func textOf(ops *models.Operations) string {
	var text strings.Builder
	ops.History.WriteEDN(&text)
	return text.String()
}

// A delete that does not say whether it found something may be an update or none if nothing was there, and is an update
// otherwise. If it says so, it is one or the other.
func TestADeleteOfNothingMayBeAnUpdate(t *testing.T) {
	counts := verdicts{}
	for seed := range effort.Histories(1000, 200_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 40))
		b, states := jepsen.NewBuilder(jepsen.Options{}), map[at]bool{{position: -1}: true}
		now, some, key := at{position: r.IntN(3)}, false, jepsen.With("key", "x")
		for range 2 + r.IntN(5) {
			put, told, found := r.IntN(2) == 0, r.IntN(8) > 0, ""
			if put || now.there || r.IntN(2) == 0 {
				now.position++
			}
			if !put && r.IntN(4) == 0 {
				found = fmt.Sprint(now.there)
			}
			says := max(0, now.position+[]int{0, 0, 0, 0, 0, 0, 0, 0, -1, 1}[r.IntN(10)])
			now.there = put
			states = idleStep(states, put, told, says, found)
			f, value := "delete", any(nil)
			if put {
				f, value = "put", 1
			}
			b.Invoke(0, f, value, key)
			if found != "" {
				value = found == "true"
			}
			if told {
				b.OK(0, f, value, key, jepsen.With("revision", says))
			} else {
				b.OK(0, f, value, key)
			}
			some = some || told
		}
		if !some {
			continue
		}
		ops := readMap(t, b)
		said := counts.compare(t, ops)
		if said == "" && oracle.Decide(ops, oracle.Options{}).Linearizable != (len(states) > 0) {
			said = fmt.Sprintf("the model says otherwise: what it may be at the end is %v", states)
		}
		if said != "" {
			t.Fatalf("seed %d: %s\n%s", seed, said, textOf(ops))
		}
	}
	t.Log(counts)
}

// What never returned may have made the position that a delete tells, which then did nothing.
func TestACrashedUpdateMayHaveMadeThePositionOfADelete(t *testing.T) {
	counts := verdicts{}
	for seed := range effort.Histories(12_000, 300_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 41))
		b, values, position, process := jepsen.NewBuilder(jepsen.Options{}), map[string]bool{}, r.IntN(3), 0
		some := false
		for range 3 + r.IntN(4) {
			key := []string{"x", "y"}[r.IntN(2)]
			f, given, answer, updates := "delete", any(nil), any(nil), values[key]
			switch r.IntN(3) {
			case 0:
				f, given, answer, updates = "put-if-absent", 1, !values[key], !values[key]
			case 1:
				f, given, answer, updates = "get", nil, nil, false
				if values[key] {
					answer = 1
				}
			}
			crashes := r.IntN(3) == 0
			b.Invoke(process, f, given, jepsen.With("key", key))
			if updates && (!crashes || r.IntN(2) == 0) {
				position++
				values[key] = f != "delete"
			}
			if crashes {
				b.Info(process, f, nil, jepsen.With("key", key))
				process++
				continue
			}
			if r.IntN(12) == 0 && f == "put-if-absent" {
				answer = r.IntN(2) == 0
			}
			says := max(0, position+[]int{0, 0, 0, 0, 0, 0, 0, 0, -1, 1}[r.IntN(10)])
			b.OK(process, f, answer, jepsen.With("key", key), jepsen.With("revision", says))
			some = true
		}
		if !some {
			continue
		}
		ops := readMap(t, b)
		if said := counts.compare(t, ops); said != "" {
			t.Fatalf("seed %d: %s\n%s", seed, said, textOf(ops))
		}
	}
	t.Log(counts)
}
