package outputs

import (
	"archive/zip"
	"fmt"
	"io"

	"clew/jepsen"
	"clew/report"
)

// WriteBundle writes what a failed self-check leaves: a zip archive that can be sent
// to the people who can fix the bug. The cause of the result is jepsen.SelfCheckFailed.
// about.txt begins with the given text and says what is wrong. history.edn has the
// events of the clients, so that clew check reads the archive. result.edn has the
// result that is wrong, and witness.edn or core.edn its evidence.
func WriteBundle(w io.Writer, about string, r *report.Result) error {
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
