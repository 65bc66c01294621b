package forms

import (
	"bytes"
	"fmt"
	"io"
	"path"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/opmap"
	"clew/internal/option"
	"clew/internal/testfile"
	"clew/jepsen/internal/feed"
)

// Test is the file in which Jepsen keeps a test while it runs. It is only read.
const Test Form = "test.jepsen"

var testForm = form{name: Test, binary: true, rewritten: true, read: readTest, detect: func(b beginning) bool {
	return testfile.Is(b.text) || path.Ext(b.name) == ".jepsen" && len(bytes.TrimSpace(b.text)) == 0
}}

// readTest reads only the parts of a file that it needs. It reads any other text as a whole first.
func readTest(in *input, text source) error {
	if in.clockError != 0 {
		return edn.Pos{File: in.file}.Errorf("%s requires interval records, and this is a %s", option.ClockError, Test)
	}
	if in.eager {
		return edn.Pos{File: in.file}.Errorf("a %s can be followed only as a file, since Jepsen changes what has been read; found a stream", Test)
	}
	in.to.NoLines()
	var at io.ReaderAt
	n, isFile := int64(0), false
	if !text.packed {
		n = files.Size(text.file)
		at, isFile = text.file.(io.ReaderAt)
	}
	if isFile = isFile && n > 0; !isFile {
		all, err := io.ReadAll(text)
		if err != nil {
			return fmt.Errorf("%s: %w", in.file, err)
		}
		at, n = bytes.NewReader(all), int64(len(all))
	}
	if isFile && in.hash != nil { // only the beginning of the file has been hashed so far
		in.hash.Reset()
		if _, err := io.Copy(in.hash, limits.Reader(in.ctx, io.NewSectionReader(at, 0, n), 0)); err != nil {
			return fmt.Errorf("%s: %w", in.file, err)
		}
	}
	f, err := testfile.Open(in.ctx, at, n, in.file, in.memory)
	if err != nil {
		return err
	}
	in.to.Expect(n)
	if err := f.Events(in.values, func(e *opmap.Event) error { return in.to.Add(e, feed.ByProcess) }); err != nil {
		return err
	}
	for _, warning := range f.Warnings() {
		in.to.Warn("%s", warning)
	}
	return nil
}
