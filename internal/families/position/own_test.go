package position_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/effort"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
)

// pair is the state of own: the values of two keys.
type pair [2]int64

// number returns the n-th number of a value.
func number(x edn.Value, n int) int64 {
	i, _ := x.Items()[n].Int()
	return i
}

// own is a model of the histories of random, as a user may write it.
func own() models.Func[pair] {
	key := func(c models.Call) int { return map[string]int{`"x"`: 0, `"y"`: 1}[c.Key.String()] }
	return models.Func[pair]{
		Name: "own", About: "two keys",
		Ops: map[string]models.StepFunc[pair]{
			"get": func(s pair, c models.Call) ([]pair, error) {
				if c.OK && number(c.Out, 0) != s[key(c)] {
					return nil, models.Inconsistent("it is %d", s[key(c)])
				}
				return []pair{s}, nil
			},
			"put": func(s pair, c models.Call) ([]pair, error) {
				s[key(c)], _ = c.Value.Int()
				return []pair{s}, nil
			},
			"cas": func(s pair, c models.Call) ([]pair, error) {
				if number(c.Value, 0) != s[key(c)] {
					return nil, models.Inconsistent("it is %d", s[key(c)])
				}
				s[key(c)] = number(c.Value, 1)
				return []pair{s}, nil
			},
		},
		Reads: []string{"get"},
	}
}

// sure says whether an operation is an update.
func sure(c models.Call) (position int64, update, known bool) {
	if c.Out.Items()[1].Kind() == edn.KindNil {
		return 0, false, false
	}
	return number(c.Out, 1), c.F != "get", true
}

// unsure does not say it.
func unsure(c models.Call) (models.ToldPosition, error) {
	at, _, told := sure(c)
	return models.ToldPosition{At: at, Told: told, Moves: models.MayMove}, nil
}

// TestOwnModelsAgainstTheOracle compares the path with exhaustive search of users' own models, and these with the
// built-in one.
func TestOwnModelsAgainstTheOracle(t *testing.T) {
	counts := verdicts{}
	for seed := range effort.Histories(1200, 300_000) {
		f := own()
		switch seed % 4 {
		case 0, 1:
			f.Position = sure
		case 2:
			f.Tell = unsure
		case 3:
			f.Tell, f.Reads = unsure, nil
		}
		f.SparsePositions = seed/4%2 == 1
		told := false
		make := func(own bool) *jepsen.History {
			r := rand.New(rand.NewPCG(uint64(seed), 40))
			x := &random{r: r, model: "kv", sparse: f.SparsePositions, own: own}
			x.crashes, x.lies = []float64{0, 0.2, 0.5}[r.IntN(3)], []float64{0, 0.1, 0.3}[r.IntN(3)]
			x.untold = []float64{0, 0, 0.2}[r.IntN(3)]
			told = x.untold == 0
			h, err := x.history(2+r.IntN(6), 2+r.IntN(3))
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		h := make(true)
		ops, err := models.Own(f.Definition()).Read(h)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		if ops.Model.Traits().Positions == nil {
			counts["no position"]++
		} else if said = counts.compare(t, ops); said == "" && f.Position != nil && told {
			twin, err := models.Spec{Name: "kv", Init: `{"x" 0 "y" 0}`, Position: "revision", SparsePositions: f.SparsePositions}.Read(make(false))
			if err != nil {
				t.Fatal(err)
			}
			if a, b := oracle.Decide(ops, oracle.Options{}), oracle.Decide(twin, oracle.Options{}); a.Linearizable != b.Linearizable || a.Fail != b.Fail {
				said = fmt.Sprintf("%v, but kv %v", a, b)
			}
			counts["as kv"]++
		}
		if said != "" {
			var text strings.Builder
			h.WriteEDN(&text)
			t.Fatalf("seed %d, sparse %v: %s\n%s", seed, f.SparsePositions, said, text.String())
		}
	}
	t.Log(counts)
}
