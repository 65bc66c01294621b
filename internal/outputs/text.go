package outputs

import (
	"fmt"
	"strings"

	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

var asText = Output{Name: "text", Each: textOf, Several: &asTable, Whole: true, Summary: true, Colors: true,
	Compare: func(c *report.Comparison, o *Options) string { return o.Look.Shown(c.Text()) }}

// Standard error says why a history could not be read, or that clew panicked.
func textOf(r *Record, o *Options) string {
	if isAbsent(r.Result.Cause) {
		return ""
	}
	return r.Result.TextFor(o.Look)
}

// isAbsent says whether standard error says all about a history.
func isAbsent(cause jepsen.Cause) bool {
	return cause == jepsen.Unreadable || cause == jepsen.Panicked
}

var asTable = Output{Name: "text", Each: rowOf, Summary: true, Colors: true, Heading: func(o *Options) string { return o.Table.Header() }}

func rowOf(r *Record, o *Options) string {
	if r.Cause == report.Text(jepsen.Panicked) {
		return ""
	}
	return o.Table.Row(r.Run, r.Line)
}

// Quiet prints only a line on standard error for each failure. It is not a value of
// --output, but of --quiet.
var Quiet = Output{Name: "none", Each: failure}

func failure(r *Record, o *Options) string {
	said := "INVALID"
	switch cause := jepsen.Cause(r.Cause); {
	case isAbsent(cause), cause == jepsen.NotJudged, r.Valid == jepsen.Valid, o.PassUnknown && r.MayPass():
		return ""
	case r.Valid == jepsen.Unknown:
		said = strings.TrimSuffix("unknown: "+string(cause), ": ")
	}
	if r.Explanation != "" {
		said += ": " + r.Kind.First(string(r.Explanation))
	}
	return fmt.Sprintf("clew: %s: %s\n", text.Line(Called(r.File)), text.Line(said))
}
