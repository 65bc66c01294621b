package held

import (
	"slices"
	"sort"
	"strconv"

	"clew/edn"
	"clew/internal/forget"
	"clew/jepsen"
	"clew/models"
)

// Judged is a history that is judged by itself: the whole, or that of a key.
type Judged struct {
	H      *jepsen.History
	Key    string               // "" for the whole
	Parts  []*models.Operations // as they go on in their states
	keys   []string             // by part
	as     models.Model         // by which they were read
	Varies bool                 // a key has several spellings
	exact  bool                 // a key has one spelling, whatever else equals it, and operations one reading
	lasts  bool                 // no later operation joins its parts
}

// Judge returns the operations of a history that is judged by itself: the whole, or that of a key. exact is false if the
// key has other spellings, or if later operations may show that these are read in another way.
func (x *History) Judge(h *jepsen.History, key string, exact bool, whole *models.Operations) *Judged {
	j := &Judged{H: h, Key: key, as: whole.Model, exact: exact, Parts: whole.Parts()}
	p := whole.Model.Traits().Partition
	j.lasts = p == nil || p.Keys
	j.nameParts(whole)
	for i, part := range j.Parts {
		state := x.States[j.KeyOf(i)]
		if state == nil && len(x.Settled) == 0 {
			continue
		}
		rows, settled := make([]models.Row, 0, part.Len()), map[jepsen.Operation]models.Op{}
		for row, op := range part.Of {
			if whole := h.WholeOperation(op); has(x.Settled, whole) {
				settled[whole] = part.Op(models.Row(row))
			} else {
				rows = append(rows, models.Row(row))
			}
		}
		var path []models.Op
		if state != nil {
			for _, op := range state.Path {
				path = append(path, settled[op])
			}
		}
		j.Parts[i] = forget.From(part.Select(rows), state, path)
	}
	return j
}

// Spelled returns a key as EDN, integers always in the same way. exact says whether no other spelling is the same key.
func Spelled(v *edn.Values, value edn.ID) (text string, exact bool) {
	if n, ok := v.Int(value); ok {
		return strconv.FormatInt(n, 10), true
	}
	return v.Text(value), forget.HasOneSpelling(v, value)
}

// nameParts finds the names of the parts of some operations, such as the keys of a map.
func (j *Judged) nameParts(whole *models.Operations) {
	j.keys = make([]string, len(j.Parts))
	p := whole.Model.Traits().Partition
	if p == nil {
		return
	}
	rows := whole.Rows()
	for i, part := range j.Parts {
		if part.Len() > 0 {
			if key := edn.ID(p.Of(whole.Op(rows[part.Of[0]]))); key >= 0 && int(key) < j.H.Values.Len() {
				var exact bool
				j.keys[i], exact = Spelled(j.H.Values, key)
				j.exact, j.Varies = j.exact && exact, j.Varies || !exact
			}
		}
	}
}

// Event turns an event of the whole into the first one of H at it or later.
func (j *Judged) Event(whole jepsen.Event) int32 {
	return int32(sort.Search(len(j.H.Type), func(e int) bool { return j.H.InWhole(jepsen.Event(e)) >= whole }))
}

// KeyOf returns the name of a part among all that are judged.
func (j *Judged) KeyOf(part int) string { return KeyOf(j.Key, j.keys[part]) }

// KeyOf returns the name of a part of a history that is judged by itself, "" if it is not in parts.
func KeyOf(key, part string) string { return key + " " + part }

// NameOf returns the key of a part for people, "" without keys: the independent key, or that of a map.
func (j *Judged) NameOf(part int) string {
	if j.Key != "" {
		return j.Key
	}
	return j.keys[part]
}

// any reports whether something is so of an operation that has a meaning, or that failed and would have one if it had crashed.
func (j *Judged) any(is func(jepsen.Operation) bool) bool {
	for _, part := range j.Parts {
		if slices.ContainsFunc(part.Of, is) {
			return true
		}
	}
	reader, reads := j.as.(models.Reader)
	for op, status := range j.H.Status {
		if op := jepsen.Operation(op); status == jepsen.Failed && is(op) {
			called := models.OperationOf(j.H, op)
			called.Status, called.ValueID = jepsen.Crashed, called.GivenID
			if !reads {
				return true
			}
			if _, keep, err := reader.Read(called); keep || err != nil {
				return true
			}
		}
	}
	return false
}

// LeaveOut leaves an operation out of a part.
func (j *Judged) LeaveOut(part int, row models.Row) {
	ops := j.Parts[part]
	rows := make([]models.Row, 0, ops.Len())
	for r := range models.Row(ops.Len()) {
		if r != row {
			rows = append(rows, r)
		}
	}
	j.Parts[part] = ops.Select(rows)
}

// Crash has an operation of a part count as crashed, as it does in the history. It returns false if others may be read in another
// way then, so that all must be read again.
func (j *Judged) Crash(part int, row models.Row) bool {
	reader, reads := j.as.(models.Reader)
	t := j.as.Traits()
	if j.Key != "" || !reads || t.AnyOrder == nil || !t.AnyOrder(j.H) || t.Finish != nil || t.Partition != nil {
		return false
	}
	ops := j.Parts[part]
	op, keep, err := reader.Read(models.OperationOf(j.H, ops.Of[row]))
	if err != nil || !keep || !reader.Mutates(op) {
		return false
	}
	ops.Res[row], ops.Kind[row], ops.A[row], ops.B[row] = models.Open, op.Kind, op.A, op.B
	return true
}
