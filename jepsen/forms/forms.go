package forms

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"clew/internal/opmap"
)

// Form names a form of histories.
type Form string

// table lists the forms, in the order in which messages list them. A text may look like several
// forms; then it is in the last of them. So forms that claim much stand before those that
// claim little.
var table = []*form{
	&ednForm,
	&jsonlForm,
	&jsonForm,
	&logForm,
	&fastlinForm,
	&fptlinForm,
	&limoForm,
	&intervalsForm,
	&etcdForm,
	&testForm,
}

// form is what the package knows about a form.
type form struct {
	name Form
	// detect says whether a history is in the form, by its beginning. Nil: it is never detected.
	detect func(beginning) bool
	// read passes the events of a history on to in.to.
	read func(in *input, text source) error
	// write is empty for a form that is only read.
	write writing

	binary    bool // not text: detect gets the first bytes of the file
	rewritten bool // a file that grows is changed at its beginning, too, so following reads it again
	wholeOps  bool // it has whole operations, which have no events before the end of the text
	times     bool // operations have times, which may be wrong, and a process may have several at once
}

// beginning is what the form of a history is detected by.
type beginning struct {
	text []byte // without the white space in front
	name string // of the file, without .gz or .zst
}

// writing says how a form is written.
type writing struct {
	// event writes an event, or passes it on to c.Feed.
	event func(c *converter, e *opmap.Event, op int32) error
	// end, unless nil, writes the rest once all events have come.
	end func(c *converter) error
}

// All lists the forms that are read and written, Readable those that are read.
var All, Readable = names(func(f *form) bool { return f.write.event != nil }), names(func(f *form) bool { return true })

func names(has func(*form) bool) (names []Form) {
	for _, f := range table {
		if has(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// Names lists forms for a message.
func Names(forms []Form) string {
	var names []string
	for _, f := range forms {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Named returns the form of that name, if it is among the given ones.
func Named(name string, among []Form) (Form, error) {
	if !slices.Contains(among, Form(name)) {
		return "", fmt.Errorf("expected one of %s, not %q", Names(among), name)
	}
	return Form(name), nil
}

// row returns the row of a form in the table, nil if there is none.
func (f Form) row() *form {
	i := slices.IndexFunc(table, func(row *form) bool { return row.name == f })
	if i < 0 {
		return nil
	}
	return table[i]
}

// detectBinary recognizes a binary form by the first bytes of a file. It returns nil for text.
func detectBinary(head []byte, name string) *form {
	return detectAmong(beginning{head, name}, true)
}

// detect recognizes the form of a text by its beginning. A text in none of the other
// forms counts as EDN. The reader of EDN then says what is wrong with it.
func detect(head []byte) *form {
	text := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n\v\f,\x1c\x1d\x1e\x1f")
	if len(text) == 0 {
		return &ednForm
	}
	return detectAmong(beginning{text: text}, false)
}

func detectAmong(b beginning, binary bool) *form {
	for _, f := range slices.Backward(table) {
		if f.binary == binary && f.detect != nil && f.detect(b) {
			return f
		}
	}
	return nil
}
