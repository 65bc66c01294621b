package kit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"clew"
	"clew/internal/effort"
	"clew/models"
)

var Unverified = clew.Options{Verify: clew.VerifyNever}

// Soon leaves out what is hard to decide again and again.
var Soon = clew.Options{Verify: clew.VerifyNever, TimeLimit: effort.Patience(time.Second / 5)}

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
	type op struct {
		process, key int
		from         int // of a cas
		f            string
		value        int // -1: none
		done, failed bool
	}
	var b strings.Builder
	line := func(o *op, kind string, value int) {
		v := "nil"
		if value >= 0 {
			v = fmt.Sprint(value)
		}
		if o.f == "cas" && kind == "ok" {
			v = strings.ReplaceAll(fmt.Sprintf("[%d %d]", o.from, value), "-1", "nil")
		} else if o.f == "cas" {
			v = fmt.Sprintf("[%d %d]", o.from, o.value)
		}
		if model == "kv" {
			v = fmt.Sprintf("[%d %s]", o.key, v)
		}
		fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %s}\n", o.process, kind, o.f, v)
	}
	now, contents, next, begun := map[int]int{0: -1, 1: -1}, []int{}, 0, 0
	held := 0
	var open []*op
	free, processes := make([]int, clients), clients
	for i := range free {
		free[i] = i
	}
	apply := func(o *op) {
		o.done = true
		switch o.f {
		case "write", "put":
			now[o.key] = o.value
		case "read", "get":
			o.value = now[o.key]
		case "cas":
			if o.from = now[o.key]; r.Float64() < wrong {
				o.from = max(-1, next-r.IntN(6))
			}
			now[o.key] = o.value
		case "enqueue":
			at := len(contents)
			if model == "unordered-queue" {
				at = r.IntN(at + 1)
			}
			contents = slices.Insert(contents, at, o.value)
		case "acquire":
			if o.failed = held == permits(model) && r.Float64() >= wrong; !o.failed {
				held = min(held+1, permits(model))
			}
		case "release":
			if o.failed = held == 0 && r.Float64() >= wrong; !o.failed {
				held = max(held-1, 0)
			}
		case "dequeue":
			if o.value = -1; len(contents) > 0 {
				o.value, contents = contents[0], contents[1:]
			}
		}
		if (o.f == "read" || o.f == "get" || o.f == "dequeue") && r.Float64() < wrong {
			o.value = r.IntN(next+2) - 1
			if r.IntN(2) == 0 {
				o.value = max(-1, next-r.IntN(6))
			}
		}
	}
	for begun < operations || len(open) > 0 {
		switch {
		case begun < operations && len(free) > 0 && (len(open) == 0 || r.IntN(3) == 0):
			i := r.IntN(len(free))
			o := &op{process: free[i], key: r.IntN(2), value: -1, from: max(0, next-r.IntN(4))}
			free = slices.Delete(free, i, i+1)
			fs := map[string][]string{"register": {"write", "read"}, "cas-register": {[]string{"write", "cas"}[r.IntN(2)], "read"}, "kv": {"put", "get"}}[model]
			if fs == nil {
				fs = []string{"enqueue", "dequeue"}
			}
			if model != "kv" {
				o.key = 0
			}
			if model == "mutex" || model == "semaphore" {
				fs = []string{"acquire", "release"}
			}
			if o.f = fs[r.IntN(2)]; o.f == fs[0] && o.f != "acquire" {
				next++
				o.value = next
			}
			begun++
			line(o, "invoke", o.value)
			open = append(open, o)
		default:
			i := r.IntN(len(open))
			o := open[i]
			if !o.done && (r.IntN(2) == 0 || o.value >= 0 && r.IntN(3) > 0) {
				apply(o)
				continue
			}
			open = slices.Delete(open, i, i+1)
			if r.Float64() < crashes {
				line(o, "info", -1)
				free = append(free, processes)
				processes++
				continue
			}
			if !o.done {
				apply(o)
			}
			if o.failed {
				line(o, "fail", -1)
			} else {
				line(o, "ok", o.value)
			}
			free = append(free, o.process)
		}
	}
	return b.String()
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
