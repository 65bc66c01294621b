package oracle

import (
	"fmt"
	"math/bits"
	"slices"

	"clew/models"
)

// Core says what is wrong with the core of a failure, or returns nil. The rows
// must ascend and include the failing one, and as a history of its own the core
// must first fail at fail. closed says which sets of rows are choices. No choice
// smaller than the core may fail. closed may be nil.
func (h *History) Core(core []models.Row, fail int32, closed func(ops Set) bool) error {
	if slices.ContainsFunc(core, func(row models.Row) bool { return row < 0 || int(row) >= h.Len() || h.Inv[row] >= fail }) {
		return fmt.Errorf("it knows what began after the failure")
	}
	ops := SetOf(core)
	switch {
	case !slices.IsSorted(core) || bits.OnesCount32(uint32(ops)) != len(core):
		return fmt.Errorf("it does not ascend")
	case !slices.ContainsFunc(core, func(row models.Row) bool { return h.Res[row] == fail }):
		return fmt.Errorf("the failing operation is not in it")
	case closed != nil && !closed(ops):
		return fmt.Errorf("it is not closed")
	case h.Linearizable(fail+1, ops):
		return fmt.Errorf("it is linearizable")
	case !h.Linearizable(fail, ops):
		return fmt.Errorf("as a history of its own it fails before")
	case closed == nil:
		return nil
	}
	for less := (ops - 1) & ops; less != 0; less = (less - 1) & ops {
		if closed(less) && !h.Linearizable(fail+1, less) {
			return fmt.Errorf("it is not minimal: %v is enough", less.Rows())
		}
	}
	return nil
}

// Unions says which sets consist of some whole units, besides the rows that are
// always in them.
func Unions(always Set, units []Set) (closed func(ops Set) bool) {
	return func(ops Set) bool {
		whole := always
		for _, unit := range units {
			if ops&unit != 0 {
				whole |= unit
			}
		}
		return ops == whole
	}
}
