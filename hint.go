package clew

import (
	"fmt"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// hint says what a user of a register may have forgotten, if the failure looks
// like it: the initial value, which it returns too, or that values are [key
// value] of independent keys.
func hint(spec models.Spec, ops *models.Operations, fail jepsen.Event) (text, init string) {
	h := ops.History
	if allPairs(h) {
		return "every value is a pair: if the first of it is a key, give --independent, and each key is a register of its own", ""
	}
	if spec.Init != "" {
		return "", ""
	}
	if h.Object == "rmw" {
		return "the register of such a file is 0 at first: give --init 0", "0"
	}
	for row := int32(0); row < int32(ops.Len()); row++ {
		if ops.Res[row] != int32(fail) {
			continue
		}
		if op := ops.Op(row); (op.Kind == models.Read || op.Kind == models.CAS) && !written(ops, op.A) && first(ops, row) {
			init = h.Values.Text(edn.ID(op.A))
			return fmt.Sprintf("nothing writes %s: if it is the initial value, give --init %s", init, init), init
		}
	}
	return "", ""
}

// written says whether any operation leaves a value.
func written(ops *models.Operations, value int32) bool {
	for i, kind := range ops.Kind {
		if kind == models.Write && ops.A[i] == value || kind == models.CAS && ops.B[i] == value {
			return true
		}
	}
	return false
}

// first says whether nothing that changes the register had returned when a row
// began.
func first(ops *models.Operations, row int32) bool {
	for i, res := range ops.Res {
		if res < ops.Inv[row] && ops.Model.Mutates(ops.Op(int32(i))) {
			return false
		}
	}
	return true
}

// allPairs says whether every value is a vector of two, and that of a cas one of
// a key and [old new].
func allPairs(h *jepsen.History) bool {
	cas := h.Values.InternKeyword("cas")
	pairs := 0
	for op, inv := range h.Invocation {
		value := h.OpValue(jepsen.Operation(op))
		if value == edn.Nil {
			continue
		}
		if !isPair(h.Values, value) || h.F[inv] == cas && !isPair(h.Values, h.Values.Items(value)[1]) {
			return false
		}
		pairs++
	}
	return pairs > 1
}

func isPair(v *edn.Values, id edn.ID) bool {
	return v.Kind(id) == edn.KindVector && len(v.Items(id)) == 2
}
