package store

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
)

// knossos.cli prints for each file, from version 0.3.8 to 0.3.16:
//
//	FILE<TAB>{:valid? true,
//	 :configs ({:model {:value nil}, :last-op nil, :pending []})}
//	true
//
// The map goes on in lines that begin with a blank. Before 2021 it printed FILE<TAB>true. It prints FILE before it
// reads it, so a log may stand between FILE and the rest. It stops at the first file that it cannot check:
//
//	FILE
//
//	Oh jeez, I'm sorry. Something went wrong.
//	java.lang.RuntimeException: EOF while reading
//		at clojure.lang.Util.runtimeException(Util.java:221)

// Print is what knossos.cli printed about a file.
type Print struct {
	File string

	line    int    // where it begins
	column  int    // how many bytes of that line come before the result map
	result  []byte // the result map, with lines of others left blank; nil if there is none
	verdict string // the line after the map, "" if it is missing
	lost    string // why there is no result, or ""
}

// maxPrintNotes bounds what ReadPrints says of lines that it skips.
const maxPrintNotes = 20

// ReadPrints reads what knossos.cli printed about files, one after the other. The notes say which lines belong to
// no result, such as those of a log.
func ReadPrints(in io.Reader, name string) (prints []Print, notes []string, err error) {
	all, err := io.ReadAll(in)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	p := printReader{}
	for line := range strings.Lines(string(all)) {
		p.n++
		p.line(strings.TrimRight(line, "\r\n"), strings.HasSuffix(line, "\n"))
	}
	p.end("the print ends there")
	p.told()
	if len(p.prints) == 0 {
		return nil, nil, edn.Pos{File: name, Line: 1, Col: 1}.Errorf("expected FILE<TAB>RESULT, as knossos.cli prints it, found none")
	}
	if p.untold > 0 {
		p.notes = append(p.notes, fmt.Sprintf("skipped lines outside of results in %s", text.Count(p.untold, "more place")))
	}
	return p.prints, p.notes, nil
}

// printReader reads a print line by line.
type printReader struct {
	n      int // the number of the line
	prints []Print
	open   *Print // whose result is not complete yet, or nil
	named  *Print // a file without a result so far, or nil
	trace  *Print // the file with the stack trace that is being read, or nil

	notes                []string
	untold               int
	skipped, skippedFrom int    // lines that follow each other, outside of results
	skippedFirst         string // the first of them
}

var (
	printFailed   = "Oh jeez, I'm sorry. Something went wrong."
	printVerdicts = map[string]jepsen.Verdict{"true": jepsen.Valid, "false": jepsen.Invalid, ":unknown": jepsen.Unknown, "unknown": jepsen.Unknown}
	// printedFile is the name of a file that stands alone.
	printedFile = regexp.MustCompile(`^\S.*\.(edn|ednl|log|txt|json|jsonl|clj)$`)
	// printedLog is where a line of a log begins.
	printedLog = regexp.MustCompile(`\b(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|(INFO|WARN|ERROR) +[\[\w]|\d{4}-\d\d-\d\d[ T]|SLF4J|Exception in thread|OpenJDK |Reflection warning`)
	// printedTrace is a line of a stack trace.
	printedTrace = regexp.MustCompile(`^(\s+at |\s+\.\.\. \d+ |\s*Caused by: |\s*Suppressed: |[\w.$]+(Exception|ExceptionInfo|Error|Throwable)\b)`)
)

func (p *printReader) line(line string, whole bool) {
	if p.trace != nil && p.inTrace(line) {
		return
	}
	if file, rest, ok := p.begins(line); ok {
		p.begin(file, rest)
		return
	}
	_, verdict := printVerdicts[line]
	switch blank := strings.TrimSpace(line) == ""; {
	case line == printFailed:
		p.failed()
	case p.open != nil && verdict:
		p.told()
		p.open.verdict = line
		p.close()
	case p.open != nil && strings.HasPrefix(line, " "):
		p.told()
		p.open.result = append(append(p.open.result, line...), '\n')
	case blank && p.open == nil:
	case p.open == nil && p.names(line, whole):
	default:
		if p.open != nil {
			p.open.result = append(p.open.result, '\n')
		}
		if !blank {
			p.skip(line)
		}
	}
}

// begins splits a line that a result begins on. A line of a log may also have tabs.
func (p *printReader) begins(line string) (file, rest string, ok bool) {
	at := strings.LastIndex(line, "\t")
	if i := strings.Index(line, "\t{"); i >= 0 {
		at = i
	}
	if at < 0 {
		return "", "", false
	}
	file, rest = line[:at], line[at+1:]
	_, verdict := printVerdicts[strings.TrimSpace(rest)]
	if !verdict && !strings.HasPrefix(rest, "{") {
		return "", "", false
	}
	if log := printedLog.FindStringIndex(file); log != nil && log[0] == 0 && !printedFile.MatchString(file) {
		return "", "", false
	}
	return file, rest, true
}

func (p *printReader) begin(file, rest string) {
	named := p.named
	if file == "" {
		p.named = nil
	}
	p.end(fmt.Sprintf("another result begins at line %d", p.n))
	p.told()
	switch {
	case file != "":
		p.open = &Print{File: file, line: p.n}
	case named != nil:
		p.open = named
	default:
		p.note(fmt.Sprintf("line %d: a result without the name of its file", p.n))
		return
	}
	if _, verdict := printVerdicts[strings.TrimSpace(rest)]; verdict {
		p.open.verdict = strings.TrimSpace(rest)
		p.close()
		return
	}
	p.open.result = append([]byte(rest), '\n')
	p.open.line, p.open.column = p.n, len(file)+1
}

// names takes a line for the name of a file whose result is still to come, if it looks like one. A name is also what
// the print ends with before the line does.
func (p *printReader) names(line string, whole bool) bool {
	file, _, _ := strings.Cut(line, "\t")
	glued := ""
	if !printedFile.MatchString(line) || strings.Contains(line, " ") {
		if log := printedLog.FindStringIndex(line); log != nil {
			file, glued = strings.TrimSpace(line[:log[0]]), line[log[0]:]
		}
	}
	if file == "" || strings.HasPrefix(line, "\t") || !printedFile.MatchString(file) && (whole || glued != "") {
		return false
	}
	p.end(fmt.Sprintf("another file begins at line %d", p.n))
	p.told()
	p.named = &Print{File: file, line: p.n}
	if glued != "" {
		p.skip(glued)
	}
	return true
}

// failed notes that Knossos printed an exception instead of a result.
func (p *printReader) failed() {
	p.told()
	p.trace = cmp.Or(p.open, p.named)
	if p.trace == nil {
		p.skip(printFailed)
		return
	}
	p.trace.lost = fmt.Sprintf("Knossos failed at line %d", p.n)
	p.open, p.named = nil, nil
}

// inTrace takes a line of a stack trace, of which it keeps the exception.
func (p *printReader) inTrace(line string) bool {
	if printedTrace.MatchString(line) || strings.TrimSpace(line) == "" {
		if said := strings.TrimSpace(line); said != "" && !strings.Contains(p.trace.lost, ": ") {
			p.trace.lost += ": " + said
		}
		return true
	}
	p.trace.lost += "; it does not check the files after one that it cannot check"
	p.prints = append(p.prints, *p.trace)
	p.trace = nil
	return false
}

// end ends a result that is not complete, and a name without a result.
func (p *printReader) end(why string) {
	if p.trace != nil {
		p.inTrace("the end")
	}
	if p.named != nil {
		p.named.lost = fmt.Sprintf("its result is missing: only its name was printed, at line %d; %s", p.named.line, why)
		p.prints = append(p.prints, *p.named)
		p.named = nil
	}
	if p.open != nil {
		p.open.lost = fmt.Sprintf("its result, which begins at line %d, is cut off: %s", p.open.line, why)
		p.close()
	}
}

func (p *printReader) close() {
	p.prints = append(p.prints, *p.open)
	p.open, p.named = nil, nil
}

func (p *printReader) skip(line string) {
	if p.skipped++; p.skipped == 1 {
		p.skippedFrom, p.skippedFirst = p.n, line
	}
}

// told notes the lines that were skipped.
func (p *printReader) told() {
	if p.skipped > 0 {
		p.note(fmt.Sprintf("line %d: skipped %s outside of results: %q", p.skippedFrom, text.Count(p.skipped, "line"), text.Shorten(p.skippedFirst, maxSkippedText)))
	}
	p.skipped = 0
}

// maxSkippedText bounds what is quoted of lines that are skipped.
const maxSkippedText = 60

func (p *printReader) note(what string) {
	if len(p.notes) < maxPrintNotes {
		p.notes = append(p.notes, what)
	} else {
		p.untold++
	}
}

// Claim returns what is claimed about the file. knossos.cli checks from the models' default state.
func (p Print) Claim(v *edn.Values) jepsen.Claim {
	claim := jepsen.Claim{Checker: "knossos.cli", FromDefault: true}
	if p.result == nil {
		claim.Verdict, claim.Lost = printVerdicts[p.verdict], p.lost
		return claim
	}
	id, err := v.ParseLenient(p.result)
	c := claims{v: v, valid: v.InternKeyword("valid?")}
	valid, has := v.Get(id, c.valid)
	switch {
	case p.verdict == "" && (err != nil || !has):
		claim.Lost = p.lost
	case err != nil:
		_, err = v.ParseLenient(p.placed())
		claim.Verdict, claim.Note = printVerdicts[p.verdict], fmt.Sprintf("only the last line of Knossos's result can be read: %s", err)
	case !has:
		claim.Verdict, claim.Note = printVerdicts[p.verdict], "Knossos's result has no :valid?"
	default:
		claim = c.claim(id, claim)
		switch said := v.Text(valid); {
		case p.verdict == "":
			claim.Note = "the line after Knossos's result, its verdict, is missing"
		case claim.Verdict != printVerdicts[p.verdict]:
			claim.Lost = fmt.Sprintf("Knossos's result has :valid? %s, but the line after it is %s", said, p.verdict)
		}
	}
	return claim
}

// placed returns the result where it stands in the print, for the places in errors.
func (p Print) placed() []byte {
	before := strings.Repeat("\n", p.line-1) + strings.Repeat(" ", p.column)
	return append([]byte(before), p.result...)
}
