package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"clew"
	"clew/jepsen"
	"clew/jepsen/store"
	"clew/report"
)

// line is a comparison as text: a line, and also our evidence if we disagree.
func line(path string, h *jepsen.History, c clew.Comparison) string {
	s := fmt.Sprintf("%-15s  %s", c.Agreement, path)
	if c.Claim.Checker != "" {
		s += "  " + c.Claim.Checker
	}
	if c.Claim.IsKey {
		s += "  key " + h.Values.Text(c.Claim.Key)
	}
	switch c.Agreement {
	case clew.Agree:
		s += "  " + claimed(c.Claim)
	case clew.KnossosUnknown:
		s += "  clew says " + found(c.Result)
	}
	if c.Claim.Ms > 0 && c.Result != nil {
		s += fmt.Sprintf("  (knossos %.0f ms, clew %.1f ms)", c.Claim.Ms, c.Result.Ms)
	}
	if c.Agreement != clew.Disagree {
		if c.Why != "" {
			s += "  " + c.Why
		}
		return s + "\n"
	}
	s += "\n    knossos says " + claimed(c.Claim)
	if c.Claim.OpText != "" {
		s += ": " + c.Claim.OpText
	}
	s += "\n    clew says " + found(c.Result)
	if c.Result.Verified {
		s += ", verified"
	}
	if c.Why != "" {
		s += "\n    " + c.Why
	}
	return s + "\n" + proof(c.Result)
}

// claimed and found are a verdict with the failing operation.
func claimed(c store.Claim) string {
	if c.HasOp {
		return fmt.Sprintf("INVALID at index %d", c.OpIndex)
	}
	return map[jepsen.Verdict]string{jepsen.Valid: "valid", jepsen.Invalid: "INVALID", jepsen.Unknown: "unknown"}[c.Verdict]
}

func found(r *report.Result) string {
	switch r.Verdict {
	case jepsen.Valid:
		return "valid"
	case jepsen.Invalid:
		return fmt.Sprintf("INVALID at index %d", r.FailingIndex())
	}
	return "unknown: " + string(r.Cause)
}

// proof is our evidence, as clew check shows it.
func proof(r *report.Result) string {
	if r.Verdict == jepsen.Valid {
		return fmt.Sprintf("    a linearization of all %d operations was found and replayed; clew check --witness FILE writes it\n", len(r.Witness))
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

// jsonLine is a comparison as JSON. Keys that do not apply are null.
func jsonLine(path string, h *jepsen.History, c clew.Comparison) string {
	type claim struct {
		Valid   any      `json:"valid"`
		OpIndex *int64   `json:"op-index"`
		Ms      *float64 `json:"ms"`
	}
	j := struct {
		File      string         `json:"file"`
		Checker   string         `json:"checker"`
		Key       *string        `json:"key"`
		Agreement string         `json:"agreement"`
		Why       string         `json:"why"`
		Knossos   *claim         `json:"knossos"`
		Clew      *report.Result `json:"clew"`
	}{File: path, Checker: c.Claim.Checker, Agreement: c.Agreement.String(), Why: c.Why, Clew: c.Result}
	if c.Claim.IsKey {
		key := h.Values.Text(c.Claim.Key)
		j.Key = &key
	}
	if c.Result != nil || c.Claim != (store.Claim{}) {
		j.Knossos = &claim{Valid: map[jepsen.Verdict]any{jepsen.Valid: true, jepsen.Invalid: false, jepsen.Unknown: "unknown"}[c.Claim.Verdict]}
		if c.Claim.HasOp {
			j.Knossos.OpIndex = &c.Claim.OpIndex
		}
		if c.Claim.Ms > 0 {
			j.Knossos.Ms = &c.Claim.Ms
		}
	}
	line, err := json.Marshal(j)
	if err != nil {
		panic(err) // it is made of numbers and text
	}
	return string(line) + "\n"
}
