package outputs

import (
	"encoding/json"

	"clew/report"
)

// JSON prints what programs need of a result: the verdict, and where to look.
var JSON = Output{Name: "json", For: Programs, Each: jsonLine, Help: "one %s per line",
	Compare: func(c *report.Comparison, _ *Options) string { return JSONLine(c) }}

func jsonLine(r *Record, _ *Options) string { return JSONLine(r.Line) }

// JSONLine returns a value that has no channel or function in it as a line of JSON.
func JSONLine(of any) string {
	line, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}
