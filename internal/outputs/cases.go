package outputs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// outcome says how a case ended.
type outcome int

const (
	passed     outcome = iota
	failed             // not linearizable, or not at the level that was asked for
	undecided          // may be a failure
	vacuous            // passed, but could not have failed
	notJudged          // the run of a store, see jepsen.NotJudged
	unreadable         // also a bug in clew
)

// testCase is a history in a report for pipelines, or an independent key of one.
type testCase struct {
	outcome
	suite, name string
	file        string       // "" if there is no such file
	ms          float64      // 0 if it is not known
	rule        string       // the name of what is wrong, "" if nothing is
	says        string       // what is wrong, in a sentence
	reading     string       // which of several readings was taken, "" if there is only one
	level       models.Level // the level of consistency that it is about, "" if that is linearizability
	*Failure                 // nil if there is none
}

func casesOf(records []Record) (all []testCase) {
	for i := range records {
		all = append(all, cases(&records[i])...)
	}
	return all
}

// Called returns the name of a path in messages: "-" is standard input.
func Called(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// cases returns the cases of a record: its keys, or the history itself.
func cases(r *Record) []testCase {
	whole := testCase{suite: cmp.Or(r.Run.Test, "clew"), name: r.File, file: r.File, ms: r.Ms, reading: r.Reading.Words()}
	if r.Name != "" {
		whole.name, whole.file = r.Name, ""
	}
	if called := Called(r.File); called != r.File {
		whole.name, whole.file = called, ""
	}
	if r.Details != nil {
		whole.Failure = &r.Details.Failure
	}
	if r.Levels != nil && r.Levels.Asked.Weaker() {
		whole.level = r.Levels.Asked
	}
	if r.Details == nil || r.Details.Keys == nil || len(r.Details.Keys.List) == 0 {
		whole.judge(r.Valid, r.Cause, cmp.Or(r.Error, r.Explanation))
		whole.judgeVacuous(r.Vacuous)
		return []testCase{whole}
	}
	rest := *r.Details.Keys
	var all []testCase
	for _, key := range r.Details.Keys.List {
		c := testCase{suite: whole.suite, name: whole.name + " key " + key.Key, file: whole.file, reading: whole.reading, Failure: key.Failure}
		c.judge(key.Valid, key.Cause, key.Explanation)
		c.judgeVacuous(r.Vacuous) // for all keys together
		if c.says != "" {
			c.says = text.Key(key.Key) + ": " + c.says
		}
		all = append(all, c)
		rest.Total--
		switch key.Valid {
		case jepsen.Invalid:
			rest.Invalid--
		case jepsen.Unknown:
			rest.Unknown--
		}
	}
	if rest.Total > 0 {
		others := whole.others(rest)
		others.judgeVacuous(r.Vacuous)
		all = append(all, others)
	}
	return all
}

// others returns one case for all keys that do not have their own.
func (whole testCase) others(rest Keys) testCase {
	c := testCase{suite: whole.suite, file: whole.file, reading: whole.reading, name: fmt.Sprintf("%s and %d more keys", whole.name, rest.Total)}
	switch {
	case rest.Invalid > 0:
		c.judge(jepsen.Invalid, "", report.Text(fmt.Sprintf("%d more keys are not linearizable", rest.Invalid)))
	case rest.Unknown > 0:
		c.judge(jepsen.Unknown, "", report.Text(fmt.Sprintf("%d more keys are undecided", rest.Unknown)))
	}
	return c
}

func (c *testCase) judge(v jepsen.Verdict, cause, why report.Text) {
	c.says = string(why)
	if v == jepsen.Invalid && c.reading != "" {
		c.says += " (" + c.reading + ")"
	}
	switch {
	case v == jepsen.Valid:
		c.says = ""
	case v == jepsen.Invalid:
		c.outcome, c.rule = failed, noLinearization
		if c.Failure != nil {
			c.rule = cmp.Or(string(c.Kind), c.Pattern, noLinearization)
			c.says = c.Kind.First(c.says)
		}
	case cause == report.Text(jepsen.NotJudged):
		c.outcome, c.rule, c.says = notJudged, string(cause), "not judged: "+string(why)
	case cause == report.Text(jepsen.Unreadable), cause == report.Text(jepsen.Panicked):
		c.outcome, c.rule = unreadable, string(cause)
		if c.Failure != nil && c.At != nil { // the place is printed separately
			where := fmt.Sprintf("%s:%d:%d: ", cmp.Or(c.At.File, c.name), c.At.Line, c.At.Col)
			c.says = strings.TrimPrefix(c.says, where)
		}
	default:
		c.outcome, c.rule = undecided, strings.TrimSuffix("unknown-"+string(cause), "-")
		c.says = strings.TrimSuffix(strings.TrimSuffix("unknown: "+string(cause), ": ")+": "+string(why), ": ")
	}
}

// judgeVacuous fills in that the verdict is vacuous, unless why is "".
func (c *testCase) judgeVacuous(why report.Text) {
	if why != "" {
		c.outcome, c.rule, c.says = vacuous, "vacuous", "vacuous: "+string(why)
	}
}

// passes says whether a case that did not simply pass still does not count as a failure.
func (c *testCase) passes(o *Options) bool {
	if c.outcome == vacuous || c.outcome == notJudged {
		return true
	}
	return o.PassUnknown && c.outcome == undecided && c.rule != "unknown-"+string(jepsen.Interrupted)
}

// noLinearization is the rule for failures that only a search shows.
const noLinearization = "no-linearization"

// place returns where the case is wrong, without a line if that is not known.
func (c *testCase) place() Place {
	p := Place{File: c.file}
	if c.Failure != nil && c.At != nil {
		p.Line, p.Col = c.At.Line, c.At.Col
		if c.At.File != "" && c.file != "" {
			p.File = c.At.File
		}
	}
	p.File = filepath.ToSlash(p.File)
	return p
}
