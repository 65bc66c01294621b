package opmap

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/effort"
	"clew/internal/fuzzing"
)

// nasty is a history whose op maps are hard to find from the middle.
const nasty = "\xef\xbb\xbf; {:type :ok}\n[{:type :invoke, :f :write, :value 1, :process 0, :time 12, :index 0}\r\n" +
	" {:type :ok, :f :write, :value 1, :process 0, :time 13, :index 1}\n" +
	"{:type :invoke, :f :write, :value [1 -2 :x nil true], :process 1, :time 14, :index 2} #_{:type :info, :f :write, :value 2, :process 1, :time 15, :index 3}\n" +
	"{:type :info, :f :write, :value \"{:type :ok,\n{:type :info, :f :write, :value 7, :process 0, :time 15, :index 3}\n\", :process 1, :time 15, :index 3}\n" +
	"#_\n#_\n{:type :ok, :f :write, :value 2, :process 1, :time 15, :index 3}\n{:type :ok, :f :write, :value 3, :process 1, :time 15, :index 3}\n" +
	"{:type :ok\n :f :read ; }\n :value\n {:type :ok, :f :write, :value 2, :process 1, :time 15, :index 3}\n :process 4\n}\n" +
	"#jepsen.history.Op {:index 3, :time 16, :type :info, :process :nemesis, :f :start, :value {n1 10.0.0.1 n2 {:a}}}\n" +
	"^{:a\n{:type :ok, :f :write, :value 2, :process 1, :time 15, :index 3}\n} {:type :ok, :f :write, :value #{1 2\n3}, :process 2, :time 15, :index -4}, {:type :ok, :f :write, :value :w, :process 2, :time 15, :index 5}\n" +
	"{:index 6, :time 17, :type :info, :process :nemesis, :f :start, :value nil}\n{:index 6, :time 17, :type :info, :process :nemesis, :f :start, :value 10.0.0.1}\n" +
	"{:type :ok, :f :write, :value 12, :process 2N, :time #object[Foo \"}\n{\"], :index 5}\n" +
	"; {:type :ok, :f :write, :value 2, :process 1, :time 15, :index 3} \"\n" +
	"{:type :ok, :f :txn, :value [[:r 1 nil] [:append \"é\\n\" 2]], :process 2, :time 15, :index 5, :key [1 2]}{:type :ok, :f :txn, :value (1 2), :process 2, :time 15, :index 5, :key :k}\n" +
	"{:type :ok, :f :txn, :value [[:r 1 [5 6 :y nil]] [:append 2 7] [:r 3 []]], :process 2, :time 15, :index 5, :key [[1 2] [[[3]]] [[[[4]]]]]}\n" +
	"{:type :ok, :f :transfer, :value {:from 1, :to {0 [2 nil]}, :amount -3}, :process 2, :time 15, :index 5, :key {}}{:type :ok, :f :transfer, :value [{:a 1} {:b :c}], :process 2, :time 15, :index 5, :key {[1] 2}}\n" +
	"{:type :ok, :f :txn, :value [[:r 1 [5 6 :y 8]] [:append 2 7.5]], :process 2, :time 15, :index 5, :key [[] [\n]]}\n" +
	"{:type :ok, :f :write, :value \"\\ud800\", :process 2, :time 15, :index 5}\n{:type :ok, :f :write, :value \"\\udfff\", :process 2, :time 15, :index 5}\n" +
	"{:type :ok, :f :txn, :value 7, :process 123456789012345678, :time \"\\\"\n\", :index 12345678901234567890, :key nil}\n" +
	"{:type :ok, :f :write, :value -123456789012345678, :process -3, :time 15, :index 5}\n{:type :ok, :f :write, :value 1234567890123456789, :process -3, :time 15, :index 5}\n\n\n \t]\n ; {}\n"

// summary returns everything that a reader returns, and the table of its values.
func summary(r *Reader) (all []string) {
	events, err := collectEvents(r)
	for id := range r.values.Len() {
		events = append(events, r.values.Text(edn.ID(id)))
	}
	return append(events, fmt.Sprint(err))
}

// plainly reads a text without scouts, in the default blocks of NewReader.
func plainly(text string) []string {
	return summary(NewReader(strings.NewReader(text), "h.edn", edn.NewValues()))
}

// differ fails if two summaries differ.
func differ(t *testing.T, text string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%q: from the %d-th line on\ngot  %q\nwant %q", text, i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
}

// withScouts reads a text in blocks of the given sizes. A scout scans each
// block, and fills it if the input is ready.
func withScouts(in io.Reader, ready bool, first, size, long int) []string {
	r := NewReader(in, "h.edn", edn.NewValues())
	r.maps.Blocks(first, 4)
	r.ReadAhead(1, ready)
	r.ahead.size, r.ahead.long = size, long
	defer r.Close()
	return summary(r)
}

// asKept returns what a reader returns, and the texts as Texts keeps them, in the spelling that they are printed in. If
// rows is not 0, it takes up to so many rows at once wherever it can. It also returns how many it took.
func asKept(r *Reader, rows int) (all []string, taken int) {
	defer r.Close()
	var kept Texts
	var events []Event
	add := func(ev Event, text []byte) {
		if rows == 0 { // as it was read
			kept.AddText(slices.Clone(text))
		}
		ev.Text, ev.layout, ev.others = nil, nil, nil
		events = append(events, ev)
	}
	var ev Event
	err := error(nil)
	for err == nil {
		for n := -1; rows > 0 && n != 0; {
			batch := r.Rows()
			n = min(len(batch.All), rows)
			kept.AddRows(batch, n)
			for i, row := range batch.All[:n] {
				ev := Event{Type: row.Type, Process: row.Process, F: row.F, Value: row.Value, Index: row.Index, Line: batch.Line + i, Col: 1,
					Has: HasType | HasProcess | HasF | HasValue}
				if row.HasIndex {
					ev.Has |= HasIndex
				}
				add(ev, nil)
			}
			r.Take(n)
			taken += n
		}
		if err = r.Next(&ev); err == nil {
			if rows > 0 {
				kept.Add(&ev)
			}
			add(ev, ev.Text)
		}
	}
	v := edn.NewValues()
	for i := range events {
		text := kept.Text(i, r.values, &events[i])
		if id, bad := v.ParseLenient(text); bad == nil {
			text = v.AppendText(nil, id)
		}
		all = append(all, described(&events[i], r.values)+string(text))
	}
	for id := range r.values.Len() {
		all = append(all, r.values.Text(edn.ID(id)))
	}
	return append(all, fmt.Sprint(err)), taken
}

func TestRowsAreTheSameEvents(t *testing.T) {
	steady := strings.ReplaceAll(string(ordinaryHistory(300)), ", :error [:precondition \"no\"]", "")
	odd := strings.Replace(nasty, "\xef\xbb\xbf; {:type :ok}\n[", "", 1)
	text := steady + odd[:strings.LastIndexByte(odd, ']')] + string(ordinaryHistory(300)) + strings.ReplaceAll(steady, ":time ", ":time -") +
		strings.ReplaceAll(steady, "}", ", :node \"n1\"}") + strings.ReplaceAll(steady, ":time 7", ":time 07") +
		"{:type :ok, :f :read, :value 7, :process 3, :node n1, :index 8}\n{:type :ok, :f :read, :value #{7  8}, :process 3, :node n1, :index 8}\n"
	want, _ := asKept(NewReader(strings.NewReader(text), "h.edn", edn.NewValues()), 0)
	for size := 700; size < 9000; size += 311 {
		for i, rows := range []int{0, 1, 2, 100, 1000} {
			if !effort.Takes(size + i) {
				continue
			}
			got, taken := asKept(aheadOf(text, 100, size, 1000), rows)
			differ(t, text, got, want)
			if rows > 2 && taken < 900 {
				t.Fatalf("blocks of %d: only %d op maps are rows", size, taken)
			}
		}
	}
}

// compareWithRows reads a text op map by op map, and in rows from blocks of the given sizes.
func compareWithRows(t *testing.T, text string, first, size int) {
	t.Helper()
	want, _ := asKept(NewReader(strings.NewReader(text), "h.edn", edn.NewValues()), 0)
	for _, rows := range []int{1, 1000} {
		got, _ := asKept(aheadOf(text, first, size, 2000), rows)
		differ(t, text, got, want)
	}
}

// A history may end, or have another byte, at any place.
func TestRowsOfABrokenHistoryAreTheSameEvents(t *testing.T) {
	const before, text = "{:index 7, :time 5000000000, :type :info, :process 0, :f :read, :value nil}\n",
		"{:index 8, :time 123456789012, :type :ok, :process 10, :f :write, :value 7}\n{:index 9, :time 1, :type :ok, :process 1, :f :increment, :value [1 :a]}\n" +
			"{:type :ok, :key 3, :value 12345678, :f :read, :process 4}\n{:process 4, :value :a, :type :ok, :f :read, :time 1234567890123456}\n"
	whole := before + strings.Repeat(text, 4) + before
	for n := range len(text) {
		at := len(before) + 2*len(text) + n
		compareWithRows(t, whole[:at], 4, 700)
		compareWithRows(t, whole[:at]+whole[at+1:], 4, 700)
		for i, c := range "\n 0}-,:x\"" {
			if !effort.Takes(n + i) {
				continue
			}
			compareWithRows(t, whole[:at]+string(c)+whole[at+1:], 4, 700)
		}
	}
}

// An eager reader returns each op map before it reads on.
func TestAnEagerReaderDoesNotWaitForMore(t *testing.T) {
	read, returned := 0, 0
	text := input(func(p []byte) (int, error) {
		if read > returned {
			t.Fatalf("it has got %d op maps, returned %d, and reads on", read, returned)
		}
		read++
		return copy(p, fmt.Sprintf("{:type :ok, :process 1, :f :read, :value %d}%s", read, "\n"[:read%2])), nil
	})
	r := NewReader(text, "h.edn", edn.NewValues())
	r.Eager()
	defer r.Close()
	for ev := new(Event); returned < 3000; {
		rows := r.Rows()
		n := len(rows.All)
		if r.Take(n); n == 0 {
			if err := r.Next(ev); err != nil {
				t.Fatal(err)
			}
			n = 1
		}
		returned += n
	}
}

type input func(p []byte) (int, error)

func (f input) Read(p []byte) (int, error) { return f(p) }

func TestAHistoryThatIsReadAheadIsTheSame(t *testing.T) {
	want := plainly(nasty)
	if want[len(want)-1] != "<nil>" {
		t.Fatal(want[len(want)-1])
	}
	for first := len("\xef\xbb\xbf"); first <= len(nasty); first++ {
		size := []int{first/3%97 + 1, 300, 5000}[first%3]
		differ(t, fmt.Sprintf("%d bytes, then blocks of %d", first, size), withScouts(strings.NewReader(nasty), size%2 == 0, first, size, 1000), want)
	}
	for size := 1; size <= 400; size++ {
		differ(t, fmt.Sprintf("blocks of %d", size), withScouts(strings.NewReader(nasty), size%2 == 0, 4, size, 1000), want)
	}
}

func TestAHistoryThatIsReadAheadMayEndAnywhere(t *testing.T) {
	for n := 0; n < len(nasty); n += 2 {
		broken := func() io.Reader {
			return io.MultiReader(strings.NewReader(nasty[:n]), iotest.ErrReader(io.ErrClosedPipe))
		}
		for _, ready := range []bool{false, true} {
			differ(t, nasty[:n], withScouts(strings.NewReader(nasty[:n]), ready, 7, 200, 1000), plainly(nasty[:n]))
			differ(t, nasty[:n]+", then an error", withScouts(broken(), ready, 7, 200, 1000), summary(NewReader(broken(), "h.edn", edn.NewValues())))
		}
	}
}

// Reading ahead is not worthwhile if all op maps differ or are longer than
// a block. Such texts are read on as if there were no scouts.
func TestReadingAheadEndsWhenItIsOfNoUse(t *testing.T) {
	var odd, long strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&odd, "{:type :ok, :f :f%d #_x, :value %d}\n", i, i)
		fmt.Fprintf(&long, "{:type :ok, :f :f, :value \"%s\"}\n", strings.Repeat("{:type :ok}\n", i%600*(i&1)))
	}
	for _, text := range []string{odd.String(), odd.String() + "{", long.String(), long.String() + "]", odd.String() + long.String() + odd.String()} {
		for _, ready := range []bool{false, true} {
			r := NewReader(strings.NewReader(text), "h.edn", edn.NewValues())
			r.maps.Blocks(100, 100)
			r.ReadAhead(2, ready)
			r.ahead.size, r.ahead.long = 1000, 5000
			if got, want := summary(r), plainly(text); !slices.Equal(got, want) {
				t.Errorf("%.100q: reads otherwise", text)
			}
			if r.ahead != nil {
				t.Errorf("%.100q: still reads ahead", text)
			}
			r.Close()
		}
	}
}

func TestScoutsMayBeMany(t *testing.T) {
	text := strings.Repeat(strings.TrimSuffix(nasty, "\n\n\n \t]\n ; {}\n")+"\n", 2)
	text = text[:len(text)/2] + string(ordinaryHistory(2000)) + text[len(text)/2+len("\xef\xbb\xbf; {:type :ok}\n["):]
	for _, text := range []string{text, text + "]", text + "]\n1", text + "{:type"} {
		want := plainly(text)
		for i := range 20 {
			r := NewReader(strings.NewReader(text), "h.edn", edn.NewValues())
			r.maps.Blocks(100, 100)
			r.ReadAhead(3, i%2 == 0)
			r.ahead.size = 500
			differ(t, text, summary(r), want)
			r.Close()
		}
	}
}

// Readers leave their blocks to later readers. The contents must not matter.
func TestBlocksOfOtherHistoriesDoNotMatter(t *testing.T) {
	poison := func(b []byte) {
		for i := range b {
			b[i] = "{:type :ok, :f :write}\n"[i%23]
		}
	}
	for _, n := range []int{1, 500, 9001} {
		text := string(ordinaryHistory(n))
		want := plainly(text[:len(text)-n%2])
		for i := range 3 {
			var dirty []*block
			for range 6 {
				b := spareBlocks.Get().(*block)
				if b.buf == nil {
					b.buf = make([]byte, blockBytes)
				}
				poison(b.buf)
				b.records, b.others = append(b.records, record{begin: 5, size: 9}), append(b.others, "[1 2]"...)
				dirty = append(dirty, b)
			}
			for _, b := range dirty {
				spareBlocks.Put(b)
			}
			r := NewReader(strings.NewReader(text[:len(text)-n%2]), "h.edn", edn.NewValues())
			r.ReadAhead(2, i%2 == 0)
			got := summary(r)
			data := r.maps.Data()
			r.Close()
			poison(data[:cap(data)])
			differ(t, fmt.Sprint(n, " op maps"), got, want)
			if err := r.Next(&Event{}); err == nil {
				t.Fatal("reads on after Close")
			}
		}
	}
}

// closable fails if it is read once it is closed.
type closable struct {
	t *testing.T
	io.Reader
	closed atomic.Bool
}

func (c *closable) Read(p []byte) (int, error) {
	if c.closed.Load() {
		c.t.Error("read after Close")
	}
	return c.Reader.Read(p)
}

func TestNothingIsReadAfterClose(t *testing.T) {
	text := ordinaryHistory(3000)
	for i := range 100 {
		in := &closable{t: t, Reader: bytes.NewReader(text)}
		r := NewReader(in, "h.edn", edn.NewValues())
		r.maps.Blocks(100, 100)
		r.ReadAhead(3, true)
		r.ahead.size = 2000
		for range i + 5 {
			if err := r.Next(&Event{}); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		in.closed.Store(true)
	}
}

// A panic in a scout is not lost: the Reader raises it.
func TestAPanicOfAScoutIsTheReaders(t *testing.T) {
	r := NewReader(bytes.NewReader(ordinaryHistory(1000)), "h.edn", edn.NewValues())
	r.maps.Blocks(100, 100)
	r.ReadAhead(1, true)
	r.ahead.size = 1000
	r.ahead.own = &scout{}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	defer r.Close()
	readAll(t, r)
}

// FuzzAhead reads a history with and without scouts, which must not make a difference.
func FuzzAhead(f *testing.F) {
	f.Add(nasty, uint(30), uint(500))
	f.Add(nasty, uint(63), uint(63))
	f.Add("["+strings.Repeat("{:type :ok, :f :read, :value 1, :process 0} ", 5)+" ; ]", uint(63), uint(63))
	f.Add(string(ordinaryHistory(100)), uint(1), uint(1000))
	f.Add("{:type :ok, :value 1}\n{:type :ok, :value 2}\n{:type :ok, :value \"\n{:type :ok, :value 3}\n\"}", uint(22), uint(50))
	alike := func(first, other string) { f.Add(alternating(first, other), uint(len(first)), uint(900)) }
	n := 0
	alikeOrNot(func(first, other string) {
		if n++; effort.Takes(n) {
			alike(first, other)
		}
	})
	f.Fuzz(func(t *testing.T, text string, first, size uint) {
		defer fuzzing.Guard(t)()
		want := plainly(text)
		got := withScouts(strings.NewReader(text), size%2 == 0, int(first%1000)+1, int(size%1000)+1, 2000)
		if strings.Contains(text, "##NaN") {
			return // each reading of a NaN is a new value
		}
		differ(t, text, got, want)
		compareWithRows(t, text, int(first%1000)+1, int(size%1000)+1)
		defer blocks.AtMost(int(size%1000) + 1)() // and what is no longer valid is overwritten
		differ(t, text, withScouts(strings.NewReader(text), size%2 == 0, 0, blocks.Length(blockBytes), 4*blocks.Length(blockBytes)), want)
	})
}

// aheadOf returns a reader of a text that reads ahead in blocks of the given sizes.
func aheadOf(text string, first, size, long int) *Reader {
	r := NewReader(iotest.HalfReader(strings.NewReader(text)), "h.edn", edn.NewValues())
	r.maps.Blocks(first, 4)
	if size%4 == 1 {
		r.Eager()
	} else {
		r.ReadAhead(size%3, size%2 == 0)
	}
	r.ahead.size, r.ahead.long = size, long
	return r
}

func BenchmarkReaderAhead(b *testing.B) {
	text := ordinaryHistory(100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(bytes.NewReader(text), "", edn.NewValues())
		r.ReadAhead(1, true)
		readAll(b, r)
		r.Close()
	}
}
