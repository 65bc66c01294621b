package log

import (
	"fmt"

	"clew/edn"
	"clew/models"
)

// placed is a log of which every value that some completed operation shows is known in
// advance, by its offset. So a state is the length alone. An append can only happen where its
// value, or none, is known. A read of a value that is known can happen as soon as the log is
// long enough.
//
// It decides whether operations are linearizable. A linearization of theirs is one of the
// log, since what a read sees was appended where it is known to be. And the other way round,
// since the log has the known values in every linearization. Where operations fail is another
// matter: those up to an earlier completion show less.
type placed struct {
	*log
	at     map[int32]int32 // the class of the value at an offset
	traits models.Traits
}

// hindsight returns the placed log of some operations, or nil if two of them show different
// values at one offset.
func (m *log) hindsight(ops *models.Operations) models.Model {
	p := &placed{log: m, at: map[int32]int32{}}
	for i, x := range m.first {
		p.at[int32(i)] = x
	}
	for row, res := range ops.Res {
		if res == models.Open {
			continue
		}
		switch op := ops.Op(int32(row)); {
		case op.Kind == models.AppendTo && op.B > 0 && !p.put(op.B-1, op.A), op.Kind == models.ReadAt && !p.put(op.B, op.A):
			return nil
		case op.Kind == models.ReadLog:
			for i, x := range m.lists[op.A] {
				if !p.put(int32(i), x) {
					return nil
				}
			}
		}
	}
	p.traits = models.Traits{Lookahead: &models.Lookahead{
		MayFollow: p.mayFollow,
		MayLead:   func(models.State, models.Op, []models.Op) bool { return false },
	}}
	return p
}

// put notes the value at an offset. It returns false if that is known to be another one.
func (p *placed) put(offset, value int32) bool {
	if known, ok := p.at[offset]; ok {
		return known == value
	}
	p.at[offset] = value
	return true
}

func (p *placed) Init() models.State { return models.State{int32(len(p.first))} }

func (p *placed) Traits() *models.Traits { return &p.traits }

func (p *placed) Step(dst []models.State, s models.State, op models.Op) []models.State {
	n := s[0]
	if least, most := p.lengths(op); n < least || n > most {
		return dst
	}
	if op.Kind != models.AppendTo {
		return append(dst, s)
	}
	if known, ok := p.at[n]; ok && known != op.A {
		return dst
	}
	return models.Only(dst, n+1)
}

// lengths returns which lengths the log may have when op happens.
func (p *placed) lengths(op models.Op) (least, most int32) {
	const any = 1<<31 - 1
	switch op.Kind {
	case models.AppendTo:
		if op.B > 0 {
			return op.B - 1, op.B - 1
		}
		return 0, any
	case models.ReadAt:
		return op.B + 1, any
	case models.ReadNothing:
		return 0, op.B
	case models.Tail:
		return op.B, op.B
	case models.ReadLog:
		n := int32(len(p.lists[op.A]))
		return n, n
	}
	return any, 0 // never
}

func (p *placed) mayFollow(s models.State, op models.Op, others []models.Op) bool {
	least, most := p.lengths(op)
	longest := s[0]
	for _, other := range others {
		if other.Kind == models.AppendTo {
			longest++
		}
	}
	return s[0] <= most && longest >= least
}

func (p *placed) Why(s models.State, op models.Op) string {
	return fmt.Sprintf("can't happen when the log has %d values", s[0])
}

func (p *placed) Record(s models.State) edn.Value {
	return p.Print("length", p.V.InternInt(int64(s[0])))
}
