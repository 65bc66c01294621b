package kit

import (
	"encoding/binary"
	"hash/crc32"

	"clew/edn"
	"clew/jepsen"
)

// TestJepsen returns a history as Jepsen keeps it in a test.jepsen, and whether it can: this writes integers, words, strings,
// keywords and collections.
func TestJepsen(h *jepsen.History) (file []byte, ok bool) {
	var chunk fressian
	for e := range jepsen.Event(len(h.Type)) {
		v := h.Values
		op := []edn.ID{v.InternKeyword("index"), v.InternInt(h.Index(e)), v.InternKeyword("time"), v.InternInt(int64(e)),
			v.InternKeyword("type"), v.InternKeyword(h.Type[e].Name()), v.InternKeyword("process"), h.Processes[h.Process[e]],
			v.InternKeyword("f"), h.F[e], v.InternKeyword("value"), h.Value[e]}
		if h.Key(e) != edn.Nil {
			op = append(op, v.InternKeyword("key"), h.Key(e))
		}
		chunk.sequence(v, []byte{0xc0}, op)
	}
	vector := binary.BigEndian.AppendUint64(nil, uint64(len(h.Type)))
	vector = binary.BigEndian.AppendUint64(vector, 0)
	vector = binary.BigEndian.AppendUint32(vector, 1)
	test := fressian{text: []byte{0xc0, 0xe6, 0xca, 0xf7}}
	test.string("history")
	test.text = append(test.text, 0xef)
	test.string("block-ref")
	test.text = append(test.text, 1, 2)
	file = binary.BigEndian.AppendUint32([]byte("JEPSEN"), 1)
	file = append(file, make([]byte, 8)...)
	index := binary.BigEndian.AppendUint32(nil, 3)
	for i, block := range [][]byte{blockOf(4, chunk.text), blockOf(5, vector), blockOf(2, test.text)} {
		index = binary.BigEndian.AppendUint32(index, uint32(i+1))
		index = binary.BigEndian.AppendUint64(index, uint64(len(file)))
		file = append(file, block...)
	}
	binary.BigEndian.PutUint64(file[10:], uint64(len(file)))
	return append(file, blockOf(1, index)...), !chunk.odd
}

func blockOf(kind uint16, data []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(28+len(data)))
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, kind)
	b = append(b, make([]byte, 14)...)
	binary.BigEndian.PutUint32(b[8:], crc32.Update(crc32.ChecksumIEEE(data), crc32.IEEETable, b))
	return append(b, data...)
}

// fressian is a text in Fressian. odd: it lacks a value that this does not write.
type fressian struct {
	text []byte
	odd  bool
}

func (f *fressian) integer(n int64) {
	f.text = binary.BigEndian.AppendUint64(append(f.text, 0xf8), uint64(n))
}

func (f *fressian) string(s string) {
	f.text = append(f.text, 0xe3)
	f.integer(int64(len(s)))
	f.text = append(f.text, s...)
}

func (f *fressian) sequence(v *edn.Values, code []byte, items []edn.ID) {
	f.text = append(append(f.text, code...), 0xec)
	f.integer(int64(len(items)))
	for _, item := range items {
		f.value(v, item)
	}
}

func (f *fressian) value(v *edn.Values, id edn.ID) {
	n, isInt := v.Int(id)
	switch kind := v.Kind(id); {
	case id == edn.Nil:
		f.text = append(f.text, 0xf7)
	case id == edn.True:
		f.text = append(f.text, 0xf5)
	case id == edn.False:
		f.text = append(f.text, 0xf6)
	case isInt && v.Text(id) == v.Text(v.InternInt(n)):
		f.integer(n)
	case kind == edn.KindString:
		f.string(v.Str(id))
	case kind == edn.KindKeyword:
		f.text = append(f.text, 0xca, 0xf7)
		f.string(v.Str(id))
	case kind == edn.KindVector:
		f.sequence(v, nil, v.Items(id))
	case kind == edn.KindMap:
		f.sequence(v, []byte{0xc0}, v.Items(id))
	case kind == edn.KindSet:
		f.sequence(v, []byte{0xc1}, v.Items(id))
	default:
		f.odd = true
	}
}
