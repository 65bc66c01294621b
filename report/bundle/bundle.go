// Package bundle packs what a failed self-check leaves, the evidence that turned out to
// be wrong and the history that it is of, into one file that can be sent to those who
// can mend it. Nobody needs it for anything else.
package bundle

import (
	"archive/zip"
	"fmt"
	"io"

	"clew/jepsen"
	"clew/report"
)

// Write writes a zip archive about a result whose cause is jepsen.SelfCheckFailed:
// about.txt, which says what is wrong and begins with the given text; history.edn, the
// events of the clients, so that clew check reads the archive; result.edn, the result
// that does not stand; and its evidence, witness.edn or core.edn.
func Write(w io.Writer, about string, r *report.Result) error {
	if r == nil || r.History == nil || r.Refuted == nil {
		return fmt.Errorf("expected the result of a failed self-check, found none")
	}
	archive := zip.NewWriter(w)
	wrong := r.Refuted
	about += fmt.Sprintf("history: %s\nmodel: %s\nanalyzer: %s\nself-check: %s\n", r.File, wrong.Summary(), r.Analyzer, r.Error)
	for _, part := range []struct {
		name  string
		write func(io.Writer) error
		asked bool
	}{
		{"history.edn", r.History.WriteEDN, true},
		{"result.edn", wrong.WriteEDN, true},
		{"witness.edn", wrong.WriteWitness, wrong.Verdict == jepsen.Valid},
		{"core.edn", wrong.WriteCore, wrong.Verdict == jepsen.Invalid},
	} {
		if !part.asked {
			continue
		}
		out, err := archive.Create(part.name)
		if err != nil {
			return err
		}
		if err := part.write(out); err != nil {
			about += fmt.Sprintf("%s is not whole: %s\n", part.name, err)
		}
	}
	out, err := archive.Create("about.txt")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, about); err != nil {
		return err
	}
	return archive.Close()
}
