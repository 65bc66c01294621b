package ownmodels_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clew/internal/effort"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func TestAModelOfOnesOwnAgreesWithItsTwinAndTheOracle(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	n := 2000
	if effort.Long() {
		n = 100_000
	} else if effort.Few() {
		n = 300
	}
	r := gen.Rand(7)
	valid := 0
	for range n {
		g := gen.New(r, gen.Options{Model: "cas-register", Init: true})
		own, twin := models.Own(campaign.OwnRegister), models.Spec{Name: "cas-register"}
		own.Init, twin.Init = g.Init, g.Init
		want := kit.Judged(t, twin, g.Text, "auto")
		for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
			got := kit.Judged(t, own, g.Text, algorithm)
			if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
				t.Fatalf("%s: %v at event %d; the built-in model says %v at %d:\n%s", algorithm, got.Verdict, got.FailEvent.OrNone(), want.Verdict, want.FailEvent.OrNone(), g.Text)
			}
		}
		if want.Verdict == jepsen.Valid {
			valid++
		}
	}
	if 5*valid < n || 5*valid > 4*n {
		t.Errorf("one verdict is rare: %d valid of %d", valid, n)
	}
}

func TestModelsOfOnesOwnThatMakeNoSense(t *testing.T) {
	t.Parallel()
	h := kit.Calls(t, "write 1", "cas [1 2]", "read 1")
	broken := func(change func(d *models.Definition)) models.Spec {
		d := *campaign.OwnRegister
		change(&d)
		return models.Own(&d)
	}
	const incomplete = "a custom model needs a Definition with a Name and New"
	for _, c := range []struct {
		name string
		spec models.Spec
		want string
	}{
		{"none", models.Own(nil), incomplete},
		{"no name", broken(func(d *models.Definition) { d.Name = "" }), incomplete},
		{"no New", broken(func(d *models.Definition) { d.New = nil }), incomplete},
		{"a New that gives nothing", broken(func(d *models.Definition) {
			d.New = func(*models.Binding) (models.Reader, error) { return nil, nil }
		}), "the New of own-register returned no model"},
		{"a New that fails", broken(func(d *models.Definition) {
			d.New = func(*models.Binding) (models.Reader, error) { return nil, errors.New("not today") }
		}), "not today"},
		{"a parameter that it does not take", func() models.Spec { s := models.Own(campaign.OwnRegister); s.Permits = 3; return s }(),
			"Spec.Permits applies to semaphore and owner-semaphore, not to own-register"},
		{"an initial value that it does not take", func() models.Spec {
			s := broken(func(d *models.Definition) { d.NoInit = "it starts empty" })
			s.Init = "1"
			return s
		}(), "own-register does not take Spec.Init: it starts empty"},
		{"an :f that it does not know", models.Own(kit.StarModel(t, "counter")), "counter.star does not know :f :write"},
	} {
		_, err := clew.Check(context.Background(), h, c.spec, clew.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestNilAndZeroValuesAreErrors(t *testing.T) {
	ctx, h, zero := context.Background(), kit.Calls(t, "write 1", "cas [1 2]", "read 1"), &jepsen.History{}
	var nothing context.Context
	check := func(ctx context.Context, h *jepsen.History, o clew.Options) error {
		_, err := clew.Check(ctx, h, models.Spec{}, o)
		return err
	}
	compare := func(ctx context.Context, h *jepsen.History) error {
		_, err := clew.Compare(ctx, h, models.Spec{}, clew.Options{}, nil)
		return err
	}
	infer := func(h *jepsen.History) error {
		_, err := models.Infer(h)
		return err
	}
	read := func(s models.Spec, h *jepsen.History) error {
		_, err := s.Read(h)
		return err
	}
	var builder *jepsen.Builder
	build := func(b *jepsen.Builder) error {
		b.Invoke(0, "read", nil)
		_, err := b.History()
		return err
	}
	for i, err := range []error{
		check(nothing, h, clew.Options{}), check(ctx, nil, clew.Options{}), check(ctx, zero, clew.Options{}), check(ctx, zero, clew.Options{Independent: true}),
		check(ctx, h, clew.Options{Algorithm: "guess"}), check(ctx, h, clew.Options{Depth: -1}),
		compare(nothing, h), compare(ctx, nil), compare(ctx, zero),
		clew.Verify(nil, models.Spec{}, nil), clew.Verify(zero, models.Spec{}, nil), clew.Verify(h, models.Spec{}, nil), clew.VerifyKeys(nil, models.Spec{}, nil), clew.VerifyKeys(zero, models.Spec{}, nil),
		infer(nil), infer(zero), read(models.Spec{}, h), read(models.Spec{Name: "register"}, nil), read(models.Spec{Name: "register"}, zero),
		models.Spec{}.Check(), build(builder), build(&jepsen.Builder{}),
	} {
		if err == nil {
			t.Errorf("the %d. of these is no error", i+1)
		}
	}
	if err := check(ctx, h, clew.Options{Memory: &clew.Memory{}}); err != nil {
		t.Errorf("no memory limit: %v", err)
	}
	var r report.Result
	if r.Text() == "" || r.EDN() == "" {
		t.Error("the zero result shows nothing")
	}
	if _, ok := r.Failing(); ok || len(r.CoreOps())+len(r.WitnessOps()) > 0 {
		t.Error("the zero result has operations")
	}
}
