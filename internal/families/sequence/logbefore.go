package sequence

import (
	"slices"

	"clew/models"
)

// # What is certain of a log
//
// Decides which operations a log has had for certain just before an event, at which nothing has failed. Cost: that of a
// decision without failures.
//
// Only what has returned says what stands at a place. The log is certain up to the first place of which that is not
// known. So the append at each place before it is known, and has happened (see the lemma in log.go). Let the sweep stop
// when the log grows beyond that place.
//
// Lemma: whatever is invoked later, a linearization may begin with what the sweep has linearized by then, in its order.
// Take any linearization, and move these to the front. The appends among them are those of the first places there, too,
// in the same order; so each of these operations sees what it saw in the sweep. The others see what they saw before: a
// longer log does not matter to a read of one place. A read of a length or of the whole list that was moved over would
// have seen a length that is certain, and the sweep linearizes such a read as soon as it gets there. As for time: what
// the sweep has not linearized by then did not return before one of them began, or the sweep would have needed it first.
//
// A read of one place is left out until it has returned, since it may be wrong; and so is a read of the whole list that
// is wrong. An append that would tell its place, but crashed, may stand elsewhere: then nothing is certain.

// LogBefore returns the operations that have happened for certain just before an event, at which nothing has failed, and
// the classes of the values that they appended, in order. It returns false if that cannot be known.
func LogBefore(c *models.Columns, shape models.LogShape, event int32) (done []bool, values []int32, ok bool) {
	begun, _ := slices.BinarySearch(c.Inv, event)
	past := *c
	past.Inv, past.Res, past.Kind, past.A, past.B = c.Inv[:begun], c.Res[:begun], c.Kind[:begun], c.A[:begun], c.B[:begun]
	for row, res := range past.Res {
		if res == models.Open && past.Kind[row] == models.AppendTo && past.B[row] != 0 {
			return nil, nil, false
		}
	}
	l := &logging{Columns: &past, shape: shape, witness: true, known: event}
	if reason := l.places(); reason != nil || l.bad.op >= 0 {
		return nil, nil, false
	}
	if l.sweep(tellersFirst); l.bad.op >= 0 {
		return nil, nil, false
	}
	certain := l.base
	for certain < l.now && l.value[certain] != 0 && l.holder[certain] != 0 {
		certain++
	}
	done = make([]bool, c.Len())
	grown := l.base
	for _, row := range l.order {
		if past.Kind[row] == models.AppendTo {
			if grown == certain {
				break
			}
			grown++
		}
		done[row] = past.Res[row] < event || l.isCertain(row)
	}
	for _, class := range l.value[l.base:certain] {
		values = append(values, class-1)
	}
	return done, values, true
}

// isCertain says whether a row that the sweep has linearized and that has not returned is right, whatever it says.
func (l *logging) isCertain(row models.Row) bool {
	switch l.Kind[row] {
	case models.ReadAt:
		return false
	case models.ReadLog:
		for place, class := range l.shape.Lists[l.A[row]] {
			if l.value[place] != class+1 {
				return false
			}
		}
	}
	return true
}
