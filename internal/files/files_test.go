package files

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestAFrameToSkipMayComeFirst(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	data := z.EncodeAll([]byte("content"), []byte("\x5e\x2a\x4d\x18\x03\x00\x00\x00abc"))
	in, packed, err := Decompress(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(in); string(text) != "content" || !packed || err != nil || !IsPacked(data) {
		t.Errorf("%q, packed: %t, %v", text, packed, err)
	}
}
