package forget

import (
	"slices"

	"clew/edn"
	"clew/internal/families/sequence"
	"clew/models"
)

// # Logs
//
// A log goes on from what is certain of it (see internal/families/sequence/logbefore.go): its values are remembered, and
// the operations are not. What is kept is what is open, and what came since a place of which it is not known what stands
// there: crashed appends that nothing has seen may do so.
//
// A read of a remembered place can be judged at once, as the log only grows. Other places count from the remembered ones
// on, so that a decision does not depend on how many there are.

// List is a list of values.
type List struct {
	Numbers []int64        // by place: an integer
	Texts   map[int]string // by place: any other value
}

// add adds a value. It returns false if that has several spellings.
func (l *List) add(v *edn.Values, value edn.ID) bool {
	n, isInt := v.Int(value)
	if !isInt {
		if !HasOneSpelling(v, value) {
			return false
		}
		if l.Texts == nil {
			l.Texts = map[int]string{}
		}
		l.Texts[len(l.Numbers)] = v.Text(value)
	}
	l.Numbers = append(l.Numbers, n)
	return true
}

// is says whether a value stands at a place.
func (l *List) is(v *edn.Values, place int, value edn.ID) bool {
	text, isText := l.Texts[place]
	n, isInt := v.Int(value)
	return isInt && !isText && n == l.Numbers[place] || !isInt && isText && text == v.Text(value)
}

// log does what Needed does for a log.
func log(part *models.Operations, shape models.LogShape, decided int32) Kept {
	done, values, ok := sequence.LogBefore(&part.Columns, shape, decided)
	next := &State{}
	if last := stateOf(part.Model); last != nil {
		next.List = last.List
	}
	for _, class := range values {
		ok = ok && next.List.add(part.History.Values, edn.ID(class))
	}
	return settled(&part.Columns, decided, done, next, ok)
}

// resumedLog is a log of which some values are remembered. Places behind those that it began with count from the
// remembered ones on.
type resumedLog struct {
	*resumed
	begins []int32
	lists  [][]int32 // those that are read, without remembered values, but with those that it began with
}

// log returns operations under a log that goes on.
func (r *resumed) log(part *models.Operations, shape models.LogShape) *models.Operations {
	m := &resumedLog{resumed: r, begins: shape.Init, lists: slices.Clone(shape.Lists)}
	var rows []models.Row
	for row := range models.Row(part.Len()) {
		if !m.isOld(part, row) {
			rows = append(rows, row)
		}
	}
	part = part.Select(rows)
	for row := range models.Row(part.Len()) {
		m.shift(part, row, shape.Lists)
	}
	shape.Lists = m.lists
	r.init = r.Model.Init()
	r.traits.Shape, r.traits.Because = func() models.Shape { return shape }, nil // which would tell other places
	if slices.Contains(part.Kind, models.ReadLog) {
		r.traits.Run, r.traits.Hindsight = nil, nil // which know other lists
		ahead := *r.traits.Lookahead
		r.traits.Lookahead = &models.Lookahead{MayLead: ahead.MayLead, MayFollow: func(s models.State, op models.Op, others []models.Op) bool {
			return op.Kind == models.ReadLog || ahead.MayFollow(s, op, others)
		}}
	}
	return part.Under(m)
}

// at says whether a value is remembered at a place. There must be one.
func (m *resumedLog) at(v *edn.Values, place int32, value int32) bool {
	if begins := int32(len(m.begins)); place >= begins {
		return m.state.List.is(v, int(place-begins), edn.ID(value))
	}
	return m.begins[place] == value
}

// length returns how many values are remembered, with those that the log began with.
func (m *resumedLog) length() int32 { return int32(len(m.begins) + len(m.state.List.Numbers)) }

// isOld says whether an operation saw what is remembered at a place, and says nothing more.
func (m *resumedLog) isOld(part *models.Operations, row models.Row) bool {
	return part.Kind[row] == models.ReadAt && part.B[row] < m.length() && m.at(part.History.Values, part.B[row], part.A[row])
}

// shift has an operation count from the remembered places on. The whole lists are those that are read.
func (m *resumedLog) shift(part *models.Operations, row models.Row, whole [][]int32) {
	by, length := int32(len(m.state.List.Numbers)), m.length()
	b, possible := &part.B[row], true
	switch part.Kind[row] {
	case models.AppendTo:
		if *b == 0 {
			return
		}
		possible = *b > length
	case models.ReadAt:
		possible = *b >= length
	case models.ReadNothing, models.Tail:
		possible = *b >= length
	case models.ReadLog:
		list := part.A[row]
		if m.lists[list], possible = m.rest(part.History.Values, whole[list]); possible {
			return
		}
	case models.AppendNever:
		return
	}
	switch *b -= by; {
	case possible:
	case part.Kind[row] == models.AppendTo:
		*b = models.MaxCount
	default:
		part.Kind[row], *b = models.ReadAt, models.MaxCount
	}
}

// rest returns a list without remembered values, but with those that the log began with. It returns false if the
// remembered ones are others.
func (m *resumedLog) rest(v *edn.Values, whole []int32) (list []int32, ok bool) {
	if len(whole) < int(m.length()) {
		return nil, false
	}
	for place, value := range whole[:m.length()] {
		if !m.at(v, int32(place), value) {
			return nil, false
		}
	}
	return append(slices.Clone(m.begins), whole[m.length():]...), true
}

// Step implements models.Model.
func (m *resumedLog) Step(dst []models.State, s models.State, op models.Op) []models.State {
	if op.Kind != models.ReadLog {
		return m.Model.Step(dst, s, op)
	}
	read := m.init
	for _, value := range m.lists[op.A][len(m.begins):] {
		read = m.Model.Step(nil, read, models.Op{Kind: models.AppendTo, A: value})[0]
	}
	if slices.Equal(read, s) {
		dst = append(dst, s)
	}
	return dst
}
