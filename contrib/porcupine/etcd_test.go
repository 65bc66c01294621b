package porcupine

import (
	"testing"
	"time"

	theirs "github.com/anishathalye/porcupine"

	"clew/contrib/porcupine/peers"
	"clew/internal/effort"
)

// Etcd's models have states without a Hash that == cannot compare, and sets of them.
func TestEtcdAsPorcupineHasIt(t *testing.T) {
	seeds := uint64(100)
	if effort.Few() {
		seeds = 15
	}
	for _, alone := range []bool{false, true} {
		ourselves(t, alone)
		count := map[CheckResult]int{}
		for seed := range seeds {
			for _, stale := range []bool{false, true} {
				traffic := peers.EtcdTraffic{Operations: 40, Clients: 5, Keys: 3, Stale: stale}
				model := peers.EtcdOne
				if seed%2 == 0 {
					model, traffic.Operations, traffic.Lost, traffic.Persisted = peers.EtcdAnyOf, 25, 0.15, 0.5
				}
				ops := traffic.Make(seed)
				want := theirs.CheckOperationsTimeout(model, ops, 5*time.Second)
				got, info := CheckOperationsVerbose(model, ops, time.Minute)
				count[got]++
				if got != want && want != Unknown {
					t.Errorf("seed %d: %s, porcupine says %s", seed, got, want)
				}
				if err := shows(model, got, info, info); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
		}
		if count[Ok] < int(seeds)/2 || count[Illegal] < int(seeds)/2 {
			t.Errorf("one verdict is rare: %v", count)
		}
	}
}

// Most of the time and memory goes into the steps of such models. We ask for at most half of those that porcupine asks for.
func TestEtcdTakesFewSteps(t *testing.T) {
	for seed := range uint64(8) {
		for _, lost := range []float64{0, 0.01} {
			model := peers.EtcdOne
			if lost > 0 {
				model = peers.EtcdAnyOf
			}
			ops := peers.EtcdTraffic{Operations: 1500, Clients: 8, Keys: 10, Lost: lost, Persisted: 1}.Make(seed)
			asked, step := 0, model.Step
			model.Step = func(state, in, out any) (bool, any) {
				asked++
				return step(state, in, out)
			}
			result := CheckOperationsTimeout(model, ops, time.Minute)
			ours := asked
			asked = 0
			if other := theirs.CheckOperationsTimeout(model, ops, time.Minute); result != Ok || other != Ok || 2*ours > asked {
				t.Errorf("seed %d: %s after %d steps, porcupine says %s after %d", seed, result, ours, other, asked)
			}
		}
	}
}
