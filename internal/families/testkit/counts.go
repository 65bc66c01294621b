package testkit

import (
	"fmt"
	"slices"

	"clew/fastpath"
	"clew/jepsen"
	"clew/models"
)

// Counts holds what a run of comparisons has seen.
type Counts struct {
	Histories, Valid, Invalid, Ambiguous, FailUnknown, Unexplained, Crashed int

	CoreSize [17]int
	Patterns map[string]int
	Reasons  map[string]int
}

func (n *Counts) String() string {
	return fmt.Sprintf("%d histories: %d valid, %d invalid (%d without first failing completion, %d unexplained), %d ambiguous (%.1f%%) %v, %d with a crash; core sizes %v; patterns %v",
		n.Histories, n.Valid, n.Invalid, n.FailUnknown, n.Unexplained, n.Ambiguous,
		100*float64(n.Ambiguous)/float64(max(1, n.Histories)), n.Reasons, n.Crashed, n.CoreSize, n.Patterns)
}

// failed counts a core and its violation.
func (n *Counts) failed(core []models.Row, why *fastpath.Finding) {
	if n.Patterns == nil {
		n.Patterns = map[string]int{}
	}
	n.CoreSize[min(len(n.CoreSize)-1, len(core))]++
	if why == nil {
		n.Unexplained++
		return
	}
	n.Patterns[why.Name]++
}

// undecided counts an ambiguity.
func (n *Counts) undecided(reason *fastpath.Finding) {
	if n.Reasons == nil {
		n.Reasons = map[string]int{}
	}
	n.Reasons[reason.Says]++
}

// count counts a decision that was judged.
func (n *Counts) count(c *models.Columns, d fastpath.Decision) {
	n.Histories++
	if slices.Contains(c.Res, models.Open) {
		n.Crashed++
	}
	switch {
	case d.Verdict == jepsen.Unknown:
		n.Ambiguous++
		n.undecided(d.Reason)
	case d.Verdict == jepsen.Valid:
		n.Valid++
	case d.FailEvent < 0:
		n.Invalid++
		n.FailUnknown++
		n.undecided(d.Reason)
	default:
		n.Invalid++
		n.failed(d.Core, d.Why)
	}
}
