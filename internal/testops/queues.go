package testops

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Queues describes random operations on a first-in-first-out queue.
type Queues struct {
	N, Processes, Values, Crashes int
	Initial                       int // initial elements
	Length                        int // about how long the queue is; the shorter, the more empty answers
	Peeks, Drains, Sizes          int // of 20 operations
	Wrong                         int // wrong answers
}

// DrawQueues draws such a description. There are least to most operations.
func DrawQueues(r *rand.Rand, least, most, crashes int) Queues {
	q := Queues{N: least + r.IntN(most-least+1), Processes: 2 + r.IntN(5), Values: 1 + r.IntN(3), Crashes: r.IntN(crashes + 1), Length: 1 + r.IntN(4)}
	if r.IntN(3) == 0 {
		q.Initial = 1 + r.IntN(3)
	}
	if r.IntN(2) == 0 {
		q.Peeks = r.IntN(8)
	}
	if r.IntN(4) == 0 {
		q.Drains = 1 + r.IntN(4)
	}
	if r.IntN(3) > 0 {
		q.Wrong = 1 + r.IntN(2)
	}
	return q
}

// queueOp is an operation of a run. saw is nil if the queue was empty.
type queueOp struct {
	f           string
	saw         []int
	took, crash bool
	known       bool // it crashes, and its invocation says what it takes
	process     int
}

func (o *queueOp) text(typ string) string {
	value := "nil"
	switch shows := o.f == ":enqueue" || typ == ":ok" || o.known; {
	case shows && o.f == ":drain":
		value = strings.ReplaceAll(fmt.Sprint(o.saw), ",", "")
	case shows && len(o.saw) > 0:
		value = fmt.Sprint(o.saw[0])
	}
	return fmt.Sprintf("{:process %d :type %s :f %s :value %s}\n", o.process, typ, o.f, value)
}

// Run returns the text of a run on a real queue, and the queue's initial elements. Some
// answers are wrong. s.Crashes operations crash, and some of those take effect, at some
// time. Some operations take much longer than others.
func (s Queues) Run(r *rand.Rand) (text, init string) {
	var b strings.Builder
	var busy, ghosts []*queueOp
	var now []int
	for range s.Initial {
		now = append(now, r.IntN(s.Values))
	}
	init = fmt.Sprint(now)
	begun, running, crashes, wrong := 0, 0, min(s.Crashes, s.N/2), s.Wrong
	for begun < s.N || len(busy) > 0 {
		if len(ghosts) > 0 && r.IntN(10) == 0 {
			i := r.IntN(len(ghosts))
			now = s.take(r, ghosts[i], now)
			ghosts = slices.Delete(ghosts, i, i+1)
		}
		if begun < s.N && running < s.Processes && (len(busy) == 0 || r.IntN(2) == 0) {
			o := s.call(r, len(now))
			o.process, o.crash = begun, r.IntN(s.N-begun) < crashes && o.f != ":peek" && o.f != ":size"
			begun++
			if o.crash {
				crashes--
				if o.known = r.IntN(3) == 0; o.known && o.f != ":enqueue" {
					o.saw = []int{r.IntN(s.Values)}
				}
				ghosts = append(ghosts, o)
			} else {
				busy, running = append(busy, o), running+1
			}
			b.WriteString(o.text(":invoke"))
			continue
		}
		if len(busy) == 0 {
			continue
		}
		i := r.IntN(1 + r.IntN(len(busy))) // the first ones are quick
		o := busy[i]
		if !o.took {
			now = s.take(r, o, now)
			continue
		}
		if wrong > 0 && o.f != ":enqueue" && r.IntN(1+s.N-begun+len(busy)) < 2*wrong {
			wrong--
			if o.f == ":size" {
				o.saw[0] += 1 - 2*r.IntN(2)
			} else {
				o.saw = [][]int{nil, {r.IntN(s.Values)}, {r.IntN(s.Values)}}[r.IntN(3)]
			}
		}
		b.WriteString(o.text(":ok"))
		busy, running = slices.Delete(busy, i, i+1), running-1
	}
	return b.String(), init
}

// call returns an operation for a queue of a given length.
func (s Queues) call(r *rand.Rand, length int) *queueOp {
	switch k := r.IntN(20); {
	case k < s.Peeks:
		return &queueOp{f: ":peek"}
	case k < s.Peeks+s.Drains:
		return &queueOp{f: ":drain"}
	case k < s.Peeks+s.Drains+s.Sizes:
		return &queueOp{f: ":size"}
	case r.IntN(length+s.Length) < s.Length:
		return &queueOp{f: ":enqueue", saw: []int{r.IntN(s.Values)}}
	}
	return &queueOp{f: ":dequeue"}
}

// take lets an operation take effect, if it can.
func (s Queues) take(r *rand.Rand, o *queueOp, now []int) []int {
	o.took = true
	switch {
	case o.f == ":enqueue":
		return append(now, o.saw...)
	case o.crash && o.known:
		if len(now) > 0 && now[0] == o.saw[0] {
			now = now[1:]
		}
		return now
	case o.f == ":size":
		o.saw = []int{len(now)}
	case o.f == ":drain":
		n := r.IntN(len(now) + 1)
		o.saw, now = slices.Clone(now[:n]), now[n:]
	case len(now) > 0:
		o.saw = []int{now[0]}
		if o.f == ":dequeue" {
			now = now[1:]
		}
	}
	return now
}
