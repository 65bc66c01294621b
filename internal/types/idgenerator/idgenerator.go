package idgenerator

import (
	"fmt"
	"slices"

	"clew/edn"
	"clew/internal/home"
	"clew/jepsen"
	"clew/models"
)

// idGenerator gives out ids. A state holds the sorted classes of the ids given out. If ids
// grow, it holds the last one, as a counter does, and nothing initially.
type idGenerator struct {
	home.Base
	f       [2]edn.ID
	growing bool
	numbers home.Integers
}

var idGeneratorDefinition = models.Definition{
	Name: "id-generator", Fs: ":generate (or :take) -> id", About: "ids, all distinct or growing",
	Params: []models.Param{models.ParamIDs},
	NoInit: "it starts with no ids given out",
	Record: "clew.model.IDGenerator",
	Infer:  func(s *models.Seen) models.Fit { return models.FitsIf(s.Any(":generate") && s.Only(":generate")) },
	New: func(b *models.Binding) (models.Reader, error) {
		f := b.Values.InternKeyword
		m := &idGenerator{Base: home.NewBase(b), f: [2]edn.ID{f("generate"), f("take")}, growing: b.Spec.GrowingIDs}
		m.Offered = models.Traits{
			Run:       m.run,
			Shape:     func() models.Shape { return models.IDsShape{Growing: m.growing, Numbers: m.numbers.List} },
			Droppable: &models.Droppable{Touches: func(op models.Op) ([]int32, bool) { return []int32{op.A}, false }},
		}
		return m, nil
	},
}

func (m *idGenerator) Read(o models.Operation) (op models.Op, keep bool, err error) {
	if !slices.Contains(m.f[:], o.FID) {
		return op, false, models.ErrUnknownF
	}
	if o.Status == jepsen.Crashed {
		return op, false, nil // it may have given out any id
	}
	if _, ok := m.V.Int(o.ValueID); o.ValueID == edn.Nil || m.growing && !ok {
		what := "an id"
		if m.growing {
			what = "an integer, as ids grow"
		}
		return op, false, fmt.Errorf("expected %s, found %s", what, m.V.Text(o.ValueID))
	}
	op.A = m.Class(o.ValueID)
	if m.growing {
		op.B = m.numbers.Of(m.V, o.ValueID)
	}
	return op, true, nil
}

func (m *idGenerator) Step(dst []models.State, s models.State, op models.Op) []models.State {
	if m.growing {
		if n := m.numbers.List[op.B]; len(s) == 0 || n > home.Number(s) {
			return append(dst, home.StateOf(n))
		}
		return dst
	}
	i, found := slices.BinarySearch(s, op.A)
	if found {
		return dst
	}
	return append(dst, slices.Insert(slices.Clone(s), i, op.A))
}

// run begins a run. Every step takes constant time.
func (m *idGenerator) run(s models.State) models.Run {
	if m.growing {
		return &home.Steps{Model: m, Now: s}
	}
	return givenIDs{home.NewMembers(s)}
}

type givenIDs struct{ *home.Members }

func (r givenIDs) Apply(op models.Op) models.Outcome {
	if r.Has(op.A) {
		return models.Impossible
	}
	r.Add(op.A)
	return models.One
}

func (m *idGenerator) Mutates(models.Op) bool { return true }

func (m *idGenerator) Why(s models.State, op models.Op) string {
	if id := m.Text(op.A); !m.growing {
		return id + " was given out before"
	} else {
		return fmt.Sprintf("%s is not greater than %d", id, home.Number(s))
	}
}

func (m *idGenerator) Record(s models.State) edn.Value {
	if !m.growing {
		return m.Print("given", m.V.InternSet(home.IDs(s)))
	}
	last := edn.Nil
	if len(s) > 0 {
		last = m.V.InternInt(home.Number(s))
	}
	return m.Print("last", last)
}
