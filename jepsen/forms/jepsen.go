package forms

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path"
	"runtime"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/opmap"
	"clew/internal/option"
	"clew/internal/testfile"
	"clew/jepsen/internal/feed"
)

// # What Jepsen itself writes: a history as EDN, and the file of a test

// EDN is what Jepsen writes: a map for each event, all of them one after another or in one vector or list.
const EDN Form = "edn"

var ednForm = form{name: EDN, detect: func(beginning) bool { return true }, read: readEDN, write: writing{event: (*converter).edn}}

// Initially begins the first line of a text in EDN that names the initial value.
const Initially = "; clew: initially "

// initially returns the initial value that the first line of a text names, "" if it names none.
func (in *input) initially(text source) (string, error) {
	if begin, _ := text.Peek(len(Initially)); string(begin) != Initially {
		return "", nil
	}
	var line []byte
	for n := len(Initially); ; n++ {
		begin, err := text.Peek(n)
		if err == bufio.ErrBufferFull {
			return "", in.at(1, 1).Errorf("expected an initial value of at most %d bytes", n)
		}
		if line = begin[len(Initially):]; err != nil || bytes.HasSuffix(line, []byte("\n")) {
			break
		}
	}
	if _, err := edn.NewValues().Parse(line, in.at(1, len(Initially)+1)); err != nil {
		return "", fmt.Errorf("the initial value: %w", err)
	}
	return string(bytes.TrimSpace(line)), nil
}

func readEDN(in *input, text source) error {
	if in.from == nil {
		init, err := in.initially(text)
		if err != nil {
			return err
		}
		in.to.SetInit(init)
	}
	length := files.Size(text.file)
	in.to.Expect(length)
	reader := opmap.NewReader(text, in.file, in.values)
	reader.First(text.Size()) // less for a short text
	if in.eager {
		reader.Eager()
	} else {
		reader.ReadAhead(runtime.GOMAXPROCS(0)-1, !text.packed && length > 0) // a file never makes a reader wait
	}
	defer reader.Close()
	if in.from != nil {
		reader.From(in.from.Line, in.from.Opened)
	}
	in.mark = func(at *Place) { at.Opened = reader.Opened() }
	return in.eachRow(reader)
}

// rowReader is a reader some of whose events come in rows.
type rowReader interface {
	Next(*opmap.Event) error
	Rows() *opmap.Rows
	Take(n int)
}

func (in *input) eachRow(reader rowReader) error {
	next := reader.Next
	if rows, is := in.to.(feed.Rows); is {
		next = func(e *opmap.Event) error {
			for {
				n, err := rows.AddRows(reader.Rows())
				reader.Take(n)
				if err != nil {
					return err
				} else if n == 0 {
					return reader.Next(e)
				}
			}
		}
	}
	return in.each(next)
}

func (in *input) each(next func(*opmap.Event) error) error {
	var e opmap.Event
	for {
		if err := next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := in.to.Add(&e, feed.ByProcess); err != nil {
			return err
		}
	}
}

func (c *converter) edn(e *opmap.Event, _ int32) error {
	if c.plainOp(e) {
		return c.put(c.plain.text)
	}
	v, kvs, err := c.op(e)
	if err != nil {
		return err
	}
	c.line = v.AppendMap(c.line[:0], kvs)
	if bytes.IndexByte(c.line, ';') >= 0 {
		v := c.scratch.Values()
		if id, err := v.ParseLenient(c.line); err != nil || v.Kind(id) != edn.KindMap {
			return c.refuse(e, "it has a value that is not EDN")
		}
	}
	return c.put(c.line)
}

// Test is the file in which Jepsen keeps a test while it runs. It is only read.
const Test Form = "test.jepsen"

var testForm = form{name: Test, binary: true, rewritten: true, read: readTest, detect: func(b beginning) bool {
	return testfile.Is(b.text) || path.Ext(b.name) == ".jepsen" && (len(bytes.TrimSpace(b.text)) == 0 || bytes.IndexByte(b.text, 0) >= 0)
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
