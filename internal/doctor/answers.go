package doctor

import (
	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// material holds what mutants of a history are made of.
type material struct {
	answers []answer
	groups  [][]int // the answers to the same question, each in order of completion
	groupOf []int   // by answer
	updates []jepsen.Operation

	writers map[edn.ID][]jepsen.Operation // by class of a value: the updates that were called with it
	shown   map[edn.ID]bool               // the classes that answers show
}

// answer is what an operation returned at one place of its value. The value of its call leaves that place open.
type answer struct {
	op    jepsen.Operation
	path  []int // to the place: positions among the items of values
	value edn.ID
}

// question says what an answer answers. Answers to the same question can be exchanged.
type question struct {
	f, key edn.ID
	asked  edn.ID // the class of what stands around the place in the call, such as [:r 3 nil]
	at     int    // where the place is in it, -1 if the call has nothing around it
}

// newMaterial finds what the operations of a history returned and changed. Linear time in the text of their values.
func newMaterial(ops *models.Operations) *material {
	h := ops.History
	m := &material{writers: map[edn.ID][]jepsen.Operation{}, shown: map[edn.ID]bool{}}
	var questions []question
	for row, op := range ops.Of {
		mutates := ops.Model.Mutates(ops.Op(models.Row(row)))
		given := h.Value[h.Invocation[op]]
		if mutates {
			h.Values.Leaves(given, maxLeaves, func(class edn.ID) { m.writers[class] = append(m.writers[class], op) })
		}
		if h.Status[op] != jepsen.Succeeded {
			continue
		}
		if mutates {
			m.updates = append(m.updates, op)
		}
		value := h.OpValue(op)
		h.Values.Leaves(value, maxLeaves, func(class edn.ID) {
			if !mutates || value != given {
				m.shown[class] = true
			}
		})
		f := finder{h.Values, func(a answer, asked edn.ID, at int) {
			if a.value == edn.Nil && mutates && given != edn.Nil && len(a.path) == 0 {
				return // an update that returns nil has no answer
			}
			a.op = op
			m.answers = append(m.answers, a)
			questions = append(questions, question{h.F[h.Invocation[op]], h.Key(h.Invocation[op]), h.Values.Same(asked), at})
		}}
		f.find(given, value, given, -1, nil)
	}
	m.group(questions)
	return m
}

// finder finds the places where a value answers what a call leaves open.
type finder struct {
	*edn.Values
	found func(a answer, asked edn.ID, at int)
}

// find compares the value of a call, or a part of it, with that of its completion. around is what the part stands in,
// at a position.
func (f *finder) find(given, value, around edn.ID, at int, path []int) {
	parts, items := f.Items(given), f.Items(value)
	same := f.Same(given) == f.Same(value)
	switch {
	case same && given != edn.Nil && len(parts) == 0:
	case f.Kind(given) == f.Kind(value) && len(parts) > 0 && len(parts) == len(items) && f.alike(given, value):
		for i := range parts {
			f.find(parts[i], items[i], given, i, append(path[:len(path):len(path)], i))
		}
	case !same || given == edn.Nil:
		f.found(answer{path: path, value: value}, around, at)
	}
}

// alike says whether the items of two values of the same kind and length stand at the same positions.
func (f *finder) alike(a, b edn.ID) bool {
	switch f.Kind(a) {
	case edn.KindVector, edn.KindList:
		return true
	case edn.KindMap:
		keys, others := f.Items(a), f.Items(b)
		for i := 0; i < len(keys); i += 2 {
			if f.Same(keys[i]) != f.Same(others[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// group puts answers to the same question together. Questions that are only ever answered with nil are dropped: a call
// that has nothing to return does not have an answer.
func (m *material) group(questions []question) {
	number, told := map[question]int{}, map[question]bool{}
	for i, q := range questions {
		told[q] = told[q] || m.answers[i].value != edn.Nil
	}
	all := m.answers
	m.answers = nil
	for i, a := range all {
		q := questions[i]
		if !told[q] {
			continue
		}
		g, known := number[q]
		if !known {
			g = len(m.groups)
			number[q] = g
			m.groups = append(m.groups, nil)
		}
		m.groups[g] = append(m.groups[g], len(m.answers))
		m.groupOf = append(m.groupOf, g)
		m.answers = append(m.answers, a)
	}
}

// maxLeaves bounds the parts of one value that are looked at.
const maxLeaves = 64

// put returns a value with another one at a place.
func put(v *edn.Values, whole edn.ID, path []int, value edn.ID) edn.ID {
	if len(path) == 0 {
		return value
	}
	items := append([]edn.ID(nil), v.Items(whole)...)
	items[path[0]] = put(v, items[path[0]], path[1:], value)
	switch v.Kind(whole) {
	case edn.KindMap:
		return v.InternMap(items)
	case edn.KindList:
		return v.InternList(items)
	}
	return v.InternVector(items)
}
