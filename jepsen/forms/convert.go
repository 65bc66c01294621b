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

// SetInit writes the initial value that the text names, where there is a place for it.
func (c *converter) SetInit(value string) {
	switch c.Feed.SetInit(value); {
	case value == "":
	case c.to.name == EDN:
		c.w.WriteString(Initially + value + "\n")
	default:
		c.dropped["the initial value "+value] = true
	}
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
	return c.note(e, held)
}

// note notes the keys of an op, except those held.
func (c *converter) note(e *opmap.Event, held []string) error {
	if c.plainOp(e) {
		c.notePlain(held)
		return nil
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

// notePlain is note of the plain op that was read last.
func (c *converter) notePlain(held []string) {
	for _, other := range c.plain.fields {
		if !slices.Contains(held, string(other.key)) && !c.dropped[string(other.key)] {
			c.dropped[string(other.key)] = true
		}
	}
}

// plain is an op map that has only integers, keywords, nil, booleans, strings and vectors of these, as Jepsen prints it: with one
// blank between values, and a comma and a blank between fields. Most are. They are written in other forms from their text;
// the values are not needed.
type plain struct {
	text   []byte
	fields []plainField
}

// plainField is a key, with its colon, and a value.
type plainField struct {
	key, value []byte
	kind       plainKind // of the value
}

type plainKind uint8

const (
	notPlain plainKind = iota
	plainInt
	plainWord // nil, true or false
	plainKeyword
	plainString
	plainVector // without keywords
	plainSteps  // a vector that has some
)

// read reads an op map. It returns false if that is not plain.
func (p *plain) read(text []byte) bool {
	p.text, p.fields = text, p.fields[:0]
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	for i := 1; ; {
		key := i
		if i = afterKeyword(text, i); i < 0 || i+1 >= len(text) || text[i] != ' ' {
			return false
		}
		f := plainField{key: text[key:i]}
		for _, other := range p.fields {
			if bytes.Equal(other.key, f.key) {
				return false
			}
		}
		value := i + 1
		if i, f.kind = afterPlain(text, value, 0); f.kind == notPlain || i >= len(text) {
			return false
		}
		f.value = text[value:i]
		p.fields = append(p.fields, f)
		switch {
		case text[i] == '}':
			return i+1 == len(text)
		case text[i] != ',' || i+2 >= len(text) || text[i+1] != ' ':
			return false
		}
		i += 2
	}
}

// maxPlainDepth bounds vectors in vectors.
const maxPlainDepth = 8

// afterPlain returns where a value ends and what it is. It is in so many vectors.
func afterPlain(text []byte, i, depth int) (end int, kind plainKind) {
	switch c := text[i]; {
	case c == ':':
		if end = afterKeyword(text, i); end > 0 {
			return end, plainKeyword
		}
	case c >= '0' && c <= '9' || c == '-':
		if end = afterInt(text, i); end > 0 {
			return end, plainInt
		}
	case c == '"':
		if end = afterString(text, i); end > 0 {
			return end, plainString
		}
	case c == '[' && depth < maxPlainDepth:
		return afterVector(text, i, depth+1)
	default:
		for _, word := range [...]string{"nil", "true", "false"} {
			if end = i + len(word); end < len(text) && string(text[i:end]) == word && ends(text[end]) {
				return end, plainWord
			}
		}
	}
	return 0, notPlain
}

func afterVector(text []byte, i, depth int) (end int, kind plainKind) {
	kind = plainVector
	if i++; i < len(text) && text[i] == ']' {
		return i + 1, kind
	}
	for i < len(text) {
		var item plainKind
		if i, item = afterPlain(text, i, depth); item == notPlain || i >= len(text) {
			break
		}
		if item == plainKeyword || item == plainSteps {
			kind = plainSteps
		}
		switch text[i] {
		case ']':
			return i + 1, kind
		case ' ':
			i++
		default:
			return 0, notPlain
		}
	}
	return 0, notPlain
}

// ends says whether a character ends an integer or a word.
func ends(c byte) bool { return c == ',' || c == '}' || c == ']' || c == ' ' }

// afterKeyword returns where a keyword of letters, digits and dashes ends, -1 if there is none.
func afterKeyword(text []byte, i int) int {
	if i+1 >= len(text) || text[i] != ':' || !isLetter(text[i+1]) {
		return -1
	}
	for i += 2; i < len(text); i++ {
		if c := text[i]; !isLetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			break
		}
	}
	if i == len(text) || !ends(text[i]) {
		return -1
	}
	return i
}

// afterInt returns where an integer of at most 18 digits ends that is spelled as it prints, -1 if there is none.
func afterInt(text []byte, i int) int {
	if text[i] == '-' {
		i++
	}
	first := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if n := i - first; n == 0 || n > 18 || text[first] == '0' && (n > 1 || first > 0 && text[first-1] == '-') || i == len(text) || !ends(text[i]) {
		return -1
	}
	return i
}

// afterString returns where a string ends that has only printable characters which are not escaped, -1 if there is none.
func afterString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ' || c >= 0x7f || c == '\\' || c == ';':
			return -1
		}
	}
	return -1
}

// field returns a field of an op map, nil if it has none.
func (p *plain) field(key string) *plainField {
	for i := range p.fields {
		if string(p.fields[i].key) == key {
			return &p.fields[i]
		}
	}
	return nil
}

// plainOp reads the op map of an event. It returns false if that is not plain.
func (c *converter) plainOp(e *opmap.Event) bool {
	if c.closely || e.Has&(opmap.HasProcess|opmap.HasType|opmap.HasF) == 0 {
		return false
	}
	c.opText = e.AppendText(c.opText[:0], c.table)
	return c.plain.read(c.opText)
}

// appendJSON appends a plain op map as JSON. It returns false if some value has no place of its own there.
func (p *plain) appendJSON(dst []byte) ([]byte, bool) {
	if f := p.field(":f"); f == nil || string(f.value) == ":txn" { // whose steps are read in their own way
		return dst, false
	}
	dst = append(dst, '{')
	for i, f := range p.fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), f.key[1:]...), `":`...)
		named := string(f.key) == ":type" || string(f.key) == ":f" || string(f.key) == ":process"
		switch {
		case f.kind == plainInt || f.kind == plainString && !named:
			dst = append(dst, f.value...)
		case f.kind == plainWord && f.value[0] == 'n':
			dst = append(dst, "null"...)
		case f.kind == plainWord:
			dst = append(dst, f.value...)
		case f.kind == plainKeyword && named:
			dst = append(append(append(dst, '"'), f.value[1:]...), '"')
		case f.kind == plainVector:
			dst = appendArray(dst, f.value)
		default:
			return dst, false
		}
	}
	return append(dst, '}'), len(p.fields) > 1
}

// appendArray appends a plain vector as a JSON array.
func appendArray(dst, vector []byte) []byte {
	quoted := false
	for i := 0; i < len(vector); i++ {
		switch c := vector[i]; {
		case c == '"':
			quoted = !quoted
			dst = append(dst, c)
		case quoted:
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, ',')
		case c == 'n':
			dst = append(dst, "null"...)
			i += len("nil") - 1
		case c == 't' || c == 'f':
			n := bytes.IndexByte(vector[i:], 'e') + 1
			dst = append(dst, vector[i:i+n]...)
			i += n - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// plainLog appends a plain op map as a line of a log, with the fields that have no place there among those that are dropped. It
// returns false if the op map lacks a field that a line needs, or has others that need a closer look.
func (c *converter) plainLog(dst []byte) ([]byte, bool) {
	p := &c.plain
	process, kind, f, value := p.field(":process"), p.field(":type"), p.field(":f"), p.field(":value")
	if process == nil || kind == nil || f == nil || value == nil || p.field(":key") != nil || p.field(":error") != nil {
		return dst, false
	}
	if process.kind != plainInt && process.kind != plainKeyword || !isType(kind.value) || f.kind != plainKeyword {
		return dst, false
	}
	c.notePlain([]string{":process", ":type", ":f", ":value"})
	dst = append(append(dst, "INFO  jepsen.util - "...), process.value...)
	for _, field := range [...][]byte{kind.value, f.value, value.value} {
		dst = append(append(dst, '\t'), field...)
	}
	return dst, true
}
