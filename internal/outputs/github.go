package outputs

import (
	"fmt"
	"strings"

	"clew/internal/text"
)

// GitHub's workflows take lines of standard output for commands:
//
//	::error file=store/history.edn,line=18,col=1,title=never-written::value 2 was read ..
//
// Characters that would end a line, or a property, are written as a percent sign
// and two hexadecimal digits.
var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

var github = Output{Name: "github", For: Pipelines, Summary: true, Each: annotations}

// Annotation returns a line that GitHub shows as an annotation, at the level "error" or "warning", beside a line of a
// file. Without a file it stands alone.
func Annotation(level, file string, line, col int, rule, says string) string {
	var b strings.Builder
	property := func(s string) string { return text.Printable(inProperty.Replace(s)) } // a log obeys escape sequences
	b.WriteString("::" + level + " ")
	if file != "" {
		b.WriteString("file=" + property(file) + ",")
		if line > 0 {
			fmt.Fprintf(&b, "line=%d,col=%d,", line, col)
		}
	}
	fmt.Fprintf(&b, "title=%s::%s\n", property("clew: "+rule), text.Printable(inMessage.Replace(says)))
	return b.String()
}

// annotations returns the annotations of a record's cases that have not passed.
func annotations(r *Record, o *Options) string {
	var b strings.Builder
	for _, c := range cases(r) {
		if c.outcome == passed {
			continue
		}
		level := "error"
		if c.passes(o) {
			level = "warning"
		}
		at := c.place()
		b.WriteString(Annotation(level, at.File, at.Line, at.Col, c.rule, c.says))
	}
	return b.String()
}
