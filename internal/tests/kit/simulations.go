package kit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"clew/models"
)

// simulated is an operation of a simulated object.
type simulated struct {
	f, given string
	// apply has it take effect, and returns what it answers, :fail if it failed. If wrong, the answer may be another one.
	apply func(wrong bool) (answer string)

	process int
	answer  string
	done    bool
}

// sideBySide returns a history of clients side by side on an object, of which begin returns operations. Some operations
// crash; they take effect before that, later, or never. Some answers are wrong.
func sideBySide(r *rand.Rand, begin func() *simulated, operations, clients int, crashes, wrong float64) string {
	var b strings.Builder
	line := func(o *simulated, kind, value string) {
		fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %s}\n", o.process, kind, o.f, value)
	}
	do := func(o *simulated) {
		if !o.done {
			o.answer, o.done = o.apply(r.Float64() < wrong), true
		}
	}
	var open, ghosts []*simulated
	free, processes, begun := make([]int, clients), clients, 0
	for i := range free {
		free[i] = i
	}
	for begun < operations || len(open) > 0 {
		switch {
		case len(ghosts) > 0 && r.IntN(8) == 0:
			do(ghosts[0])
			ghosts = ghosts[1:]
		case begun < operations && len(free) > 0 && (len(open) == 0 || r.IntN(3) == 0):
			i := r.IntN(len(free))
			o := begin()
			o.process = free[i]
			free = slices.Delete(free, i, i+1)
			begun++
			line(o, "invoke", o.given)
			open = append(open, o)
		default:
			i := r.IntN(len(open))
			o := open[i]
			if !o.done && r.IntN(2) == 0 {
				do(o)
				continue
			}
			open = slices.Delete(open, i, i+1)
			if r.Float64() < crashes {
				line(o, "info", "nil")
				free = append(free, processes)
				processes++
				if r.IntN(2) == 0 {
					ghosts = append(ghosts, o)
				}
				continue
			}
			if do(o); o.answer == ":fail" {
				line(o, "fail", o.given)
			} else {
				line(o, "ok", o.answer)
			}
			free = append(free, o.process)
		}
	}
	return b.String()
}

// simulations return what begins operations of a new object, by model.
var simulations = map[string]func(r *rand.Rand, spec models.Spec) func() *simulated{
	"counter":      simulateCounter,
	"id-generator": simulateIDs,
	"log":          simulateLog,
	"lookup-set":   simulateLookups,
	"set":          simulateSet,

	"versioned-register": simulateVersions,
	"priority-queue":     simulateElements,
	"fifo-queue":         simulateElements,
}

// off returns a number that is off by a little if it is wrong.
func off(r *rand.Rand, n int, wrong bool) int {
	if wrong {
		n += r.IntN(7) - 4
	}
	return n
}

// simulateCounter has a counter with adds of one amount, with adds that tell the new value, or with any adds.
func simulateCounter(r *rand.Rand, _ models.Spec) func() *simulated {
	now, sign, kind := 0, 1-2*r.IntN(2), r.IntN(5)
	return func() *simulated {
		n := sign
		switch {
		case r.IntN(2) == 0:
			return &simulated{f: "read", given: "nil", apply: func(wrong bool) string { return fmt.Sprint(off(r, now, wrong)) }}
		case kind < 2:
			return &simulated{f: "add", given: fmt.Sprint(n), apply: func(bool) string { now += n; return fmt.Sprint(n) }}
		case kind < 4:
			if kind == 3 {
				n *= 1 + r.IntN(3)
			}
			return &simulated{f: "add-and-get", given: fmt.Sprint(n), apply: func(wrong bool) string {
				now += n
				return fmt.Sprintf("[%d %d]", n, off(r, now, wrong))
			}}
		}
		n = r.IntN(7) - 3
		return &simulated{f: "add", given: fmt.Sprint(n), apply: func(bool) string { now += n; return fmt.Sprint(n) }}
	}
}

// simulateIDs has ids that are integers, which grow, or sometimes strings.
func simulateIDs(r *rand.Rand, spec models.Spec) func() *simulated {
	last, step, text := 0, 1+r.IntN(3), !spec.GrowingIDs && r.IntN(4) == 0
	return func() *simulated {
		return &simulated{f: "generate", given: "nil", apply: func(wrong bool) string {
			last += 1 + r.IntN(step)
			id := off(r, last, wrong)
			if text && id%2 == 0 {
				return fmt.Sprintf("\"%d\"", id)
			}
			return fmt.Sprint(id)
		}}
	}
}

// simulateLog has a log whose appends tell their offsets, or do not, or some do. Values may repeat, or be strings.
func simulateLog(r *rand.Rand, _ models.Spec) func() *simulated {
	var now []string
	next, told, whole := 0, []float64{0, 1, 1, 0.7}[r.IntN(4)], r.IntN(3) == 0
	most := []int{1 << 30, 1 << 30, 5}[r.IntN(3)]
	return func() *simulated {
		switch kind := r.IntN(10); {
		case kind < 4:
			next++
			value := fmt.Sprint(next % most)
			if next%5 == 0 {
				value = fmt.Sprintf("%q", value)
			}
			tells := r.Float64() < told
			return &simulated{f: "append", given: value, apply: func(wrong bool) string {
				now = append(now, value)
				if !tells {
					return "nil"
				}
				return fmt.Sprintf("{:offset %d}", max(0, off(r, len(now)-1, wrong)))
			}}
		case kind < 6:
			return &simulated{f: "tail", given: "nil", apply: func(wrong bool) string { return fmt.Sprint(max(0, off(r, len(now), wrong))) }}
		case kind < 7 && whole:
			return &simulated{f: "read", given: "nil", apply: func(wrong bool) string {
				list := slices.Clone(now[:min(len(now), max(0, off(r, len(now), wrong)))])
				if n := len(list); wrong && n > 1 && r.IntN(2) == 0 {
					i, j := r.IntN(n), r.IntN(n)
					list[i], list[j] = list[j], list[i]
				}
				return "[" + strings.Join(list, " ") + "]"
			}}
		}
		at := max(0, len(now)+1-r.IntN(4))
		if r.IntN(3) == 0 {
			at = r.IntN(at + 1)
		}
		return &simulated{f: "read-at", given: fmt.Sprint(at), apply: func(wrong bool) string {
			if wrong && len(now) > 0 {
				return now[max(0, len(now)-1-r.IntN(4))]
			} else if at >= len(now) {
				return "nil"
			}
			return now[at]
		}}
	}
}

// simulateLookups has a set of few elements.
func simulateLookups(r *rand.Rand, _ models.Spec) func() *simulated {
	in, elements := map[int]bool{}, 1+r.IntN(3)
	return func() *simulated {
		x := r.IntN(elements)
		o := &simulated{f: []string{"insert", "remove", "contains"}[r.IntN(3)], given: fmt.Sprint(x)}
		o.apply = func(wrong bool) string {
			yes := in[x] != (o.f == "insert")
			if o.f != "contains" {
				in[x] = o.f == "insert"
			}
			return fmt.Sprintf("[%d %t]", x, yes != wrong)
		}
		return o
	}
}

// simulateSet has a set to which elements are added, sometimes again, and that is read as a whole.
func simulateSet(r *rand.Rand, _ models.Spec) func() *simulated {
	var now []string
	next, again, text := 0, r.IntN(3) == 0, r.IntN(4) == 0
	return func() *simulated {
		if r.IntN(3) == 0 {
			return &simulated{f: "read", given: "nil", apply: func(wrong bool) string {
				read := slices.Clone(now)
				if i := r.IntN(len(now) + 1); wrong && i < len(now) {
					read = slices.Delete(read, max(i, len(now)-1-r.IntN(4)), len(now))
				} else if wrong {
					read = append(read, fmt.Sprint(next+r.IntN(3)))
				}
				slices.Sort(read)
				return "#{" + strings.Join(slices.Compact(read), " ") + "}"
			}}
		}
		next++
		value := next
		if again && r.IntN(4) == 0 {
			value = r.IntN(next + 1)
		}
		given := fmt.Sprint(value)
		if text && value%2 == 0 {
			given = fmt.Sprintf("%q", given)
		}
		return &simulated{f: "add", given: given, apply: func(bool) string {
			if !slices.Contains(now, given) {
				now = append(now, given)
			}
			return given
		}}
	}
}

// simulateVersions has a register that counts its updates. Values may repeat.
func simulateVersions(r *rand.Rand, _ models.Spec) func() *simulated {
	version, now, next, most := 0, "nil", 0, []int{1 << 30, 1 << 30, 1 << 30, 4}[r.IntN(4)]
	return func() *simulated {
		if r.IntN(2) == 0 {
			return &simulated{f: "read", given: "[nil nil]", apply: func(wrong bool) string {
				value := now
				if wrong && r.IntN(2) == 0 {
					value, wrong = fmt.Sprint(off(r, next, true)), false
				}
				return fmt.Sprintf("[%d %s]", max(0, off(r, version, wrong)), value)
			}}
		}
		next++
		to := fmt.Sprint(next % most)
		if r.IntN(3) == 0 {
			from := now
			if r.IntN(3) == 0 {
				from = fmt.Sprint(off(r, next, true))
			}
			return &simulated{f: "cas", given: fmt.Sprintf("[nil [%s %s]]", from, to), apply: func(wrong bool) string {
				if from != now && (!wrong || r.IntN(4) > 0) {
					return ":fail"
				}
				version, now = version+1, to
				return fmt.Sprintf("[%d [%s %s]]", max(0, off(r, version, wrong && r.IntN(4) == 0)), from, to)
			}}
		}
		return &simulated{f: "write", given: fmt.Sprintf("[nil %s]", to), apply: func(wrong bool) string {
			version, now = version+1, to
			return fmt.Sprintf("[%d %s]", max(0, off(r, version, wrong && r.IntN(4) == 0)), to)
		}}
	}
}

// simulateElements has a priority queue whose elements are their priorities, or a FIFO queue. Some go in again.
func simulateElements(r *rand.Rand, spec models.Spec) func() *simulated {
	var now []int // the first one comes out
	next, again := 0, r.IntN(4) == 0
	return func() *simulated {
		if kind := r.IntN(9); kind > 3 {
			return &simulated{f: []string{"dequeue", "peek"}[kind/8], given: "nil", apply: func(wrong bool) string {
				if wrong && r.IntN(3) == 0 {
					return []string{"nil", fmt.Sprint(r.IntN(next+1) * 389 % 1000)}[r.IntN(2)]
				} else if len(now) == 0 {
					return "nil"
				}
				i := 0
				if wrong {
					i = r.IntN(len(now))
				}
				x := now[i]
				if kind < 8 {
					now = slices.Delete(now, i, i+1)
				}
				return fmt.Sprint(x)
			}}
		}
		next++
		x := next * 389 % 1000
		if again && r.IntN(4) == 0 {
			x = r.IntN(next) * 389 % 1000
		}
		return &simulated{f: "enqueue", given: fmt.Sprint(x), apply: func(bool) string {
			if now = append(now, x); spec.Name == "priority-queue" {
				slices.SortFunc(now, func(a, b int) int { return b - a })
			}
			return fmt.Sprint(x)
		}}
	}
}
