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

// annotations returns the annotations of a record's cases that have not passed.
func annotations(r *Record, o *Options) string {
	var b strings.Builder
	message := func(s string) string { return text.Printable(inMessage.Replace(s)) } // a log obeys escape sequences
	property := func(s string) string { return text.Printable(inProperty.Replace(s)) }
	for _, c := range cases(r) {
		if c.outcome == passed {
			continue
		}
		level := "error"
		if c.passes(o) {
			level = "warning"
		}
		b.WriteString("::" + level + " ")
		at := c.place()
		if at.File != "" {
			b.WriteString("file=" + property(at.File) + ",")
			if at.Line > 0 {
				fmt.Fprintf(&b, "line=%d,col=%d,", at.Line, at.Col)
			}
		}
		fmt.Fprintf(&b, "title=%s::%s\n", property("clew: "+c.rule), message(c.says))
	}
	return b.String()
}
