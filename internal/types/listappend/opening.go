package listappend

import (
	"slices"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// opening is the Opening of list-append. A list was there at first if a read saw it before any append to it had been called,
// whether that failed or not, and if nothing appends its elements later: each is appended once, so such a read has seen the
// future.
type opening struct {
	models.NoNeeds
	m        *listAppend
	called   map[int32]bool    // by slot: an append
	appended map[int32]bool    // by element, anywhere in the history
	saw      map[int32][]int32 // by slot: what the first such read saw
	slots    []int32           // of saw, as they came
}

func (m *listAppend) opening() models.Opening {
	return &opening{m: m, called: map[int32]bool{}, appended: map[int32]bool{}, saw: map[int32][]int32{}}
}

func (o *opening) Call(_ jepsen.Operation, op models.Op, _ jepsen.Status) {
	for _, step := range o.m.steps(op) {
		if step.Append {
			o.called[step.Slot], o.appended[step.Value] = true, true
		}
	}
}

func (o *opening) Return(_ jepsen.Operation, op models.Op, _ bool) {
	for _, step := range o.m.steps(op) {
		if _, known := o.saw[step.Slot]; !known && !step.Append && !o.called[step.Slot] {
			o.saw[step.Slot] = o.m.shape.List(step)
			o.slots = append(o.slots, step.Slot)
		}
	}
}

func (o *opening) Puts(models.Op) bool { return false }

func (o *opening) Later() bool { return true }

func (o *opening) Starts() []edn.ID {
	var kvs []edn.ID
	for _, slot := range o.slots {
		list := o.saw[slot]
		if len(list) > 0 && !slices.ContainsFunc(list, func(element int32) bool { return o.appended[element] }) {
			kvs = append(kvs, o.m.keys[slot], o.m.vector(list))
		}
	}
	if kvs == nil {
		return nil
	}
	return []edn.ID{models.InitMap(o.m.V, kvs)}
}
