package page

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// maxEntries bounds the lines of an index. Histories that are not linearizable come first.
const maxEntries = 2_000

// index is a table of keys or runs with their verdicts.
type index struct {
	Counts  string
	Columns []string
	Entries []entry
	More    string // how many are omitted
}

type entry struct {
	ID            string // on a page of a server
	Name, Link    string
	Verdict, Word string
	Cells         []string
	Sentence      string
	rank          int
}

func newEntry(name, link string, v jepsen.Verdict, sentence string) entry {
	e := entry{Name: text.Shorten(text.Line(name), maxName), Link: link, Sentence: text.Shorten(text.Line(sentence), maxName)}
	e.Verdict, e.Word = VerdictOf(v)
	e.rank = slices.Index([]jepsen.Verdict{jepsen.Invalid, jepsen.Unknown, jepsen.Valid}, v)
	return e
}

// newIndex counts entries, and puts those that are not linearizable first.
func newIndex(things string, columns []string, entries []entry) *index {
	x := &index{Columns: columns}
	counts := map[string]int{}
	for _, e := range entries {
		counts[e.Verdict]++
	}
	said := []string{fmt.Sprintf("%d %s", len(entries), things)}
	for _, verdict := range []string{"invalid", "unknown", "valid"} {
		if n := counts[verdict]; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, verdict))
		}
	}
	x.Counts = strings.Join(said, ", ")
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.rank, b.rank) })
	x.Entries = entries[:min(len(entries), maxEntries)]
	if n := len(entries) - len(x.Entries); n > 0 {
		x.More = fmt.Sprintf("%d more are not listed.", n)
	}
	return x
}

// newKeyIndex returns the index of independent keys, and a section for each of the
// first keys that fail.
func newKeyIndex(r *report.Result) (*index, []*section) {
	type failure struct {
		at  jepsen.Event
		row int
	}
	var failures []failure
	results := map[int]*report.Result{}
	counted := 0
	for i, k := range r.Keys {
		if k.Verdict == jepsen.Valid {
			continue
		}
		if counted++; counted > maxEntries {
			continue
		}
		own := k.Result()
		results[i] = own
		if k.Verdict == jepsen.Invalid {
			failures = append(failures, failure{k.Event(), i})
		}
	}
	slices.SortFunc(failures, func(a, b failure) int { return cmp.Compare(a.at, b.at) })
	var sections []*section
	links := map[int]string{}
	for i, f := range failures[:min(len(failures), maxSections)] {
		id := fmt.Sprintf("key-%d", i+1)
		links[f.row] = "#" + id
		sections = append(sections, &section{ID: id, Title: "key " + text.Shorten(text.Line(r.Keys[f.row].Key.String()), maxName), r: results[f.row]})
	}
	return newIndex("keys", []string{"key", "verdict", "why"}, keyEntries(r, results, links)), sections
}

// keyEntries returns the lines of keys. There may be a million, so it looks only
// at as many valid ones as there is room for.
func keyEntries(r *report.Result, results map[int]*report.Result, links map[int]string) []entry {
	entries := make([]entry, 0, len(r.Keys))
	valid := 0
	for i, k := range r.Keys {
		if k.Verdict == jepsen.Valid {
			if valid++; valid > maxEntries {
				entries = append(entries, entry{Verdict: "valid", rank: 2})
				continue
			}
		}
		sentence := ""
		if own := results[i]; own != nil {
			sentence = cmp.Or(own.Kind.First(own.Explanation), string(own.Cause))
		}
		entries = append(entries, newEntry(k.Key.String(), links[i], k.Verdict, sentence))
	}
	return entries
}

// Run is a history of a store in an index of pages.
type Run struct{ entry entry }

// NewRun returns a run with a result, of which it keeps only a few words. The link
// is "" if the run has no page.
func NewRun(run report.Run, l report.Line, link string) Run {
	sentence := l.Kind.First(string(l.Explanation))
	if l.Valid == jepsen.Unknown {
		sentence = string(l.Error)
	}
	e := newEntry(cmp.Or(run.Test, l.File), link, l.Valid, sentence)
	if l.Valid == jepsen.Unknown && l.Cause != "" {
		e.Word = strings.ReplaceAll(string(l.Cause), string(jepsen.NotJudged), "not judged")
	}
	for _, cell := range []string{run.Time, string(l.Model), string(l.Analyzer)} {
		e.Cells = append(e.Cells, text.Shorten(text.Line(cell), maxLabel))
	}
	return Run{e}
}

// WriteIndex writes a page that lists runs: first those that are not linearizable,
// then the unknown ones, then the valid ones.
func WriteIndex(w io.Writer, title string, runs []Run) error {
	title = text.Shorten(text.Line(title), maxName)
	d := document{frame: newFrame(title), Head: heading{File: title}}
	entries := make([]entry, len(runs))
	for i, r := range runs {
		entries[i] = r.entry
	}
	columns := []string{"test", "verdict", "time", "model", "engine", "why"}
	if !slices.ContainsFunc(entries, func(e entry) bool { return e.Cells[0] != "" }) {
		columns = slices.Delete(columns, 2, 3)
		for i := range entries {
			entries[i].Cells = entries[i].Cells[1:]
		}
	}
	d.Index = newIndex("histories", columns, entries)
	d.Head.Verdict, d.Head.Word, d.Head.Summary = "valid", "all valid", d.Index.Counts
	if len(entries) > 0 { // the worst comes first
		switch worst := d.Index.Entries[0]; worst.Verdict {
		case "invalid":
			d.Head.Verdict, d.Head.Word = worst.Verdict, worst.Word
		case "unknown":
			d.Head.Verdict, d.Head.Word = worst.Verdict, worst.Word
		}
	}
	d.Index.Counts = ""
	return d.write(context.Background(), w)
}
