package testfile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/opmap"
	"clew/internal/testfile"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// op returns a Jepsen op that names its tag.
func op(rest ...byte) []byte {
	return append(append(str([]byte{0xef}, "jepsen.history.Op"), 7), rest...)
}

// fields returns those of {:index 0, :time 0, :type :invoke, :process 0, :f :read, :value
// nil}.
func fields() []byte {
	b := keyword([]byte{0, 0}, "invoke")
	b = keyword(append(b, 0), "read")
	return append(b, 0xf7, 0xf7)
}

// stream returns a file whose history is one stream of that data.
func stream(data []byte) []byte {
	return file(1, 3, block(4, data), vector(1, [2]int{1, 1}), test(2))
}

// with returns data with other bytes at a place.
func with(data []byte, at int, bytes ...byte) []byte {
	changed := slices.Clone(data)
	copy(changed[at:], bytes)
	return changed
}

func TestErrorsSayWhatIsWrongAndWhere(t *testing.T) {
	whole := stream(op(fields()...))
	if h, err := read(whole); err != nil || h.Operations() != 1 {
		t.Fatal(err)
	}
	indexOf := int(binary.BigEndian.Uint64(whole[10:]))
	long := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing behind the magic", []byte("JEPSEN"), "6: expected the header of a test.jepsen, 18 bytes, found the end of the file"},
		{"half a header", whole[:17], "17: expected the header of a test.jepsen, 18 bytes, found the end of the file"},
		{"a header alone", whole[:18], "18: expected the history of a test and an index of it, found the end of the file: it is cut off"},
		{"a version to come", with(whole, 9, 2), "6: expected version 0 or 1, found 2: the file was written by a newer Jepsen than clew knows"},
		{"an index in the header", with(whole, 10, long(17)...), "10: expected the offset of an index, found 17"},
		{"an index before the file", with(whole, 10, long(-1)...), "10: expected the offset of an index, found -1"},
		{"an index that is none", with(whole, 10, long(18)...), "18: expected an index, to which the header leads, found another block"},
		{"no index", with(whole[:indexOf], 10, long(0)...), "190: expected the history of a test and an index of it, found the end of the file: it is cut off"},
		{"a block without a length", with(whole, 18, long(27)...), "18: expected a block of at least 28 bytes, found a length of 27"},
		{"a block with a negative length", with(whole, 18, long(-5)...), "18: expected a block of at least 28 bytes, found a length of -5"},
		{"a block with another type", with(whole, 31, 6), "30: expected a block of type 1 to 5, found 6"},
		{"a block that goes on behind the index", with(whole, 18, long(1000)...), "18: expected a block that ends before the index at offset 190, found one of 1000 bytes"},
		{"a changed byte", with(whole, 50, 1), "18: expected a block whose CRC is 6be8055a, found d1c42812: the file is damaged"},
		{"zeros for a block", with(whole, 18, make([]byte, 28)...), "18: expected a block, found zeros"},
		{"half an index", with(append(whole[:indexOf:indexOf], block(1, []byte{0, 0, 0, 1, 5})...), 10, long(int64(indexOf))...),
			"190: expected an index of a number and pairs of 12 bytes, found 5 bytes"},
		{"a root that is not there", file(1, 9, block(4, nil)), "74: expected the number of a block that the index knows, found 9"},
		{"a root that is not a map", file(1, 1, block(2, []byte{5})), "46: expected a map, found 5"},
		{"a root of another type", file(1, 1, block(4, nil)), "18: expected a map, found a stream of values"},
		{"a test without a history", file(1, 1, block(2, []byte{0xc0, 0xe4})), "48: expected a history, found none: the test has not written a chunk of it yet"},
		{"a history in the test", file(1, 1, block(2, append(keyword([]byte{0xc0, 0xe6}, "history"), 0xe4))),
			"59: expected a test whose :history is in a block of its own, found another value there"},
		{"a reference to nothing", file(1, 1, block(2, append(str(append(keyword([]byte{0xc0, 0xe6}, "history"), 0xef), "block-ref"), 0))),
			"18: expected a reference to a block under :history, found #block-ref []"},
		{"a history that is a map", file(1, 2, block(3, []byte{0, 0, 0, 0, 0xc0, 0xe4}), test(1)), "18: expected the events of a history, found a map in parts"},
		{"a history before its first chunk", file(1, 2, block(2, []byte{0xf7}), test(1)), "101: expected a history, found none: the test has not written a chunk of it yet"},
		{"half a vector", file(1, 2, block(5, make([]byte, 9)), test(1)), "18: expected a vector of a count and pairs of 12 bytes, found 9 bytes"},
		{"a vector of itself", file(1, 2, vector(1, [2]int{1, 1}), test(1)), "18: the block occurs in the history twice"},
		{"a vector with too few events", file(1, 3, block(4, op(fields()...)), vector(2, [2]int{1, 1}), test(2)), "190: expected a history of 2 events, found 1"},
		{"chunks that do not follow each other", file(1, 4, block(4, op(fields()...)), block(4, nil), vector(1, [2]int{1, 2}, [2]int{2, 0}), test(3)),
			"88: expected the events from 2 on, as the vector of chunks says, found those from 1 on"},
		{"a map of itself", file(1, 1, block(3, append([]byte{0, 0, 0, 1}, 0xc0, 0xe4))), "18: the map in this block contains itself"},
		{"an op that is none", stream([]byte{5}), "46: expected an op map, found 5"},
		{"an op that is nil", stream([]byte{0xf7}), "46: this map is not an operation: it lacks :process, :type and :f"},
		{"an op with more fields than there are bytes", stream(op(fields()[:5]...)), "66: expected a length of at most 5 fields, found 7"},
		{"an op with too few fields", stream(append(append(str([]byte{0xef}, "jepsen.history.Op"), 6), fields()...)), "46: expected a jepsen.history.Op of 7 fields, found 6"},
		{"an op that is cut", stream(op(fields()[:8]...)), "72: expected 6 bytes of a string, found 3"},
		{"a key without its value", stream(op(append(fields()[:len(fields())-1], keyword([]byte{0xc0, 0xe6}, "index")...)...)),
			"97: expected an object, found the end of the data"},
		{"an op that says its index twice", stream(op(append(append(fields()[:len(fields())-1], keyword([]byte{0xc0, 0xe6}, "index")...), 5)...)),
			"46: expected an op map with different keys, found {:index 0, :time 0, :type :invoke, :process 0, :f :read, :value nil, :index 5}"},
		{"an op that makes no sense", stream(op(append(keyword(append(keyword([]byte{0, 0}, "ok"), 0), "read"), 0xf7, 0xf7)...)),
			"46: process 0's :ok :read (index 0) has no invocation: it is the first event of its process"},
		{"other keys that are not a map", stream(op(append(fields()[:len(fields())-1], 5)...)), "46: expected an op map, found 5"},
	} {
		_, err := read(c.data)
		var at *edn.Error
		if err == nil || err.Error() != "test.jepsen: offset "+c.want {
			t.Errorf("%s:\ngot  %v\nwant test.jepsen: offset %s", c.name, err, c.want)
		} else if !errors.As(err, &at) || at.File != "test.jepsen" || !strings.HasPrefix(c.want, itoa(at.Offset)+":") {
			t.Errorf("%s: the error's place is %+v", c.name, at)
		}
	}
}

// Jepsen's nemeses merge their own :type and :f, and any other keys, into an op that has
// them already.
func TestAKeyThatStandsTwiceWithEqualValuesIsOne(t *testing.T) {
	others := func(fs ...form) []byte {
		return stream(op(append(fields()[:len(fields())-1], mapped(fs...).data...)...))
	}
	vector := func(n int64) form { return listed(number(n), mapped(named("a"), listed(number(1)))) }
	for name, fs := range map[string][]form{
		"its type and f": {named("latency"), number(2000), named("type"), named("invoke"), named("f"), named("read")},
		"a collection":   {named("x"), vector(1), named("x"), vector(1)},
		"its index":      {named("index"), number(0)},
	} {
		h, err := read(others(fs...))
		if err != nil || h.Operations() != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if text := h.EventMap(0).String(); strings.Count(text, ":type")+strings.Count(text, ":x")+strings.Count(text, ":index") > 3 {
			t.Errorf("%s: the op has a key twice: %s", name, text)
		}
	}
	for name, fs := range map[string][]form{
		"its type":     {named("type"), named("ok")},
		"a collection": {named("x"), vector(1), named("x"), vector(2)},
	} {
		if _, err := read(others(fs...)); err == nil || !strings.Contains(err.Error(), "expected an op map with different keys") {
			t.Errorf("%s with another value: %v", name, err)
		}
	}
}

// A history that ends too early must not pass for a whole one, or a missing one for one
// without events.
func TestTheEndOfAFileIsThatOfItsHistory(t *testing.T) {
	whole := stream(op(fields()...))
	half := whole[:len(whole)/2]
	if _, err := testfile.Open(context.Background(), bytes.NewReader(half), int64(len(whole)), "h", 0); err == nil ||
		err.Error() != "h: offset 190: expected 28 more bytes, found the end of the file: it has become shorter" {
		t.Errorf("a file that has become shorter: %v", err)
	}
	h, err := read(file(1, 2, vector(0), test(1)))
	if err != nil || h.Events != 0 {
		t.Errorf("a history of no events: %v", err)
	}
}

func itoa(n int64) string { return string(integerText(n)) }

func integerText(n int64) []byte {
	v := edn.NewValues()
	return v.AppendText(nil, v.InternInt(n))
}

// A context that is done ends the reading, and so does a block that is too large for the
// memory.
func TestLimitsReachTheReading(t *testing.T) {
	data, _ := register(20_000, 20_000)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := forms.ReadWithin(ctx, bytes.NewReader(data), "h", jepsen.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	big := file(1, 3, block(4, make([]byte, 2<<20)), vector(1, [2]int{1, 1}), test(2))
	f, err := testfile.Open(context.Background(), bytes.NewReader(big), int64(len(big)), "h", 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Events(edn.NewValues(), func(*opmap.Event) error { return nil }); err == nil || err.Error() != "h: out of memory" {
		t.Error(err)
	}
}

// The results of a test are in two blocks. The first one has the verdict.
func TestResultsAreRead(t *testing.T) {
	data := content(t, "testdata/chunks.jepsen")
	f, err := testfile.Open(context.Background(), bytes.NewReader(data), int64(len(data)), "h", 0)
	if err != nil {
		t.Fatal(err)
	}
	v := edn.NewValues()
	results, ok, err := f.Results(v)
	const want = `{:linear {:analyzer :linear, :configs [{:last-op {:f :read, :index 199, :node "n5", :process 9, :time 10809879, :type :ok, :value 98}, ` +
		`:model #clew.testfile_test.Register{:value 98}, :pending []}], :final-paths #{}, :valid? true}, :perf {:valid? true}, :valid? true}`
	if !ok || err != nil || v.Text(results) != want {
		t.Errorf("%v, %v:\ngot  %s\nwant %s", ok, err, v.Text(results), want)
	}
	if length, err := testfile.ReadLength(context.Background(), bytes.NewReader(data), int64(len(data)), "h", 0); err != nil || length.Events != 200 {
		t.Errorf("%+v, %v", length, err)
	}
	killed := content(t, "testdata/killed.jepsen")
	if f, err = testfile.Open(context.Background(), bytes.NewReader(killed), int64(len(killed)), "h", 0); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := f.Results(v); ok || err != nil {
		t.Errorf("a killed test has results: %v", err)
	}
}
