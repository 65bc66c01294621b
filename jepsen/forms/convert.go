package forms

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/forms/internal/jsonops"
	"clew/jepsen/forms/internal/scan"
)

// Convert reads a history in one form and writes it in another. If from is "", it
// recognizes the form by the content. Errors use name for the history.
//
// EDN and JSON hold everything, even histories whose events do not pair. A log holds
// :process, :type, :f, :value and :error. The other forms hold operations that
// succeeded and have integers as values; LiMo also holds crashed operations and words.
// If a form has no place for something, the error names the event. The exception is
// keys that mean nothing to a checker, such as :time: they are omitted, and the
// warnings say so. If there is an error, what has been written is not a history.
func Convert(w io.Writer, r io.Reader, name string, from, to Form) (warnings []string, err error) {
	return ConvertWithin(context.Background(), 0, w, r, name, from, to)
}

// ConvertWithin does the same as Convert until the context is done, in about the
// given amount of memory. 0 means no limit.
func ConvertWithin(ctx context.Context, memory int64, w io.Writer, r io.Reader, name string, from, to Form) (warnings []string, err error) {
	if w == nil || r == nil {
		return nil, fmt.Errorf("%s: expected a writer and a reader, found nil", name)
	}
	if _, err := Named(string(to)); err != nil {
		return nil, err
	}
	b := jepsen.NewBuilder(jepsen.Options{File: name, AllClients: to == Intervals})
	c := &converter{b: b, file: name, table: b.Values(), to: to, w: bufio.NewWriterSize(w, 1<<16), dropped: map[string]bool{}}
	in := input{ctx: ctx, memory: memory, b: b, file: name, values: c.table, take: c.text, exact: true}
	switch to {
	case EDN:
		in.take = c.edn
	case JSON, JSONL:
		in.take = c.json
	case Log:
		in.take = c.log
	case Intervals:
		in.take = func(e *opmap.Event) error { return c.interval(e, b.Add) }
	}
	in.timed = c.onlyOne(in.take)
	if to == Intervals {
		in.timed = func(e *opmap.Event, op int32) error {
			return c.interval(e, func(e *opmap.Event) error { return b.AddTimed(e, op) })
		}
	}
	if err := in.read(r, from); err != nil {
		return nil, err
	}
	switch to {
	case EDN, JSONL, Log:
	case JSON:
		if c.n == 0 {
			c.w.WriteByte('[')
		}
		c.w.WriteString("\n]\n")
	default:
		h, err := b.History()
		if err != nil {
			return nil, err
		}
		if err := c.write(h); err != nil {
			return nil, err
		}
	}
	if len(c.dropped) > 0 {
		b.Warn("%s cannot hold %s; left out", to, strings.Join(slices.Sorted(maps.Keys(c.dropped)), ", "))
	}
	return b.Warnings(), c.w.Flush()
}

// write writes a history in a form that holds operations.
func (c *converter) write(h *jepsen.History) error {
	if c.to == Intervals {
		return c.records(h)
	}
	return c.operations(h)
}

// converter writes a history. Flush reports the errors of the writer.
type converter struct {
	scan.Scratch
	b       *jepsen.Builder
	file    string
	table   *edn.Values // of the events' values
	to      Form
	w       *bufio.Writer
	n       int // events written
	jsonOps jsonops.Writer
	line    []byte
	opText  []byte
	dropped map[string]bool // keys
	object  object          // of the forms for containers
}

// refuse returns an error that names an event.
func (c *converter) refuse(e *opmap.Event, format string, args ...any) error {
	return edn.Pos{File: c.file, Line: e.Line, Col: e.Col}.Errorf("%s cannot hold process %s's %s %s: %s",
		c.to, c.table.Text(e.Process), c.table.Text(e.Type), c.table.Text(e.F), fmt.Sprintf(format, args...))
}

// op returns the keys and values of an event, in the order in which they are
// written, and the table that holds them.
func (c *converter) op(e *opmap.Event) (*edn.Values, []edn.ID, error) {
	if err := jepsen.CheckOp(c.file, e); err != nil {
		return nil, nil, err
	}
	text := e.AppendText(c.opText[:0], c.table)
	if c.opText = text; len(text) == 0 {
		v := c.table
		kvs := []edn.ID{v.InternKeyword("process"), e.Process, v.InternKeyword("type"), e.Type, v.InternKeyword("f"), e.F}
		if e.Has&opmap.HasValue != 0 {
			kvs = append(kvs, v.InternKeyword("value"), e.Value)
		}
		return v, kvs, nil
	}
	v := c.Values()
	id, err := v.ParseLenient(text)
	if err == nil && v.Kind(id) != edn.KindMap {
		// The reader of ops accepts some maps that the reader of values rejects: those
		// with two equal keys, such as 1 and 1N.
		_, err = v.Parse(text, edn.Pos{File: c.file, Line: e.Line, Col: e.Col})
	}
	return v, v.Items(id), err
}

func (c *converter) edn(e *opmap.Event) error {
	v, kvs, err := c.op(e)
	if err != nil {
		return err
	}
	c.line = v.AppendMap(c.line[:0], kvs)
	if bytes.IndexByte(c.line, ';') >= 0 {
		v := c.Values()
		if id, err := v.ParseLenient(c.line); err != nil || v.Kind(id) != edn.KindMap {
			return c.refuse(e, "it has a value that is not EDN")
		}
	}
	return c.put(c.line)
}

func (c *converter) json(e *opmap.Event) error {
	v, kvs, err := c.op(e)
	if err != nil {
		return err
	}
	text, bad := c.jsonOps.Op(v, kvs)
	switch {
	case bad != "":
		return c.refuse(e, "it %s", bad)
	case c.to == JSONL:
		return c.put(text)
	case c.n == 0:
		c.w.WriteString("[\n")
	default:
		c.w.WriteString(",\n")
	}
	c.n++
	c.w.Write(text)
	return nil
}

// put writes a line.
func (c *converter) put(line []byte) error {
	c.n++
	c.w.Write(line)
	return c.w.WriteByte('\n')
}

// drop notes the keys of an op that have no place in the form: all except those
// held. A :key must not be lost, and is an error.
func (c *converter) drop(e *opmap.Event, held ...string) error {
	if e.Has&opmap.HasKey != 0 {
		return c.refuse(e, "it has no place for a :key")
	}
	v, kvs, err := c.op(e)
	if err != nil {
		return err
	}
	for i := 0; i < len(kvs); i += 2 {
		if key := v.Text(kvs[i]); !slices.Contains(held, key) {
			c.dropped[key] = true
		}
	}
	return nil
}

// log writes an event as a line of a log. It reads the line again first, since
// only the values of its fields separate them.
func (c *converter) log(e *opmap.Event) error {
	if err := c.drop(e, ":process", ":type", ":f", ":value", ":error"); err != nil {
		return err
	}
	v := c.table
	switch k := v.Kind(e.Process); {
	case k != edn.KindInt && k != edn.KindKeyword:
		return c.refuse(e, "a process is an integer or a keyword there")
	case !isType([]byte(v.Text(e.Type))):
		return c.refuse(e, "a type is :invoke, :ok, :fail or :info there")
	}
	fields := []string{v.Text(e.Process), v.Text(e.Type), v.Text(e.F)}
	failure, hasFailure, err := c.failure(e)
	if err != nil {
		return err
	}
	if hasFailure || e.Has&opmap.HasValue != 0 {
		fields = append(fields, v.Text(e.Value))
	}
	if hasFailure {
		fields = append(fields, failure)
	}
	m := messageIn([]byte("INFO  jepsen.util - " + strings.Join(fields, "\t")))
	scratch := c.Values()
	ids, err := scratch.ParseAll(m.text, edn.Pos{})
	same := err == nil && len(ids) == len(fields) && m.isEvent()
	for i := 0; same && i < len(ids); i++ {
		same = scratch.Text(ids[i]) == fields[i]
	}
	if !same {
		return c.refuse(e, "it has a value that is not EDN")
	}
	return c.put(m.line)
}

// failure returns the :error of an op.
func (c *converter) failure(e *opmap.Event) (text string, ok bool, err error) {
	v, kvs, err := c.op(e)
	for i := 0; err == nil && i < len(kvs); i += 2 {
		if jsonops.IsKeyword(v, kvs[i], "error") {
			return v.Text(kvs[i+1]), true, nil
		}
	}
	return "", false, err
}
