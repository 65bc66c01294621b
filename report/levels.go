package report

import (
	"fmt"
	"slices"
	"strings"

	"clew/jepsen"
	"clew/models"
)

// Levels says at which levels of consistency a history of transactions is, and which anomalies it has. docs/transactions.md
// defines all of it.
type Levels struct {
	Asked     models.Level   // "": the verdict is on strict serializability
	Strongest []models.Level // the strongest that hold
	Not       []models.Level // the weakest that do not hold
	AlsoNot   []models.Level // all others that do not hold
	Undecided []models.Level // a bounded search did not decide
	Anomalies []TxnAnomaly   // at most MaxAnomalies of each type
	Count     map[string]int // how many anomalies of each type were found
}

// MaxAnomalies bounds the anomalies of a type that a result has.
const MaxAnomalies = 8

// TxnAnomaly is an anomaly of transactions.
type TxnAnomaly struct {
	Type string // as Elle names it: "G1c", "internal"
	Says string // in words
	// Txns are its transactions. Those of a cycle are in its order.
	Txns  []jepsen.Operation
	Steps []TxnStep // of a cycle: step i leads from transaction i to the next one
}

// TxnStep is a step of a cycle.
type TxnStep struct {
	Type       string // "ww", "wr", "rw", "process" or "realtime"
	Key, Value string // EDN, or ""
}

// Types returns the types of the anomalies, without repetition.
func (x *Levels) Types() (types []string) {
	for _, a := range x.Anomalies {
		if !slices.Contains(types, a.Type) {
			types = append(types, a.Type)
		}
	}
	slices.Sort(types)
	return types
}

// Lines returns the levels in lines for people, and the anomalies that rule out the weakest level that does not hold.
func (x *Levels) Lines() (lines []string) {
	var parts []string
	if len(x.Strongest) > 0 {
		parts = append(parts, levelNames(x.Strongest, "and")+" "+map[bool]string{true: "holds", false: "hold"}[len(x.Strongest) == 1])
	}
	if len(x.Not) > 0 {
		but := "but not "
		if len(parts) == 0 {
			but = "not "
		}
		parts = append(parts, but+levelNames(x.Not, "or"))
	}
	if len(x.Undecided) > 0 {
		parts = append(parts, "undecided: "+levelNames(x.Undecided, "and"))
	}
	if len(parts) > 0 {
		lines = append(lines, "levels: "+strings.Join(parts, ", "))
	}
	for _, kind := range x.Types() {
		for _, a := range x.Anomalies {
			if a.Type != kind {
				continue
			}
			lines = append(lines, kind+": "+a.Says)
			if n := x.Count[kind] - 1; n > 0 {
				lines = append(lines, fmt.Sprintf("%s: %d more", kind, n))
			}
			break
		}
	}
	return lines
}

func levelNames(all []models.Level, last string) string {
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = string(l)
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
	}
	return names[0]
}

// LineLevels is Levels in a Line.
type LineLevels struct {
	Asked     models.Level   `json:"consistency,omitempty"`
	Strongest []models.Level `json:"strongest"`
	Not       []models.Level `json:"not,omitempty"`
	AlsoNot   []models.Level `json:"also-not,omitempty"`
	Undecided []models.Level `json:"undecided,omitempty"`
	Types     []string       `json:"anomaly-types,omitempty"`
	Anomalies []LineAnomaly  `json:"anomalies,omitempty"`
	Count     map[string]int `json:"count,omitempty"`
}

// LineAnomaly is a TxnAnomaly in a Line.
type LineAnomaly struct {
	Type  string     `json:"type"`
	Says  string     `json:"explanation"`
	Txns  []int64    `json:"op-indices"`
	Steps []LineStep `json:"steps,omitempty"`
}

// LineStep is a TxnStep in a Line.
type LineStep struct {
	Type  string `json:"type"`
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
}

// line returns the levels for a Line.
func (x *Levels) line(h *jepsen.History) *LineLevels {
	if x == nil {
		return nil
	}
	l := &LineLevels{x.Asked, append([]models.Level{}, x.Strongest...), x.Not, x.AlsoNot, x.Undecided, x.Types(), nil, x.Count}
	for _, a := range x.Anomalies {
		y := LineAnomaly{Type: a.Type, Says: a.Says, Txns: []int64{}}
		for _, op := range a.Txns {
			y.Txns = append(y.Txns, h.LastIndex(op))
		}
		for _, s := range a.Steps {
			y.Steps = append(y.Steps, LineStep(s))
		}
		l.Anomalies = append(l.Anomalies, y)
	}
	return l
}

// levels appends what Elle's results have under the same keys, and the strongest levels.
func (p *ednPrinter) levels(m []field, r *Result) []field {
	x := r.Levels
	names := func(all []models.Level) func() {
		return func() { p.list("[]", len(all), func(i int) { p.keyword(string(all[i]))() }) }
	}
	set := func(all []models.Level) func() {
		return func() { p.out.WriteByte('#'); p.list("{}", len(all), func(i int) { p.keyword(string(all[i]))() }) }
	}
	m = append(m, field{"strongest", names(x.Strongest)})
	if x.Asked != "" {
		m = append(m, field{"consistency", p.keyword(string(x.Asked))})
	}
	if len(x.Not) > 0 {
		m = append(m, field{"not", set(x.Not)}, field{"also-not", set(x.AlsoNot)})
	}
	if len(x.Undecided) > 0 {
		m = append(m, field{"undecided", names(x.Undecided)})
	}
	types := x.Types()
	if len(types) == 0 {
		return m
	}
	var anomalies []field
	for _, kind := range types {
		var of []TxnAnomaly
		for _, a := range x.Anomalies {
			if a.Type == kind {
				of = append(of, a)
			}
		}
		anomalies = append(anomalies, field{kind, func() { p.list("[]", len(of), func(i int) { p.anomaly(r, &of[i]) }) }})
	}
	return append(m, field{"anomaly-types", func() { p.list("()", len(types), func(i int) { p.keyword(types[i])() }) }},
		field{"anomalies", func() { p.fields(anomalies) }})
}

// anomaly prints an anomaly. The cycle ends with the transaction with which it begins.
func (p *ednPrinter) anomaly(r *Result, a *TxnAnomaly) {
	ops, name := a.Txns, "ops"
	if a.Steps != nil {
		ops, name = append(slices.Clone(ops), ops[0]), "cycle"
	}
	m := []field{{"type", p.keyword(a.Type)}, {"explanation", p.string(a.Says)},
		{name, func() { p.list("[]", len(ops), func(i int) { p.event(r, r.History.LastEvent(ops[i])) }) }}}
	if a.Steps != nil {
		m = append(m, field{"steps", func() {
			p.list("[]", len(a.Steps), func(i int) {
				s := a.Steps[i]
				m := []field{{"type", p.keyword(s.Type)}}
				if s.Key != "" {
					m = append(m, field{"key", p.raw(s.Key)})
				}
				if s.Value != "" {
					m = append(m, field{"value", p.raw(s.Value)})
				}
				p.fields(m)
			})
		}})
	}
	p.fields(m)
}
