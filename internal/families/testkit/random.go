package testkit

import (
	"math/rand/v2"
	"slices"

	"clew/models"
)

// Small makes a history. Half of the time it is a run of the type, which
// may be spoiled; otherwise it is arbitrary.
func (k *Type) Small(rng *rand.Rand) *models.Columns {
	if rng.IntN(2) == 0 {
		c := k.Run(rng, 2+rng.IntN(12), 1+rng.IntN(6), max(0, 0.8*rng.Float64()-0.3))
		if rng.IntN(2) == 0 && c.Len() > 0 {
			k.Spoil(c, rng)
		}
		return c
	}
	return k.anything(rng, 1+rng.IntN(9))
}

// Spoil changes one operation.
func (k *Type) Spoil(c *models.Columns, rng *rand.Rand) {
	i := rng.IntN(c.Len())
	from := k.Completed
	if c.Res[i] == models.Open {
		from = k.Crashed
	}
	op := from[rng.IntN(len(from))]
	if k.Owned {
		op.A = c.A[i]
	}
	c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
}

// anything returns a history of random operations in a random order.
func (k *Type) anything(rng *rand.Rand, ops int) *models.Columns {
	c := &models.Columns{}
	var open []int32
	wide := 1 + rng.IntN(4)
	crash := rng.IntN(3) == 0
	fresh := int32(100)
	owner := func() int32 { // a process that is not busy
		for {
			p := rng.Int32N(5)
			if rng.IntN(30) == 0 || !slices.ContainsFunc(open, func(i int32) bool { return c.A[i] == p }) {
				return p
			}
		}
	}
	for started := 0; started < ops || len(open) > 0; c.Events++ {
		if started < ops && len(open) < wide && (len(open) == 0 || rng.IntN(2) == 0) {
			started++
			op := k.Completed[rng.IntN(len(k.Completed))]
			crashes := crash && rng.IntN(3) == 0
			if crashes {
				op = k.Crashed[rng.IntN(len(k.Crashed))]
			}
			if k.Owned {
				op.A = owner()
				if crashes && rng.IntN(2) == 0 {
					fresh++
					op.A = fresh
				}
			}
			if !crashes {
				open = append(open, int32(c.Len()))
			}
			c.Append(c.Events, models.Open, op)
			continue
		}
		n := rng.IntN(len(open))
		c.Res[open[n]] = c.Events
		open = slices.Delete(open, n, n+1)
	}
	return c
}

// Run lets processes work on the type. Each operation happens at an
// instant. One that cannot happen waits, or crashes in the end.
func (k *Type) Run(rng *rand.Rand, ops, processes int, crash float64) *models.Columns {
	type process struct {
		op      int32 // plus 1
		owner   int32
		happens bool
		waited  int
	}
	c := &models.Columns{}
	procs := make([]process, processes)
	fresh := int32(processes)
	for i := range procs {
		procs[i].owner = int32(i)
	}
	states := []string{k.Init}
	for started, busy := 0, 0; started < ops || busy > 0; {
		p := &procs[rng.IntN(processes)]
		switch {
		case p.op == 0 && started < ops:
			started++
			busy++
			op := k.Completed[rng.IntN(len(k.Completed))]
			if k.Owned {
				op.A = p.owner
			}
			p.op, p.happens, p.waited = int32(c.Len())+1, false, 0
			c.Append(c.Events, models.Open, op)
			c.Events++
		case p.op == 0:
		case !p.happens:
			op := c.Op(p.op - 1)
			way, after := k.happen(op, states)
			crashes := rng.Float64() < crash
			if len(after) == 0 {
				if p.waited++; p.waited < 8 {
					break
				}
				crashes = true
			} else if !crashes || rng.IntN(2) == 0 {
				states = append([]string{}, after[rng.IntN(len(after))])
				op = way
			}
			i := p.op - 1
			p.happens = true
			if crashes {
				lost := k.Crashed[rng.IntN(len(k.Crashed))]
				if slices.Contains(k.Crashed, withoutOwner(op, k.Owned)) {
					lost = op
				} else if k.Owned {
					lost.A = op.A
				}
				op = lost
				p.op = 0
				busy--
				if fresh++; crash == 0 || rng.IntN(20) > 0 {
					p.owner = fresh
				}
			}
			c.Kind[i], c.A[i], c.B[i] = op.Kind, op.A, op.B
		default:
			c.Res[p.op-1] = c.Events
			c.Events++
			p.op = 0
			busy--
		}
	}
	return c
}

// happen returns what an operation turns out to be when it happens in one of the
// given states, and the states after it. If it cannot happen, there are none.
func (k *Type) happen(op models.Op, states []string) (way models.Op, after []string) {
	ways := []models.Op{op}
	if k.Like != nil {
		ways = append(ways, k.Like(op)...)
	}
	for _, way := range ways {
		for _, s := range states {
			after = k.Step(after, way, s)
		}
		if len(after) > 0 {
			return way, after
		}
	}
	return op, nil
}

func withoutOwner(op models.Op, owned bool) models.Op {
	if owned {
		op.A = 0
	}
	return op
}
