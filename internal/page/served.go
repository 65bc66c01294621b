package page

import (
	"context"
	_ "embed"
	"html/template"
	"io"
	"sync"

	"clew/internal/text"
	"clew/report"
)

//go:embed served.html
var servedMarkup string

//go:embed served.js
var servedScript string

// ServedPolicy is the Content-Security-Policy of the pages of a server. In addition to what other pages may do, they
// may ask their server what has changed, and send it what was typed into their form.
var ServedPolicy = sync.OnceValue(func() string {
	return "default-src 'none'; base-uri 'none'; form-action 'self'; connect-src 'self'; " +
		"script-src '" + hash(script) + "' '" + hash(servedScript) + "'; style-src '" + hash(style) + "'"
})

// Served says what is on a page of a server besides its content.
type Served struct {
	Links []Link
	Poll  Poll
}

// Link leads to another page, or to a file.
type Link struct{ Name, Address string }

// Poll lets a page follow what changes. Its Address answers with a State.
type Poll struct {
	Address string // "" if nothing changes
	Token   string // that of the State which the page shows
	Reload  bool   // a State with another token loads the page again; if false, the page only says that there is more
}

// State is what a page that polls is told.
type State struct {
	Rows  []Row  `json:"rows"`
	Note  string `json:"note"`
	Token string `json:"token"`
	Done  bool   `json:"done"` // nothing will change soon
}

// Row is a line of a list of runs. Its texts may be of any kind and length.
type Row struct {
	ID       string   `json:"id"` // names it when a State replaces it
	Name     string   `json:"-"`
	Link     string   `json:"-"` // "" if it leads nowhere
	Verdict  string   `json:"verdict"`
	Word     string   `json:"word"`
	Cells    []string `json:"cells"`
	Sentence string   `json:"sentence"`
}

// Short returns the row as pages show it.
func (r Row) Short() Row {
	for i, cell := range r.Cells {
		r.Cells[i] = text.Shorten(text.Line(cell), maxLabel)
	}
	r.Name, r.Sentence = text.Shorten(text.Line(r.Name), maxName), text.Shorten(text.Line(r.Sentence), maxName)
	r.Word = text.Shorten(text.Line(r.Word), maxLabel)
	return r
}

// WriteServed writes the page that Write writes, as a page of a server.
func WriteServed(ctx context.Context, w io.Writer, r *report.Result, s Served) error {
	d := newDocument(r)
	d.serve(&s)
	return d.fill(ctx, w, r, report.WindowOptions{})
}

// serve makes the frame that of a page of a server.
func (f *frame) serve(s *Served) {
	for i, l := range s.Links {
		s.Links[i].Name = text.Shorten(text.Line(l.Name), maxLabel)
	}
	f.Served, f.Policy, f.ServedScript = s, ServedPolicy(), template.JS(servedScript)
}

// Prepare does what would make the first page take longer than others.
func Prepare() { WriteList(io.Discard, List{}) }

// List is a page of a server that lists runs or files.
type List struct {
	Served
	Title, Summary string
	Note           string
	Filter         *Filter // nil if it has no form
	Columns        []string
	Rows           []Row
	Before, After  string // addresses of its neighbors, or ""
	Place          string // where it is among them
}

// Filter is what a form asks for.
type Filter struct {
	Words, From, To string
	Verdicts        []Choice
	FailuresFirst   bool
	Any             bool // something is asked for
}

// Choice is one of several values of a field.
type Choice struct {
	Value, Name string
	Chosen      bool
}

// WriteList writes a page that lists runs or files.
func WriteList(w io.Writer, l List) error {
	l.Title = text.Shorten(text.Line(l.Title), maxName)
	d := struct {
		frame
		List  *List
		Index index
	}{newFrame(l.Title), &l, index{Columns: l.Columns}}
	d.serve(&l.Served)
	for _, r := range l.Rows {
		r = r.Short()
		d.Index.Entries = append(d.Index.Entries, entry{ID: r.ID, Name: r.Name, Link: r.Link, Verdict: r.Verdict, Word: r.Word, Cells: r.Cells, Sentence: r.Sentence})
	}
	return pages().ExecuteTemplate(w, "list", d)
}
