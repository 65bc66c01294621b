// Package prints reads what Knossos's command line printed about histories: which lines belong to the result of which
// file, and which to a log or a stack trace around them. It does not read the results themselves; package store does.
package prints

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"clew/edn"
	"clew/internal/text"
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

	Line    int    // where it begins
	Column  int    // how many bytes of that line come before the result map
	Result  []byte // the result map, with lines of others left blank; nil if there is none
	Verdict string // the line after the map, "" if it is missing
	Lost    string // why there is no result or not all of it, or ""
}

// maxNotes bounds what Read says of lines that it skips.
const maxNotes = 20

// Read reads what knossos.cli printed about files, one after the other. The notes say which lines belong to
// no result, such as those of a log.
func Read(in io.Reader, name string) (prints []Print, notes []string, err error) {
	all, err := io.ReadAll(in)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	p := reader{}
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

// reader reads a print line by line.
type reader struct {
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
	failure  = "Oh jeez, I'm sorry. Something went wrong."
	verdicts = map[string]bool{"true": true, "false": true, ":unknown": true, "unknown": true}
	// fileName is the name of a file that stands alone.
	fileName = text.Pattern(`^\S.*\.(edn|ednl|log|txt|json|jsonl|clj)$`)
	// logLine is where a line of a log begins.
	logLine = text.Pattern(`\b(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|(INFO|WARN|ERROR) +[\[\w]|\d{4}-\d\d-\d\d[ T]|SLF4J|Exception in thread|OpenJDK |Reflection warning`)
	// traceLine is a line of a stack trace.
	traceLine = text.Pattern(`^(\s+at |\s+\.\.\. \d+ |\s*Caused by: |\s*Suppressed: |[\w.$]+(Exception|ExceptionInfo|Error|Throwable)\b)`)
)

func (p *reader) line(line string, whole bool) {
	if p.trace != nil && p.inTrace(line) {
		return
	}
	if file, rest, ok := p.begins(line); ok {
		p.begin(file, rest)
		return
	}
	verdict := verdicts[line]
	switch blank := strings.TrimSpace(line) == ""; {
	case line == failure:
		p.failed()
	case p.open != nil && verdict:
		p.told()
		p.open.Verdict = line
		p.close()
	case p.open != nil && strings.HasPrefix(line, " "):
		p.told()
		p.open.Result = append(append(p.open.Result, line...), '\n')
	case blank && p.open == nil:
	case p.open == nil && p.names(line, whole):
	default:
		if p.open != nil {
			p.open.Result = append(p.open.Result, '\n')
		}
		if !blank {
			p.skip(line)
		}
	}
}

// begins splits a line that a result begins on. A line of a log may also have tabs.
func (p *reader) begins(line string) (file, rest string, ok bool) {
	at := strings.LastIndex(line, "\t")
	if i := strings.Index(line, "\t{"); i >= 0 {
		at = i
	}
	if at < 0 {
		return "", "", false
	}
	file, rest = line[:at], line[at+1:]
	verdict := verdicts[strings.TrimSpace(rest)]
	if !verdict && !strings.HasPrefix(rest, "{") {
		return "", "", false
	}
	if log := logLine().FindStringIndex(file); log != nil && log[0] == 0 && !fileName().MatchString(file) {
		return "", "", false
	}
	return file, rest, true
}

func (p *reader) begin(file, rest string) {
	named := p.named
	if file == "" {
		p.named = nil
	}
	p.end(fmt.Sprintf("another result begins at line %d", p.n))
	p.told()
	switch {
	case file != "":
		p.open = &Print{File: file, Line: p.n}
	case named != nil:
		p.open = named
	default:
		p.note(fmt.Sprintf("line %d: a result without the name of its file", p.n))
		return
	}
	if verdicts[strings.TrimSpace(rest)] {
		p.open.Verdict = strings.TrimSpace(rest)
		p.close()
		return
	}
	p.open.Result = append([]byte(rest), '\n')
	p.open.Line, p.open.Column = p.n, len(file)+1
}

// names takes a line for the name of a file whose result is still to come, if it looks like one. A name is also what
// the print ends with before the line does.
func (p *reader) names(line string, whole bool) bool {
	file, _, _ := strings.Cut(line, "\t")
	glued := ""
	if !fileName().MatchString(line) || strings.Contains(line, " ") {
		if log := logLine().FindStringIndex(line); log != nil {
			file, glued = strings.TrimSpace(line[:log[0]]), line[log[0]:]
		}
	}
	if file == "" || strings.HasPrefix(line, "\t") || !fileName().MatchString(file) && (whole || glued != "") {
		return false
	}
	p.end(fmt.Sprintf("another file begins at line %d", p.n))
	p.told()
	p.named = &Print{File: file, Line: p.n}
	if glued != "" {
		p.skip(glued)
	}
	return true
}

// failed notes that Knossos printed an exception instead of a result.
func (p *reader) failed() {
	p.told()
	p.trace = cmp.Or(p.open, p.named)
	if p.trace == nil {
		p.skip(failure)
		return
	}
	p.trace.Lost = fmt.Sprintf("Knossos failed at line %d", p.n)
	p.open, p.named = nil, nil
}

// inTrace takes a line of a stack trace, of which it keeps the exception.
func (p *reader) inTrace(line string) bool {
	if traceLine().MatchString(line) || strings.TrimSpace(line) == "" {
		if said := strings.TrimSpace(line); said != "" && !strings.Contains(p.trace.Lost, ": ") {
			p.trace.Lost += ": " + said
		}
		return true
	}
	p.trace.Lost += "; it does not check the files after one that it cannot check"
	p.prints = append(p.prints, *p.trace)
	p.trace = nil
	return false
}

// end ends a result that is not complete, and a name without a result.
func (p *reader) end(why string) {
	if p.trace != nil {
		p.inTrace("the end")
	}
	if p.named != nil {
		p.named.Lost = fmt.Sprintf("its result is missing: only its name was printed, at line %d; %s", p.named.Line, why)
		p.prints = append(p.prints, *p.named)
		p.named = nil
	}
	if p.open != nil {
		p.open.Lost = fmt.Sprintf("its result, which begins at line %d, is cut off: %s", p.open.Line, why)
		p.close()
	}
}

func (p *reader) close() {
	p.prints = append(p.prints, *p.open)
	p.open, p.named = nil, nil
}

func (p *reader) skip(line string) {
	if p.skipped++; p.skipped == 1 {
		p.skippedFrom, p.skippedFirst = p.n, line
	}
}

// told notes the lines that were skipped.
func (p *reader) told() {
	if p.skipped > 0 {
		p.note(fmt.Sprintf("line %d: skipped %s outside of results: %q", p.skippedFrom, text.Count(p.skipped, "line"), text.Shorten(p.skippedFirst, maxSkippedText)))
	}
	p.skipped = 0
}

// maxSkippedText bounds what is quoted of lines that are skipped.
const maxSkippedText = 60

func (p *reader) note(what string) {
	if len(p.notes) < maxNotes {
		p.notes = append(p.notes, what)
	} else {
		p.untold++
	}
}
