package diagnosis

import (
	"maps"
	"math"
	"math/bits"
)

// Timeline is a run over time, in at most mostBuckets stretches of the same length. When it needs more, each two become one.
// Times are nanoseconds of :time if the first operation has them, and numbers of events otherwise.
type Timeline struct {
	Began   bool  // it has seen an operation
	ByTime  bool  // it has times
	Start   int64 // when it began
	Width   int64 // of a bucket
	Buckets []Bucket
}

// Bucket is what happened in a stretch.
type Bucket struct {
	Succeeded, Failed, Crashed int             // operations that ended in it
	Took                       *Durations      // of those that succeeded; nil without any or without times
	Anomalies                  map[string]Mark // by kind
	Nemesis                    map[string]bool // by the :f of the windows
}

// Mark is some anomalies of one kind.
type Mark struct {
	Count int
	Index int64 // the :index of the first
}

// Durations counts how long operations took, by powers of two divided into four.
type Durations [4 * 48]uint32

// mostBuckets bounds the buckets. At first each is a nanosecond or an event wide.
const mostBuckets = 240

// End returns the time at which the last bucket ends.
func (t *Timeline) End() int64 { return t.Start + int64(len(t.Buckets))*t.Width }

// Begin says when a run begins. Further calls change nothing.
func (t *Timeline) Begin(at int64, isTime bool) {
	if t.Began {
		return
	}
	t.Began, t.ByTime, t.Start, t.Width = true, isTime, at, 1
}

// place returns how long after the beginning a time is. What is earlier counts as the beginning.
func (t *Timeline) place(time int64) int64 {
	switch since := time - t.Start; {
	case time < t.Start:
		return 0
	case since < 0: // more than fits
		return math.MaxInt64
	default:
		return since
	}
}

// at returns the bucket of a time.
func (t *Timeline) at(time int64) *Bucket {
	since := t.place(time)
	for since/t.Width >= mostBuckets {
		t.halve()
	}
	i := int(since / t.Width)
	for len(t.Buckets) <= i {
		t.Buckets = append(t.Buckets, Bucket{})
	}
	return &t.Buckets[i]
}

// halve makes one bucket of each two.
func (t *Timeline) halve() {
	for i := range t.Buckets {
		if i%2 == 0 {
			t.Buckets[i/2] = t.Buckets[i]
		} else {
			t.Buckets[i/2].add(&t.Buckets[i])
		}
	}
	t.Buckets = t.Buckets[:(len(t.Buckets)+1)/2]
	t.Width *= 2
}

// add adds what happened in the bucket after this one.
func (b *Bucket) add(next *Bucket) {
	b.Succeeded, b.Failed, b.Crashed = b.Succeeded+next.Succeeded, b.Failed+next.Failed, b.Crashed+next.Crashed
	if b.Took == nil {
		b.Took = next.Took
	} else if next.Took != nil {
		for i, n := range next.Took {
			b.Took[i] += n
		}
	}
	for kind, mark := range next.Anomalies {
		b.note(kind, mark)
	}
	if b.Nemesis == nil {
		b.Nemesis = next.Nemesis
	} else {
		maps.Copy(b.Nemesis, next.Nemesis)
	}
}

// note adds anomalies that come after those that it has.
func (b *Bucket) note(kind string, mark Mark) {
	if b.Anomalies == nil {
		b.Anomalies = map[string]Mark{}
	}
	if before, known := b.Anomalies[kind]; known {
		mark = Mark{before.Count + mark.Count, before.Index}
	}
	b.Anomalies[kind] = mark
}

// Succeeded counts an operation that succeeded. Took is how long it took in nanoseconds, or negative if that is not known.
func (t *Timeline) Succeeded(at, took int64) {
	b := t.at(at)
	b.Succeeded++
	if took < 0 {
		return
	}
	if b.Took == nil {
		b.Took = &Durations{}
	}
	b.Took[class(took)]++
}

// Failed counts an operation that failed.
func (t *Timeline) Failed(at int64) { t.at(at).Failed++ }

// Crashed counts an operation that crashed.
func (t *Timeline) Crashed(at int64) { t.at(at).Crashed++ }

// Anomaly notes an anomaly of a kind.
func (t *Timeline) Anomaly(at int64, kind string, index int64) { t.at(at).note(kind, Mark{1, index}) }

// Band notes that a window of the nemesis lasted from one time to another. Before a run has begun it does nothing.
func (t *Timeline) Band(name string, from, to int64) {
	if !t.Began {
		return
	}
	t.at(to)
	for i := t.place(from) / t.Width; i <= t.place(to)/t.Width; i++ {
		b := &t.Buckets[i]
		if b.Nemesis == nil {
			b.Nemesis = map[string]bool{}
		}
		b.Nemesis[name] = true
	}
}

// class returns the place of a duration among Durations: twice the two bits after the first one.
func class(ns int64) int {
	ns = max(ns, 4)
	n := bits.Len64(uint64(ns)) - 3 // how many bits follow those that count
	return min(4*n+int(ns>>n)-4, len(Durations{})-1)
}

// least returns the shortest duration of a class.
func least(class int) int64 { return int64(4+class%4) << (class / 4) }

// At returns the duration that a share of the operations, from 0 to 1, do not exceed, to within a fifth.
func (d *Durations) At(share float64) int64 {
	var all, seen uint64
	for _, n := range d {
		all += uint64(n)
	}
	for i, n := range d {
		if seen += uint64(n); n > 0 && float64(seen) >= share*float64(all) {
			return least(i)
		}
	}
	return 0
}
