package page

import (
	"fmt"
	"slices"

	"clew/internal/text"
	"clew/jepsen"
)

// strip shows how the operations of a whole history are distributed: how many
// began in each stretch of it, and how they ended.
type strip struct {
	N       int // stretches
	Bars    []bar
	Nemesis []stretches // what the nemesis did, and other processes that are not clients
	Fail    float64
	HasFail bool
	At      int    // the stretch that is drawn
	Of      string // "The whole history"
	Length  string // from its beginning to its end
	Most    int    // operations in a stretch
	Text    string // the whole strip in words

	OK, Failed, Crashed int

	begins []jepsen.Operation // of each stretch, the first operation that does not begin before it
}

// Sizes of a strip in the units of its drawing. A stretch is one unit wide.
const (
	minStretches = 24
	maxStretches = 240
	perStretch   = 3 // operations, if there are few
	barHeight    = 40
	maxNemesis   = 500
)

// bar is a stretch: from the bottom up, the heights of the operations that
// succeeded, failed and crashed.
type bar struct {
	X, OK, Failed, Crashed    int
	OKY, FailedY, CrashedY    int
	okN, failedN, crashedN, n int
}

// stretches are those during which a process that is not a client did something.
type stretches struct {
	X, Width int
	Name     string
}

// newStrip returns the strip of a history, and of its failure unless fail is None.
func newStrip(h *jepsen.History, fail jepsen.Event) strip {
	n := stretchesOf(h)
	at := newAxis(h, n)
	s := strip{Of: "The whole history", Bars: make([]bar, n), N: n, Length: at.length()}
	for op, inv := range h.Invocation {
		x := at.stretch(inv)
		for len(s.begins) <= x {
			s.begins = append(s.begins, jepsen.Operation(op))
		}
		b := &s.Bars[x]
		b.n++
		switch h.Status[op] {
		case jepsen.Succeeded:
			b.okN++
			s.OK++
		case jepsen.Failed:
			b.failedN++
			s.Failed++
		default:
			b.crashedN++
			s.Crashed++
		}
		s.Most = max(s.Most, b.n)
	}
	for len(s.begins) < n {
		s.begins = append(s.begins, jepsen.Operation(h.Operations()))
	}
	for i := range s.Bars {
		s.Bars[i].X = i
		s.Bars[i].scale(s.Most)
	}
	if fail != jepsen.None {
		s.HasFail, s.Fail = true, float64(at.stretch(fail))+0.5
	}
	s.Nemesis = nemesisStretches(h, at)
	s.Text = fmt.Sprintf("%s, %s: %d operations succeeded, %d failed, %d crashed; at most %d began in one of %d stretches",
		s.Of, s.Length, s.OK, s.Failed, s.Crashed, s.Most, n)
	if n := len(s.Nemesis); n > 0 {
		s.Text += fmt.Sprintf("; %d events of the nemesis or of other processes that are not clients", n)
	}
	return s
}

// stretchesOf returns into how many stretches a history is divided.
func stretchesOf(h *jepsen.History) int {
	return min(max(minStretches, h.Operations()/perStretch), maxStretches)
}

// of returns the stretch in which an operation begins.
func (s *strip) of(op jepsen.Operation) int {
	i, _ := slices.BinarySearch(s.begins, op+1)
	return max(0, i-1)
}

// scale converts the counts to heights. A count above 0 is always visible.
func (b *bar) scale(most int) {
	height := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(1, n*barHeight/most)
	}
	b.Failed, b.Crashed = height(b.failedN), height(b.crashedN)
	b.OK = min(height(b.okN), barHeight-b.Failed-b.Crashed)
	b.OKY = barHeight - b.OK
	b.FailedY = b.OKY - b.Failed
	b.CrashedY = b.FailedY - b.Crashed
}

// nemesisStretches returns what processes other than clients did. It keeps one of several in
// the same stretches.
func nemesisStretches(h *jepsen.History, at *axis) (all []stretches) {
	last := jepsen.Event(len(h.Type) - 1)
	for _, x := range h.NemesisWindows() {
		from, to := at.stretch(min(x.From, last)), at.stretch(min(x.To, last))
		s := stretches{X: from, Width: to - from + 1}
		if slices.ContainsFunc(all[max(0, len(all)-16):], func(o stretches) bool { return o.X == s.X && o.Width == s.Width }) {
			continue
		}
		name := fmt.Sprintf("%s %s (index %d)", h.Values.Text(x.Process), h.Values.Text(x.F), x.Index)
		s.Name = text.Shorten(text.Line(name), maxLabel)
		if all = append(all, s); len(all) == maxNemesis {
			break
		}
	}
	return all
}

// axis finds where an event stands on a strip. It uses its :time if the times of
// the events do not go back, otherwise its number. It reads the times of some
// events, and assumes that time passes evenly in between.
type axis struct {
	events    int
	stretches int
	at        []jepsen.Event // those whose times are read
	times     []int64
	next      int // where the last search ended in at
}

// maxTimes bounds the events whose times are read, because each of them must be parsed.
const maxTimes = 1000

func newAxis(h *jepsen.History, stretches int) *axis {
	a := &axis{events: len(h.Type), stretches: stretches}
	n := min(a.events, maxTimes)
	for i := range n {
		e := jepsen.Event(int64(i) * int64(a.events-1) / int64(max(1, n-1)))
		time, ok := timeOf(h, e)
		if !ok || i > 0 && time < a.times[i-1] {
			a.times = nil
			return a
		}
		a.at, a.times = append(a.at, e), append(a.times, time)
	}
	if n < 2 || a.times[0] == a.times[n-1] {
		a.times = nil
	}
	return a
}

// stretch returns the stretch in which an event stands. It is fast for events in order.
func (a *axis) stretch(e jepsen.Event) int {
	if a.times == nil {
		return int(int64(e) * int64(a.stretches) / int64(a.events))
	}
	if a.at[a.next] > e {
		a.next = 0
	}
	if a.next+1 < len(a.at) && a.at[a.next+1] < e {
		i, found := slices.BinarySearch(a.at, e)
		if !found {
			i--
		}
		a.next = i
	}
	i := min(a.next, len(a.at)-2)
	from, to := a.at[i], a.at[i+1]
	time := float64(a.times[i]) + float64(a.times[i+1]-a.times[i])*float64(e-from)/float64(to-from)
	first, last := float64(a.times[0]), float64(a.times[len(a.times)-1])
	return min(int((time-first)/(last-first)*float64(a.stretches)), a.stretches-1)
}

func (a *axis) length() string {
	if a.times == nil {
		return fmt.Sprintf("%d events", a.events)
	}
	return text.Rounded(a.times[len(a.times)-1] - a.times[0])
}
