package outputs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"clew/internal/certificate"
	"clew/internal/option"
	"clew/internal/page"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Evidence is a file about a single result.
type Evidence struct {
	Name      string // of its flag
	Usage     string // of the flag
	Extension string // with which clew render draws it, "" if that does not
	Head      string // with which every such file begins, "" if histories may begin so, too
	// Lacks returns why there is nothing to write, or "".
	Lacks func(*report.Result, *EvidenceOptions) string
	// Writer returns what writes the file. The error says why it cannot be drawn.
	Writer func(context.Context, *report.Result, *EvidenceOptions) (func(io.Writer) error, error)
}

// EvidenceOptions say what a Result does not.
type EvidenceOptions struct {
	Window      report.WindowOptions // of drawings
	Style       string               // of a page, one of Styles
	Certificate certificate.Options
	SHA256      func(context.Context) (string, error) // of the history's file
}

// AllEvidence lists the kinds of evidence.
var AllEvidence = []Evidence{
	{
		Name: "witness", Usage: "write the linearization of a valid history to `FILE`: its op maps in order (clew verify replays it)",
		Lacks: func(r *report.Result, _ *EvidenceOptions) string {
			if r.Verdict == jepsen.Valid && r.Witness == nil {
				if x := r.Levels; x != nil && x.Asked.Weaker() {
					return fmt.Sprintf("%s needs no linearization; %s %s looks for one", x.Asked, option.Consistency, models.Linearizable)
				}
				return cmp.Or(r.Missing, "operations without a key take effect once for every key")
			}
			return otherThan(jepsen.Valid, r)
		},
		Writer: func(_ context.Context, r *report.Result, _ *EvidenceOptions) (func(io.Writer) error, error) {
			return r.WriteWitness, nil
		},
	}, {
		Name: "core", Usage: "write the operations of an invalid history that fail by themselves to `FILE`, as a history: usually a few, and for reads of sets and lists also what added their elements",
		Lacks: func(r *report.Result, _ *EvidenceOptions) string {
			if r.Verdict == jepsen.Invalid && r.FirstFailing().Core == nil {
				return r.FirstFailing().Missing
			}
			return otherThan(jepsen.Invalid, r)
		},
		Writer: func(_ context.Context, r *report.Result, _ *EvidenceOptions) (func(io.Writer) error, error) {
			return r.WriteCore, nil
		},
	}, {
		Name: "svg", Usage: "draw the operations around the failure of an invalid history to `FILE`", Extension: ".svg", Head: "<?xml ",
		Lacks: func(r *report.Result, _ *EvidenceOptions) string {
			if r.Verdict == jepsen.Invalid && !r.FirstFailing().Placed() {
				return r.FirstFailing().Missing
			}
			return otherThan(jepsen.Invalid, r)
		},
		Writer: drawing,
	},
	HTML,
	{
		Name: "certificate", Usage: "write to `FILE` a proof of the verdict, for checkers that share no code with clew (docs/certificate.md)", Head: `{"clew-certificate":`,
		Lacks:  func(r *report.Result, _ *EvidenceOptions) string { return certificate.Lacks(r) },
		Writer: certified,
	},
}

// otherThan returns that a result has another verdict, or "".
func otherThan(v jepsen.Verdict, r *report.Result) string {
	if r.Verdict == v {
		return ""
	}
	return "the history is " + r.Verdict.String()
}

func drawing(ctx context.Context, r *report.Result, o *EvidenceOptions) (func(io.Writer) error, error) {
	window, err := r.Window(ctx, o.Window)
	if err != nil {
		return nil, err
	}
	return window.WriteSVG, nil
}

// HTML is a page for a browser.
var HTML = Evidence{
	Name: "html", Usage: "write a page for a browser to `FILE`: the verdict, an interactive drawing and the operations", Extension: ".html", Head: "<!doctype html>",
	Lacks: func(r *report.Result, o *EvidenceOptions) string {
		if o.Style == Styles[1] && r.Verdict == jepsen.Unknown {
			return "the history is " + r.Verdict.String()
		}
		return ""
	},
	Writer: func(ctx context.Context, r *report.Result, o *EvidenceOptions) (func(io.Writer) error, error) {
		return func(w io.Writer) error {
			if o.Style == Styles[1] {
				return page.WritePorcupine(ctx, w, r)
			}
			return page.Write(ctx, w, r, o.Window)
		}, nil
	},
}

// Styles lists the styles of pages. Porcupine draws nothing that is undecided.
var Styles = []string{"clew", "porcupine"}

func certified(ctx context.Context, r *report.Result, o *EvidenceOptions) (func(io.Writer) error, error) {
	return func(w io.Writer) (err error) {
		of := o.Certificate
		if of.SHA256, err = o.SHA256(ctx); err != nil {
			return err
		}
		return certificate.Write(ctx, w, r, of)
	}, nil
}

// Drawn returns the extensions of evidence that clew render draws.
func Drawn() (extensions []string) {
	for _, e := range AllEvidence {
		if e.Extension != "" {
			extensions = append(extensions, e.Extension)
		}
	}
	return extensions
}

// DrawnAs returns the evidence that is drawn into files with an extension.
func DrawnAs(extension string) (e Evidence, ok bool) {
	i := slices.IndexFunc(AllEvidence, func(e Evidence) bool { return e.Extension == extension })
	if i < 0 || extension == "" {
		return Evidence{}, false
	}
	return AllEvidence[i], true
}
