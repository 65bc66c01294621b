package page

import (
	"context"
	"fmt"
	"math"
	"slices"

	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// timeline shows a whole run: how many operations began, how long they took, and how many were open.
type timeline struct {
	Strip  *strip // nil if another part of the page has it
	N      int    // stretches
	Charts []chart
	Fails  []float64 // the stretches of failing completions
}

// chart is one value for each stretch of a run.
type chart struct {
	Text string
	Bars []chartBar
}

// chartBar is the value of a stretch. Y is its upper edge.
type chartBar struct {
	X         int
	Y, Height float64
	Mid       bool // the median, which is drawn on top of the range
}

// maxSampled bounds the operations whose times are read.
const maxSampled = 20_000

// timelinePoll is how many events or samples are read before the context is asked again.
const timelinePoll = 512

// newTimeline returns the timeline of a result, with the strip if there are keys. It is useless if the context ends.
func newTimeline(ctx context.Context, r *report.Result) *timeline {
	h := r.History
	t := &timeline{N: stretchesOf(h)}
	at := newAxis(h, t.N)
	if r.Keys != nil {
		s := newStrip(h, jepsen.None)
		t.Strip = &s
		for _, k := range r.Keys {
			if k.Verdict == jepsen.Invalid && len(t.Fails) < maxEntries {
				t.Fails = append(t.Fails, float64(at.stretch(k.Event()))+0.5)
			}
		}
	} else if r.Placed() {
		t.Fails = []float64{float64(at.stretch(r.FailEvent.OrNone())) + 0.5}
	}
	if c, ok := latencies(ctx, h, at); ok {
		t.Charts = append(t.Charts, c)
	}
	t.Charts = append(t.Charts, open(ctx, h, at))
	return t
}

// open returns how many operations were open at most in each stretch. A crashed one is open until its :info.
func open(ctx context.Context, h *jepsen.History, at *axis) chart {
	most, now, all := make([]int, at.stretches), 0, 0
	for e := range jepsen.Event(len(h.Type)) {
		if e%timelinePoll == 0 && ctx.Err() != nil {
			break
		}
		op := h.OpOf[e]
		if op == jepsen.None {
			continue
		}
		x := at.stretch(e)
		if h.Invocation[op] == e {
			now++
		} else {
			most[x] = max(most[x], now)
			now--
		}
		most[x] = max(most[x], now)
		all = max(all, now)
	}
	c := chart{Text: fmt.Sprintf("Operations that were open: at most %d at a time", all)}
	for x, n := range most {
		if n > 0 {
			height := float64(barHeight*n) / float64(all)
			c.Bars = append(c.Bars, chartBar{X: x, Y: barHeight - height, Height: height})
		}
	}
	return c
}

// latencies returns how long operations that succeeded took in the stretch in which they began: from the shortest to
// the longest, and the median. It returns false if the history has no times.
func latencies(ctx context.Context, h *jepsen.History, at *axis) (chart, bool) {
	if at.times == nil {
		return chart{}, false
	}
	took := make([][]int64, at.stretches)
	from, to, every, n := int64(math.MaxInt64), int64(0), h.Operations()/maxSampled+1, 0
	for op := jepsen.Operation(0); int(op) < h.Operations(); op += jepsen.Operation(every) {
		if n%timelinePoll == 0 && ctx.Err() != nil {
			break
		}
		if h.Status[op] != jepsen.Succeeded {
			continue
		}
		began, ok1 := timeOf(h, h.Invocation[op])
		ended, ok2 := timeOf(h, h.Completion[op])
		if !ok1 || !ok2 || ended < began {
			continue
		}
		d := max(1, ended-began)
		x := at.stretch(h.Invocation[op])
		took[x] = append(took[x], d)
		from, to, n = min(from, d), max(to, d), n+1
	}
	if n == 0 {
		return chart{}, false
	}
	c := chart{Text: fmt.Sprintf("Latency of operations that succeeded: %s to %s, on a logarithmic scale; the line is the median", text.Rounded(from), text.Rounded(to))}
	if every > 1 {
		c.Text += fmt.Sprintf(" (of %d operations)", n)
	}
	span := math.Log(float64(to) / float64(from))
	y := func(d int64) float64 { // from the bottom to just below the top
		if span == 0 {
			return barHeight / 2
		}
		return barHeight - 2 - (barHeight-4)*math.Log(float64(d)/float64(from))/span
	}
	for x, all := range took {
		if all == nil {
			continue
		}
		slices.Sort(all)
		top, bottom := y(all[len(all)-1]), y(all[0])
		c.Bars = append(c.Bars, chartBar{X: x, Y: top, Height: max(1, bottom-top)}, chartBar{X: x, Y: y(all[len(all)/2]) - 1, Height: 2, Mid: true})
	}
	return c, true
}

// timeOf returns the :time of an event, in nanoseconds.
func timeOf(h *jepsen.History, e jepsen.Event) (int64, bool) {
	when, _ := h.EventMap(e).Get("time")
	return when.Int()
}
