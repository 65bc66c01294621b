package forms

import (
	"bufio"
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
	"clew/jepsen/internal/feed"
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
	return convert(ctx, memory, w, r, name, from, to, false)
}

// convert does what ConvertWithin does. closely says that it takes no op map for plain.
func convert(ctx context.Context, memory int64, w io.Writer, r io.Reader, name string, from, to Form, closely bool) (warnings []string, err error) {
	if w == nil || r == nil {
		return nil, fmt.Errorf("%s: expected a writer and a reader, found nil", name)
	}
	if _, err := Named(string(to), All); err != nil {
		return nil, err
	}
	row := to.row()
	b := jepsen.NewBuilder(jepsen.Options{File: name, AllClients: row.times})
	c := &converter{Feed: feed.Of(b), b: b, file: name, table: b.Values(), to: row, w: bufio.NewWriterSize(w, 1<<16), dropped: map[string]bool{}, open: map[edn.ID]bool{}, closely: closely}
	in := newInput(ctx, c, name, jepsen.Options{Memory: memory})
	in.exact = true
	if err := in.read(r, from.row()); err != nil {
		return nil, err
	}
	if row.write.end != nil {
		if err := row.write.end(c); err != nil {
			return nil, err
		}
	}
	if c.nulls > 0 && to != Intervals {
		c.Warn("null outputs beside values: %d; %s has the values in their place, which is wrong for an operation that found nothing", c.nulls, to)
	}
	if len(c.dropped) > 0 {
		c.Warn("%s cannot hold %s; left out", to, strings.Join(slices.Sorted(maps.Keys(c.dropped)), ", "))
	}
	return c.Warnings(), c.w.Flush()
}

// converter writes the events that it gets in another form. Forms with whole operations get them from a
// history, to which it passes the events on. Flush reports the errors of the writer.
type converter struct {
	feed.Feed
	b       *jepsen.Builder // behind Feed
	scratch scan.Scratch
	file    string
	table   *edn.Values // of the events' values
	to      *form
	w       *bufio.Writer
	n       int // events written
	nulls   int // of them, completions whose output was null beside a value
	jsonOps jsonops.Writer
	line    []byte
	opText  []byte
	plain   plain           // the op map of the event, if it is plain
	closely bool            // none is taken for plain
	dropped map[string]bool // keys
	open    map[edn.ID]bool // processes whose operations are open, if events have the numbers of operations
	dialect *dialect        // of the forms for objects
	object  object          // the same
}

// Add writes an event.
func (c *converter) Add(e *opmap.Event, op int32) error {
	if e.NullOutput && e.Value != edn.Nil && jsonops.IsKeyword(c.table, e.Type, "ok") {
		c.nulls++
	}
	if op != feed.ByProcess && !c.to.times {
		process := c.table.Same(e.Process)
		begins := jsonops.IsKeyword(c.table, e.Type, "invoke")
		if begins && c.open[process] {
			return c.refuse(e, "its process has another operation open")
		}
		c.open[process] = begins
		op = feed.ByProcess
	}
	return c.to.write.event(c, e, op)
}

// AddTimedOps makes the reader add events.
func (c *converter) AddTimedOps(context.Context, *feed.TimedOps) (added bool, err error) {
	return false, nil
}

func (c *converter) refuse(e *opmap.Event, format string, args ...any) error {
	return edn.Pos{File: c.file, Line: e.Line, Col: e.Col}.Errorf("%s cannot hold process %s's %s %s: %s",
		c.to.name, c.table.Text(e.Process), c.table.Text(e.Type), c.table.Text(e.F), fmt.Sprintf(format, args...))
}

// op returns the keys and values of an event, in the order in which they are
// written, and the table that holds them.
func (c *converter) op(e *opmap.Event) (*edn.Values, []edn.ID, error) {
	if err := opmap.Check(c.file, e); err != nil {
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
	v := c.scratch.Values()
	id, err := v.ParseLenient(text)
	if err == nil && v.Kind(id) != edn.KindMap {
		// The reader of ops accepts some maps that the reader of values rejects: those
		// with two equal keys, such as 1 and 1N.
		_, err = v.Parse(text, edn.Pos{File: c.file, Line: e.Line, Col: e.Col})
	}
	return v, v.Items(id), err
}

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
