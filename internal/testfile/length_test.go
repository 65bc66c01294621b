package testfile_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"clew/internal/testfile"
)

// A stream tells the same as a file, wherever it is cut, and not one event more than it
// holds.
func TestAStreamTellsWhatAFileTells(t *testing.T) {
	tell := func(data []byte) (file, stream testfile.Length) {
		t.Helper()
		file, err := testfile.ReadLength(t.Context(), bytes.NewReader(data), int64(len(data)), "h", 0)
		if err != nil {
			t.Fatal(err)
		}
		if stream, err = testfile.StreamLength(t.Context(), bytes.NewReader(data), "h", 0); err != nil {
			t.Fatal(err)
		}
		return file, stream
	}
	for _, name := range []string{"chunks", "killed", "values", "version0"} {
		data := content(t, "testdata/"+name+".jepsen")
		h, err := read(data)
		if err != nil {
			t.Fatal(err)
		}
		// Some files have gaps of indices, which Length does not know of.
		h.Warnings = slices.DeleteFunc(h.Warnings, func(w string) bool { return strings.HasPrefix(w, "events are missing: indices") })
		file, _ := tell(data)
		if file.Why != "" || file.Whole != (len(h.Warnings) == 0) || file.Events > int64(h.Events) || file.Whole && file.Events >= 0 && file.Events != int64(h.Events) {
			t.Errorf("%s: %+v of %d events", name, file, h.Events)
		}
		for n := 0; n < len(data); n += 1 + n%13 {
			file, stream := tell(data[:n:n])
			if file != stream {
				t.Errorf("%s cut at %d: %+v, the stream %+v", name, n, file, stream)
			}
			if cut, err := read(data[:n:n]); err == nil && len(cut.Warnings) > 0 && file.Whole {
				t.Errorf("%s cut at %d: %+v, but %q", name, n, file, cut.Warnings)
			}
		}
	}
}

func TestAStreamThatFailsTellsNothing(t *testing.T) {
	broken := errors.New("broken")
	data := content(t, "testdata/chunks.jepsen")
	for _, n := range []int{0, 10, 500, len(data) - 1} {
		in := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken))
		if _, err := testfile.StreamLength(t.Context(), in, "h", 0); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}
