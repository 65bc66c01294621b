package clew_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"clew/internal/race"

	"clew"
	"clew/edn"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// ownRegister is cas-register once more, written with nothing but what any
// program can use.
var ownRegister = &models.Definition{
	Name: "own-register", Fs: ":read, :write, :cas [old new]", About: "cas-register again",
	New: func(b *models.Binding) (models.Reader, error) {
		m := &ownModel{values: map[int32]edn.Value{}}
		init, _ := b.Init()
		m.init = m.number(init)
		return m, nil
	},
}

type ownModel struct {
	init   int32
	values map[int32]edn.Value // by class
}

func (m *ownModel) number(v edn.Value) int32 {
	m.values[v.Class()] = v
	return v.Class()
}

func (m *ownModel) Read(o models.Operation) (op models.Op, keep bool, err error) {
	v := o.Value()
	switch o.F() {
	case "read":
		return models.Op{Kind: 0, A: m.number(v)}, v.Kind() != edn.KindNil, nil
	case "write":
		return models.Op{Kind: 1, A: m.number(v)}, true, nil
	case "cas":
		if v.Kind() == edn.KindNil {
			return models.Op{Kind: 2}, true, nil
		}
		pair := v.Items()
		if len(pair) < 2 {
			return op, false, fmt.Errorf("expected [old new], found %v", v)
		}
		return models.Op{Kind: 2, A: m.number(pair[0]), B: m.number(pair[1])}, true, nil
	}
	return op, false, models.ErrUnknownF
}

func (m *ownModel) Init() models.State { return models.State{m.init} }

func (m *ownModel) Step(dst []models.State, s models.State, op models.Op) []models.State {
	switch {
	case op.Kind == 1:
		return append(dst, models.State{op.A})
	case op.A != s[0]:
		return dst
	case op.Kind == 2:
		return append(dst, models.State{op.B})
	}
	return append(dst, s)
}

func (m *ownModel) Mutates(op models.Op) bool { return op.Kind != 0 }

func (m *ownModel) Why(s models.State, op models.Op) string {
	return fmt.Sprintf("%v is there, not %v", m.values[s[0]], m.values[op.A])
}

func (m *ownModel) Record(s models.State) edn.Value { return m.values[s[0]] }

func TestAModelOfOnesOwnAgreesWithItsTwinAndTheOracle(t *testing.T) {
	collectLess(t)
	n := 2000
	if long() {
		n = 100_000
	} else if testing.Short() || race.Enabled {
		n = 300
	}
	r := gen.Rand(7)
	valid := 0
	for range n {
		g := gen.New(r, gen.Options{Model: "cas-register", Init: true})
		own, twin := models.Own(ownRegister), models.Spec{Name: "cas-register"}
		own.Init, twin.Init = g.Init, g.Init
		want := judged(t, twin, g.Text, "auto")
		for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
			got := judged(t, own, g.Text, algorithm)
			if got.Verdict != want.Verdict || got.FailEvent != want.FailEvent {
				t.Fatalf("%s: %v at event %d; the built-in model says %v at %d:\n%s", algorithm, got.Verdict, got.FailEvent, want.Verdict, want.FailEvent, g.Text)
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

// judged is a result that the oracle agrees with.
func judged(t *testing.T, spec models.Spec, text, algorithm string) *report.Result {
	t.Helper()
	h, ops, err := campaign.ReadText(spec, text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := campaign.Checked(h, spec, algorithm)
	if err == nil {
		err = oracle.Examine(r, ops, oracle.Decide(ops, oracle.Options{}), oracle.Options{})
	}
	if err != nil {
		t.Fatalf("%s, %s: %v of\n%s", spec.Name, algorithm, err, text)
	}
	return r
}

func TestModelsOfOnesOwnThatMakeNoSense(t *testing.T) {
	h := staleRead()
	broken := func(change func(d *models.Definition)) models.Spec {
		d := *ownRegister
		change(&d)
		return models.Own(&d)
	}
	const incomplete = "a model of one's own needs a Definition with a Name and New"
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
		}), "the New of own-register gave no model"},
		{"a New that fails", broken(func(d *models.Definition) {
			d.New = func(*models.Binding) (models.Reader, error) { return nil, errors.New("not today") }
		}), "not today"},
		{"a parameter that it does not take", func() models.Spec { s := models.Own(ownRegister); s.Permits = 3; return s }(),
			"permits goes with semaphore and owner-semaphore, not with own-register"},
		{"an initial value that it does not take", func() models.Spec {
			s := broken(func(d *models.Definition) { d.NoInit = "it starts empty" })
			s.Init = "1"
			return s
		}(), "own-register takes no init: it starts empty"},
		{"an :f that it does not know", models.Own(light), "process 0's"},
	} {
		_, err := clew.Check(context.Background(), h, c.spec, clew.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), "light does not know :f :write") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestNilAndZeroValuesAreErrors(t *testing.T) {
	ctx, h, zero := context.Background(), staleRead(), &jepsen.History{}
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
