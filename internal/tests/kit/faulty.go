package kit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"clew"
	"clew/models"
)

var Unverified = clew.Options{Verify: clew.VerifyNever}

// Soon returns options of a check that leave out what is hard to decide again and again: what takes much memory, however
// busy the machine is.
func Soon() clew.Options {
	return clew.Options{Verify: clew.VerifyNever, Memory: clew.NewMemory(64 << 20)}
}

func Numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", i+1, line)
	}
	return b.String()
}

// Faulty returns a history of clients side by side on an object with unique values. Some operations crash, and some
// answers are wrong: an old value, one that is yet to come, one that nothing had.
func Faulty(r *rand.Rand, spec models.Spec, operations, clients int, crashes, wrong float64) string {
	model := spec.Name
	if simulate := simulations[model]; simulate != nil && (model != "fifo-queue" || r.IntN(2) == 0) {
		return sideBySide(r, simulate(r, spec), operations, clients, crashes, wrong)
	}
	x := &faulty{r: r, model: model, wrong: wrong, now: map[int]int{0: -1, 1: -1}}
	begun := 0
	var open []*faultyOp
	free, processes := make([]int, clients), clients
	for i := range free {
		free[i] = i
	}
	for begun < operations || len(open) > 0 {
		switch {
		case begun < operations && len(free) > 0 && (len(open) == 0 || r.IntN(3) == 0):
			i := r.IntN(len(free))
			o := x.next(free[i])
			free = slices.Delete(free, i, i+1)
			begun++
			x.line(o, "invoke", o.value)
			open = append(open, o)
		default:
			i := r.IntN(len(open))
			o := open[i]
			if !o.done && (r.IntN(2) == 0 || o.value >= 0 && r.IntN(3) > 0) {
				x.apply(o)
				continue
			}
			open = slices.Delete(open, i, i+1)
			if r.Float64() < crashes {
				x.line(o, "info", -1)
				free = append(free, processes)
				processes++
				continue
			}
			if !o.done {
				x.apply(o)
			}
			if o.failed {
				x.line(o, "fail", -1)
			} else {
				x.line(o, "ok", o.value)
			}
			free = append(free, o.process)
		}
	}
	return x.b.String()
}

// faulty makes a history of a faulty object.
type faulty struct {
	r        *rand.Rand
	model    string
	wrong    float64     // the share of answers
	now      map[int]int // of each key
	contents []int
	held     int // permits
	last     int // value
	b        strings.Builder
}

type faultyOp struct {
	process, key int
	from         int // of a cas
	f            string
	value        int // -1: none
	done, failed bool
}

// line writes an event.
func (x *faulty) line(o *faultyOp, kind string, value int) {
	v := "nil"
	if value >= 0 {
		v = fmt.Sprint(value)
	}
	if o.f == "cas" && kind == "ok" {
		v = strings.ReplaceAll(fmt.Sprintf("[%d %d]", o.from, value), "-1", "nil")
	} else if o.f == "cas" {
		v = fmt.Sprintf("[%d %d]", o.from, o.value)
	}
	if x.model == "kv" {
		v = fmt.Sprintf("[%d %s]", o.key, v)
	}
	fmt.Fprintf(&x.b, "{:process %d, :type :%s, :f :%s, :value %s}\n", o.process, kind, o.f, v)
}

// apply lets an operation happen, perhaps wrongly.
func (x *faulty) apply(o *faultyOp) {
	o.done = true
	switch o.f {
	case "write", "put":
		x.now[o.key] = o.value
	case "read", "get":
		o.value = x.now[o.key]
	case "cas":
		if o.from = x.now[o.key]; x.r.Float64() < x.wrong {
			o.from = max(-1, x.last-x.r.IntN(6))
		}
		x.now[o.key] = o.value
	case "enqueue":
		at := len(x.contents)
		if x.model == "unordered-queue" {
			at = x.r.IntN(at + 1)
		}
		x.contents = slices.Insert(x.contents, at, o.value)
	case "acquire":
		if o.failed = x.held == permits(x.model) && x.r.Float64() >= x.wrong; !o.failed {
			x.held = min(x.held+1, permits(x.model))
		}
	case "release":
		if o.failed = x.held == 0 && x.r.Float64() >= x.wrong; !o.failed {
			x.held = max(x.held-1, 0)
		}
	case "dequeue":
		if o.value = -1; len(x.contents) > 0 {
			o.value, x.contents = x.contents[0], x.contents[1:]
		}
	}
	if (o.f == "read" || o.f == "get" || o.f == "dequeue") && x.r.Float64() < x.wrong {
		o.value = x.r.IntN(x.last+2) - 1
		if x.r.IntN(2) == 0 {
			o.value = max(-1, x.last-x.r.IntN(6))
		}
	}
}

// next returns the next operation of a process.
func (x *faulty) next(process int) *faultyOp {
	o := &faultyOp{process: process, key: x.r.IntN(2), value: -1, from: max(0, x.last-x.r.IntN(4))}
	fs := map[string][]string{"register": {"write", "read"}, "cas-register": {[]string{"write", "cas"}[x.r.IntN(2)], "read"}, "kv": {"put", "get"}}[x.model]
	if fs == nil {
		fs = []string{"enqueue", "dequeue"}
	}
	if x.model != "kv" {
		o.key = 0
	}
	if x.model == "mutex" || x.model == "semaphore" {
		fs = []string{"acquire", "release"}
	}
	if o.f = fs[x.r.IntN(2)]; o.f == fs[0] && o.f != "acquire" {
		x.last++
		o.value = x.last
	}
	return o
}

func permits(model string) int {
	if model == "semaphore" {
		return 3
	}
	return 1
}

// Forgetful are the models of which a monitor holds only what it must.
var Forgetful = []models.Spec{{Name: "register"}, {Name: "cas-register"}, {Name: "kv"}, {Name: "fifo-queue"}, {Name: "unordered-queue"}, {Name: "mutex"}, {Name: "semaphore", Permits: 3},
	{Name: "counter"}, {Name: "id-generator"}, {Name: "id-generator", GrowingIDs: true}, {Name: "log"}, {Name: "lookup-set"}, {Name: "set"}, {Name: "versioned-register"}, {Name: "priority-queue"}}

// OfKeys returns a history of several keys, some of which fail.
func OfKeys(r *rand.Rand, spec models.Spec) string {
	var keys [][]string
	for key := range 1 + r.IntN(5) {
		text := Faulty(r, spec, 1+r.IntN(20), 1+r.IntN(4), 0.1, 0.2)
		for line := range strings.Lines(text) {
			process, rest, _ := strings.Cut(strings.TrimPrefix(line, "{:process "), ",")
			before, value, _ := strings.Cut(strings.TrimSuffix(rest, "}\n"), ":value ")
			if len(keys) == key {
				keys = append(keys, nil)
			}
			keys[key] = append(keys[key], fmt.Sprintf("{:process %d%s,%s:value [%d %s]}\n", key+1, process, before, key, value))
		}
	}
	var b strings.Builder
	for len(keys) > 0 {
		i := min(r.IntN(len(keys)), r.IntN(len(keys))) // the first ones end first
		b.WriteString(keys[i][0])
		if keys[i] = keys[i][1:]; len(keys[i]) == 0 {
			keys = slices.Delete(keys, i, i+1)
		}
	}
	return b.String()
}
