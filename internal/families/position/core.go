package position

import (
	"slices"

	"clew/fastpath"
	"clew/models"
)

// # Core
//
// If one or two operations contradict each other, they are the core, with what changes the state up to the later
// position: without that, other positions would be missing, and the core would fail for another reason. Where no
// operation need have the first position, what comes from the earlier of the two positions on is enough. If no
// operations contradict each other by themselves, the core is all that had returned, and the updates that the order
// before the failure has. Callers remove what is not needed (fallback.Smaller).

// evidence finds the core of a history that ends where it fails.
func (t *table) evidence(in fastpath.Input, r fastpath.Result, d *fastpath.Decision) {
	d.Why = r.Why
	if r.Keys == nil {
		for _, i := range in.UpTo(d.FailEvent) {
			if in.Res[i] != models.Open || slices.Contains(d.Before, i) {
				d.Core = append(d.Core, i)
			}
		}
		return
	}
	d.Core = slices.Clone(r.Keys)
	if failing := in.OpReturning(d.FailEvent); !slices.Contains(d.Core, failing) {
		d.Core = append(d.Core, failing)
	}
	shown := len(d.Core)
	least, most := t.at[r.Keys[0]], t.at[r.Keys[0]]
	for _, i := range r.Keys {
		least, most = min(least, t.at[i]), max(most, t.at[i])
	}
	if _, based := t.p.At(t.model.Init()); based {
		least = none
	}
	if !t.p.Dense {
		slices.Sort(d.Core)
		return
	}
	// The position in the order before the failure, if no update that may not move it does, and if all do.
	low, high := none, none
	for _, i := range d.Before {
		switch t.moves[i] {
		case models.NeverMoves:
			if !t.changes[i] {
				continue
			}
		case models.AlwaysMoves:
			low, high = low+1, high+1
		default:
			high++
		}
		low, high = max(low, t.at[i]), max(high, t.at[i])
		if high >= least && low <= most && !slices.Contains(d.Core[:shown], i) {
			d.Core = append(d.Core, i)
		}
	}
	slices.Sort(d.Core)
}
