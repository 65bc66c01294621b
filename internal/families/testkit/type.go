package testkit

import (
	"context"

	"clew/internal/effort"

	"clew/fastpath"
	"clew/internal/oracle"
	"clew/models"
)

// Long reports whether tests run the campaigns that take minutes.
var Long = effort.Long()

// Decide decides columns by a family's path for a shape.
func Decide(family fastpath.Family, shape models.Shape, c *models.Columns, want fastpath.Want) fastpath.Decision {
	path, _ := family(shape)
	return path.Decide(context.Background(), c, want)
}

// Type is a data type that a path decides, for tests.
type Type struct {
	Name   string
	Decide func(c *models.Columns, want fastpath.Want) fastpath.Decision
	// Spec is written for tests. Nothing in models says what an operation means here.
	oracle.Spec

	// Completed and Crashed are the operations that small histories consist of.
	Completed, Crashed []models.Op
	// Says returns false for operations that say nothing while they are open; nil: it returns true.
	Says func(op models.Op) bool
	// Like returns what an operation may turn out to be when it happens.
	Like func(op models.Op) []models.Op
	// Owned: A is the process.
	Owned bool
	// Numbered reports whether A of an operation may be replaced by another number.
	Numbered func(op models.Op) bool

	// Closed says which sets of rows are choices. A core is a choice, and no
	// smaller one fails. nil: Core says what a core is.
	Closed func(c *models.Columns, d fastpath.Decision) func(ops oracle.Set) bool
	// Core says what else is wrong with a core, given the history up to the failure.
	Core func(k *Type, c *models.Columns, d fastpath.Decision) string
	// Why reports whether the claim of a violation is true.
	Why func(c *models.Columns, d fastpath.Decision) bool
	// Later returns the row of a violation that may have come after the
	// failure; nil: that of fastpath.NeverAdded.
	Later func(why *fastpath.Finding) models.Row
	// Unexplained: there may be no violation.
	Unexplained bool
	// Doubt reports whether a reason for ambiguity is true.
	Doubt func(c *models.Columns, reason *fastpath.Finding) bool
	// Seen: an operation that crashed stands in a witness only if the next one
	// saw its effect, which Seen reports. nil: if it is not the last.
	Seen func(next models.Op) bool

	// Kinds holds the names of the kinds.
	Kinds []string
}

// History returns columns in the form that the oracle judges.
func (k *Type) History(c *models.Columns) *oracle.History {
	return oracle.New(c, k.Spec)
}

// Linearizable reports whether a history is linearizable.
func (k *Type) Linearizable(c *models.Columns) bool {
	h := k.History(c)
	return h.Linearizable(c.Events, h.All())
}

// Shows says why an order is not a linearization of a history of any length.
func (k *Type) Shows(c *models.Columns, order []models.Row) error {
	return k.History(c).Shows(order, c.Events)
}

// Show prints a history for people.
func (k *Type) Show(c *models.Columns) string { return Show(c, k.Kinds...) }

// Alphabet returns the operations that crashed, or those that completed.
func (k *Type) Alphabet(_ *models.Columns, open bool) []models.Op {
	if open {
		return k.Crashed
	}
	return k.Completed
}

// Cut returns the history up to and including event t as a model sees it,
// and the rows that it keeps.
func (k *Type) Cut(c *models.Columns, t int32) (cut *models.Columns, rows []models.Row) {
	cut = &models.Columns{Events: t + 1}
	for i := range int32(c.Len()) {
		op, res := c.Op(i), c.Res[i]
		if c.Inv[i] > t {
			break
		}
		if res > t {
			res = models.Open
			if !k.says(op) {
				continue
			}
		}
		cut.Append(c.Inv[i], res, op)
		rows = append(rows, i)
	}
	return cut, rows
}

func (k *Type) says(op models.Op) bool { return k.Says == nil || k.Says(op) }

// later returns the row of a violation that may have come after the failure, or Missing.
func (k *Type) later(why *fastpath.Finding) models.Row {
	if k.Later != nil {
		return k.Later(why)
	}
	if why.Is(fastpath.NeverAdded) {
		return why.Rows[1]
	}
	return fastpath.Missing
}
