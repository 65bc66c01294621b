package main

import (
	"embed"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"clew/internal/gen"
)

// decidedRow is one kind of history that has to be decided.
type decidedRow struct {
	model  string
	about  string // what the values are
	make   func(r *rand.Rand) system
	flags  []string
	plants []plant
	sizes  []calls

	twin string // the file of a user's own model, which decides; "": clew's model
}

// plant is a wrong answer.
type plant struct {
	name    string
	verdict string // "" if other open operations may explain the answer
	answer  func(s system, c *call) bool
}

// twins are models of users' own that mean the same, by the model's name. They decide
// histories of a tenth of the length.
//
//go:embed twins
var twins embed.FS

const ofTwins = 10

// decidedSeeds is how many histories of each kind there are.
const decidedSeeds = 20

// decided measures histories with repeated values, empties and many crashed operations.
// For each row, it counts those that clew decides, and what the search over
// configurations alone decides.
func decided(b *bench) error {
	t := newTable(b.out, column{"", "histories", 74}, column{"clew", "valid", 5}, column{"clew", "invalid", 7}, column{"clew", "unknown", 7},
		column{"clew", "cpu median", 10}, column{"clew", "cpu most", 8}, column{"clew", "memory", 8}, column{"window", "unknown", 7}, column{"window", "cpu most", 8})
	for _, row := range decidedRows {
		for _, size := range row.sizes {
			for _, p := range append([]plant{{"linearizable", "valid", nil}}, row.plants...) {
				if err := b.decided(t, row, size, p); err != nil {
					return err
				}
			}
		}
	}
	for _, row := range decidedRows {
		text, err := twins.ReadFile("twins/" + row.model + ".star")
		if err != nil {
			return err
		}
		row.twin = filepath.Join(b.dir, row.model+".star")
		if err := os.WriteFile(row.twin, text, 0o644); err != nil {
			return err
		}
		for _, size := range row.sizes {
			size.operations, size.crashed = size.operations/ofTwins, (size.crashed+ofTwins-1)/ofTwins
			for _, p := range append([]plant{{"linearizable", "valid", nil}}, row.plants...) {
				if err := b.decided(t, row, size, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tally is what became of the histories of a row.
type tally struct {
	verdicts map[string]int
	cpu      []time.Duration
	memory   int64
}

func (t *tally) add(m measurement) {
	t.verdicts[m.verdict]++
	t.cpu = append(t.cpu, m.cpu)
	t.memory = max(t.memory, m.memory)
}

func (b *bench) decided(t *table, row decidedRow, size calls, p plant) error {
	name := fmt.Sprintf("%s%s, %s operations, %d crashed, %d clients, %s", row.model, row.about, thousands(size.operations), size.crashed, size.clients, p.name)
	model := append([]string{"--model", row.model}, row.flags...)
	if row.twin != "" {
		name, model = "own "+name, []string{"--model-file", row.twin}
	}
	if !b.only.MatchString(name) {
		return nil
	}
	engines := []string{"", "window"}
	if b.among != nil {
		engines = b.among
	}
	tallies := make([]tally, len(engines))
	for seed := range uint64(decidedSeeds) {
		r := gen.Rand(seed)
		s := row.make(r)
		size.plant = p.answer
		file, err := b.history(func(w io.Writer) error { return size.write(w, r, s) })
		if err != nil {
			return err
		}
		if b.keep != "" {
			if err := os.Rename(file, filepath.Join(b.keep, fmt.Sprintf("%s, seed %d.edn", name, seed))); err != nil {
				return err
			}
			continue
		}
		found := map[string]bool{}
		for i, engine := range engines {
			if tallies[i].verdicts == nil {
				tallies[i].verdicts = map[string]int{}
			}
			b.progress("%s: seed %d %s", name, seed, engine)
			args := model
			if engine != "" && engine != "auto" {
				args = append(slices.Clip(args), "--algorithm", engine)
			}
			m, err := b.measure(file, args...)
			if err != nil {
				return err
			}
			tallies[i].add(m)
			if m.verdict != "" {
				found[m.verdict] = true
			}
		}
		if b.verdict(found, p.verdict) == "WRONG" {
			fmt.Fprintf(b.out, "WRONG: %s, seed %d: %v\n", name, seed, found)
		}
	}
	b.progress("")
	if b.keep != "" {
		return nil
	}
	var cells []string
	for i, l := range tallies {
		slices.Sort(l.cpu)
		most := duration(l.cpu[len(l.cpu)-1])
		if i > 0 {
			cells = append(cells, strconv.Itoa(l.verdicts[""]), most)
			break
		}
		cells = append(cells, strconv.Itoa(l.verdicts["valid"]), strconv.Itoa(l.verdicts["invalid"]), strconv.Itoa(l.verdicts[""]),
			duration(l.cpu[len(l.cpu)/2]), most, megabytes(l.memory))
	}
	if len(tallies) == 1 {
		cells = append(cells, "", "")
	}
	t.row(append([]string{name}, cells...)...)
	return nil
}

// The answers that are planted.
var (
	neverWritten = plant{"a value that nothing writes", "invalid", func(s system, c *call) bool {
		switch s := s.(type) {
		case *container:
			if c.f == s.take && c.out != "nil" {
				c.out = strconv.Itoa(s.values)
				return true
			}
		case *registers:
			return s.instead(c, strconv.Itoa(s.values))
		case *appends:
			if c.f == "read-at" && c.out != "nil" {
				c.out = strconv.Itoa(s.values)
				return true
			}
		case *lease:
			if c.f == "check" {
				c.out = "99"
				return true
			}
		}
		return false
	}}
	otherValue = plant{"another value", "", func(s system, c *call) bool {
		switch s := s.(type) {
		case *container:
			if c.f == s.take && c.out != "nil" {
				c.out = strconv.Itoa((number(c.out) + 1) % s.values)
				return true
			}
		case *registers:
			return s.instead(c, strconv.Itoa(s.IntN(s.values)))
		case *appends:
			if c.f == "read-at" && c.out != "nil" {
				c.out = strconv.Itoa((number(c.out) + 1) % s.values)
				return true
			}
		}
		return false
	}}
	taken = plant{"the same element again", "", func(s system, c *call) bool {
		q := s.(*container)
		if c.f != q.take || c.out == "nil" {
			return false
		}
		q.content = slices.Insert(q.content, min(len(q.content), q.index(len(q.content)+1)), number(c.out))
		return true
	}}
	lost = plant{"a lost element", "", func(s system, c *call) bool {
		q := s.(*container)
		if len(q.content) < 2 {
			return false
		}
		q.content = slices.Delete(q.content, len(q.content)-1, len(q.content))
		return true
	}}
	wrongTotal = plant{"a wrong total", "invalid", func(s system, c *call) bool {
		if c.f != "read" {
			return false
		}
		balances := slices.Clone(s.(*bank).balances)
		balances[0]++
		c.out = mapOf(balances)
		return true
	}}
	wrongBalances = plant{"wrong balances", "", func(s system, c *call) bool {
		if c.f != "read" {
			return false
		}
		balances := slices.Clone(s.(*bank).balances)
		balances[0]++
		balances[1]--
		c.out = mapOf(balances)
		return balances[1] >= 0
	}}
	impossibleBalances = plant{"a balance above all transfers", "invalid", func(s system, c *call) bool {
		if c.f != "read" {
			return false
		}
		total := 0
		for _, n := range s.(*bank).balances {
			total += n
		}
		c.out = mapOf([]int{total + 1, -1, 0, 0})
		return true
	}}
	wrongSize = plant{"a wrong size", "", func(s system, c *call) bool {
		if c.f != "size" {
			return false
		}
		c.out = strconv.Itoa(number(c.out) + 1)
		return true
	}}
	sizeAbove = plant{"a size above all offers", "invalid", func(s system, c *call) bool {
		if c.f != "size" {
			return false
		}
		c.out = strconv.Itoa(s.(*container).offered + 1)
		return true
	}}
	twoHolders = plant{"an owner that was replaced", "", func(s system, c *call) bool {
		l := s.(*lease)
		if c.f != "check" || l.before < 0 || l.before == l.owner {
			return false
		}
		c.out = strconv.Itoa(l.before)
		return true
	}}
	sameEpoch = plant{"an epoch again", "invalid", func(s system, c *call) bool {
		l := s.(*lease)
		if c.f != "claim" || l.epoch < 3 {
			return false
		}
		c.out = fmt.Sprintf("[%d %d]", c.a, l.first)
		return true
	}}
	sumAbove = plant{"a read beyond every sum", "invalid", func(s system, c *call) bool {
		if c.f != "read" {
			return false
		}
		c.out = strconv.Itoa(s.(*adder).above + 1)
		return true
	}}
	wrongSum = plant{"a wrong sum", "", func(s system, c *call) bool {
		if c.f != "read" {
			return false
		}
		c.out = strconv.Itoa(number(c.out) + 1)
		return true
	}}
)

// instead replaces the first value that a transaction read.
func (s *registers) instead(c *call, value string) bool {
	begin, rest, found := strings.Cut(c.out, "[:r ")
	if !found {
		return false
	}
	c.out = begin + "[:r " + rest[:2] + value + rest[strings.Index(rest, "]"):]
	return true
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func newest(n int) int { return n - 1 }
func oldest(int) int   { return 0 }

// decidedRows are the kinds of histories.
var decidedRows = []decidedRow{
	{"stack", ", 10 values", func(r *rand.Rand) system {
		return &container{Rand: r, values: 10, put: "push", take: "pop", index: newest}
	}, nil, []plant{neverWritten, otherValue, taken, lost}, []calls{{operations: 1000, crashed: 30, clients: 8}}, ""},
	{"stack", ", 5 values", func(r *rand.Rand) system {
		return &container{Rand: r, values: 5, put: "push", take: "pop", index: newest}
	}, nil, []plant{neverWritten, otherValue, taken, lost}, []calls{{operations: 3000, crashed: 40, clients: 10}}, ""},
	{"unordered-queue", " with empties, 10 values", func(r *rand.Rand) system {
		return &container{Rand: r, values: 10, put: "enqueue", take: "dequeue", index: r.IntN}
	}, nil, []plant{neverWritten, otherValue, taken, lost}, []calls{{operations: 500, crashed: 20, clients: 5}, {operations: 5000, crashed: 100, clients: 5}}, ""},
	{"multi-register", ", 3 keys, 5 values", func(r *rand.Rand) system {
		return &registers{Rand: r, values: 5}
	}, []string{"--init", "{0 0, 1 0, 2 0}"}, []plant{neverWritten, otherValue}, []calls{{operations: 1000, crashed: 40, clients: 5}, {operations: 10000, crashed: 100, clients: 5}}, ""},
	{"bank", ", 4 accounts", func(r *rand.Rand) system {
		return &bank{Rand: r, balances: []int{20, 20, 20, 20}}
	}, []string{"--init", "{0 20, 1 20, 2 20, 3 20}"}, []plant{wrongTotal, wrongBalances, impossibleBalances}, []calls{{operations: 1000, crashed: 40, clients: 5}, {operations: 10000, crashed: 100, clients: 5}}, ""},
	{"java-queue", " with sizes, 10 values", func(r *rand.Rand) system {
		return &container{Rand: r, values: 10, put: "offer", take: "poll", index: oldest, add: "true", size: true}
	}, nil, []plant{neverWritten, otherValue, taken, lost, wrongSize, sizeAbove}, []calls{{operations: 400, crashed: 20, clients: 5}, {operations: 1000, crashed: 40, clients: 5}, {operations: 100_000, crashed: 0, clients: 5}}, ""},
	{"java-queue", " with sizes, long, distinct values", func(r *rand.Rand) system {
		return &container{Rand: r, values: 1e9, put: "offer", take: "poll", index: oldest, add: "true", size: true, grows: 1}
	}, nil, []plant{otherValue, taken, lost, wrongSize}, []calls{{operations: 3000, crashed: 0, clients: 5}, {operations: 3000, crashed: 20, clients: 5}, {operations: 100_000, crashed: 0, clients: 5}}, ""},
	{"java-queue", " with sizes, long, 10 values", func(r *rand.Rand) system {
		return &container{Rand: r, values: 10, put: "offer", take: "poll", index: oldest, add: "true", size: true, grows: 1}
	}, nil, []plant{otherValue, taken, lost, wrongSize}, []calls{{operations: 3000, crashed: 0, clients: 5}, {operations: 3000, crashed: 20, clients: 5}}, ""},
	{"lease", "", func(r *rand.Rand) system {
		return &lease{Rand: r, owner: -1, before: -1}
	}, nil, []plant{neverWritten, twoHolders, sameEpoch}, []calls{{operations: 1000, crashed: 40, clients: 5}}, ""},
	{"log", ", offsets mostly untold, 5 values", func(r *rand.Rand) system {
		return &appends{Rand: r, values: 5}
	}, nil, []plant{neverWritten, otherValue}, []calls{{operations: 200, crashed: 8, clients: 5}, {operations: 500, crashed: 0, clients: 5}, {operations: 10_000, crashed: 0, clients: 5}}, ""},
	{"counter", "", func(r *rand.Rand) system {
		return &adder{Rand: r}
	}, nil, []plant{sumAbove, wrongSum}, []calls{{operations: 10_000, crashed: 20, clients: 5}}, ""},
	{"fifo-queue", ", 10 values", func(r *rand.Rand) system {
		return &container{Rand: r, values: 10, put: "enqueue", take: "dequeue", index: oldest}
	}, nil, []plant{neverWritten, otherValue, taken, lost}, []calls{{operations: 400, crashed: 40, clients: 5}, {operations: 3000, crashed: 60, clients: 5}}, ""},
}

// A system is what simulated clients call: one object, whose operations take effect
// one at a time.
type system interface {
	// call returns the next operation of a client.
	call(client int) call
	// apply lets an operation take effect, and sets its result.
	apply(c *call)
}

// call is an operation of a simulated client.
type call struct {
	client  int
	f       string
	in, out string // the values of invocation and completion, as EDN; out is "" if it failed
	a, b, n int    // the arguments, as the system uses them
	changes bool   // the operation changes the state, so it may crash
}

// calls says what a simulated history has.
type calls struct {
	operations, crashed, clients int
	plant                        func(s system, c *call) bool // changes a result from 80% on, once, and says whether it did
}

// write simulates clients that call a system, and writes their history. Every operation
// takes effect at a random instant between its invocation and its completion, so the
// history is linearizable, except for what is planted. Crashed operations take effect
// then, or some time after they crashed, or never.
func (o calls) write(w io.Writer, r *rand.Rand, s system) (err error) {
	type client struct {
		process int
		stage   int // 0: nothing is open; 1: the operation is called; 2: it has taken effect
		call    call
	}
	clients := make([]client, o.clients)
	for i := range clients {
		clients[i].process = i
	}
	var ghosts []call // crashed operations that are still to take effect
	line := func(c *client, typ, value string) {
		if err == nil {
			_, err = fmt.Fprintf(w, "{:process %d, :type :%s, :f :%s, :value %s}\n", c.process, typ, c.call.f, value)
		}
	}
	called, crashed, open := 0, 0, 0
	for (called < o.operations || open > 0) && err == nil {
		if len(ghosts) > 0 && r.IntN(200) == 0 {
			i := r.IntN(len(ghosts))
			s.apply(&ghosts[i])
			ghosts = slices.Delete(ghosts, i, i+1)
		}
		i := r.IntN(len(clients))
		c := &clients[i]
		switch {
		case c.stage == 0 && called < o.operations:
			called++
			open++
			c.call = s.call(i)
			c.call.client = i
			line(c, "invoke", c.call.in)
			c.stage = 1
		case c.stage == 1 && c.call.changes && crashed*o.operations < o.crashed*called:
			crashed++
			open--
			switch r.IntN(3) {
			case 0:
				s.apply(&c.call)
			case 1:
				ghosts = append(ghosts, c.call)
			}
			line(c, "info", c.call.in)
			c.process += o.clients
			c.stage = 0
		case c.stage == 1:
			s.apply(&c.call)
			c.stage = 2
		case c.stage == 2:
			open--
			if o.plant != nil && 5*called > 4*o.operations && o.plant(s, &c.call) {
				o.plant = nil
			}
			if c.call.out == "" {
				line(c, "fail", c.call.in)
			} else {
				line(c, "ok", c.call.out)
			}
			c.stage = 0
		}
	}
	return err
}

// container is a stack, a queue or a bag of values.
type container struct {
	*rand.Rand
	values    int    // how many there are
	put, take string // the names of the operations
	index     func(n int) int
	add       string // what a completed put returns; "": its value
	size      bool   // it also tells its size
	grows     int    // how many of 20 operations are puts instead of takes, so that it grows longer
	content   []int
	offered   int
	last      string
}

func (s *container) call(int) call {
	switch k := s.IntN(20); {
	case s.size && k < 4:
		return call{f: "size", in: "nil"}
	case k < 11+s.grows:
		v := s.IntN(s.values)
		s.offered++
		return call{f: s.put, in: strconv.Itoa(v), a: v, changes: true}
	}
	return call{f: s.take, in: "nil", changes: true}
}

func (s *container) apply(c *call) {
	switch c.f {
	case "size":
		c.out = strconv.Itoa(len(s.content))
	case s.put:
		s.content = append(s.content, c.a)
		c.out = c.in
		if s.add != "" {
			c.out = s.add
		}
	default:
		c.out = "nil"
		if len(s.content) > 0 {
			i := s.index(len(s.content))
			c.out = strconv.Itoa(s.content[i])
			s.last = c.out
			s.content = slices.Delete(s.content, i, i+1)
		}
	}
}

// bank transfers money between accounts.
type bank struct {
	*rand.Rand
	balances []int
}

func (s *bank) call(int) call {
	if s.IntN(2) == 0 {
		return call{f: "read", in: "nil"}
	}
	from := s.IntN(len(s.balances))
	to := (from + 1 + s.IntN(len(s.balances)-1)) % len(s.balances)
	n := 1 + s.IntN(5)
	return call{f: "transfer", in: fmt.Sprintf("{:from %d, :to %d, :amount %d}", from, to, n), a: from, b: to, n: n, changes: true}
}

func (s *bank) apply(c *call) {
	c.out = c.in
	if c.f == "read" {
		c.out = mapOf(s.balances)
		return
	}
	if s.balances[c.a] < c.n {
		c.out = "" // nothing is left to transfer
		return
	}
	s.balances[c.a] -= c.n
	s.balances[c.b] += c.n
}

func mapOf(values []int) string {
	var pairs []string
	for k, v := range values {
		pairs = append(pairs, fmt.Sprintf("%d %d", k, v))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// registers runs transactions on three keys.
type registers struct {
	*rand.Rand
	values int
	state  [3]int
}

func (s *registers) call(int) call {
	c := call{f: "txn"}
	var ops []string
	c.a, c.b, c.n = -1, -1, -1
	for _, k := range s.Perm(len(s.state))[:1+s.IntN(2)] {
		if s.IntN(2) == 0 {
			ops = append(ops, fmt.Sprintf("[:r %d nil]", k))
			continue
		}
		v := s.IntN(s.values)
		*[]*int{&c.a, &c.b, &c.n}[k] = v
		c.changes = true
		ops = append(ops, fmt.Sprintf("[:w %d %d]", k, v))
	}
	c.in = "[" + strings.Join(ops, " ") + "]"
	return c
}

func (s *registers) apply(c *call) {
	c.out = c.in
	for k, v := range s.state {
		c.out = strings.Replace(c.out, fmt.Sprintf("[:r %d nil]", k), fmt.Sprintf("[:r %d %d]", k, v), 1)
	}
	for k, v := range [...]int{c.a, c.b, c.n} {
		if v >= 0 {
			s.state[k] = v
		}
	}
}

// lease has an owner and an epoch.
type lease struct {
	*rand.Rand
	owner, epoch int // no owner: -1
	last         int // the last epoch
	first        int // the first one
	before       int // the previous owner
}

func (s *lease) call(client int) call {
	switch k := s.IntN(10); {
	case k < 4:
		return call{f: "check", in: "nil"}
	case k < 8:
		return call{f: "claim", in: fmt.Sprintf("[%d nil]", client), a: client, changes: true}
	}
	return call{f: "release", in: strconv.Itoa(client), a: client, changes: true}
}

func (s *lease) apply(c *call) {
	switch c.f {
	case "check":
		c.out = "nil"
		if s.owner >= 0 {
			c.out = strconv.Itoa(s.owner)
		}
	case "claim":
		s.last++
		s.before = s.owner
		s.owner, s.epoch = c.a, s.last
		if s.first == 0 {
			s.first = s.epoch
		}
		c.out = fmt.Sprintf("[%d %d]", c.a, s.epoch)
	case "release":
		c.out = ""
		if s.owner == c.a {
			s.owner = -1
			c.out = c.in
		}
	}
}

// appends is a log that mostly does not tell its offsets.
type appends struct {
	*rand.Rand
	values  int
	content []int
}

func (s *appends) call(int) call {
	switch k := s.IntN(20); {
	case k < 10:
		v := s.IntN(s.values)
		return call{f: "append", in: strconv.Itoa(v), a: v, changes: true}
	case k < 11:
		return call{f: "tail", in: "nil"}
	}
	n := s.IntN(len(s.content) + 3)
	return call{f: "read-at", in: strconv.Itoa(n), a: n}
}

func (s *appends) apply(c *call) {
	c.out = "nil"
	switch c.f {
	case "append":
		if s.IntN(20) == 0 {
			c.out = strconv.Itoa(len(s.content))
		}
		s.content = append(s.content, c.a)
	case "tail":
		c.out = strconv.Itoa(len(s.content))
	case "read-at":
		if c.a < len(s.content) {
			c.out = strconv.Itoa(s.content[c.a])
		}
	}
}

// adder is a counter that random numbers are added to.
type adder struct {
	*rand.Rand
	sum, above int // above is at least every sum
}

func (s *adder) call(int) call {
	if s.IntN(2) == 0 {
		return call{f: "read", in: "nil"}
	}
	n := 1 + s.IntN(100)
	s.above += n
	return call{f: "add", in: strconv.Itoa(n), a: n, changes: true}
}

func (s *adder) apply(c *call) {
	c.out = c.in
	if c.f == "read" {
		c.out = strconv.Itoa(s.sum)
	}
	s.sum += c.a
}
