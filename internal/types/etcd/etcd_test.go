package etcd_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/gen"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// steps takes steps of small histories at random.
func steps(t *testing.T, each func(m models.Model, s models.State, op models.Op, next []models.State)) {
	t.Helper()
	for seed := range effort.Histories(300, 20_000) {
		r := gen.Rand(seed)
		h := gen.New(r, gen.Options{Model: "etcd", Operations: 20})
		history, err := forms.Read(strings.NewReader(h.Text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ops, err := models.Spec{Name: "etcd"}.Read(history)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if ops.Len() > 0 {
			walk(r, ops, each)
		}
	}
}

func walk(r *rand.Rand, ops *models.Operations, each func(m models.Model, s models.State, op models.Op, next []models.State)) {
	s := ops.Model.Init()
	for range 40 {
		op := ops.Op(models.Row(r.IntN(ops.Len())))
		next := ops.Model.Step(nil, s, op)
		each(ops.Model, s, op, next)
		if len(next) == 1 {
			s = next[0]
		}
	}
}

// What Positions says of an operation is what steps do.
func TestPositionsAreThoseOfTheSteps(t *testing.T) {
	moved, told, clues := 0, 0, 0
	steps(t, func(m models.Model, s models.State, op models.Op, next []models.State) {
		p := m.Traits().Positions
		before, _ := p.At(s)
		for _, x := range next {
			after, _ := p.At(x)
			moves := p.Moves(op)
			if after != before && after != before+1 || after > before && moves == models.NeverMoves || after == before && moves == models.AlwaysMoves {
				t.Fatalf("%v in %v leads to %v, and moves: %v", op, s, x, moves)
			}
			if after > before {
				moved++
			}
			if position, ok := p.Of(op); ok {
				if told++; position != after {
					t.Fatalf("%v in %v leads to %v, and says %d", op, s, x, position)
				}
			}
			for _, clue := range p.Clues(nil, op) {
				if clues++; clue.Position > after {
					t.Fatalf("%v in %v shows %v", op, s, clue)
				}
			}
		}
	})
	if moved < 100 || told < 100 || clues < 50 {
		t.Errorf("%d updates, %d positions and %d clues were looked at", moved, told, clues)
	}
}

// A run does what Step does, and leaves its state alone where that is impossible.
func TestRunsDoWhatStepsDo(t *testing.T) {
	refused := 0
	var run models.Run
	var of models.Model
	var at models.State
	steps(t, func(m models.Model, s models.State, op models.Op, next []models.State) {
		if m != of {
			run, of = m.Traits().Run(s), m
		}
		want := s
		if len(next) == 1 {
			want = next[0]
		} else {
			refused++
		}
		outcome := run.Apply(op)
		if at = run.State(); (outcome == models.One) != (len(next) == 1) || !slices.Equal(at, want) {
			t.Fatalf("%v in %v: %v, a run %v %v", op, s, next, outcome, at)
		}
	})
	if refused < 100 {
		t.Errorf("only %d were refused", refused)
	}
}
