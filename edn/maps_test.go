package edn

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestAFormOfAStreamHasABound(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"{:a 1} {:a \"" + strings.Repeat("x", 200) + "\"}", "f:1:8: expected a form of at most 100 bytes, found a longer one"},
		{"{:a 1}\n [" + strings.Repeat(" ", 200), "f:2:2: expected a map, found a vector"},
		{"{:a 1} #_[" + strings.Repeat(" ", 200), "f:1:8: expected a form of at most 100 bytes, found a longer one"},
		{"{:a 1} {:a [1 [" + strings.Repeat(" ", 200), "f:1:8: expected a form of at most 100 bytes, found a longer one"},
		{"{:a 1} #_ [" + strings.Repeat(" ", 200), "f:1:8: expected a form of at most 100 bytes, found a longer one"},
		{"{:a 1} ;" + strings.Repeat(" ", 200), "f:1:8: expected a form of at most 100 bytes, found a longer one"},
		{"{:a \"" + strings.Repeat("x", 90) + "\"}" + strings.Repeat(" ", 200) + "{}", "EOF"},
	} {
		m := NewMaps(strings.NewReader(c.text), "f", "a map", NewValues())
		m.Blocks(10, 10)
		m.text.Longest = 100
		var err error
		for err == nil {
			var i int
			if i, err = m.Next(); err == nil {
				m.Done(skipMap(m, i))
			}
		}
		if err.Error() != c.want {
			t.Errorf("%.20s..: got %v, want %s", c.text, err, c.want)
		}
	}
}

// skipMap is the loop in the doc comment of Maps.
func skipMap(m *Maps, i int) int {
	at := m.Open(i)
	for at >= 0 {
		key, end := m.Key(at)
		if key == end {
			return m.Close(key)
		}
		at = m.Skip(m.Item(key, end))
	}
	return at
}

func TestMapsGiveTheirKeysAndPlaces(t *testing.T) {
	const text = "[{:a 1}\n {:b [2], 3 x}]"
	for _, block := range []int{1, 7, 1000} {
		m := NewMaps(strings.NewReader(text), "f", "a map", NewValues())
		m.Blocks(block, block)
		var got bytes.Buffer
		for {
			i, err := m.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			line, col := m.Place()
			begin := m.Offset(i)
			if end := skipMap(m, i); m.Done(end) {
				fmt.Fprintf(&got, "%d:%d %d-%d ", line, col, begin, m.Offset(end))
			}
		}
		if want := "1:2 1-7 2:2 9-22 "; got.String() != want {
			t.Errorf("blocks of %d: got %s, want %s", block, &got, want)
		}
	}
}

// A reading that has failed keeps failing, whatever is called next.
func TestReadingOnAfterAFailureFails(t *testing.T) {
	m := NewMaps(strings.NewReader("{:a 1x}"), "", "a map", NewValues())
	if _, err := m.Next(); err != nil {
		t.Fatal(err)
	}
	key, end := m.Key(-1)
	_, value := m.Value(-1)
	_, lenient, _ := m.Lenient(-1)
	for _, at := range []int{key, end, value, lenient, m.Item(-1, -1), m.Skip(-1), m.Close(-1)} {
		if at != -1 {
			t.Errorf("got %d", at)
		}
	}
}

// After Release, nothing more is read although the block holds more.
func TestReadingOnAfterReleaseFails(t *testing.T) {
	m := NewMaps(strings.NewReader("{:a 1} {:b 2}"), "", "a map", NewValues())
	i, err := m.Next()
	if err != nil {
		t.Fatal(err)
	}
	m.Done(skipMap(m, i))
	m.Release()
	if _, err := m.Next(); err == nil || m.Data() != nil {
		t.Errorf("error %v, and the text is %q", err, m.Data())
	}
}

// A long map that comes in many pieces is there as soon as its last piece has come, and it is tried only a few times before.
func TestALongMapComesInPieces(t *testing.T) {
	long := strings.Repeat("x", 3*longRest)
	for _, text := range []string{
		"{:a \"" + long + "\"}",
		"{:a \"" + strings.Repeat(`} \" ; \\`, longRest/4) + "\"}",
		"{:a [" + strings.Repeat("{:b 1} ", longRest/2) + "]}",
		"{:a [" + strings.Repeat(`\} \{ \" \; \newline `, longRest/8) + "]}",
		"{:a 1 ;" + long + "} \"\n}",
		"{:a #{" + strings.Repeat("(1 2) ", longRest/2) + "}}",
		"{:a #foo [1], :b #_ \"}\" 2 " + strings.Repeat(", :c \"a\nb\"", longRest/4) + "}",
	} {
		if long := len(text); long < 2*longRest {
			t.Fatalf("%d bytes are not long", long)
		}
		for _, piece := range []int{999, 4096, longRest + 1} {
			in := &inPieces{text: "{:a 1}\n" + text, piece: piece}
			m := NewMaps(in, "f", "a map", NewValues())
			m.Eager()
			maps, tried := 0, 0
			for maps < 2 {
				i, err := m.Next()
				if err != nil {
					t.Fatalf("%.20s.. in pieces of %d: %v", text, piece, err)
				}
				if tried++; m.Done(skipMap(m, i)) {
					maps++
				}
			}
			if most := 2 + longRest/piece + 10; tried > most {
				t.Errorf("%.20s.. in pieces of %d: %d tries, at most %d are needed", text, piece, tried, most)
			}
		}
	}
}

// inPieces is a text that never ends, and of which no more comes than there is.
type inPieces struct {
	text  string
	piece int
}

func (r *inPieces) Read(p []byte) (int, error) {
	if r.text == "" {
		panic("more is read, although all has come")
	}
	n := copy(p, r.text[:min(r.piece, len(r.text))])
	r.text = r.text[n:]
	return n, nil
}
