package outputs

import (
	"io"

	"clew/jepsen"
	"clew/report"
)

var asEDN = Output{Name: "edn", For: Programs, Each: ednLine, Stream: streamEDN, Whole: true}

func ednLine(r *Record, _ *Options) string {
	if r.Result.Cause == jepsen.Panicked {
		return "" // it is not one of Knossos's
	}
	return r.Result.EDN() + "\n"
}

func streamEDN(w io.Writer, r *report.Result) error {
	if err := r.WriteEDN(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
