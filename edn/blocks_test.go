package edn

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"clew/internal/blocks"
)

// endings are what may follow the maps of a text. Most leave something open.
var endings = []string{"", "]", " ; ]", " ; a comment that is a good deal longer than a block ]\n", "\x00", " ]]", ")", " #_", " #_[1", " #", "^{:a 1}", " #tag", " {:a [1 2", " {:a \"[", " {:a ; }", " 7", " \xff", " ##\x00", " #'a\x00", " #:a\x00 ", " a\x00"}

// quickMap reads a map quickly if all of it is there, and leaves it open if not.
func quickMap(m *Maps, i int) int {
	if _, end, _ := m.QuickValue(i); end >= 0 {
		return end
	}
	return skipMap(m, i)
}

// inBlocks reads the maps of a text in blocks of at most n bytes, and says where they are.
func inBlocks(text string, n int, read func(*Maps, int) int) string {
	if n > 0 {
		defer blocks.AtMost(n)()
	}
	m := NewMaps(strings.NewReader(text), "f", "a map", NewValues())
	var got strings.Builder
	for {
		i, err := m.Next()
		if err != nil {
			if err != io.EOF {
				fmt.Fprint(&got, err)
			}
			return got.String()
		}
		line, col := m.Place()
		begin := m.Offset(i)
		if end := read(m, i); m.Done(end) {
			fmt.Fprintf(&got, "%d:%d %d-%d ", line, col, begin, m.Offset(end))
		}
	}
}

// What was open in a block that could not be read to its end means nothing in the next one.
func TestBlocksMakeNoDifference(t *testing.T) {
	for _, before := range []string{"", "[", "; é\r\n(", "\ufeff"} {
		for _, end := range endings {
			text := before + strings.Repeat("{:process 0, :value [1 {:a 2}]}\n", 7) + end
			want := inBlocks(text, 0, skipMap)
			for _, n := range []int{1, 2, 7, 16, 33, 63, 64, 65, 100} {
				for _, read := range []func(*Maps, int) int{skipMap, quickMap} {
					if got := inBlocks(text, n, read); got != want {
						t.Fatalf("%q in blocks of %d:\ngot  %s\nwant %s", text, n, got, want)
					}
				}
			}
		}
	}
}
