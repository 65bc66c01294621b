package forms

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"strings"

	"clew/internal/files"
	"clew/internal/opmap"
	"clew/jepsen/forms/internal/jsonops"
	"clew/jepsen/internal/feed"
)

// JSON is one array of ops, and JSONL has one op per line. The same reader reads both.
const (
	JSON  Form = "json"
	JSONL Form = "jsonl"
)

var (
	jsonForm  = form{name: JSON, detect: func(b beginning) bool { return firstObject(b.text) != nil }, read: readJSON, write: writing{(*converter).jsonElement, (*converter).endArray}}
	jsonlForm = form{name: JSONL, read: readJSON, write: writing{event: (*converter).jsonLine}}
)

// firstObject returns a text from the brace of its first object in JSON, which may be in an array. It
// returns nil if the text does not begin with one: with a brace, a string, a colon and a value.
// In EDN the colon begins a keyword, which few maps have that looks like a value of JSON.
func firstObject(text []byte) []byte {
	if text[0] == '[' {
		text = bytes.TrimLeft(text[1:], " \t\r\n")
	}
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	key := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(key) == 0 || key[0] != '"' {
		return nil
	}
	end := jsonops.Literal(key, 0)
	rest := bytes.TrimLeft(key[min(end, len(key)):], " \t\r\n")
	if len(rest) > 0 && (rest[0] != ':' || !beginsValue(bytes.TrimLeft(rest[1:], " \t\r\n"))) {
		return nil
	}
	return text
}

// beginsValue reports whether a text can go on with a value of JSON. It may be cut off.
func beginsValue(text []byte) bool {
	if len(text) == 0 || bytes.IndexByte([]byte(`"{[-0123456789`), text[0]) >= 0 {
		return true
	}
	end := bytes.IndexFunc(text, func(c rune) bool { return c < 'a' || c > 'z' })
	word := string(text)
	if end >= 0 {
		word = word[:end]
	}
	return slices.ContainsFunc([]string{"true", "false", "null"}, func(known string) bool {
		return word == known || end < 0 && strings.HasPrefix(known, word)
	})
}

func (in *input) json(r io.Reader) *jsonops.Reader {
	return jsonops.NewReader(r, jsonops.Options{File: in.file, Values: in.values, Eager: in.eager, Exact: in.exact, Warn: in.to.Warn})
}

func readJSON(in *input, text source) error {
	length := files.Size(text.file)
	in.to.Expect(length)
	reader := in.json(text)
	if in.from != nil {
		reader.From(in.from.Line, in.from.Opened != 0)
	}
	in.mark = func(at *Place) {
		if reader.InArray() {
			at.Opened = '['
		}
	}
	if _, is := in.to.(feed.Rows); is && !in.eager {
		reader.ReadAhead(runtime.GOMAXPROCS(0)-1, !text.packed && length > 0)
		defer reader.Close()
	}
	return in.eachRow(reader)
}

// jsonOp writes an event in JSON between two texts.
func (c *converter) jsonOp(e *opmap.Event, before, after string) error {
	is := c.plainOp(e)
	if is {
		c.line, is = c.plain.appendJSON(c.line[:0])
	}
	text := c.line
	if !is {
		v, kvs, err := c.op(e)
		if err != nil {
			return err
		}
		var bad string
		if text, bad = c.jsonOps.Op(v, kvs); bad != "" {
			return c.refuse(e, "it %s", bad)
		}
	}
	c.n++
	c.w.WriteString(before)
	c.w.Write(text)
	_, err := c.w.WriteString(after)
	return err
}

func (c *converter) jsonLine(e *opmap.Event, _ int32) error { return c.jsonOp(e, "", "\n") }

func (c *converter) jsonElement(e *opmap.Event, _ int32) error {
	if c.n == 0 {
		return c.jsonOp(e, "[\n", "")
	}
	return c.jsonOp(e, ",\n", "")
}

func (c *converter) endArray() error {
	if c.n == 0 {
		c.w.WriteByte('[')
	}
	c.w.WriteString("\n]\n")
	return nil // Flush reports errors of the writer
}
