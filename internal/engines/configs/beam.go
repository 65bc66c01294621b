package configs

import (
	"context"

	"clew/fallback"
	"clew/models"
)

// Beam looks for a linearization among configurations that use few crashed operations.
//
// Precondition: none. Complexity: for each width, linear in the length, and in how often
// the beam gets stuck.
//
// It is the sweep of Frontier. But at each return it goes on with only the first
// configurations that pass, and those use the fewest crashed operations. Every crashed
// operation is there for some answer, and most answers need none. So a linearization that
// takes crashed operations only on demand is near, however many have crashed.
//
// If no configuration passes a return, some operation before it was needed that the beam
// had not tried. So it goes back some returns, and sweeps them again with slack: it also
// tries crashed operations that the returning ones do not need. It goes back further each
// time. In the end, the next beam is wider.
//
// A linearization that it finds is one, whatever it has dropped. If it fails without having
// dropped anything, it is Frontier. If it fails in its widest beam, Frontier decides.
type Beam struct {
	GivesUp bool // if it fails in its widest beam
}

// beam is how many configurations a search holds, and whether it has dropped others.
type beam struct {
	most    int // about so many
	slack   int // how many crashed operations more than the fewest
	fewest  int // the fewest crashed operations of a configuration that passed the return
	dropped bool

	least  int     // the slack as long as it is not stuck
	saved  []layer // by return, modulo the length
	oldest int32   // the first return of those
	back   int32   // how far it went back when it was last stuck
	stuck  int32   // where that was, or -1
}

// beams are the beams, one after the other.
var beams = []beam{{most: 16}, {most: 128}, {most: 128, least: 1}, {most: 1024, least: 1}, {most: 8192, least: 2}}

// beamSeen is how many configurations a beam looks at for each that it may hold. slack is how
// many crashed operations more than the fewest a configuration may use after the beam was
// stuck. It goes back firstBack returns first, and then further times as many. It can go back
// as far as it has saved configurations, about maxSaved.
const (
	beamSeen  = 16
	slack     = 2
	firstBack = 4
	further   = 4
	maxSaved  = 1 << 14
)

// Name implements Engine.
func (Beam) Name() string { return "beam" }

// Decide implements Engine.
func (e Beam) Decide(ctx context.Context, ops *models.Operations, lim fallback.Limits) fallback.Answer {
	l := fallback.NewLayout(ctx, ops, lim)
	defer l.Release()
	passed := 0
	for _, b := range beams {
		before := l.Taken()
		m := newTransitions(l, Rules{})
		if l.Cause != "" {
			break
		}
		s := newFrontierSearch(m)
		b.slack, b.stuck, b.saved = b.least, -1, make([]layer, maxSaved/b.most)
		s.beam = &b
		s.start(0, s.Space.Number(ops.Model.Init()), make([]uint64, s.width))
		failed := s.runBeam()
		if s.Cause != "" {
			break
		}
		if failed < 0 || !b.dropped {
			return s.decided(failed)
		}
		passed = max(passed, int(failed))
		l.Give(l.Taken() - before)
	}
	switch {
	case l.Cause != "":
		return fallback.Answer{Cause: l.Cause, Passed: int64(passed), Work: l.Done()}
	case e.GivesUp:
		return fallback.Answer{Cause: fallback.GaveUp, Passed: int64(passed), Work: l.Done()}
	}
	l.Release()
	return Frontier{}.Decide(ctx, ops, lim)
}

// runBeam sweeps all returns. It returns one that no configuration can pass, or -1.
func (s *frontierSearch) runBeam() (failed int32) {
	b := s.beam
	for k, end := int32(0), int32(len(s.Ends)); k < end; {
		s.save(k)
		if s.run(k, k+1) < 0 {
			if s.Cause != "" {
				return -1
			}
			if k++; k > b.stuck {
				b.slack = b.least
			}
			continue
		}
		if k == b.stuck {
			b.back *= further
		} else {
			b.stuck, b.back = k, firstBack
		}
		if int(b.back) >= len(b.saved) || !b.dropped {
			return k
		}
		b.slack = max(b.least, slack)
		k = max(k-b.back, b.oldest)
		s.load(k)
	}
	return -1
}

// save keeps the layer at a return.
func (s *frontierSearch) save(k int32) {
	b := s.beam
	l := &b.saved[k%int32(len(b.saved))]
	l.states = append(l.states[:0], s.layer.states...)
	l.configs = append(l.configs[:0], s.layer.configs...)
	l.trail = append(l.trail[:0], s.layer.trail...)
	b.oldest = max(b.oldest, k+1-int32(len(b.saved)))
}

// load goes back to the layer at a return.
func (s *frontierSearch) load(k int32) {
	l := &s.saved[k%int32(len(s.saved))]
	s.layer.states = append(s.layer.states[:0], l.states...)
	s.layer.configs = append(s.layer.configs[:0], l.configs...)
	s.layer.trail = append(s.layer.trail[:0], l.trail...)
}

// isFull says whether a beam has as many configurations past the return as it holds, or
// has looked at enough to give up looking for more.
func (s *frontierSearch) isFull() bool {
	b := s.beam
	if b == nil || int(s.passed.n) < b.most && int(s.seen.n) < beamSeen*b.most {
		return false
	}
	b.dropped = true
	return true
}

// choices are some of the choices of a configuration.
type choices int8

const (
	all choices = iota
	notCrashed
	enabling    // a crashed operation that lets the returning one happen
	notEnabling // a crashed operation that does not
)

// first returns the choices that a search tries first.
func (b *beam) first() choices {
	if b == nil {
		return all
	}
	return notCrashed
}

// which says what a choice at the k-th return is. The order of choices tells (see
// transitions.choices).
func (m *transitions) which(k int32, choice int) choices {
	n := m.elsewhere(k)
	i := choice - 2
	if choice >= 4+2*n {
		i = choice - 4 - 2*n
	}
	switch {
	case choice < 2 || choice >= 2+2*n && choice < 4+2*n || i%n < len(m.OpenRows(k))-1:
		return notCrashed
	case i < n:
		return enabling
	}
	return notEnabling
}

// useCrashed queues configurations of a beam at the k-th return that use another crashed
// operation, besides the given number. If some of these let the returning operation happen,
// a beam without slack does not try the others. It returns false if the beam does not go on.
func (s *frontierSearch) useCrashed(k int32, uses int) bool {
	b := s.beam
	switch {
	case len(s.Crashed) == 0 || s.isFull():
		return !s.isFull()
	case s.passed.n == 0:
		b.fewest = uses + 1
	case uses >= b.fewest+b.slack:
		b.dropped = true
		return false
	}
	for _, which := range [...]choices{enabling, notEnabling} {
		for i := 0; i < len(s.queue[uses]) && !s.isFull(); i++ {
			if at := s.queue[uses][i]; !s.seen.isDead(at) {
				s.expand(k, at, which)
			}
		}
		if b.slack == 0 && len(s.queue) > uses+1 && len(s.queue[uses+1]) > 0 {
			b.dropped = true
			break
		}
	}
	return true
}
