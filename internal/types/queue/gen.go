package queue

import (
	"math/bits"
	"slices"

	"clew/internal/gen"
)

// Order says which element comes out of a container.
type Order int

// The orders.
const (
	Oldest Order = iota
	Newest
	Whichever
	Greatest
)

// Generated has the containers that hand out their elements, in generated histories.
type Generated struct {
	Add, Remove   []string // the names of the operations
	Order         Order
	Peeks, Drains bool // small histories have :peek, :drain
	Java          bool // nothing else than nil comes out if it is empty
}

// Of makes the object of a history.
func (names Generated) Of(m *gen.Maker) gen.Object { return names.New(m) }

// Object is a container. In long histories it stays short.
type Object struct {
	*gen.Maker
	Generated
	Now   []int
	shift uint // of priorities, if every element has its own
	added int  // of the values that are added only once
}

// The values that stand for nothing. For Knossos they are elements.
const (
	none  = -1 // nil
	empty = -2 // :empty
)

// New returns the object of a history.
func (names Generated) New(m *gen.Maker) *Object {
	x := &Object{Maker: m, Generated: names}
	if names.Order == Greatest && m.Values == 0 {
		x.shift = 64 - uint(bits.Len(uint(2*m.Operations)))
		m.Mark = 1 << (64 - x.shift)
	}
	return x
}

// next returns the place of the element that comes out.
func (x *Object) next() int {
	switch x.Order {
	case Newest:
		return len(x.Now) - 1
	case Whichever:
		return x.Rand.IntN(len(x.Now))
	case Greatest:
		best, ties := 0, 1
		for i := 1; i < len(x.Now); i++ {
			switch higher := x.compare(x.Now[i], x.Now[best]); {
			case higher > 0:
				best, ties = i, 1
			case higher == 0 && x.Small:
				if ties++; x.Rand.IntN(ties) == 0 {
					best = i
				}
			}
		}
		return best
	}
	return 0
}

// compare compares the priorities of two elements.
func (x *Object) compare(e, f int) int {
	switch {
	case !x.Small:
		return e - f
	case x.Options.Least:
		e, f = f, e
	}
	m, n := x.Number(e), x.Number(f)
	switch {
	case m > n:
		return 1
	case m < n:
		return -1
	}
	return 0
}

// may says whether the element in a place may come out now.
func (x *Object) may(i int) bool {
	switch x.Order {
	case Oldest:
		return i == 0
	case Newest:
		return i == len(x.Now)-1
	case Greatest:
		return !slices.ContainsFunc(x.Now, func(e int) bool { return x.compare(e, x.Now[i]) > 0 })
	}
	return true
}

// element returns an element to add. Distinct priorities come in no order: they
// are the numbers from 0 on times an odd number, modulo a power of two.
func (x *Object) element() int {
	switch {
	case x.Small && x.Options.Knossos && x.Order != Greatest && x.Chance(0.1):
		return [...]int{none, empty}[x.Rand.IntN(2)]
	case x.shift > 0:
		return int(uint64(x.Write()) * 0x9e3779b97f4a7c15 << x.shift >> x.shift)
	}
	return x.Write()
}

// unique returns the next of the values that are added once each.
func (x *Object) unique() (element int, ok bool) {
	x.added++
	return x.added - 1, x.added <= x.Values
}

func (x *Object) Change(*gen.Thread) gen.Op {
	if short := 2 * x.Processes; x.Rand.IntN(len(x.Now)+short) < short {
		return gen.Op{F: x.Add[0], Changes: true, A: x.element()}
	}
	return gen.Op{F: x.Remove[0], Changes: true}
}

func (x *Object) Call(*gen.Thread) gen.Op {
	switch n := x.Rand.IntN(20); {
	case n < 9:
		element, ok := x.element(), true
		if x.Options.Unique {
			element, ok = x.unique()
		}
		if ok {
			return gen.Op{F: x.OneOf(x.Add...), Changes: true, A: element}
		}
	case n == 19 && x.Drains:
		return gen.Op{F: ":drain", Changes: true}
	case n >= 17 && x.Peeks:
		return gen.Op{F: ":peek"}
	}
	return gen.Op{F: x.OneOf(x.Remove...), Changes: true}
}

func (x *Object) Start(b []byte) []byte {
	for range x.Rand.IntN(4) {
		element, ok := x.Write(), true
		if x.Options.Unique {
			element, ok = x.unique()
		}
		if ok {
			x.Now = append(x.Now, element)
		}
	}
	return x.Sequence(b, x.Now...)
}

func (x *Object) Name(o *gen.Op) {
	switch {
	case o.F == ":drain":
		o.Named, o.List = true, x.some()
	case slices.Contains(x.Remove, o.F):
		if o.Named, o.List = true, []int{x.element()}; x.Chance(0.05) && !(x.Options.Knossos && x.Order == Greatest) {
			o.List[0] = empty // nothing, unless that is an element
		}
	}
}

// some returns a few elements.
func (x *Object) some() (list []int) {
	for range x.Rand.IntN(3) {
		list = append(list, x.element())
	}
	return list
}

// MayCrash returns false for operations that remove, before a bug that such a
// crash could explain.
func (x *Object) MayCrash(_ *gen.Thread, o *gen.Op) bool {
	return o.F != x.Remove[0] || x.Phase == gen.After || x.Kind != gen.LostWrite && x.Kind != gen.Reordered && x.Kind != gen.WrongEmpty
}

// Bug adds marked elements, and takes out what cannot come out.
func (x *Object) Bug(*gen.Thread) gen.Op {
	add := gen.Op{F: x.Add[0], Changes: true, A: x.Mark}
	wrong := gen.Op{F: x.Remove[0], Changes: true, A: x.Mark}
	switch {
	case x.Kind == gen.WrongAnswer:
		wrong.Last = true
		return wrong
	case x.Kind == gen.ImpossibleRead:
		wrong.A = x.Mark + 2
	case x.Kind == gen.LostWrite:
		return x.lose(add)
	case x.Step == 0:
		return add
	case x.Kind == gen.WrongEmpty:
		wrong.A = none
	case x.Kind == gen.Reordered && x.Step == 1:
		add.A++
		return add
	case x.Kind == gen.Reordered:
		return x.overtake(wrong)
	case slices.Contains(x.Now, x.Mark):
		return gen.Op{F: x.Remove[0], Changes: true}
	case x.Kind == gen.StaleRead:
		wrong.F = ":peek"
	}
	return gen.Wrong(wrong)
}

// lose adds an element that gets lost. What comes out next shows it: for a queue,
// what was added later; for a stack, what was added before; for others, nothing or
// something else.
func (x *Object) lose(lost gen.Op) gen.Op {
	other := lost
	lost.Forced = true
	other.A++
	switch {
	case x.Step == 0 && x.Order == Newest, x.Step == 1 && x.Order == Oldest:
		return other
	case x.Step == 0, x.Step == 1 && x.Order == Newest:
		return lost
	}
	o := gen.Op{F: x.Remove[0], Changes: true, Last: true}
	switch x.Order {
	case Oldest:
		o.Last = x.Now[0] == other.A
	case Whichever:
		o.Last = len(x.Now) == 0
	}
	return o
}

// overtake removes one of two marked elements, although the other comes before it.
// It leaves the element in place, since others may read meanwhile.
func (x *Object) overtake(o gen.Op) gen.Op {
	switch x.Now[x.next()] {
	case x.Mark:
		o.A = x.Mark + 1
	case x.Mark + 1:
		o.A = x.Mark
	default:
		return o // right
	}
	return gen.Wrong(o)
}

// take removes the element in a place.
func (x *Object) take(i int) int {
	e := x.Now[i]
	if i == 0 {
		x.Now = x.Now[1:]
	} else {
		x.Now = slices.Delete(x.Now, i, i+1)
	}
	return e
}

// takeNamed takes the given elements one after another, or none.
func (x *Object) takeNamed(elements []int) {
	before := slices.Clone(x.Now)
	for _, e := range elements {
		i := 0
		for i < len(x.Now) && !(x.Now[i] == e && x.may(i)) {
			i++
		}
		if i == len(x.Now) {
			x.Now = before
			return
		}
		x.take(i)
	}
}

func (x *Object) Apply(o *gen.Op) gen.Outcome {
	switch {
	case slices.Contains(x.Add, o.F):
		x.Now = append(x.Now, o.A)
	case o.Named:
		x.takeNamed(o.List)
	case o.F == ":drain":
		for o.List = nil; len(x.Now) > 0 && x.Chance(0.9); {
			o.List = append(o.List, x.take(x.next()))
		}
	case o.Crashes && x.Options.Knossos && o.Changes:
		x.takeNamed([]int{none}) // For Knossos this is a dequeue of nil.
	case len(x.Now) == 0 && x.Small && !x.Java:
		if x.Options.Knossos || x.Chance(0.3) {
			return gen.Refused
		}
		o.A = [...]int{none, empty}[x.Rand.IntN(2)]
	case len(x.Now) == 0:
		o.A = none
	case o.F == ":peek":
		o.A = x.Now[x.next()]
	default:
		o.A = x.take(x.next())
	}
	return gen.Done
}

func (x *Object) Err(o *gen.Op) {
	switch {
	case !x.Small:
		x.Maker.Err(o)
	case slices.Contains(x.Add, o.F):
	case o.F == ":drain":
		o.List = x.some()
	case !x.Options.Knossos && x.Chance(0.15):
		o.A = [...]int{none, empty}[x.Rand.IntN(2)]
	default:
		o.A = x.element()
	}
}

func (x *Object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case o.F == ":drain" && (returned || o.Named):
		return x.Sequence(b, o.List...)
	case !returned && o.Named:
		return x.Print(b, o.List[0])
	case !returned && !slices.Contains(x.Add, o.F):
		return append(b, "nil"...)
	}
	return x.Print(b, o.A)
}
