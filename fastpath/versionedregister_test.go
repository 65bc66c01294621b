package fastpath

import (
	"fmt"
	"slices"
	"testing"

	"clew/models"
)

// versionedArgs are nil and two values, and every cas from one of them to a
// value. The first are for reads and writes.
var versionedArgs = [][2]int32{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}

const anything = 255 // a value that nobody has told yet

// stepOfVersioned is the sequential meaning of an operation, where a state is
// the version and the value. If others may be anywhere, any updates can happen
// before it.
func stepOfVersioned(others bool) step {
	return func(dst []string, op models.Op, state string) []string {
		version, value, args := int32(state[0]), int32(state[1]), versionedArgs[op.B]
		want := op.A - 1 // the version that the operation is to find
		if op.Kind != models.Read {
			want--
		}
		if others && op.A > 0 && want > version {
			version, value = want, anything
		}
		if op.A > 0 && want != version {
			return dst
		}
		fits := value == args[0] || value == anything
		switch op.Kind {
		case models.Read:
			if args[0] == 0 {
				fits = true
			} else {
				value = args[0]
			}
		case models.Write:
			version, value, fits = version+1, args[0], true
		case models.CAS:
			version, value = version+1, args[1]
		}
		if !fits {
			return dst
		}
		return append(dst, string([]byte{byte(version), byte(value)}))
	}
}

// versionedType is a versioned register that begins with a version and a value.
func versionedType(name string, first, value int32, completed, crashed []models.Op) *sweepType {
	return &sweepType{
		name: name,
		decide: func(c *models.Columns, want Want) Decision {
			return VersionedRegister(c, Versions{First: first, Value: value, Args: versionedArgs}, want)
		},
		init:      string([]byte{byte(first), byte(value)}),
		next:      stepOfVersioned(false),
		completed: completed,
		crashed:   crashed,
		says:      func(op models.Op) bool { return op.Kind != models.Read },
		like: func(op models.Op) (ways []models.Op) {
			for a := range int32(16) {
				way := op
				way.A = a + 1
				if op.A == 0 {
					way.A = 0
				}
				ways = append(ways, way)
				for b := int32(1); op.Kind == models.Read && op.B > 0 && b < 3; b++ {
					way.B = b
					ways = append(ways, way)
				}
			}
			return ways
		},
		core: versionedCore,
	}
}

// versionedOps are operations of versions from 1 to last, and 0 for reads.
func versionedOps(last int32, kinds ...models.Kind) (ops []models.Op) {
	for a := range last + 1 {
		for _, kind := range kinds {
			op := models.Op{Kind: kind, A: a + 1}
			switch {
			case kind == models.Read:
				for op.B = range int32(3) {
					ops = append(ops, op)
				}
			case a > 0 && kind == models.Write:
				for op.B = int32(1); op.B < 3; op.B++ {
					ops = append(ops, op)
				}
			case a > 0:
				for op.B = int32(3); op.B < 9; op.B++ {
					ops = append(ops, op)
				}
			}
		}
	}
	return ops
}

// versionless are writes and cas as they crash.
func versionless(kinds ...models.Kind) (ops []models.Op) {
	for _, op := range versionedOps(1, kinds...) {
		op.A = 0
		ops = append(ops, op)
	}
	return ops
}

var (
	versionedReads = []models.Op{{Kind: models.Read, B: 1}, {Kind: models.Read, B: 2}} // without versions

	versionedTypes = []*sweepType{
		versionedType("versioned register of writes", 0, 0,
			versionedOps(3, models.Read, models.Write), versionless(models.Write)),
		versionedType("versioned register", 0, 0,
			versionedOps(3, models.Read, models.Write, models.CAS), versionless(models.Write, models.CAS)),
		versionedType("versioned register from version 1", 1, 2,
			versionedOps(4, models.Read, models.Write, models.CAS), slices.Concat(versionless(models.Write, models.CAS), versionedOps(3, models.Write))),
		versionedType("versioned register whose operations may not say the version", 0, 0,
			slices.Concat(versionedOps(2, models.Read, models.Write, models.CAS), versionedReads, versionedReads, versionless(models.Write)), versionless(models.Write, models.CAS)),
	}
)

// versionedCore says what is wrong with a core: the history up to the failure
// without reads that are open, or a choice that is wrong whatever others do, and
// no less of it is.
func versionedCore(k *sweepType, c *models.Columns, d Decision) string {
	switch d.Why.Pattern {
	case NoUpdate, TooFewUpdates, NeverCurrent:
		for i := range int32(c.Len()) {
			if slices.Contains(d.Core, i) != (c.Inv[i] < d.Fail && (c.Kind[i] != models.Read || c.Res[i] <= d.Fail)) {
				return "not the history up to the failure"
			}
		}
		return ""
	}
	cut, rows := k.cut(c, d.Fail)
	for s := range 1 << len(d.Core) {
		var some []int32
		for n, i := range d.Core {
			if s>>n&1 != 0 {
				some = append(some, i)
			}
		}
		x := rowsOf(cut, rows, some)
		o := &oracle{x, k.init, stepOfVersioned(true), map[position]bool{}}
		if o.linearizable(x.Events, all(x)) != (len(some) < len(d.Core)) {
			return fmt.Sprintf("not minimal, or not wrong whatever others do: %v", some)
		}
	}
	return ""
}

func TestEverySmallHistoryOfVersionedRegisters(t *testing.T) {
	for _, test := range []struct {
		name               string
		completed, crashed []models.Op
		n, long            int
	}{
		{"all operations", slices.Concat(versionedOps(3, models.Read, models.Write, models.CAS), versionedReads), versionless(models.Write, models.CAS), 2, 3},
		{"writes", slices.Concat(versionedOps(2, models.Write), versionedOps(3, models.Read)), versionless(models.Write), 2, 4},
		{"few values", []models.Op{{Kind: models.Write, A: 2, B: 1}, {Kind: models.Write, A: 3, B: 2}, {Kind: models.CAS, A: 3, B: 7},
			{Kind: models.Read, A: 2, B: 1}, {Kind: models.Read, A: 3}, {Kind: models.Read, A: 3, B: 2}, {Kind: models.Read, B: 1}},
			[]models.Op{{Kind: models.Write, B: 1}, {Kind: models.Write, B: 2}, {Kind: models.CAS, B: 7}}, 3, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := versionedType(test.name, 0, 0, test.completed, test.crashed)
			n := test.n
			if long {
				n = test.long
			}
			for n := range n + 1 {
				everySweep(t, k, n, k.alphabet)
			}
		})
	}
}

func TestRandomVersionedRegisters(t *testing.T) { randomSweep(t, versionedTypes...) }
