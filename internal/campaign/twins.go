package campaign

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"clew/edn"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

// twin is a user's own model that is also built in.
type twin struct {
	name string // the built-in model's name
	in   string // the language
	own  *models.Definition
}

// goTwins returns the twins in Go.
func goTwins() []twin {
	return []twin{
		{"cas-register", "Go", OwnRegister},
		{"mutex", "Go functions", funcMutex.Definition()},
		{"fifo-queue", "Go functions", funcQueue.Definition()},
	}
}

// fileTwins returns the twins in a folder of model files, which are named after them.
func fileTwins(folder string) (twins []twin, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name, is := strings.CutSuffix(f.Name(), ".star")
		if !is {
			continue
		}
		file, err := modelfile.Load(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		twins = append(twins, twin{name, "Starlark", file.Definition()})
	}
	return twins, nil
}

// config makes histories for both.
func (t *twin) config() Config {
	name := t.name + " in " + t.in
	return Config{name, name, 40, func(u Unit, n int) (c Counts, err error) {
		r := gen.Rand(u.Seed)
		for range n {
			g := gen.New(r, gen.Options{Model: t.name, Init: true})
			if err := c.twins(t, g.Init, g.Text); err != nil {
				wrong := func(text string) error { return new(Counts).twins(t, g.Init, text) }
				small := smallest(g.Text, wrong)
				return c, &Mismatch{Spec: models.Spec{Name: t.name, Init: g.Init}, Text: small, Err: wrong(small)}
			}
		}
		return c, nil
	}}
}

// twins says where a model and its twin differ, or what is wrong with the evidence of
// either. A model file refuses values that Starlark would confuse.
func (c *Counts) twins(t *twin, init, text string) error {
	own, built := models.Own(t.own), models.Spec{Name: t.name}
	own.Init, built.Init = init, init
	if t.name == "counter" {
		built.Answers = models.AnswersTold // since its twins read all of them
	}
	h, ops, err := ReadText(own, text)
	if err != nil && strings.Contains(err.Error(), "which are equal in the model and not in the history") {
		return nil
	}
	if err != nil {
		return err
	}
	_, want, err := decided(built, text)
	if err != nil {
		return err
	}
	answer := oracle.Decide(ops, oracle.Options{})
	if want.Verdict == jepsen.Valid {
		c.Valid++
	} else {
		c.Invalid++
	}
	if h.CrashedCount() > 0 {
		c.Crashed++
	}
	if answer.Linearizable != (want.Verdict == jepsen.Valid) || jepsen.Event(answer.Fail) != want.FailEvent.OrNone() {
		return fmt.Errorf("in %s it is linearizable: %t, event %d fails; the built-in model says %s, event %d", t.in, answer.Linearizable, answer.Fail, want.Verdict, want.FailEvent.OrNone())
	}
	examiner := oracle.NewExaminer(ops, answer, oracle.Options{})
	for _, algorithm := range []string{"auto", "window", "frontier", "porcupine"} {
		r, err := Checked(h, own, algorithm)
		if err == nil {
			err = examiner.Examine(r)
		}
		if err != nil {
			return fmt.Errorf("in %s, --algorithm %s: %w", t.in, algorithm, err)
		}
		c.Engines.note(algorithm, r.Verdict)
	}
	return nil
}

// OwnRegister is cas-register again, written only with what any program can use.
var OwnRegister = &models.Definition{
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

func (m *ownModel) Traits() *models.Traits { return &models.Traits{} }

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

// funcMutex is the mutex, written as functions.
var funcMutex = models.Func[bool]{
	Name: "func-mutex",
	Ops: map[string]models.StepFunc[bool]{
		"acquire": func(held bool, _ models.Call) ([]bool, error) {
			if held {
				return nil, models.Inconsistent("it is held")
			}
			return []bool{true}, nil
		},
		"release": func(held bool, _ models.Call) ([]bool, error) {
			if !held {
				return nil, models.Inconsistent("nobody holds it")
			}
			return []bool{false}, nil
		},
	},
}

// funcQueue is the FIFO queue, written as functions. A state has the elements' classes,
// four bytes each.
var funcQueue = models.Func[string]{
	Name: "func-queue",
	Start: func(init edn.Value) (string, error) {
		return elements(init.Items()...), nil
	},
	Ops: map[string]models.StepFunc[string]{
		"enqueue": func(q string, c models.Call) ([]string, error) { return []string{q + elements(said(c))}, nil },
		"dequeue": func(q string, c models.Call) ([]string, error) {
			x := said(c)
			if q != "" && !c.OK && x.Kind() == edn.KindNil {
				return []string{q[4:]}, nil
			}
			return first(q, x, 4)
		},
		"peek": func(q string, c models.Call) ([]string, error) { return first(q, c.Out, 0) },
		"drain": func(q string, c models.Call) ([]string, error) {
			var some []string
			x := said(c)
			if !c.OK && x.Kind() == edn.KindNil {
				for i := 0; i <= len(q); i += 4 {
					some = append(some, q[i:])
				}
				return some, nil
			}
			rest, begins := strings.CutPrefix(q, elements(x.Items()...))
			if !begins {
				return nil, errNotFirst
			}
			return []string{rest}, nil
		},
	},
	Reads: []string{"peek"},
}

var errNotFirst = models.Inconsistent("it is not first")

// said returns the value that counts for a call.
func said(c models.Call) edn.Value {
	if c.OK {
		return c.Out
	}
	return c.Value
}

// elements returns values as a part of a state.
func elements(values ...edn.Value) string {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v.Class()))
	}
	return string(b)
}

// first takes a number of bytes from a queue that has x first, or that is empty if x
// says so.
func first(q string, x edn.Value, taken int) ([]string, error) {
	empty := x.Kind() == edn.KindNil || x.String() == ":empty"
	switch {
	case empty && q == "":
		return []string{q}, nil
	case empty || !strings.HasPrefix(q, elements(x)):
		return nil, errNotFirst
	}
	return []string{q[taken:]}, nil
}
