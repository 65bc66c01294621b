package shards

import (
	"encoding/json"

	"clew/internal/outputs"
	"clew/internal/store"
	"clew/jepsen"
	"clew/report"
)

// Line holds what a shard says about a history: a line of clew check --output
// json, and what is needed to put it among those of other shards.
type Line struct {
	report.Line
	Run Run `json:"run"`
}

// Run says where a history stands.
type Run struct {
	report.Run
	Shard string `json:"shard"`
	Place
	Page string `json:"page,omitempty"` // a link from an index of pages to the history's own page
	Part *Part  `json:"part,omitempty"` // of its independent keys, if each shard has some of them; nil if this shard has all
	// Details hold what reports for pipelines need in addition to the line.
	Details *outputs.Details `json:"details,omitempty"`
}

// Place says where a history stands in the whole list. An archive into which not
// every shard looks is one entry of the list, and its members are histories.
type Place struct {
	At      int `json:"at"`                // from 0
	Member  int `json:"member,omitempty"`  // the same
	Members int `json:"members,omitempty"` // how many there are; 0 if the history is not a member of such an archive
}

// Part describes some of a history's independent keys. Rows are those among all keys.
type Part struct {
	First    int   `json:"first"`              // the row of the key whose answer the line has; -1 if there is none
	Event    int   `json:"event"`              // where that key fails, as an event of the whole history; -1 if none fails
	Failures []int `json:"failures,omitempty"` // the rows of Line.Failures
	Depth    int   `json:"depth,omitempty"`    // of witnesses, see report.Result
	// Read is the SHA-256 of what was read of the whole history, or "" if it was not
	// read to its end.
	Read string `json:"read,omitempty"`
}

// NewLine returns the line of a result. split says that the result is about some
// of the history's keys. err says why the history could not be read, or is nil.
func NewLine(s store.Source, r *report.Result, shard store.Shard, at Place, page string, split bool, err error) Line {
	l := Line{r.Line(), Run{Run: report.NewRun(s.Test, s.Time, r), Shard: shard.String(), Place: at, Page: page, Details: outputs.NewDetails(r, err)}}
	if !split {
		return l
	}
	p := &Part{First: -1, Event: -1, Depth: r.Depth}
	if r.History != nil {
		p.Read = r.History.SHA256
	}
	for _, k := range r.Keys {
		if k.Verdict == jepsen.Invalid {
			p.Failures = append(p.Failures, k.Row())
		}
		if p.First < 0 && k.Verdict == r.Verdict {
			p.First = k.Row()
		}
	}
	if k := r.FailingKey(); k != nil {
		p.First, p.Event = k.Row(), int(k.Event())
	}
	l.Run.Part = p
	return l
}

// Trailer is the last line of a shard.
type Trailer struct {
	Shard      string `json:"shard"`
	List       string `json:"list"`       // the fingerprint of the whole list
	Listed     int    `json:"listed"`     // the length of the whole list
	Inputs     string `json:"inputs"`     // the fingerprint of the contents of all files of the list
	Clew       string `json:"clew"`       // the version that checked it
	Lines      int    `json:"lines"`      // of this shard
	Sums       Sum    `json:"sums"`       // of the lines
	Settings   string `json:"settings"`   // the flags that say what is checked
	Unwritten  int    `json:"unwritten"`  // evidence that could not be written
	Valid      int    `json:"valid"`      // of the lines
	Invalid    int    `json:"invalid"`    // the same
	Unknown    int    `json:"unknown"`    // of the lines, without those that were unreadable
	Unreadable int    `json:"unreadable"` // the same
}

func (t *Trailer) Count(l *Line, sum Sum) {
	t.Lines++
	t.Sums += sum
	switch {
	case l.Valid == jepsen.Valid:
		t.Valid++
	case l.Valid == jepsen.Invalid:
		t.Invalid++
	case l.Cause == report.Text(jepsen.Unreadable):
		t.Unreadable++
	default:
		t.Unknown++
	}
}

// MarshalJSON returns an object with a single key of its own, so that a trailer
// cannot be mistaken for a history.
func (t Trailer) MarshalJSON() ([]byte, error) {
	type plain Trailer
	return json.Marshal(struct {
		Trailer plain `json:"trailer"`
	}{plain(t)})
}

// Record returns what outputs print about the history.
func (l *Line) Record() *outputs.Record {
	return &outputs.Record{Line: l.Line, Run: l.Run.Run, Details: l.Run.Details}
}
