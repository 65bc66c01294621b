package checking

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"clew"
	"clew/internal/diagnosis"
	"clew/internal/outputs"
	"clew/internal/text"
	"clew/models"
	"clew/report"
)

// MonitorForms lists the forms of Lines. The first one is the default.
var MonitorForms = []string{"text", "json", "github"}

// Lines are what a monitor prints about a history.
type Lines struct {
	Form    string // one of MonitorForms
	Name    string // of the history
	Several bool   // there are several histories
	Keys    bool   // it has independent keys

	reading *report.Reading // of the history, nil until it is known
	began   bool            // a line of JSON has it
}

// Reading returns the line about the reading, for a form that has one. In JSON, the first line and those of totals have the reading.
func (l *Lines) Reading(x report.Reading) string {
	l.reading, l.began = &x, false
	if l.Form != MonitorForms[0] {
		return ""
	}
	said := "read as: " + x.String() + "\n"
	if file := l.file(); file != "" {
		said = file + ": " + said
	}
	return said
}

// first returns the reading for the first line of JSON, and nil for the others.
func (l *Lines) first() *report.Reading {
	if l.began {
		return nil
	}
	l.began = true
	return l.reading
}

// Check returns an error if there is no such form.
func (l *Lines) Check() error {
	if !slices.Contains(MonitorForms, l.Form) {
		return fmt.Errorf("--output must be %s, not %q", text.OneOf(MonitorForms), l.Form)
	}
	return nil
}

// Stuck reads after how long, or after how many events, an operation that does not end counts as crashed.
func Stuck(given string) (after time.Duration, events int, err error) {
	events, err = strconv.Atoi(given)
	if err != nil {
		events = 0
		after, err = time.ParseDuration(given)
	}
	if err != nil || events <= 0 && after <= 0 {
		err = fmt.Errorf("--stuck must be a positive duration such as 10s or a number of events, not %q", given)
	}
	return after, events, err
}

// PassWarnings returns what is said of a pass besides its anomalies. stuck is the number of events of Stuck.
func PassWarnings(m *clew.Monitor, stuck int) []string {
	all, t := m.Warnings(), m.Totals()
	if t.Init != "" {
		all = append(all, fmt.Sprintf("the first reads show the initial value %s, not the model's; if they are wrong, give --init", text.Shorten(t.Init, 80)))
	}
	if 4*t.Stuck >= t.Operations && t.Stuck > 0 && stuck > 0 {
		all = append(all, fmt.Sprintf("%d of %s counted as crashed, since %d later events came before they ended; --stuck %ds would be seconds", t.Stuck, text.Count(t.Operations, "operation"), stuck, stuck))
	}
	return all
}

// anomalyLine is an anomaly as a line of JSON.
type anomalyLine struct {
	File        string         `json:"file,omitempty"` // if there are several
	Anomaly     models.Anomaly `json:"anomaly"`
	Index       int64          `json:"index"`
	Line        int            `json:"line,omitempty"`
	Process     int            `json:"process"`
	F           string         `json:"f"`
	Key         string         `json:"key,omitempty"`
	Node        string         `json:"node,omitempty"`
	Behind      *int           `json:"behind,omitempty"`
	BehindMS    *float64       `json:"behind-ms,omitempty"`
	Session     clew.Session   `json:"session,omitempty"`
	Nemesis     []windowLine   `json:"nemesis,omitempty"`
	Explanation string         `json:"explanation"`

	Unless  []report.Alternative `json:"unless,omitempty"`
	Reading *report.Reading      `json:"reading,omitempty"` // in the first line
}

// windowLine is what the nemesis did, in a line of JSON.
type windowLine struct {
	F     string `json:"f"`
	Index int64  `json:"index"`
}

// totalsLine is what has been found, as a line of JSON.
type totalsLine struct {
	File   string `json:"file,omitempty"` // if there are several
	Totals struct {
		Operations int                    `json:"operations"`
		Anomalies  int                    `json:"anomalies"`
		Unless     map[string]int         `json:"unless,omitempty"`
		Kinds      map[models.Anomaly]int `json:"kinds"`
		Sessions   map[clew.Session]int   `json:"sessions,omitempty"`
		Nemesis    map[string]int         `json:"nemesis,omitempty"`
		Nodes      map[string]int         `json:"nodes,omitempty"` // "" counts those of rare nodes
		Keys       map[string]int         `json:"keys,omitempty"`  // "" counts those of rare keys
		Behind     int                    `json:"behind,omitempty"`
		BehindMS   float64                `json:"behind-ms,omitempty"`
		DelayMS    int64                  `json:"delay-ms,omitempty"`
		Stuck      int                    `json:"stuck,omitempty"`
		Open       int                    `json:"open"`
		Oldest     *int64                 `json:"oldest-open,omitempty"`
		Held       int                    `json:"held"`
		MostHeld   int                    `json:"most-held"`
		Init       string                 `json:"init,omitempty"`
	} `json:"totals"`
	End     bool            `json:"end"`
	Reading *report.Reading `json:"reading,omitempty"`
}

// NoWindow is the window of what is outside any.
const NoWindow = "none"

// file names the history in lines, if there may be several.
func (l *Lines) file() string {
	if l.Several {
		return l.Name
	}
	return ""
}

// Anomaly returns the line about an anomaly.
func (l *Lines) Anomaly(a clew.Anomaly) string {
	kind := cmp.Or(a.Kind, diagnosis.Unnamed)
	if l.Form == "json" {
		return outputs.JSONLine(l.anomaly(kind, a))
	}
	place := l.Name
	if a.Operation.Line > 0 {
		place = fmt.Sprintf("%s:%d", l.Name, a.Operation.Line)
	}
	key := ""
	if a.Key != "" && l.Keys {
		key = text.Key(a.Key) + ": "
	}
	if l.Form == "github" {
		return outputs.Annotation("error", l.Name, a.Operation.Line, 1, string(kind), key+a.Explanation+additions(a))
	}
	return fmt.Sprintf("%s: %s: %s%s%s\n", place, kind, key, a.Explanation, additions(a))
}

func (l *Lines) anomaly(kind models.Anomaly, a clew.Anomaly) anomalyLine {
	x := anomalyLine{File: l.file(), Anomaly: kind, Index: a.Operation.Index, Line: a.Operation.Line, Process: a.Operation.Process, F: a.Operation.F, Key: a.Key,
		Node: a.Node, Session: a.Session, Explanation: a.Explanation, Unless: a.Unless, Reading: l.first()}
	if a.Behind >= 0 {
		x.Behind = &a.Behind
	}
	if a.BehindFor >= 0 {
		ms := milliseconds(a.BehindFor)
		x.BehindMS = &ms
	}
	for _, w := range a.Nemesis {
		x.Nemesis = append(x.Nemesis, windowLine(w))
	}
	return x
}

// Totals returns the line about what has been found so far, or by the end.
func (l *Lines) Totals(t clew.MonitorTotals, end bool) string {
	if l.Form != "json" {
		said := t.String()
		if !end {
			said += "; so far"
		}
		if file := l.file(); file != "" {
			said = file + ": " + said
		}
		return said + "\n"
	}
	l.began = true
	all := totalsLine{File: l.file(), End: end, Reading: l.reading}
	x := &all.Totals
	x.Operations, x.Anomalies, x.Stuck, x.Held, x.MostHeld, x.Init = t.Operations, t.Anomalies, t.Stuck, t.Held, t.MostHeld, t.Init
	x.Sessions, x.Nodes, x.Keys, x.Open = t.Sessions, t.Nodes, t.Keys, t.Open
	x.Unless = t.Unless
	x.Nemesis, x.Behind, x.BehindMS = Renamed(t.Nemesis, NoWindow), t.Behind, milliseconds(t.BehindFor)
	if t.Oldest != nil && !end {
		x.Oldest = &t.Oldest.Index
	}
	x.DelayMS = t.Delay.Milliseconds()
	x.Kinds = Renamed(t.Kinds, diagnosis.Unnamed)
	return outputs.JSONLine(all)
}

// Renamed returns counts by name, with another name for "".
func Renamed[K ~string](counts map[K]int, other K) map[K]int {
	all := map[K]int{}
	for name, n := range counts {
		all[cmp.Or(name, other)] = n
	}
	return all
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// additions tell in parentheses what else is known of an anomaly.
func additions(a clew.Anomaly) string {
	var all []string
	if a.Behind > 0 {
		said := text.Count(a.Behind, "version") + " behind"
		if a.BehindFor >= 0 {
			said += " for " + text.Rounded(int64(a.BehindFor))
		}
		all = append(all, said)
	}
	if a.Session != "" {
		all = append(all, "breaks "+string(a.Session))
	}
	if a.Node != "" {
		all = append(all, "node "+text.Shorten(text.Line(a.Node), 40))
	}
	for _, other := range a.Unless {
		all = append(all, unless(other))
	}
	for _, name := range windowsOf(a) {
		all = append(all, "during "+text.Shorten(text.Line(name), 40))
	}
	if all == nil {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// unless says with which other reading an anomaly would be none.
func unless(other report.Alternative) string {
	said := "unless each key stands by itself"
	switch {
	case other.Part == "level":
		return "unless " + other.Value + " counts, which " + other.Flag + " decides"
	case other.Part == "init" && other.Value == "":
		said = "unless it began with another value"
	case other.Part == "init":
		said = "unless it began with " + text.Shorten(text.Line(other.Value), report.MaxInit)
	}
	return said + ": " + text.Line(other.Flag)
}

// windowsOf returns what the nemesis did during an anomaly, each once.
func windowsOf(a clew.Anomaly) (names []string) {
	for _, x := range a.Nemesis {
		if !slices.Contains(names, x.F) {
			names = append(names, x.F)
		}
	}
	return names
}
