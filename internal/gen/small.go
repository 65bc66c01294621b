package gen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
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

// Options say which small histories to make. Sizes are upper bounds. Everything else,
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
	// Longer histories and runs that were mutated once are the interesting ones.
	way := [...]Way{Run, Run, Run, Mutated, Mutated, Mutated, Mutated, Guess, Guess, Guess}[r.IntN(10)]
	most := UpTo(o.Operations, 8)
	// The larger of two draws, because longer histories show more.
	operations := max(r.IntN(most+1), r.IntN(most+1))
	m := newSmall(r, o, operations, 1+r.IntN(UpTo(o.Processes, 5)), way)
	rate := func(choices ...float64) float64 { return choices[r.IntN(len(choices))] }
	m.small.crashes = rate(0, 0, 0.1, 0.3, 0.6)
	switch {
	case o.Numbers:
		m.small.crashes = 0
	case o.Crashes > 0:
		m.small.crashes = o.Crashes
	}
	m.fails = rate(0, 0.1, 0.3)
	m.reuse = rate(0, 0.5, 1)
	m.late = rate(0, 0, 0.5)
	m.silent = rate(0, 0.3)
	m.strays = rate(0, 0, 0.1)
	if way == Mutated {
		m.mistakes = 1 + r.IntN(3)
	}
	init := ""
	if starter, ok := m.object.(Starter); ok && o.Init && m.Chance(0.3) {
		init = string(starter.Start(nil))
	}
	for !m.done() {
		if m.Chance(m.strays) {
			m.emitSmall(":nemesis", ":info", &Op{})
		}
		m.step(&m.threads[r.IntN(len(m.threads))])
	}
	return History{m.text(), way, init}
}

// Threads makes a linearizable history of the given number of threads with the
// given number of operations each, all of which succeed. The threads take steps
// in random order, as in a stress test. quiet is the chance that a thread waits
// for all others to return before it begins an operation. 0 gives the most
// overlap.
func Threads(seed uint64, model string, threads, each int, quiet float64) History {
	m := newSmall(Rand(seed), Options{Model: model, Values: 3}, threads*each, threads, Run)
	left := slices.Repeat([]int{each}, threads)
	for !m.done() {
		t := &m.threads[m.Rand.IntN(threads)]
		switch {
		case t.stage != idle:
		case left[t.Number] == 0 || m.busy > 0 && m.Chance(quiet):
			continue
		default:
			left[t.Number]--
		}
		if m.step(t); t.stage == refuses {
			t.stage = begun // it tries again
		}
	}
	return History{Text: m.text(), Way: Run}
}

// newSmall returns the maker of a small history in which nothing goes wrong yet.
func newSmall(r *rand.Rand, o Options, operations, processes int, way Way) *Maker {
	model, known := registered[o.Model]
	if !known {
		panic("gen: unknown model " + o.Model)
	}
	pool := anyValues
	switch {
	case o.Numbers:
		pool = numbers
	case model.Values != nil:
		pool = model.Values
	}
	for n := len(pool); n < o.Values; n++ {
		pool = append(slices.Clip(pool), value{fmt.Sprint(100 + n)})
	}
	m := &Maker{
		LongOptions: LongOptions{Model: o.Model, Operations: operations, Processes: processes, Permits: o.Permits},
		Small:       true, Options: o, key: -1, threads: newThreads(processes),
		writer: &writer{Rand: r, Clients: processes},
		small:  small{way: way, values: pool.draw(r, 1+r.IntN(UpTo(o.Values, 4))), gap: 1 + r.IntN(2), indices: r.IntN(4)},
	}
	if r.IntN(2) == 0 {
		m.first = r.IntN(1000)
	}
	m.LongOptions = m.defaults()
	m.Values = len(m.values)
	m.create()
	return m
}

// small is what only small histories have.
type small struct {
	way      Way
	values   Values
	mistakes int // how many answers still become others

	crashes, fails, reuse, late, silent, strays float64

	first, gap int // of the indices
	indices    int // which events have one: none, all, all, some
}

// nextSmall makes up the next operation of a thread.
func (m *Maker) nextSmall(t *Thread) bool {
	switch {
	case m.busy > 0 && m.Options.Quiet > 0 && m.Chance(m.Options.Quiet):
		return false
	case m.Chance(m.strays):
		m.emit(t, ":info") // without an operation that is under way
	}
	if t.crashed {
		if m.Chance(m.late) {
			m.emit(t, [...]string{":fail", ":info"}[m.Rand.IntN(2)])
		}
		if !m.Chance(m.reuse) {
			m.renumber(t)
		}
	}
	o := &t.op
	*o, t.crashed = m.object.Call(t), false
	switch {
	case m.Chance(m.small.crashes):
		if o.Crashes = true; m.Chance(0.3) {
			m.object.Name(o)
		}
	case m.Chance(m.fails):
		o.fails = !(m.Options.ObserveFailedCAS && o.F == ":cas")
	}
	return true
}

// mutate may exchange the answer of an operation. The ones that it changes are chosen at
// random among those that are still to complete.
func (m *Maker) mutate(o *Op) {
	if m.mistakes > 0 && m.Rand.IntN(m.Operations-m.Started+m.busy+1) < m.mistakes {
		m.mistakes--
		m.object.Err(o)
	}
}

// emitSmall writes an event in one of the ways that are found in real histories.
func (m *Maker) emitSmall(process, typ string, o *Op) {
	r := m.Rand
	comma := [...]string{" ", ", "}[r.IntN(2)]
	b := append(m.buffer, "{:process "+process+comma+":type "+typ+comma...)
	if o.F == "" {
		b = append(b, ":f :kill"+comma+`:value "n1"`...)
	} else {
		b = append(b, ":f "+o.F...)
		if o.Beside != "" {
			b = append(b, comma+":key "+o.Beside...)
		}
		value := string(m.object.Value(nil, o, typ == ":ok"))
		if value != "nil" || r.IntN(2) == 0 {
			b = append(b, comma+":value "+value...)
		}
	}
	if m.indices == 1 || m.indices == 2 || m.indices == 3 && r.IntN(4) > 0 {
		b = strconv.AppendInt(append(b, comma+":index "...), int64(m.first+m.gap*m.events), 10)
	}
	if r.IntN(8) == 0 {
		b = strconv.AppendInt(append(b, comma+":time "...), int64(r.IntN(1e6)), 10)
	}
	m.buffer = append(b, "}\n"...)
	m.events++
}

// text returns the whole history, which may be in brackets.
func (m *Maker) text() string {
	if m.Rand.IntN(3) == 0 {
		return "[" + string(m.buffer) + "]\n"
	}
	return string(m.buffer)
}
