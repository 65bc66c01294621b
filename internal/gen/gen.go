package gen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Way says how return values are made.
type Way int

// The ways to make return values.
const (
	Run Way = iota
	Mutated
	Guess
)

func (w Way) String() string { return [...]string{"run", "mutated", "guess"}[w] }

// Options say which histories to make. Sizes are upper bounds. Everything else,
// such as the rates of crashes and failures, is drawn for each history.
type Options struct {
	Model            string
	Knossos          bool
	NilReadsExact    bool
	ObserveFailedCAS bool
	Operations       int  // 8 if 0
	Processes        int  // 5 if 0
	Values           int  // 4 if 0
	Unique           bool // a container's values are each added at most once
	Least            bool // a priority-queue hands out the least first
	Init             bool // some have an initial value
	Permits          int  // of semaphores
	MaxHolds         int  // of reentrant locks
	Threads          int  // a lock's owner is the process modulo this; 0: the process

	Growing  bool // ids of an id-generator grow
	Negative bool // balances of a bank may be negative
	OneKey   bool // a multi-register's transaction has one key

	Crashes float64 // the rate of crashes, drawn too if 0
	Numbers bool    // the values are numbers, as some forms need, and nothing crashes
	Quiet   float64 // the chance that an operation waits until no other is under way
}

// History is a generated history.
type History struct {
	Text string
	Way  Way
	Init string // the initial value as EDN; "": the model's default
}

// Rand returns the source of randomness for a seed.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x636c6577)) }

// New makes a history. The same options and state of r give the same history.
// It panics if it does not know the model.
func New(r *rand.Rand, o Options) History {
	g := &generator{r: r, o: o}
	// Longer histories and runs that were mutated once are the interesting ones.
	g.way = [...]Way{Run, Run, Run, Mutated, Mutated, Mutated, Mutated, Guess, Guess, Guess}[r.IntN(10)]
	g.draw()
	g.object = newObject(g)
	init := ""
	if starter, ok := g.object.(starter); ok && o.Init && g.chance(0.3) {
		init = starter.start()
	}
	g.simulate()
	if g.way == Mutated {
		g.mutate()
	}
	return History{g.text(), g.way, init}
}

// generator makes one history.
type generator struct {
	r   *rand.Rand
	o   Options
	way Way

	operations, processes                       int
	values                                      []value
	crashes, fails, reuse, late, silent, strays float64

	object object
	procs  []*process
	ghosts []*op // crashed, and may still take effect
	events []event
	fresh  int // the next process number
	caller int // the process that begins an operation
}

// process is a client.
type process struct {
	number  int
	busy    *op
	crashed bool // its last operation ended in :info
}

// op is an operation.
type op struct {
	call
	number int // of its process
	fate   fate
	took   bool // has taken effect
	result string
}

type fate int

const (
	succeeds fate = iota
	fails
	crashes
)

// event is a line of the history. Its text is known only at the end, since
// mutation changes results.
type event struct {
	process string
	typ     string
	op      *op // nil for the nemesis
}

func upTo(given, standard int) int {
	if given == 0 {
		return standard
	}
	return given
}

// draw settles what kind of history this one is.
func (g *generator) draw() {
	r := g.r
	most := upTo(g.o.Operations, 8)
	// The larger of two draws, because longer histories show more.
	g.operations = max(r.IntN(most+1), r.IntN(most+1))
	g.processes = 1 + r.IntN(upTo(g.o.Processes, 5))
	values := g.pool()
	for n := len(values); n < g.o.Values; n++ {
		values = append(slices.Clip(values), value{fmt.Sprint(100 + n)})
	}
	g.values = drawValues(r, values, 1+r.IntN(upTo(g.o.Values, 4)))
	rate := func(choices ...float64) float64 { return choices[r.IntN(len(choices))] }
	if g.crashes = rate(0, 0, 0.1, 0.3, 0.6); g.o.Crashes > 0 {
		g.crashes = g.o.Crashes
	}
	if g.o.Numbers {
		g.crashes = 0
	}
	g.fails = rate(0, 0.1, 0.3)
	g.reuse = rate(0, 0.5, 1)
	g.late = rate(0, 0, 0.5)
	g.silent = rate(0, 0.3)
	g.strays = rate(0, 0, 0.1)
	g.fresh = g.processes
	for p := range g.processes {
		g.procs = append(g.procs, &process{number: p})
	}
}

// pool returns the values that the model can have.
func (g *generator) pool() []value {
	if g.o.Numbers {
		return numbers
	}
	switch g.o.Model {
	case "priority-queue":
		return ordered
	case "java-queue":
		return printed
	}
	return pool
}

func (g *generator) chance(p float64) bool { return g.r.Float64() < p }

// simulate lets the processes take steps in random order.
func (g *generator) simulate() {
	for started := 0; ; {
		if g.chance(g.strays) {
			g.events = append(g.events, event{process: ":nemesis", typ: ":info"})
		}
		if len(g.ghosts) > 0 && g.chance(0.3) {
			g.ghost()
		}
		p := g.procs[g.r.IntN(len(g.procs))]
		if p.busy != nil {
			g.proceed(p)
			continue
		}
		if g.o.Quiet > 0 && g.anyBusy() && g.chance(g.o.Quiet) {
			continue
		}
		if g.chance(g.strays/2) && g.operations > 0 {
			g.emit(p, ":info", nil) // without an operation; alone it would not be a history
		}
		if started == g.operations {
			if !g.anyBusy() {
				return
			}
			continue
		}
		if p.crashed {
			if g.chance(g.late) {
				g.emit(p, [...]string{":fail", ":info"}[g.r.IntN(2)], nil)
			}
			if !g.chance(g.reuse) {
				p = g.replace(p)
			}
		}
		started++
		g.begin(p)
	}
}

func (g *generator) anyBusy() bool {
	for _, p := range g.procs {
		if p.busy != nil {
			return true
		}
	}
	return false
}

// ghost lets a crashed operation take effect.
func (g *generator) ghost() {
	i := g.r.IntN(len(g.ghosts))
	g.object.apply(g.ghosts[i])
	g.ghosts = append(g.ghosts[:i], g.ghosts[i+1:]...)
}

// replace replaces a crashed process by one with a new number.
func (g *generator) replace(p *process) *process {
	for i, q := range g.procs {
		if p == q {
			g.procs[i] = &process{number: g.fresh}
			if n := g.o.Threads; n > 0 {
				g.procs[i].number = p.number%n + n*g.fresh // the same thread
			}
			g.fresh++
			return g.procs[i]
		}
	}
	panic("gen: no such process")
}

// emit adds an event. A late completion belongs to the process's last operation.
func (g *generator) emit(p *process, typ string, o *op) {
	if o == nil {
		for _, e := range g.events {
			if e.op != nil && e.op.number == p.number {
				o = e.op
			}
		}
	}
	g.events = append(g.events, event{fmt.Sprint(p.number), typ, o})
}

func (g *generator) begin(p *process) {
	g.caller = p.number
	o := &op{call: g.object.call(), number: p.number}
	switch {
	case g.chance(g.crashes):
		o.fate = crashes
		if g.chance(0.3) && g.object.name(&o.call) {
			o.named = true
		}
	case g.chance(g.fails):
		o.fate = fails
	}
	p.busy = o
	g.emit(p, ":invoke", o)
}

// patience is how many times in a row an operation may find that it cannot take
// effect before it crashes.
const patience = 6

// proceed takes a step of a busy process: it takes effect or it completes.
func (g *generator) proceed(p *process) {
	o := p.busy
	if !o.took && o.fate != crashes {
		if o.fate == fails && !(g.o.ObserveFailedCAS && o.f == ":cas") {
			o.took = true
			return
		}
		switch g.effect(o) {
		case done:
			o.fate, o.took = succeeds, true
		case refused:
			o.fate, o.took = fails, true
		case blocked:
			if o.waited++; o.waited > patience {
				o.fate = crashes
			}
		}
		return
	}
	p.busy = nil
	switch o.fate {
	case succeeds:
		g.emit(p, ":ok", o)
	case fails:
		g.emit(p, ":fail", o)
	default:
		g.ghosts = append(g.ghosts, o)
		if g.chance(g.silent) {
			g.replace(p)
			return
		}
		p.crashed = true
		g.emit(p, ":info", o)
		return
	}
	p.crashed = false
}

// outcome is the result of an attempt to take effect.
type outcome int

const (
	done    outcome = iota
	refused         // it fails
	blocked         // not now
)

func (g *generator) effect(o *op) outcome {
	if g.way == Guess {
		g.caller = o.number
		o.result = g.object.guess(&o.call)
		return done
	}
	return g.object.apply(o)
}

// mutate exchanges one or two results.
func (g *generator) mutate() {
	var oks []*op
	for _, e := range g.events {
		if e.op != nil && e.typ == ":ok" {
			oks = append(oks, e.op)
		}
	}
	for n := 1 + g.r.IntN(2); n > 0 && len(oks) > 0; n-- {
		o := oks[g.r.IntN(len(oks))]
		g.caller = o.number
		o.result = g.object.guess(&o.call)
	}
}

// text prints the history.
func (g *generator) text() string {
	r := g.r
	var b strings.Builder
	wrapper := r.IntN(3)
	if wrapper == 0 {
		b.WriteString("[")
	}
	first, step := 0, 1+r.IntN(2)
	if r.IntN(2) == 0 {
		first = r.IntN(1000)
	}
	indices := r.IntN(4) // none, all, all, some
	for i, e := range g.events {
		fields := []string{":process " + e.process, ":type " + e.typ}
		if e.op == nil {
			fields = append(fields, ":f :kill", ":value \"n1\"")
		} else {
			fields = append(fields, ":f "+e.op.f)
			if e.op.key != "" {
				fields = append(fields, ":key "+e.op.key)
			}
			value := e.op.value(e.typ)
			if value != "nil" || r.IntN(2) == 0 {
				fields = append(fields, ":value "+value)
			}
		}
		if indices == 1 || indices == 2 || indices == 3 && r.IntN(4) > 0 {
			fields = append(fields, fmt.Sprintf(":index %d", first+step*i))
		}
		if r.IntN(8) == 0 {
			fields = append(fields, fmt.Sprintf(":time %d", r.IntN(1e6)))
		}
		b.WriteString("{" + strings.Join(fields, [...]string{" ", ", "}[r.IntN(2)]) + "}\n")
	}
	if wrapper == 0 {
		b.WriteString("]\n")
	}
	return b.String()
}

// value returns what an event of the operation shows.
func (o *op) value(typ string) string {
	switch {
	case typ == ":ok":
		return o.result
	case o.named:
		return o.name
	}
	return o.arg
}
