package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// MaxBytes bounds the size of a page.
const MaxBytes = 2_000_000

// Bounds of what a page shows, in characters unless it says otherwise.
const (
	maxSections = 8 // keys with their own part
	maxText     = 20_000
	maxSentence = 2_000
	maxName     = 300
	maxCore     = 60_000 // bytes
	heldBytes   = 1_700_000
)

//go:embed page.html
var markup string

//go:embed page.css
var styleOfPage string

// style includes the style of the drawing.
var style = sync.OnceValue(func() string {
	light, dark := report.SVGStyle()
	return strings.NewReplacer("/*light*/", light, "/*dark*/", dark).Replace(styleOfPage)
})

var (
	//go:embed replay.js
	replayScript string
	//go:embed page.js
	pageScript string
)

func script() string { return replayScript + pageScript }

// pages is parsed only if there is a page to write.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(markup + servedMarkup + monitoredMarkup))
})

// policy lets a page run its own script and use its own style, and nothing else. It is made only if it is needed: where programs
// start slowly, hashing took a third of that.
var policy = sync.OnceValue(func() string {
	return "default-src 'none'; base-uri 'none'; form-action 'none'; script-src '" + hash(script()) + "'; style-src '" + hash(style()) + "'"
})

// hash names a text in a policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// frame holds what every page has.
type frame struct {
	Title  string
	Policy string
	Style  template.CSS
	Script template.JS

	Served       *Served // nil if the page is a file
	ServedScript template.JS
}

func newFrame(title string) frame {
	return frame{Title: title, Policy: policy(), Style: template.CSS(style()), Script: template.JS(script())}
}

// document is a page about one history, or an index of several.
type document struct {
	frame
	Head     heading
	Index    *index // nil if there is none
	Sections []*section
	Levels   *levelsPart // nil without transactions
	Timeline *timeline   // nil without operations
}

// heading tells the verdict in a few words.
type heading struct {
	File, Verdict, Word, Summary string
	Notes                        []string // why it is unknown, what is missing, how far it is from being linearizable
}

// VerdictOf returns a verdict as the name of a class, and as a word.
func VerdictOf(v jepsen.Verdict) (class, word string) {
	switch v {
	case jepsen.Valid:
		return "valid", "valid"
	case jepsen.Invalid:
		return "invalid", "INVALID"
	}
	return "unknown", "unknown"
}

func newHeading(r *report.Result) heading {
	h := heading{File: text.Shorten(text.Line(r.File), maxName)}
	h.Verdict, h.Word = VerdictOf(r.Verdict)
	h.Summary = text.Line(r.Summary())
	note := func(s string) {
		if s != "" {
			h.Notes = append(h.Notes, text.Shorten(text.Line(s), maxSentence))
		}
	}
	if r.Verdict == jepsen.Unknown {
		note(string(r.Cause))
		note(r.Error)
		note(r.Explanation)
	}
	note(r.Missing)
	if r.HowFar != nil && r.Verdict == jepsen.Invalid {
		for _, line := range r.HowFar.Lines() {
			note(line)
		}
	}
	if r.Levels != nil {
		note(r.Levels.Line())
	}
	return h
}

// Write writes a page about a result with any verdict. If the context ends early,
// the error is its cause. Linear time in the history, with a small factor.
func Write(ctx context.Context, w io.Writer, r *report.Result, o report.WindowOptions) error {
	return newDocument(r).fill(ctx, w, r, o)
}

func newDocument(r *report.Result) *document {
	return &document{frame: newFrame(text.Shorten(text.Line(r.File), maxName)), Head: newHeading(r)}
}

// fill puts everything about a result into the page, and writes it.
func (d *document) fill(ctx context.Context, w io.Writer, r *report.Result, o report.WindowOptions) error {
	if r.Keys != nil {
		d.Index, d.Sections = newKeyIndex(r)
	}
	switch around := o.Around; {
	case r.Keys != nil && around != nil: // its own part, at the front
		window, err := r.Window(ctx, o)
		if err != nil {
			return err
		}
		d.Sections = append([]*section{{ID: "around", Title: fmt.Sprintf("around index %d", *around), r: window.Result, around: around}}, d.Sections...)
	case len(d.Sections) == 0 && r.History != nil && r.History.Operations() > 0:
		d.Sections = []*section{{ID: "history", r: r, around: around}}
	}
	if r.History != nil && r.History.Operations() > 0 {
		d.Timeline = newTimeline(ctx, r)
	}
	var err error
	if d.Levels, err = newLevels(ctx, r, o); err != nil {
		return err
	}
	for _, s := range d.Sections {
		o.Around = s.around
		if err := s.fill(ctx, o); err != nil {
			return err
		}
	}
	return d.write(ctx, w)
}

// write writes the page with as many operations as there is room for.
func (d *document) write(ctx context.Context, w io.Writer) error {
	var b bytes.Buffer
	for room := heldBytes; ; {
		for _, s := range d.Sections {
			s.hold(ctx, room/len(d.Sections))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.Reset()
		if err := pages().ExecuteTemplate(&b, "page", d); err != nil {
			return err
		}
		over := b.Len() - MaxBytes
		if over <= 0 || room == 0 {
			break
		}
		room = max(0, room-over-over/8)
	}
	_, err := w.Write(b.Bytes())
	return err
}
