package testfile_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"clew/edn"
	"clew/internal/fuzzing"
)

// FuzzRead reads any bytes as a file, once as they are, and once with the CRCs that its
// blocks should have. It must not panic, and the values that it reads can be printed and
// read again.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"chunks", "killed"} {
		f.Add(content(f, "testdata/"+name+".jepsen"))
	}
	data, _ := register(50, 20)
	f.Add(data)
	f.Add(data[:400])
	f.Add(stream(op(fields()...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzzing.Guard(t)()
		readsBack(t, data)
		readsBack(t, repaired(data))
	})
}

// repaired returns a file with the CRCs that its blocks should have.
func repaired(data []byte) []byte {
	data = append([]byte(nil), data...)
	for at := 18; at+28 <= len(data); {
		n := binary.BigEndian.Uint64(data[at:])
		if n < 28 || n > uint64(len(data)-at) {
			break
		}
		head := data[at : at+28]
		clear(head[8:12])
		crc := crc32.Update(crc32.ChecksumIEEE(data[at+28:at+int(n)]), crc32.IEEETable, head)
		binary.BigEndian.PutUint32(head[8:], crc)
		at += int(n)
	}
	return data
}

func readsBack(t *testing.T, data []byte) {
	h, err := read(data)
	if err != nil {
		return
	}
	v := edn.NewValues()
	for _, text := range events(h) {
		if _, err := v.ParseLenient([]byte(text)); err != nil {
			t.Errorf("%v in %s", err, text)
		}
	}
}
