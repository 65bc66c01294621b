package testfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
)

// block returns a block of a file.
func block(kind uint16, data []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(28+len(data)))
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, kind)
	b = append(b, make([]byte, 14)...)
	binary.BigEndian.PutUint32(b[8:], crc32.Update(crc32.ChecksumIEEE(data), crc32.IEEETable, b))
	return append(b, data...)
}

// file returns a file of blocks, numbered from 1 on, and an index that comes last.
func file(version uint32, root int32, blocks ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("JEPSEN"), version)
	b = append(b, make([]byte, 8)...)
	index := binary.BigEndian.AppendUint32(nil, uint32(root))
	for i, block := range blocks {
		index = binary.BigEndian.AppendUint32(index, uint32(i+1))
		index = binary.BigEndian.AppendUint64(index, uint64(len(b)))
		b = append(b, block...)
	}
	binary.BigEndian.PutUint64(b[10:], uint64(len(b)))
	return append(b, block(1, index)...)
}

// vector returns a block that has a history in chunks. Each chunk is the number of a block
// and its number of events.
func vector(count int, chunks ...[2]int) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(count))
	first := 0
	for _, c := range chunks {
		b = binary.BigEndian.AppendUint64(b, uint64(first))
		b = binary.BigEndian.AppendUint32(b, uint32(c[0]))
		first += c[1]
	}
	return block(5, b)
}

// The part of Fressian that the tests write.

func integer(b []byte, n int64) []byte {
	switch {
	case n >= -1 && n < 64:
		return append(b, byte(n))
	case n >= -1<<12 && n < 1<<12:
		return append(b, byte(0x50+n>>8), byte(n))
	case n >= -1<<19 && n < 1<<19:
		return append(b, byte(0x68+n>>16), byte(n>>8), byte(n))
	case n >= -1<<33 && n < 1<<33:
		return binary.BigEndian.AppendUint32(append(b, byte(0x76+n>>32)), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xf8), uint64(n))
}

func str(b []byte, s string) []byte {
	if len(s) < 8 {
		return append(append(b, byte(0xda+len(s))), s...)
	}
	return append(integer(append(b, 0xe3), int64(len(s))), s...)
}

func keyword(b []byte, name string) []byte { return str(append(b, 0xca, 0xf7), name) }

// reference returns the value of a key of the test: a map of one key to a block.
func reference(b []byte, key string, id int64) []byte {
	b = str(append(keyword(b, key), 0xef), "block-ref")
	return integer(append(b, 1), id)
}

// test returns a test whose history is in a block.
func test(history int64) []byte { return block(2, reference([]byte{0xc0, 0xe6}, "history", history)) }

// register returns a history of a register in chunks, and the same as EDN. Ten processes
// write values and read them, each value once.
func register(events, chunk int) (data, text []byte) {
	var blocks [][]byte
	var parts [][2]int
	for first := 0; first < events; first += chunk {
		var b []byte
		cache, places := map[string]byte{}, byte(0)
		cached := func(name string) {
			if at, ok := cache[name]; ok {
				b = append(b, 0x80+at)
				return
			}
			cache[name], places = places, places+2 // the keyword and its name
			b = str(append(b, 0xcd, 0xca, 0xf7, 0xcd), name)
		}
		n := min(chunk, events-first)
		for i := first; i < first+n; i++ {
			if i == first {
				b = append(str(append(b, 0xef), "jepsen.history.Op"), 7)
			} else {
				b = append(b, 0xa0)
			}
			time := int64(i)*5432 + 54_000_000
			b = integer(integer(b, int64(i)), time)
			typ, f, value := "invoke", "write", int64(i/4)
			if i%2 == 1 {
				typ = "ok"
			}
			if i%4 >= 2 {
				f = "read"
			}
			cached(typ)
			b = integer(b, int64(i/2%10))
			cached(f)
			text = fmt.Appendf(text, "{:index %d, :time %d, :type :%s, :process %d, :f :%s, :value ", i, time, typ, i/2%10, f)
			if typ == "invoke" && f == "read" {
				b, text = append(b, 0xf7), append(text, "nil"...)
			} else {
				b, text = integer(b, value), fmt.Appendf(text, "%d", value)
			}
			if typ == "ok" {
				b = append(b, 0xc0, 0xe6, 0xca, 0xf7)
				if at, ok := cache["node"]; ok {
					b = append(b, 0x80+at)
				} else {
					cache["node"], places = places, places+1
					b = str(append(b, 0xcd), "node")
				}
				b = str(b, "n1")
				text = append(text, `, :node "n1"`...)
			} else {
				b = append(b, 0xf7)
			}
			text = append(text, "}\n"...)
		}
		blocks = append(blocks, block(4, b))
		parts = append(parts, [2]int{len(blocks), n})
	}
	blocks = append(blocks, vector(events, parts...))
	blocks = append(blocks, test(int64(len(blocks))))
	return file(1, int32(len(blocks)), blocks...), text
}

func TestAGeneratedFileHoldsWhatItsEDNHolds(t *testing.T) {
	data, text := register(1000, 300)
	dir := t.TempDir()
	for name, content := range map[string][]byte{"test.jepsen": data, "history.edn": text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	alike(t, filepath.Join(dir, "test.jepsen"), filepath.Join(dir, "history.edn"))
}

// BenchmarkReadFile reads a history as a test.jepsen, and as EDN.
func BenchmarkReadFile(b *testing.B) {
	data, text := register(200_000, 16384)
	for _, f := range []struct {
		name string
		data []byte
	}{{"test.jepsen", data}, {"history.edn", text}} {
		path := filepath.Join(b.TempDir(), f.name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := forms.ReadFile(path, jepsen.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// form is an object as Fressian and as EDN.
type form struct {
	data []byte
	text string
}

func number(n int64) form    { return form{integer(nil, n), fmt.Sprint(n)} }
func named(s string) form    { return form{keyword(nil, s), ":" + s} }
func quoted(s string) form   { return form{str(nil, s), fmt.Sprintf("%q", s)} }
func listed(of ...form) form { return collected(nil, "[", "]", of) }
func mapped(of ...form) form { return collected([]byte{0xc0}, "{", "}", of) }

func collected(code []byte, open, closing string, of []form) form {
	f := form{integer(append(code, 0xec), int64(len(of))), open}
	for _, item := range of {
		f.data, f.text = append(f.data, item.data...), f.text+item.text+" "
	}
	f.text += closing
	return f
}

// Op maps may have any keys, in any order, and more ways to be printed than a history
// keeps. Jepsen's ops may have any other keys.
func TestOpMapsOfAnyShapeAreKept(t *testing.T) {
	t.Run("maps", func(t *testing.T) { anyShape(t, false) })
	t.Run("ops", func(t *testing.T) { anyShape(t, true) })
}

func anyShape(t *testing.T, ops bool) {
	var data, text []byte
	index := int64(0)
	add := func(kvs ...form) {
		op := mapped(kvs...)
		data, text = append(data, op.data...), append(append(text, op.text...), '\n')
		index++
	}
	pair := func(others ...form) {
		for _, typ := range []string{"invoke", "ok"} {
			fixed := []form{named("index"), number(index), named("time"), number(99), named("type"), named(typ), named("process"), number(3),
				named("f"), named("read"), named("value"), number(7)}
			begins := len(data)
			add(append(fixed, others...)...)
			if !ops {
				continue
			}
			data = append(str(append(data[:begins], 0xef), "jepsen.history.Op"), 7)
			for i := 1; i < len(fixed); i += 2 {
				data = append(data, fixed[i].data...)
			}
			data = append(data, mapped(others...).data...)
		}
	}
	pair()
	for i := range 200 {
		pair(named(fmt.Sprint("x", i)), quoted("v"))
		pair(named("x1"), quoted("a \"b\"\n"), named(fmt.Sprint("y", i)), listed(number(1)))
	}
	var many []form
	for i := range 100 {
		many = append(many, named(fmt.Sprint("z", i)), number(int64(i)))
	}
	pair(many...)
	pair(named("key"), listed(named("a")))
	pair(quoted("a b"), number(1), listed(number(1)), number(2), number(3), number(4))
	pair(mapped(), mapped())
	for range 3 {
		add(named("value"), number(1), named("f"), named("write"), named("process"), named("p"), named("type"), named("invoke"))
		add(named("type"), named("ok"), named("process"), named("p"), named("index"), quoted("none"), named("f"), named("write"), named("x"), number(1))
	}
	dir := t.TempDir()
	stream := file(1, 3, block(4, data), vector(int(index), [2]int{1, int(index)}), test(2))
	for name, content := range map[string][]byte{"test.jepsen": stream, "history.edn": text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := jepsen.Options{AllClients: true}
	want, err := forms.ReadFile(filepath.Join(dir, "history.edn"), o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := forms.ReadFile(filepath.Join(dir, "test.jepsen"), o)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, want)
	for _, to := range []forms.Form{forms.EDN, forms.JSONL} {
		var a, b bytes.Buffer
		_, err := forms.Convert(&a, bytes.NewReader(stream), "a", "", to)
		_, err2 := forms.Convert(&b, bytes.NewReader(text), "b", "", to)
		if err != nil || err2 != nil || a.String() != b.String() {
			t.Errorf("%s: %v, %v, or they differ", to, err, err2)
		}
	}
}
