package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"clew/internal/text"
	"clew/jepsen"
)

// HowFar says how far a history is from being linearizable. If there are independent keys, it is about all of them
// together, or the worst one, and Keys has the same of each that fails.
type HowFar struct {
	Distance
	Keys []Distance `json:"keys,omitempty"`
}

// Distance is how far a history, or one of its independent keys, is from being linearizable. docs/guarantees.md defines all
// of it.
type Distance struct {
	Key       string     `json:"key,omitempty"` // an independent key, as EDN
	Holds     Guarantees `json:"guarantees"`
	Clocks    *Clocks    `json:"clock-error,omitempty"` // nil: the history is linearizable
	Behind    *Behind    `json:"behind,omitempty"`      // nil: not known, as for data types other than registers
	Forgotten *Forgotten `json:"forgotten,omitempty"`   // nil: the history is linearizable
}

// NotFar returns what is said of a history that is linearizable.
func NotFar() *HowFar {
	return &HowFar{Distance: Distance{Holds: Guarantees{Holds: []Guarantee{Linearizable}}}}
}

// Guarantee is a guarantee of consistency.
type Guarantee string

// The guarantees, in the order in which they are told: each of the first three implies all after it.
const (
	Linearizable      Guarantee = "linearizable"
	Sequential        Guarantee = "sequential"
	SequentialPerKey  Guarantee = "sequential-per-key"
	MonotonicReads    Guarantee = "monotonic-reads"
	ReadYourWrites    Guarantee = "read-your-writes"
	MonotonicWrites   Guarantee = "monotonic-writes"
	WritesFollowReads Guarantee = "writes-follow-reads"
)

// AllGuarantees returns them in their order.
func AllGuarantees() []Guarantee {
	return []Guarantee{Linearizable, Sequential, SequentialPerKey, MonotonicReads, ReadYourWrites, MonotonicWrites, WritesFollowReads}
}

// firstSession is the place of the guarantees of sessions among all.
const firstSession = 3

// Words returns the guarantee in words.
func (g Guarantee) Words() string { return strings.ReplaceAll(string(g), "-", " ") }

// Guarantees says which guarantees hold, in their order. Those that do not apply to a data type are in none of the lists.
type Guarantees struct {
	Holds     []Guarantee `json:"hold"`
	Fails     []Guarantee `json:"fail,omitempty"`
	Undecided []Guarantee `json:"undecided,omitempty"` // a bounded search did not decide
}

// Add adds a guarantee with its verdict.
func (g *Guarantees) Add(x Guarantee, v jepsen.Verdict) {
	if g.Holds == nil {
		g.Holds = []Guarantee{} // not null in JSON
	}
	switch v {
	case jepsen.Valid:
		g.Holds = append(g.Holds, x)
	case jepsen.Invalid:
		g.Fails = append(g.Fails, x)
	default:
		g.Undecided = append(g.Undecided, x)
	}
}

// Of returns the verdict on a guarantee. It returns false if that does not apply.
func (g *Guarantees) Of(x Guarantee) (v jepsen.Verdict, applies bool) {
	switch {
	case slices.Contains(g.Holds, x):
		return jepsen.Valid, true
	case slices.Contains(g.Fails, x):
		return jepsen.Invalid, true
	}
	return jepsen.Unknown, slices.Contains(g.Undecided, x)
}

// Strongest returns the strongest guarantee that is known to hold, or "" if none is.
func (g *Guarantees) Strongest() Guarantee {
	if len(g.Holds) == 0 {
		return ""
	}
	return g.Holds[0]
}

// Clocks says how wrong clocks must have been for the history to be linearizable, in the unit of its times.
type Clocks struct {
	Least int64  `json:"least"`          // a smaller error is not enough
	Most  *int64 `json:"most,omitempty"` // this error is enough; nil if none is known. It equals Least unless a search was too hard
	Why   string `json:"none,omitempty"` // why there is no such error, or why it is not known
}

// Reasons why no clock error is told.
const (
	NoError = "no clock error explains it"
	NoTimes = "some operation has no :time"
)

// Behind says how old what a read saw was, at worst.
type Behind struct {
	Versions int    `json:"versions"`
	Read     string `json:"op,omitempty"`    // the read, as people speak of it; "" if Versions is 0
	Index    int64  `json:"index,omitempty"` // of its completion
}

// Forgotten says which acknowledged updates must have been forgotten for the history to be linearizable.
type Forgotten struct {
	Count      int    `json:"count"`
	Of         int    `json:"of"`               // acknowledged updates
	First      string `json:"first,omitempty"`  // the first of them to return
	Last       string `json:"last,omitempty"`   // and the last
	FirstIndex int64  `json:"first-index"`      // the :index of its completion
	LastIndex  int64  `json:"last-index"`       //
	Smallest   bool   `json:"smallest"`         // none of them can be given back; false if a search was too hard
	Suffix     string `json:"suffix,omitempty"` // SuffixAll, SuffixEachKey or SuffixNode: they are the last ones that had returned by some time
	Node       string `json:"node,omitempty"`   // the :node, if that is SuffixNode
	Why        string `json:"none,omitempty"`   // why there is no such choice, or why none is known
}

// Reasons why no choice of updates is known.
const (
	NotForgotten = "answers contradict each other even if every acknowledged update was forgotten"
	TooHard      = "a search was too hard"
)

// Lines returns all of it in lines for people.
func (x *Distance) Lines() []string {
	if x.Holds.Strongest() == Linearizable {
		return []string{"how far: its operations are linearizable"}
	}
	if x.Clocks == nil {
		return []string{"how far: it is undecided whether its operations are linearizable"}
	}
	lines := []string{"how far: " + x.Holds.words(), "clocks: " + x.Clocks.words()}
	if b := x.Behind; b != nil {
		s := "versions: no read was behind"
		if b.Versions > 0 {
			s = fmt.Sprintf("versions: %s was %s behind", b.Read, text.Count(b.Versions, "version"))
		}
		lines = append(lines, s)
	}
	if x.Forgotten != nil {
		lines = append(lines, "forgotten: "+x.Forgotten.words())
	}
	return lines
}

// words says which guarantees hold and which do not, without those that follow from these.
func (g *Guarantees) words() string {
	holds, fails := g.Holds, slices.DeleteFunc(slices.Clone(g.Fails), func(x Guarantee) bool { return !slices.Contains(AllGuarantees()[firstSession:], x) })
	if s := g.Strongest(); s == Sequential || s == SequentialPerKey {
		holds = holds[:1]
	}
	s := "no weaker guarantee holds"
	switch {
	case len(holds) == 1:
		s = holds[0].Words() + " holds"
	case len(holds) > 1:
		s = allWords(holds, "and") + " hold"
	case len(g.Undecided) > 1 && len(g.Fails) == 1:
		return "it is undecided which weaker guarantees hold"
	case len(g.Undecided) > 0:
		s = "no weaker guarantee is known to hold"
	case len(g.Fails) == 2: // no other than linearizability and this applies
		s = "not " + g.Fails[1].Words()
	}
	if n := len(g.Fails); n > 0 && len(fails) == 0 { // the weakest
		fails = g.Fails[n-1:]
	}
	if len(holds) > 0 {
		s += ", but not " + allWords(fails, "or")
	}
	if len(g.Undecided) > 0 {
		s += "; undecided: " + allWords(g.Undecided, "and")
	}
	return s
}

// allWords lists guarantees in words.
func allWords(all []Guarantee, last string) string {
	words := make([]string, len(all))
	for i, x := range all {
		words[i] = x.Words()
	}
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
	}
	return strings.Join(words, "")
}

func (c *Clocks) words() string {
	switch {
	case c.Most == nil && c.Why == TooHard:
		return fmt.Sprintf("an error of less than %s does not explain it; whether a greater one does is undecided", inTime(c.Least))
	case c.Most == nil:
		return c.Why
	case *c.Most == 0:
		return "linearizable if they were right, but operations whose times touch were concurrent"
	case *c.Most == c.Least:
		return fmt.Sprintf("linearizable if they were wrong by %s", inTime(c.Least))
	}
	return fmt.Sprintf("linearizable if they were wrong by %s; less than %s does not suffice", inTime(*c.Most), inTime(c.Least))
}

// inTime returns a time in nanoseconds.
func inTime(ns int64) string { return time.Duration(ns).String() }

func (f *Forgotten) words() string {
	if f.Why != "" {
		return f.Why
	}
	if f.Count == 1 {
		return fmt.Sprintf("linearizable if 1 acknowledged update of %d was forgotten: %s", f.Of, f.First)
	}
	s := fmt.Sprintf("linearizable if %d acknowledged updates of %d were forgotten, from %s to %s", f.Count, f.Of, f.First, f.Last)
	if !f.Smallest {
		s += "; fewer may suffice"
	}
	switch f.Suffix {
	case SuffixAll:
		s += "; a suffix was lost: they are all that returned from the first to the last"
	case SuffixEachKey:
		s += "; each key lost a suffix or nothing: of its updates, they are all that returned from the first to the last"
	case SuffixNode:
		s += fmt.Sprintf("; a suffix of node %s was lost: they are all that it acknowledged from the first to the last", f.Node)
	}
	return s
}

// What a suffix was of.
const (
	SuffixAll     = "all"
	SuffixEachKey = "each-key"
	SuffixNode    = "node"
)

// Together returns what is true of some independent keys together: what holds of each, the greatest clock error and age, and
// all that was forgotten.
func Together(keys []Distance) *HowFar {
	x := HowFar{Keys: keys}
	for _, g := range AllGuarantees() {
		worst, applies := jepsen.Valid, len(keys) > 0
		for _, k := range keys {
			v, does := k.Holds.Of(g)
			applies = applies && does
			if v == jepsen.Invalid || v == jepsen.Unknown && worst == jepsen.Valid {
				worst = v
			}
		}
		if applies {
			x.Holds.Add(g, worst)
		}
	}
	for _, k := range keys {
		x.Clocks = x.Clocks.Worse(k.Clocks)
		if b := k.Behind; b != nil && (x.Behind == nil || b.Versions > x.Behind.Versions) {
			x.Behind = b
		}
	}
	return &x
}

// Worse returns the greater of two clock errors, either of which may be nil: what explains both.
func (c *Clocks) Worse(other *Clocks) *Clocks {
	switch {
	case c == nil:
		return other
	case other == nil:
		return c
	}
	w := Clocks{Least: max(c.Least, other.Least), Why: c.Why}
	if w.Why == "" || other.Why == NoError {
		w.Why = other.Why
	}
	if c.Most != nil && other.Most != nil {
		most := max(*c.Most, *other.Most)
		w.Most = &most
	}
	return &w
}

// howFar prints what JSON has under the same keys. Guarantees are keywords, and so is what a suffix is of.
func (p *ednPrinter) howFar(x *HowFar) {
	m := p.distance(&x.Distance)
	if len(x.Keys) > 0 {
		m = append(m, field{"keys", func() { p.list("[]", len(x.Keys), func(i int) { p.fields(p.distance(&x.Keys[i])) }) }})
	}
	p.fields(m)
}

func (p *ednPrinter) distance(x *Distance) []field {
	names := func(all []Guarantee) func() {
		return func() { p.list("[]", len(all), func(i int) { p.keyword(string(all[i]))() }) }
	}
	m := []field{{"guarantees", func() {
		m := []field{{"hold", names(x.Holds.Holds)}}
		if len(x.Holds.Fails) > 0 {
			m = append(m, field{"fail", names(x.Holds.Fails)})
		}
		if len(x.Holds.Undecided) > 0 {
			m = append(m, field{"undecided", names(x.Holds.Undecided)})
		}
		p.fields(m)
	}}}
	if x.Key != "" {
		m = append(m, field{"key", p.raw(x.Key)})
	}
	if c := x.Clocks; c != nil {
		m = append(m, field{"clock-error", func() {
			m := p.why([]field{{"least", p.int(int(c.Least))}}, c.Why)
			if c.Most != nil {
				m = append(m, field{"most", p.int(int(*c.Most))})
			}
			p.fields(m)
		}})
	}
	if b := x.Behind; b != nil {
		m = append(m, field{"behind", func() {
			m := []field{{"versions", p.int(b.Versions)}}
			if b.Read != "" {
				m = append(m, field{"op", p.string(b.Read)}, field{"index", p.int(int(b.Index))})
			}
			p.fields(m)
		}})
	}
	if f := x.Forgotten; f != nil {
		m = append(m, field{"forgotten", func() { p.forgotten(f) }})
	}
	return m
}

func (p *ednPrinter) forgotten(f *Forgotten) {
	m := p.why([]field{{"count", p.int(f.Count)}, {"of", p.int(f.Of)}, {"smallest", p.raw(strconv.FormatBool(f.Smallest))}}, f.Why)
	if f.Count > 0 {
		m = append(m, field{"first", p.string(f.First)}, field{"first-index", p.int(int(f.FirstIndex))},
			field{"last", p.string(f.Last)}, field{"last-index", p.int(int(f.LastIndex))})
	}
	if f.Suffix != "" {
		m = append(m, field{"suffix", p.keyword(f.Suffix)})
	}
	if f.Node != "" {
		m = append(m, field{"node", p.raw(f.Node)})
	}
	p.fields(m)
}

// why appends a reason, if there is one.
func (p *ednPrinter) why(m []field, why string) []field {
	if why != "" {
		m = append(m, field{"none", p.string(why)})
	}
	return m
}
