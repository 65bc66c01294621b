package howfar

import (
	"slices"

	"clew/models"
)

// op is an operation that certainly happened on one register of several.
type op struct {
	call
	key       int32      // the part that is the register
	row       models.Row // of the part
	saw, left int32      // versions, or -1
}

// versions are what the operations on some registers saw and left. A version is the initial value of a register, or a value
// that an update left.
type versions struct {
	*watch
	ops     []op // in order of invocation, without updates that never returned and that nothing saw
	count   int32
	initial []int32 // by key
	writer  []int32 // by version: the place in ops of the update that left it, or -1
	keyOf   []int32 // by version
	orphan  bool    // a value was seen that nothing left
}

// newVersions finds the versions. It returns false if the parts are not registers, or if a value that was seen was left more
// than once, counting initial values.
func newVersions(watch *watch, parts []*models.Operations) (*versions, bool) {
	v := &versions{watch: watch}
	for key, part := range parts {
		if !part.Model.Traits().IsRegister || !v.add(int32(key), part) {
			return nil, false
		}
	}
	slices.SortStableFunc(v.ops, byInvocation)
	v.writer = slices.Repeat([]int32{-1}, int(v.count))
	for i, x := range v.ops {
		if x.left >= 0 {
			v.writer[x.left] = int32(i)
		}
	}
	return v, true
}

func (v *versions) version(key int32) int32 {
	v.keyOf = append(v.keyOf, key)
	v.count++
	return v.count - 1
}

// updates says which value an operation of a register leaves, if it leaves another one than it saw.
func updates(x models.Op) (value int32, ok bool) {
	if x.Kind == models.CAS {
		return x.B, x.A != x.B
	}
	return x.A, x.Kind == models.Write
}

// seen returns the values that were there: those that operations saw which returned, or which left such a value. It returns
// the updates that left each value. It returns false if one of the values has several, or if an operation is of another kind.
func (v *versions) seen(part *models.Operations) (there map[int32]bool, writers map[int32][]models.Row, ok bool) {
	writers = map[int32][]models.Row{}
	var look []int32
	for row, res := range part.Res {
		v.poll()
		x := part.Op(models.Row(row))
		if x.Kind > models.CAS {
			return nil, nil, false
		}
		if value, is := updates(x); is {
			writers[value] = append(writers[value], models.Row(row))
		}
		if x.Kind != models.Write && res != models.Open {
			look = append(look, x.A)
		}
	}
	there = map[int32]bool{}
	for len(look) > 0 {
		value := look[len(look)-1]
		look = look[:len(look)-1]
		if there[value] {
			continue
		}
		there[value] = true
		if len(writers[value]) > 1 || len(writers[value]) == 1 && value == part.Model.Init()[0] {
			return nil, nil, false
		}
		for _, row := range writers[value] {
			if x := part.Op(row); x.Kind == models.CAS {
				look = append(look, x.A)
			}
		}
	}
	return there, writers, true
}

// add adds a register.
func (v *versions) add(key int32, part *models.Operations) bool {
	there, writers, ok := v.seen(part)
	if !ok {
		return false
	}
	initial := part.Model.Init()[0]
	of := map[int32]int32{initial: v.version(key)} // by value that was there
	v.initial = append(v.initial, of[initial])
	for value := range there {
		if _, known := of[value]; !known {
			of[value] = v.version(key)
			v.orphan = v.orphan || len(writers[value]) == 0
		}
	}
	for i, call := range callsOf(part, all(part)) {
		v.poll()
		row := models.Row(i)
		does := part.Op(row)
		value, is := updates(does)
		if call.res == models.Open && !(is && there[value]) {
			continue
		}
		x := op{call: call, key: key, row: row, saw: -1, left: -1}
		if does.Kind != models.Write {
			x.saw = of[does.A]
		}
		if is && there[value] {
			x.left = of[value]
		} else if is {
			x.left = v.version(key)
		}
		v.ops = append(v.ops, x)
	}
	return true
}
