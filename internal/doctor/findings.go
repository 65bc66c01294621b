package doctor

import (
	"fmt"
	"slices"
	"strings"

	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Bounds from which something weakens a test.
const (
	fewOverlaps  = 10 // percent of the operations that overlap another one of their object
	fewRefuted   = 20 // percent of the mutants that were decided
	fewDecided   = 50 // percent of the mutants; with fewer, there is no verdict
	enoughToTell = 10 // updates, crashes or mutants, to speak of a share of them
)

// checks lists what may weaken a test, in order of importance. A judge says what does, and what to change. It says ""
// if nothing does.
var checks = []struct {
	name  string
	judge func(*examination) (says, change string)
}{
	{"damaged-record", damagedRecord},
	{"nothing-returned", nothingReturned},
	{"nothing-observed", nothingObserved},
	{"nothing-written", nothingWritten},
	{"refuses-nothing", refusesNothing},
	{"initial-value", valueAtFirst},
	{"mixed-keys", mixedKeys},
	{"thin-keys", thinKeys},
	{"many-crashes", manyCrashes},
	{"crashes-together", crashesTogether},
	{"few-overlaps", hardlyConcurrent},
	{"few-values", repeatedValues},
	{"nil-reads", nilReads},
	{"few-refuted", hardlyRefuted},
}

// conclude fills in the findings and the conclusion.
func (x *examination) conclude() {
	x.Model, x.Init = report.Text(x.spec.Name), report.Text(x.spec.Init)
	if c := x.counts; c.operations < x.Operations && x.Cause != "" {
		return // it was not read to its end
	}
	for _, check := range checks {
		if says, change := check.judge(x); says != "" {
			x.Findings = append(x.Findings, Finding{check.name, says, change})
		}
	}
	decided := x.Mutants.Refuted + x.Mutants.Valid
	switch {
	case len(x.Findings) > 0:
		x.Healthy = jepsen.Invalid
	case x.Cause != "":
	case x.hurried && decided*100 < x.o.Mutants*fewDecided, decided*100 < x.Mutants.Made*fewDecided:
		x.Cause = jepsen.Timeout
	default:
		x.Healthy = jepsen.Valid
	}
}

func damagedRecord(x *examination) (says, change string) {
	if len(x.counts.damage) == 0 {
		return "", ""
	}
	return strings.Join(x.counts.damage, "; "), "copy the run again, or leave out the files that are not of it"
}

func nothingReturned(x *examination) (says, change string) {
	says = report.NoneReturned
	switch c := x.counts; {
	case c.operations == 0:
		says = report.NoOperations
	case c.succeeded > 0:
		return "", ""
	}
	return says, "see that clients reach the system, and that their operations complete with :ok"
}

func nothingObserved(x *examination) (says, change string) {
	c := x.counts
	change = "add operations that read, and have their completions carry what the system answered"
	switch {
	case c.succeeded == 0 || c.told > 0:
	case c.nils > 0:
		return fmt.Sprintf("%s: all %d", report.AnswersNil, c.nils), change
	case c.vacuous == report.NotRefusable:
		return "no operation returned anything, and " + report.NotRefusable, change
	}
	return "", ""
}

func nothingWritten(x *examination) (says, change string) {
	if c := x.counts; c.succeeded == 0 || c.updates > 0 {
		return "", ""
	}
	return "no operation that may have taken effect changes anything", "add operations that write"
}

func refusesNothing(x *examination) (says, change string) {
	m := &x.Mutants
	hasExamples := "give it a step that refuses, and examples that it refuses (clew models --check)"
	switch {
	case x.counts.refusesNothing:
		return "the model " + x.spec.Name + " refuses nothing, so every history passes", hasExamples
	case isOwn(x.spec) && m.Refuted == 0 && m.Valid >= enoughToTell:
		return fmt.Sprintf("the model %s refused none of %d mutants", x.spec.Name, m.Valid), hasExamples
	}
	return "", ""
}

// isOwn says whether a model is a user's own.
func isOwn(s models.Spec) bool {
	own, err := s.Definition()
	builtIn, unknown := models.Spec{Name: s.Name}.Definition()
	return err == nil && (unknown != nil || own != builtIn)
}

func valueAtFirst(x *examination) (says, change string) {
	if x.counts.likely == "" {
		return "", ""
	}
	return x.counts.either, "say what the test began with: " + models.ParamInit.String() + " " + text.ShellWord(x.counts.likely) + " or another value"
}

func mixedKeys(x *examination) (says, change string) {
	if !x.counts.pairs {
		return "", ""
	}
	return "every value is a pair, but all operations count for one object",
		"if the first element is a key, give " + option.Independent.String()
}

func thinKeys(x *examination) (says, change string) {
	c := x.counts
	if !c.keyed || c.returns >= 2*c.objects {
		return "", ""
	}
	return fmt.Sprintf("%s of %s: hardly any key has two that could contradict each other", text.Count(c.returns, "operation"), text.Count(c.objects, "key")),
		"use each key more often; if the first element of a value is not a key, leave out " + option.Independent.String()
}

func manyCrashes(x *examination) (says, change string) {
	c := x.counts
	if c.crashed == 0 || 2*c.crashed < c.operations {
		return "", ""
	}
	return fmt.Sprintf("%d of %d operations crashed: each may have taken effect at any later time, or never", c.crashed, c.operations),
		"use longer time-outs and shorter faults, and report as :fail what certainly had no effect"
}

// crashesTogether looks for few keys or clients of which most operations crashed, and which have most of the crashes.
func crashesTogether(x *examination) (says, change string) {
	c := x.counts
	if c.crashed < enoughToTell || 2*c.crashed >= c.operations {
		return "", ""
	}
	for _, by := range []struct {
		thing string
		of    map[string]*share
	}{{"key", c.keys}, {"client", c.clients}} {
		var names []string
		crashed := 0
		for name, s := range by.of {
			if 2*s.crashed >= s.all {
				names = append(names, strings.TrimPrefix(name, "key "))
				crashed += s.crashed
			}
		}
		if len(names) == 0 || 4*len(names) > len(by.of) || 2*crashed < c.crashed {
			continue
		}
		slices.Sort(names)
		shown := names[:min(len(names), maxNames)]
		return fmt.Sprintf("%d of %s are of %d of %s: %s", crashed, text.Count(c.crashed, "crashed operation"), len(names), text.Count(len(by.of), by.thing), strings.Join(shown, ", ")),
			"see why these time out; what they did is hardly checked"
	}
	return "", ""
}

// maxNames bounds the keys and clients that a sentence names.
const maxNames = 5

func hardlyConcurrent(x *examination) (says, change string) {
	c := x.counts
	if c.returns < 2 || 100*c.overlap >= fewOverlaps*c.returns {
		return "", ""
	}
	says = fmt.Sprintf("%d of %d operations (%d%%) overlap another one of the same object; expected at least %d%%",
		c.overlap, c.returns, 100*c.overlap/c.returns, fewOverlaps)
	if len(c.clients) == 1 {
		says = fmt.Sprintf("one client ran all %d operations, one after another", c.operations)
	}
	return says, "use more clients for each key, shorter pauses between operations, or fewer keys at a time"
}

func repeatedValues(x *examination) (says, change string) {
	c := x.counts
	if c.valued < enoughToTell || 2*c.distinct >= c.valued {
		return "", ""
	}
	return fmt.Sprintf("%d updates have only %d different values: an old value may pass for a new one", c.valued, c.distinct),
		"write each value only once for each key"
}

func nilReads(x *examination) (says, change string) {
	c := x.counts
	if d, err := x.spec.Definition(); err != nil || !d.Takes(models.ParamNilReads) || c.told == 0 || 2*c.unread < c.nils+c.told {
		return "", ""
	}
	return fmt.Sprintf("%d of %d answers are nil, which passes for any value", c.unread, c.nils+c.told),
		"if nil means that there was no value, give " + models.ParamNilReads.String() + " exact"
}

// hardlyRefuted says whether the check can fail at all.
func hardlyRefuted(x *examination) (says, change string) {
	m := &x.Mutants
	decided := m.Refuted + m.Valid
	switch {
	case x.Changed == 0 || x.counts.succeeded == 0 || x.hurried && m.Made == 0:
		return "", ""
	case m.Made == 0 && x.Verdict == jepsen.Valid:
		return "no mutant can be made: nothing that was answered or changed can be different", "add operations that write and read"
	case 100*m.Refuted >= fewRefuted*decided, m.Refuted > 0 && decided < enoughToTell:
		return "", ""
	}
	change = "have operations return what tells an error: more reads, more different values, more clients"
	if len(m.Stayed) > 0 {
		change = remedy[slices.MaxFunc(m.Stayed, func(a, b Reason) int { return a.Count - b.Count }).Why]
	}
	return fmt.Sprintf("%d of %s (%d%%) were refuted: the check would miss most errors", m.Refuted, text.Count(decided, "mutant"), 100*m.Refuted/decided), change
}

// remedy says what to change if mutants mostly stay linearizable for a reason.
var remedy = map[string]string{
	whyEqual:   "use more different values, so that answers differ",
	whyOverlap: "have fewer operations open at once for each key",
	whyWriter:  "have fewer operations open at once for each key, and use each value only once",
	whyCrashed: "have fewer operations crash, and use each value only once",
	whyAgain:   "use each value only once",
	whyUnseen:  "read more often, at least once between two writes",
	whyTwice:   "use each value only once",
}
