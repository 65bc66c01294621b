package files

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestWhatIsReadAheadIsTheSame(t *testing.T) {
	text := bytes.Repeat([]byte("a line of a history\n"), 200_000)
	broken := errors.New("disk on fire")
	for _, n := range []int{0, 1, aheadBytes - 1, aheadBytes, aheadBytes + 1, len(text)} {
		for _, want := range []error{nil, broken} {
			in := io.Reader(bytes.NewReader(text[:n]))
			if want != nil {
				in = io.MultiReader(in, iotest.ErrReader(want))
			}
			a := Ahead(io.NopCloser(iotest.HalfReader(in)))
			got, err := io.ReadAll(a)
			a.Close()
			if err != want || !bytes.Equal(got, text[:n]) {
				t.Errorf("%d bytes and %v: %d bytes and %v", n, want, len(got), err)
			}
		}
	}
}

// closing says when it is closed.
type closing struct {
	io.Reader
	closed chan bool
}

func (c closing) Close() error {
	close(c.closed)
	return nil
}

func TestNothingIsReadAheadOnceItIsClosed(t *testing.T) {
	endless := closing{zeros{}, make(chan bool)}
	a := Ahead(endless)
	if _, err := a.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	a.Close()
	<-endless.closed

	silent, never := io.Pipe()
	defer never.Close()
	Ahead(silent).Close() // Close does not wait for input that may never come.
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestTheSizeOfACompressedFileIsThatOfItsContent(t *testing.T) {
	text := bytes.Repeat([]byte("a line of a history\n"), 1000)
	var packed, framed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text)
	z.Close()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	framed.Write(e.EncodeAll(text, nil))
	for name, c := range map[string]struct {
		content []byte
		size    int
	}{
		"plain": {text, len(text)}, "empty": {nil, 0}, "gzip": {packed.Bytes(), len(text)}, "zstd": {framed.Bytes(), len(text)},
		"gzip, cut off": {packed.Bytes()[:3], 0}, "zstd, cut off": {framed.Bytes()[:5], 0},
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Size(f); got != int64(c.size) {
			t.Errorf("%s: %d bytes, not %d", name, got, c.size)
		}
		// Size has not moved the position in the file.
		if in, _, err := Decompress(bufio.NewReader(f)); err == nil && name != "gzip, cut off" && name != "zstd, cut off" {
			if got, err := io.ReadAll(in); err != nil || len(got) != len(c.content) && len(got) != len(text) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
		f.Close()
	}
	if Size(bytes.NewReader(text)) != 0 {
		t.Error("a reader has a size")
	}
}
