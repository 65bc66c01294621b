package forms

import (
	"bytes"
	"io"
	"runtime"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/opmap"
	"clew/jepsen/internal/feed"
)

// EDN is what Jepsen writes: a map for each event, all of them one after another or in one vector or list.
const EDN Form = "edn"

var ednForm = form{name: EDN, detect: func(beginning) bool { return true }, read: readEDN, write: writing{event: (*converter).edn}}

func readEDN(in *input, text source) error {
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
	return in.each(reader.Next)
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
