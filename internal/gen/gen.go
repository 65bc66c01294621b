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
	g := &SmallHistory{Rand: r, Options: o}
	// Longer histories and runs that were mutated once are the interesting ones.
	g.Way = [...]Way{Run, Run, Run, Mutated, Mutated, Mutated, Mutated, Guess, Guess, Guess}[r.IntN(10)]
	g.draw()
	g.object = newObject(g)
	init := ""
	if starter, ok := g.object.(starter); ok && o.Init && g.Chance(0.3) {
		init = starter.Start()
	}
	g.simulate()
	if g.Way == Mutated {
		g.mutate()
	}
	return History{g.text(), g.Way, init}
}

// SmallHistory makes one history.
type SmallHistory struct {
	Rand    *rand.Rand
	Options Options
	Way     Way

	operations, Processes                       int
	Values                                      []Value
	crashes, fails, reuse, late, silent, strays float64

	object Object
	procs  []*process
	ghosts []*Op // crashed, and may still take effect
	events []event
	fresh  int // the next process number
	Caller int // the process that begins an operation
}

// process is a client.
type process struct {
	number  int
	busy    *Op
	crashed bool // its last operation ended in :info
}

// Op is an operation.
type Op struct {
	Call
	Number int // of its process
	Fate   fate
	took   bool // has taken effect
	Result string
}

type fate int

const (
	succeeds fate = iota
	fails
	Crashes
)

// event is a line of the history. Its text is known only at the end, since
// mutation changes results.
type event struct {
	process string
	typ     string
	op      *Op // nil for the nemesis
}

func UpTo(given, standard int) int {
	if given == 0 {
		return standard
	}
	return given
}

// draw settles what kind of history this one is.
func (g *SmallHistory) draw() {
	r := g.Rand
	most := UpTo(g.Options.Operations, 8)
	// The larger of two draws, because longer histories show more.
	g.operations = max(r.IntN(most+1), r.IntN(most+1))
	g.Processes = 1 + r.IntN(UpTo(g.Options.Processes, 5))
	values := g.pool()
	for n := len(values); n < g.Options.Values; n++ {
		values = append(slices.Clip(values), Value{fmt.Sprint(100 + n)})
	}
	g.Values = drawValues(r, values, 1+r.IntN(UpTo(g.Options.Values, 4)))
	rate := func(choices ...float64) float64 { return choices[r.IntN(len(choices))] }
	if g.crashes = rate(0, 0, 0.1, 0.3, 0.6); g.Options.Crashes > 0 {
		g.crashes = g.Options.Crashes
	}
	if g.Options.Numbers {
		g.crashes = 0
	}
	g.fails = rate(0, 0.1, 0.3)
	g.reuse = rate(0, 0.5, 1)
	g.late = rate(0, 0, 0.5)
	g.silent = rate(0, 0.3)
	g.strays = rate(0, 0, 0.1)
	g.fresh = g.Processes
	for p := range g.Processes {
		g.procs = append(g.procs, &process{number: p})
	}
}

// pool returns the values that the model can have.
func (g *SmallHistory) pool() []Value {
	if g.Options.Numbers {
		return numbers
	}
	if own := registered[g.Options.Model].Values; own != nil {
		return own
	}
	return pool
}

func (g *SmallHistory) Chance(p float64) bool { return g.Rand.Float64() < p }

// simulate lets the processes take steps in random order.
func (g *SmallHistory) simulate() {
	for started := 0; ; {
		if g.Chance(g.strays) {
			g.events = append(g.events, event{process: ":nemesis", typ: ":info"})
		}
		if len(g.ghosts) > 0 && g.Chance(0.3) {
			g.ghost()
		}
		p := g.procs[g.Rand.IntN(len(g.procs))]
		if p.busy != nil {
			g.proceed(p)
			continue
		}
		if g.Options.Quiet > 0 && g.anyBusy() && g.Chance(g.Options.Quiet) {
			continue
		}
		if g.Chance(g.strays/2) && g.operations > 0 {
			g.emit(p, ":info", nil) // without an operation; alone it would not be a history
		}
		if started == g.operations {
			if !g.anyBusy() {
				return
			}
			continue
		}
		if p.crashed {
			if g.Chance(g.late) {
				g.emit(p, [...]string{":fail", ":info"}[g.Rand.IntN(2)], nil)
			}
			if !g.Chance(g.reuse) {
				p = g.replace(p)
			}
		}
		started++
		g.begin(p)
	}
}

func (g *SmallHistory) anyBusy() bool {
	for _, p := range g.procs {
		if p.busy != nil {
			return true
		}
	}
	return false
}

// ghost lets a crashed operation take effect.
func (g *SmallHistory) ghost() {
	i := g.Rand.IntN(len(g.ghosts))
	g.object.Apply(g.ghosts[i])
	g.ghosts = append(g.ghosts[:i], g.ghosts[i+1:]...)
}

// replace replaces a crashed process by one with a new number.
func (g *SmallHistory) replace(p *process) *process {
	for i, q := range g.procs {
		if p == q {
			g.procs[i] = &process{number: g.fresh}
			if n := g.Options.Threads; n > 0 {
				g.procs[i].number = p.number%n + n*g.fresh // the same thread
			}
			g.fresh++
			return g.procs[i]
		}
	}
	panic("gen: no such process")
}

// emit adds an event. A late completion belongs to the process's last operation.
func (g *SmallHistory) emit(p *process, typ string, o *Op) {
	if o == nil {
		for _, e := range g.events {
			if e.op != nil && e.op.Number == p.number {
				o = e.op
			}
		}
	}
	g.events = append(g.events, event{fmt.Sprint(p.number), typ, o})
}

func (g *SmallHistory) begin(p *process) {
	g.Caller = p.number
	o := &Op{Call: g.object.Call(), Number: p.number}
	switch {
	case g.Chance(g.crashes):
		o.Fate = Crashes
		if g.Chance(0.3) && g.object.Name(&o.Call) {
			o.Named = true
		}
	case g.Chance(g.fails):
		o.Fate = fails
	}
	p.busy = o
	g.emit(p, ":invoke", o)
}

// patience is how many times in a row an operation may find that it cannot take
// effect before it crashes.
const patience = 6

// proceed takes a step of a busy process: it takes effect or it completes.
func (g *SmallHistory) proceed(p *process) {
	o := p.busy
	if !o.took && o.Fate != Crashes {
		if o.Fate == fails && !(g.Options.ObserveFailedCAS && o.F == ":cas") {
			o.took = true
			return
		}
		switch g.effect(o) {
		case Done:
			o.Fate, o.took = succeeds, true
		case Refused:
			o.Fate, o.took = fails, true
		case Blocked:
			if o.waited++; o.waited > patience {
				o.Fate = Crashes
			}
		}
		return
	}
	p.busy = nil
	switch o.Fate {
	case succeeds:
		g.emit(p, ":ok", o)
	case fails:
		g.emit(p, ":fail", o)
	default:
		g.ghosts = append(g.ghosts, o)
		if g.Chance(g.silent) {
			g.replace(p)
			return
		}
		p.crashed = true
		g.emit(p, ":info", o)
		return
	}
	p.crashed = false
}

// Outcome is the result of an attempt to take effect.
type Outcome int

const (
	Done    Outcome = iota
	Refused         // it fails
	Blocked         // not now
)

func (g *SmallHistory) effect(o *Op) Outcome {
	if g.Way == Guess {
		g.Caller = o.Number
		o.Result = g.object.Guess(&o.Call)
		return Done
	}
	return g.object.Apply(o)
}

// mutate exchanges one or two results.
func (g *SmallHistory) mutate() {
	var oks []*Op
	for _, e := range g.events {
		if e.op != nil && e.typ == ":ok" {
			oks = append(oks, e.op)
		}
	}
	for n := 1 + g.Rand.IntN(2); n > 0 && len(oks) > 0; n-- {
		o := oks[g.Rand.IntN(len(oks))]
		g.Caller = o.Number
		o.Result = g.object.Guess(&o.Call)
	}
}

// text prints the history.
func (g *SmallHistory) text() string {
	r := g.Rand
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
			fields = append(fields, ":f "+e.op.F)
			if e.op.Key != "" {
				fields = append(fields, ":key "+e.op.Key)
			}
			value := e.op.Value(e.typ)
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

// Value returns what an event of the operation shows.
func (o *Op) Value(typ string) string {
	switch {
	case typ == ":ok":
		return o.Result
	case o.Named:
		return o.Says
	}
	return o.Arg
}

// Threads makes a linearizable history of the given number of threads with the
// given number of operations each, all of which succeed. The threads take steps
// in random order, as in a stress test. quiet is the chance that a thread waits
// for all others to return before it begins an operation. 0 gives the most
// overlap.
func Threads(seed uint64, model string, threads, each int, quiet float64) History {
	g := &SmallHistory{Rand: Rand(seed), Options: Options{Model: model, Processes: threads}, Way: Run}
	g.draw()
	g.Values = g.pool()[:3]
	g.object = newObject(g)
	left := make([]int, threads)
	g.procs = nil
	for i := range left {
		left[i] = each
		g.procs = append(g.procs, &process{number: i})
	}
	for begun := 0; begun < threads*each || g.anyBusy(); {
		i := g.Rand.IntN(threads)
		switch p := g.procs[i]; {
		case p.busy == nil && left[i] > 0 && !(g.anyBusy() && g.Chance(quiet)):
			left[i]--
			begun++
			p.busy = &Op{Call: g.object.Call(), Number: p.number}
			g.emit(p, ":invoke", p.busy)
		case p.busy == nil:
		case !p.busy.took:
			p.busy.took = g.object.Apply(p.busy) == Done
		default:
			g.emit(p, ":ok", p.busy)
			p.busy = nil
		}
	}
	return History{Text: g.text(), Way: Run}
}
