package forms

import (
	"bytes"
	"fmt"
	"io"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/internal/testfile"
)

// test reads the events of a test.jepsen. If it is a file, it reads only the parts
// that it needs; otherwise it reads the whole text first.
func (in *input) test(file io.Reader, text io.Reader) error {
	if in.clockError != 0 {
		return edn.Pos{File: in.file}.Errorf("%s requires interval records, and this is a %s", option.ClockError, Test)
	}
	if in.eager {
		return edn.Pos{File: in.file}.Errorf("a %s can be followed only as a file, since Jepsen changes what has been read; found a stream", Test)
	}
	in.b.NoLines()
	n := files.Size(file)
	at, isFile := file.(io.ReaderAt)
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
	in.b.Expect(n)
	if err := f.Events(in.values, in.take); err != nil {
		return err
	}
	for _, warning := range f.Warnings() {
		in.b.Warn("%s", warning)
	}
	return nil
}
