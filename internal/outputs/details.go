package outputs

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Details hold what a Line lacks about a history.
type Details struct {
	Failure
	Keys *Keys `json:"keys,omitempty"` // of independent keys
}

// Failure says where and how a history fails, or where it cannot be read.
type Failure struct {
	Pattern string         `json:"pattern,omitempty"` // see report.Result; or the type of the anomaly of transactions that is told
	Kind    models.Anomaly `json:"kind,omitempty"`    // see report.Result
	At      *Place         `json:"at,omitempty"`      // nil if it is not known
	Named   []Related      `json:"named,omitempty"`   // the operations of the sentence
	Core    []string       `json:"core,omitempty"`    // the op maps of the core, if the core is small
	Large   int            `json:"large,omitempty"`   // otherwise the number of its operations
}

// Place is a place in a file. If File is "", it is the file of the history.
type Place struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// Related is an operation, and where it stands.
type Related struct {
	Place
	Name string `json:"name"`
}

// Keys are the independent keys of a history.
type Keys struct {
	Total   int   `json:"total"`
	Invalid int   `json:"invalid"`
	Unknown int   `json:"unknown"`
	List    []Key `json:"list"` // in order, see MaxKeys
}

// Key is an independent key.
type Key struct {
	Row         int            `json:"row"` // among all keys of the history
	Key         string         `json:"key"` // as EDN
	Valid       jepsen.Verdict `json:"valid"`
	Cause       report.Text    `json:"cause,omitempty"`
	Explanation report.Text    `json:"explanation,omitempty"`
	*Failure                   // nil if it does not fail, empty if it is not known where
}

// Bounds of what is reported.
const (
	// MaxKeys bounds the independent keys of a history that are listed. If there are
	// more, only those that are not valid are listed.
	MaxKeys  = 1000
	maxCore  = 24 // operations of a core; that of a bank may be the whole history
	maxNamed = 12 // operations that a sentence names
)

// NewDetails returns the details of a result, or nil if there are none. The error
// says why the history could not be read, or is nil.
func NewDetails(r *report.Result, err error) *Details {
	var at *edn.Error
	switch {
	case errors.As(err, &at) && at.Line > 0:
		place := Place{Line: at.Line, Col: at.Col}
		if at.File != r.File {
			place.File = at.File
		}
		return &Details{Failure: Failure{At: &place}}
	case r.Keys != nil:
		d := &Details{Keys: newKeys(r.Keys)}
		if r.Verdict == jepsen.Invalid {
			d.Failure = newFailure(r.FirstFailing(), r)
		}
		return d
	case r.Verdict == jepsen.Invalid:
		return &Details{Failure: newFailure(r, r)}
	}
	return nil
}

// newFailure returns the Failure of a result. whole is the result of all keys, or
// the same result.
func newFailure(r, whole *report.Result) Failure {
	h := r.History
	if !r.Placed() {
		return Failure{}
	}
	f := Failure{Pattern: r.Pattern, Kind: r.Kind, At: place(h, r.FailEvent.OrNone())}
	if f.Pattern == "" && r.Told != nil {
		f.Pattern = r.Told.Type
	}
	for _, op := range r.Named {
		e := h.Completion[op]
		if e == jepsen.None || h.Status[op] == jepsen.Crashed {
			e = h.Invocation[op]
		}
		at := place(h, e)
		if e == r.FailEvent.OrNone() || at == nil || len(f.Named) == maxNamed {
			continue
		}
		f.Named = append(f.Named, Related{*at, h.Name(op)})
	}
	if len(r.Core) == 0 || len(r.Core) > maxCore {
		f.Large = len(r.Core)
		return f
	}
	var core strings.Builder
	if err := whole.WriteCore(&core); err != nil {
		panic(err) // a Builder takes everything
	}
	for line := range strings.Lines(core.String()) {
		f.Core = append(f.Core, strings.TrimSuffix(line, "\n"))
	}
	return f
}

// place returns where an event stands, or nil if its history has no lines.
func place(h *jepsen.History, e jepsen.Event) *Place {
	if h.Line(e) == 0 {
		return nil
	}
	return &Place{Line: h.Line(e), Col: h.Col(e)}
}

func newKeys(all []report.KeyResult) *Keys {
	k := &Keys{Total: len(all)}
	for _, key := range all {
		switch key.Verdict {
		case jepsen.Invalid:
			k.Invalid++
		case jepsen.Unknown:
			k.Unknown++
		}
		if key.Verdict == jepsen.Valid && len(all) > MaxKeys || len(k.List) == MaxKeys {
			continue
		}
		told := Key{Row: key.Row(), Key: key.Key.String(), Valid: key.Verdict}
		if key.Verdict != jepsen.Valid {
			r := key.Result()
			l := r.Line()
			told.Cause, told.Explanation = l.Cause, l.Explanation
			if key.Verdict == jepsen.Invalid {
				f := newFailure(r, r)
				told.Failure = &f
			}
		}
		k.List = append(k.List, told)
	}
	return k
}

// Join returns the keys together with those of another part of the same history.
func (k *Keys) Join(other *Keys) *Keys {
	if k == nil || other == nil {
		return cmp.Or(k, other)
	}
	all := &Keys{Total: k.Total + other.Total, Invalid: k.Invalid + other.Invalid, Unknown: k.Unknown + other.Unknown}
	all.List = slices.Concat(k.List, other.List)
	if all.Total > MaxKeys {
		all.List = slices.DeleteFunc(all.List, func(x Key) bool { return x.Valid == jepsen.Valid })
	}
	slices.SortFunc(all.List, func(a, b Key) int { return cmp.Compare(a.Row, b.Row) })
	all.List = all.List[:min(len(all.List), MaxKeys)]
	return all
}
