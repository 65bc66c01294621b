package kit

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
)

// KeyedHistory is a history of independent keys, and those of its keys alone.
type KeyedHistory struct {
	Whole []string
	Alone map[string][]string
}

var KeyNames = []string{"10", "9", ":x", `"k"`, "[1 2]"}

// Interleave makes a keyed history of a history for each key and one that belongs to all of them.
func Interleave(r *rand.Rand, keys []*jepsen.History, every *jepsen.History) KeyedHistory {
	k := KeyedHistory{Alone: map[string][]string{}}
	rest := append(append([]*jepsen.History(nil), keys...), every)
	next := make([]int, len(rest))
	for {
		var ready []int
		for i, h := range rest {
			if next[i] < len(h.Type) {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			return k
		}
		i := ready[r.IntN(len(ready))]
		h, e := rest[i], next[i]
		next[i]++
		v := h.Values
		text := v.Text(h.Value[e])
		index := len(k.Whole)
		line := func(value string) string {
			return fmt.Sprintf("{:index %d, :process %d, :type %s, :f %s, :value %s}",
				index, 1000*i+int(h.Process[e]), h.Type[e], v.Text(h.F[e]), value)
		}
		if i == len(keys) {
			k.Whole = append(k.Whole, line(text))
			for j := range keys {
				k.Alone[KeyNames[j]] = append(k.Alone[KeyNames[j]], line(text))
			}
			continue
		}
		k.Whole = append(k.Whole, line("["+KeyNames[i]+" "+text+"]"))
		k.Alone[KeyNames[i]] = append(k.Alone[KeyNames[i]], line(text))
	}
}

func ReadLines(t *testing.T, lines []string) *jepsen.History {
	t.Helper()
	h, err := clew.Read(strings.NewReader(strings.Join(lines, "\n")), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var Milliseconds, Spelling = regexp.MustCompile(`:ms [0-9.]+`), regexp.MustCompile(`\+?\b([0-9]+)N?`)
