package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
)

// Agreement says how a claim compares with our own result.
type Agreement uint8

// The agreements. An unknown claim is KnossosUnknown whatever
// we find. If we find nothing, a claim is NotComparable.
const (
	NotComparable Agreement = iota
	Agree
	Disagree
	KnossosUnknown
)

func (a Agreement) String() string {
	return [...]string{"not comparable", "agree", "DISAGREE", "knossos unknown"}[a]
}

// Comparison is a claim beside our own result.
type Comparison struct {
	File      string // the caller's name for the history
	Claim     jepsen.Claim
	Result    *Result // of the claim's key if it is about a key; nil if there is none
	Agreement Agreement
	// Why says why the claim is not comparable, what differs although
	// the verdicts agree, or which known difference explains it.
	Why string
	// Err is the error that prevents the comparison, if an error does.
	Err error
}

// Text returns the comparison for people: a line, and our evidence if we disagree.
func (c *Comparison) Text() string {
	s := fmt.Sprintf("%-15s  %s", c.Agreement, text.Line(c.File))
	if c.Claim.Checker != "" {
		s += "  " + text.Line(c.Claim.Checker)
	}
	if c.Claim.IsKey {
		s += "  key " + text.Line(c.Claim.Key.String())
	}
	switch c.Agreement {
	case Agree:
		s += "  " + claimed(c.Claim)
		if c.Claim.By != "" {
			s += "  (" + c.Claim.By + ")"
		}
	case KnossosUnknown:
		s += "  clew says " + found(c.Result)
	}
	if c.Claim.Ms > 0 && c.Result != nil {
		s += fmt.Sprintf("  (knossos %.0f ms, clew %.1f ms)", c.Claim.Ms, c.Result.Ms)
	}
	if c.Agreement != Disagree {
		if c.Why != "" {
			s += "  " + text.Line(c.Why)
		}
		return s + "\n"
	}
	s += "\n    " + cmp.Or(c.Claim.By, "knossos") + " says " + claimed(c.Claim)
	if c.Claim.OpText != "" {
		s += ": " + text.Line(c.Claim.OpText)
	}
	s += "\n    clew says " + found(c.Result)
	if c.Result.Verified {
		s += ", verified"
	}
	if c.Why != "" {
		s += "\n    " + text.Line(c.Why)
	}
	return s + "\n" + proof(c.Result)
}

// claimed and found return a verdict with the failing operation.
func claimed(c jepsen.Claim) string {
	if c.HasOp {
		return fmt.Sprintf("INVALID at index %d", c.OpIndex)
	}
	return verdictWord(c.Verdict)
}

func found(r *Result) string {
	switch r.Verdict {
	case jepsen.Invalid:
		if by, known := r.FailsBy(); known {
			return fmt.Sprintf("INVALID by index %d", by)
		}
		return fmt.Sprintf("INVALID at index %d", r.FailingIndex())
	case jepsen.Unknown:
		return "unknown: " + string(r.Cause)
	}
	return verdictWord(r.Verdict)
}

// proof returns our evidence as clew check shows it.
func proof(r *Result) string {
	if r.Verdict == jepsen.Valid {
		return fmt.Sprintf("    a linearization of all %d operations was found and replayed; %s writes it\n", len(r.Witness), option.WitnessFile)
	}
	var b strings.Builder
	_, text, _ := strings.Cut(r.Text(), "\n")
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String() + "\n"
}

// MarshalJSON returns the comparison as one JSON object. Keys that do not apply are null.
func (c *Comparison) MarshalJSON() ([]byte, error) {
	type claim struct {
		Valid   any      `json:"valid"`
		OpIndex *int64   `json:"op-index"`
		Ms      *float64 `json:"ms"`
	}
	j := struct {
		File      string  `json:"file"`
		Checker   string  `json:"checker"`
		Key       *string `json:"key"`
		Agreement string  `json:"agreement"`
		Why       string  `json:"why"`
		Knossos   *claim  `json:"knossos"`
		Clew      *Result `json:"clew"`
		By        string  `json:"by,omitempty"` // the source of the claim
	}{File: c.File, Checker: c.Claim.Checker, Agreement: c.Agreement.String(), Why: c.Why, By: c.Claim.By, Clew: c.Result}
	if c.Claim.IsKey {
		key := c.Claim.Key.String()
		j.Key = &key
	}
	if c.Result != nil || !reflect.ValueOf(c.Claim).IsZero() {
		j.Knossos = &claim{Valid: map[jepsen.Verdict]any{jepsen.Valid: true, jepsen.Invalid: false, jepsen.Unknown: "unknown"}[c.Claim.Verdict]}
		if c.Claim.HasOp {
			j.Knossos.OpIndex = &c.Claim.OpIndex
		}
		if c.Claim.Ms > 0 {
			j.Knossos.Ms = &c.Claim.Ms
		}
	}
	return json.Marshal(j)
}
