package clew

import (
	"errors"
	"fmt"

	"clew/internal/held"
	"clew/jepsen"
	"clew/models"
)

// witnesses begins the witness, if there is one.
func (m *Monitor) witnesses() error {
	if m.Witness == nil {
		return nil
	}
	if m.o.Independent && m.o.Keyless {
		return errors.New("a monitor writes no witness where operations without a key belong to every key; clew check --witness may")
	}
	if h, err := jepsen.NewBuilder(jepsen.Options{}).SoFar(); err == nil {
		if ops, err := m.spec.Read(h); err == nil {
			if err := m.witnessable(ops.Model); err != nil {
				return err
			}
		}
	}
	m.writes = &held.Witness{To: m.Witness, Order: func(part *models.Operations) ([]models.Row, bool) {
		d := m.d.part(m.ctx, part, m.o.limits())
		return d.Order, d.Verdict == jepsen.Valid
	}}
	return nil
}

// witnessable says why a witness of a model cannot be written in one pass.
func (m *Monitor) witnessable(model models.Model) error {
	of := model.Traits().Shape
	if of == nil {
		return nil
	}
	switch of().(type) {
	case models.FIFOShape, models.BagShape, models.PriorityShape, models.TxnRegistersShape:
		return fmt.Errorf("a monitor writes no witness of %s: what is forgotten is not a prefix of one; clew check --witness holds the history and writes one", m.spec.Name)
	}
	return nil
}

// lastWitness writes what is left once the history has ended.
func (m *Monitor) lastWitness(h *jepsen.History) error {
	parts, err := m.parts(h)
	if errors.Is(err, jepsen.ErrNoTuples) {
		return nil
	} else if err != nil {
		return err
	}
	return m.held.Finish(h, parts, m.writes)
}
