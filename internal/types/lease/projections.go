package lease

import (
	"clew/edn"
	"clew/models"
)

// projections are a lease's owners without epochs, and its epochs without owners.
func (m *lease) projections(ops *models.Operations) []*models.Operations {
	return []*models.Operations{
		ops.Under(&epochs{lease: m}),
		ops.Under(&owners{lease: m, traits: models.Traits{Overwrites: func(op models.Op) bool { return op.Kind == leaseClaim }}}),
	}
}

// owners is a lease without its epochs: a register that claims write, releases compare and
// set, and all else reads.
type owners struct {
	*lease
	traits models.Traits
}

func (m *owners) Init() models.State        { return m.Initial[:1] }
func (m *owners) Traits() *models.Traits    { return &m.traits }
func (m *owners) Mutates(op models.Op) bool { return op.Kind == leaseClaim || op.Kind == leaseRelease }

func (m *owners) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case op.Kind == leaseClaim:
		return models.Only(dst, op.A)
	case s[0] != op.A:
		return dst
	case op.Kind == leaseRelease:
		return models.Only(dst, int32(edn.Nil))
	}
	return append(dst, s)
}

// epochs is a lease without its owners: the least that the epoch can be, plus 1. Claims
// without an epoch leave it.
type epochs struct {
	*lease
	traits models.Traits
}

func (m *epochs) Init() models.State        { return m.Initial[1:2] }
func (m *epochs) Traits() *models.Traits    { return &m.traits }
func (m *epochs) Mutates(op models.Op) bool { return op.B != 0 }

func (m *epochs) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case op.B == 0:
		return append(dst, s)
	case op.B < s[0], op.Kind == leaseClaim && op.B == s[0]:
		return dst
	}
	return models.Only(dst, op.B)
}
