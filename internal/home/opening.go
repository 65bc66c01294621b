package home

import (
	"slices"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// Callers records which operations were called to leave a value at a place.
type Callers map[models.Cell]caller

// caller is the first of them, and whether there are others.
type caller struct {
	first jepsen.Operation
	more  bool
}

func (c Callers) Add(cell models.Cell, i jepsen.Operation) {
	x, known := c[cell]
	if !known {
		x.first = i
	}
	x.more = x.more || x.first != i
	c[cell] = x
}

// But reports whether another operation than i was called to leave a value.
func (c Callers) But(i jepsen.Operation, cell models.Cell) bool {
	x, known := c[cell]
	return known && (x.more || x.first != i)
}

// Places is the Opening of models whose state has a value at each of some places.
type Places struct {
	Callers
	Shows   func(dst []models.Cell, op models.Op) []models.Cell // what op saw there before it did anything
	Leaves  func(dst []models.Cell, op models.Op) []models.Cell // what it was called to put there, unless it needs that to be there
	Mutates func(op models.Op) bool                             // nil: places do not depend on each other, and any read may be the first of one
	Start   func(cells []models.Cell) []edn.ID
	// before, unless it is nil, reports whether a value may result from earlier calls that did not ask for it.
	Before func(cell models.Cell) bool

	cells   []models.Cell // at most one for each place, as they were shown
	shown   map[int32]bool
	called  jepsen.Operation           // the latest
	written map[int32]jepsen.Operation // by place: the latest called when the first write there returned
	Scratch []models.Cell
	needed  []models.Cell // by updates, as they were called
}

func NewPlaces(p Places) *Places {
	p.Callers, p.shown, p.written = Callers{}, map[int32]bool{}, map[int32]jepsen.Operation{}
	return &p
}

func (p *Places) Call(i jepsen.Operation, op models.Op, _ jepsen.Status) {
	p.called = i
	p.Scratch = p.Leaves(p.Scratch[:0], op)
	for _, cell := range p.Scratch {
		p.Add(cell, i)
	}
}

func (p *Places) Needing() models.Needing { return p }

func (p *Places) Needs(op models.Op) {
	for _, cell := range p.Shows(nil, op) {
		if !slices.Contains(p.needed, cell) {
			p.needed = append(p.needed, cell)
		}
	}
}

func (p *Places) Needed() (starts []edn.ID) {
	for _, cell := range p.needed {
		if _, called := p.Callers[cell]; !called && (p.Before == nil || !p.Before(cell)) {
			starts = append(starts, p.Start([]models.Cell{cell})...)
		}
	}
	return starts
}

func (p *Places) Return(i jepsen.Operation, op models.Op, early bool) {
	if !early {
		return
	}
	p.Scratch = p.Shows(p.Scratch[:0], op)
	for _, cell := range p.Scratch {
		if latest, written := p.written[cell.Place]; written && i > latest {
			continue
		}
		if !p.shown[cell.Place] && !p.But(i, cell) && (p.Before == nil || !p.Before(cell)) {
			p.shown[cell.Place] = true
			p.cells = append(p.cells, cell)
		}
	}
	p.Scratch = p.Leaves(p.Scratch[:0], op)
	for _, cell := range p.Scratch {
		if _, before := p.written[cell.Place]; !before {
			p.written[cell.Place] = p.called
		}
	}
}

func (p *Places) Puts(op models.Op) bool { return p.Mutates != nil && p.Mutates(op) }

func (p *Places) Later() bool { return p.Mutates == nil }

func (p *Places) Starts() []edn.ID {
	if len(p.cells) == 0 {
		return nil
	}
	return p.Start(p.cells)
}

// MapOf returns a map of the places and their values, without those whose value is nil.
func MapOf(v *edn.Values, cells []models.Cell, key func(place int32) edn.ID) []edn.ID {
	var kvs []edn.ID
	for _, cell := range cells {
		if edn.ID(cell.Value) != edn.Nil {
			kvs = append(kvs, key(cell.Place), edn.ID(cell.Value))
		}
	}
	if len(kvs) == 0 {
		return nil
	}
	return []edn.ID{models.InitMap(v, kvs)}
}

// PlacesOf returns the places of cells.
func PlacesOf(cells []models.Cell) []edn.ID {
	list := make([]edn.ID, len(cells))
	for i, cell := range cells {
		list[i] = edn.ID(cell.Place)
	}
	return list
}

// Taken is the Opening of queues and stacks: it gathers elements that come out and that nothing had been called to
// put in. If an early operation shows the first of them, the later ones count too: no operation sees all of a queue
// at once.
type Taken struct {
	Callers
	models.NoNeeds
	Drains func(op models.Op) []int32 // the elements of a Drain
	Adds   func(op models.Op) []int32 // the elements of an operation that puts several in; nil: none does
	Start  func(elements []int32) edn.ID

	out, seen []int32        // taken out, and only looked at
	all       []int32        // both; a value that is seen once more after it was taken out is there twice
	ahead     map[int32]bool // seen, and to be taken out later
	any       bool
}

func (t *Taken) Call(i jepsen.Operation, op models.Op, _ jepsen.Status) {
	if op.Kind == models.Enqueue {
		t.Add(models.Cell{Place: 0, Value: op.A}, i)
	} else if t.Adds != nil {
		for _, x := range t.Adds(op) {
			t.Add(models.Cell{Place: 0, Value: x}, i)
		}
	}
}

func (t *Taken) Return(i jepsen.Operation, op models.Op, early bool) {
	elements := []int32{op.A}
	switch op.Kind {
	case models.Dequeue, models.Peek:
	case models.Drain:
		if elements = nil; t.Drains != nil {
			elements = t.Drains(op)
		}
	default:
		return
	}
	for _, x := range elements {
		switch {
		case t.But(i, models.Cell{Place: 0, Value: x}):
		case !t.any && !early:
			return
		case op.Kind == models.Peek:
			t.any, t.seen = true, append(t.seen, x)
			t.counts(x, true)
		default:
			t.any, t.out = true, append(t.out, x)
			t.counts(x, false)
		}
	}
}

// counts adds an element to all of them unless it is there.
func (t *Taken) counts(x int32, stays bool) {
	if t.ahead == nil {
		t.ahead = map[int32]bool{}
	}
	if !t.ahead[x] {
		t.all = append(t.all, x)
	}
	t.ahead[x] = stays
}

func (t *Taken) Puts(op models.Op) bool {
	return op.Kind == models.Enqueue || t.Adds != nil && len(t.Adds(op)) > 0
}

func (t *Taken) Later() bool { return t.any }

func (t *Taken) Starts() []edn.ID {
	elements := t.out
	for _, x := range t.seen {
		if !slices.Contains(elements, x) {
			elements = append(elements, x)
		}
	}
	if len(elements) == 0 {
		return nil
	}
	starts := []edn.ID{t.Start(elements)}
	if len(t.all) > len(elements) {
		starts = append(starts, t.Start(t.all))
	}
	return starts
}
