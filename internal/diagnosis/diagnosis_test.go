package diagnosis

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"clew/internal/nemesis"
)

// Buckets have what happened in their stretches, however often they were doubled.
func TestATimelineCountsWhatHappened(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		type event struct {
			at   int64
			what int
			kind string
		}
		var line Timeline
		var all []event
		now := int64(r.IntN(1000))
		line.Begin(now, true)
		start := now
		for range r.IntN(400) {
			now += int64(r.IntN(1 + r.IntN(1_000_000)))
			e := event{max(start, now-int64(r.IntN(500))), r.IntN(4), fmt.Sprint("k", r.IntN(3))}
			all = append(all, e)
			switch e.what {
			case 0:
				line.Succeeded(e.at, 1000)
			case 1:
				line.Failed(e.at)
			case 2:
				line.Crashed(e.at)
			default:
				line.Anomaly(e.at, e.kind, int64(len(all)))
			}
		}
		if len(line.Buckets) > mostBuckets {
			t.Fatal(len(line.Buckets))
		}
		for i, b := range line.Buckets {
			var want Bucket
			marks := map[string]Mark{}
			for n, e := range all {
				if (e.at-line.Start)/line.Width != int64(i) {
					continue
				}
				switch e.what {
				case 0:
					want.Succeeded++
				case 1:
					want.Failed++
				case 2:
					want.Crashed++
				default:
					mark, known := marks[e.kind]
					if !known || b.Anomalies[e.kind].Index == int64(n+1) { // times may go back a little
						mark.Index = int64(n + 1)
					}
					marks[e.kind] = Mark{mark.Count + 1, mark.Index}
				}
			}
			if b.Succeeded != want.Succeeded || b.Failed != want.Failed || b.Crashed != want.Crashed || !maps.Equal(b.Anomalies, marks) {
				t.Fatalf("bucket %d has %+v, want %+v, %v", i, b, want, marks)
			}
			if want.Succeeded > 0 && (b.Took.At(0.5) > 1000 || b.Took.At(0.5) < 800) {
				t.Fatalf("all took 1000, about %d", b.Took.At(0.5))
			}
		}
	}
}

// Times of any size have a place.
func TestATimelineTakesAnyTimes(t *testing.T) {
	var line Timeline
	line.Begin(math.MinInt64, true)
	for _, at := range []int64{math.MaxInt64, math.MinInt64, 0, -1, math.MaxInt64} {
		line.Succeeded(at, at)
		line.Band("start", at, math.MaxInt64)
	}
	n := 0
	for _, b := range line.Buckets {
		n += b.Succeeded
	}
	if n != 5 || len(line.Buckets) > mostBuckets {
		t.Errorf("%d in %d buckets", n, len(line.Buckets))
	}
}

// A band is in all buckets that its window meets.
func TestATimelineHasTheBandsOfTheNemesis(t *testing.T) {
	var d Diagnosis
	d.Timeline.Begin(0, true)
	d.Timeline.Succeeded(99, -1) // a hundred buckets of one
	skip := func(f string, at int64) { d.Skip(nemesis.Event{Process: "n", F: f, At: at, Time: at}) }
	skip(":start", 20)
	skip(":start", 21)
	skip(":kill", 50)
	skip(":kill", 51)
	skip(":stop", 60)
	skip(":stop", 61)
	line := d.Drawn()
	for i, b := range line.Buckets {
		if b.Nemesis["start"] != (20 <= i && i <= 61) || b.Nemesis["kill"] != (50 <= i) { // nothing ended the latter
			t.Errorf("bucket %d: %v", i, b.Nemesis)
		}
	}
	if d.Timeline.Buckets[70].Nemesis["kill"] {
		t.Error("what may still end is remembered as if it had not")
	}
}

// Counts are exact as long as there are few names, and their sum always is.
func TestCountsOfManyNames(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var c Counts
	const all = 50_000
	frequent := 0
	for range all {
		if r.IntN(2) == 0 {
			frequent++
			c.Add("often")
		} else {
			c.Add(fmt.Sprint(r.IntN(20_000)))
		}
		if len(c.By) > mostNames {
			t.Fatal(len(c.By))
		}
	}
	most, sum := c.Most(), 0
	for _, n := range most {
		sum += n
	}
	if sum != all || most["often"] != frequent || len(most) != mostShown+1 {
		t.Errorf("%d of %d; %d of %d often; %d names", sum, all, most["often"], frequent, len(most))
	}
	if (&Counts{}).Most() != nil {
		t.Error("nothing was counted")
	}
}

// An anomaly counts once for each :f of the windows into which it falls, or as outside any.
func TestAnomaliesCountByWindow(t *testing.T) {
	var d Diagnosis
	for i, f := range []string{":start", ":start", ":kill", ":kill", ":kill", ":kill", ":stop", ":stop"} {
		d.Skip(nemesis.Event{Process: "n", F: f, Index: int64(i), At: int64(10 * (i + 1))})
	}
	d.Timeline.Begin(0, false)
	for _, at := range [][2]int64{{1, 2}, {15, 16}, {45, 46}, {95, 96}} {
		d.Note(Found{Kind: "stale-read", From: at[0], To: at[1], Behind: -1, For: -1})
	}
	if want := map[string]int{"start": 2, "kill": 2}; !maps.Equal(d.Nemesis.By, want) || d.Nemesis.Outside != 1 {
		t.Errorf("%v, %d outside", d.Nemesis.By, d.Nemesis.Outside)
	}
}

func TestWindowsThatAreOverAreBounded(t *testing.T) {
	var w Windows
	for at := range int64(10_000) {
		w.add(nemesis.Event{Process: "n", F: ":bump", At: at, Index: at})
		if len(w.Over) > 2*mostOver {
			t.Fatal(len(w.Over))
		}
	}
	if got := w.During(9_989, 9_992); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestDurationsAreKnownToWithinAFifth(t *testing.T) {
	for ns := int64(4); ns < 1<<40; ns += 1 + ns/37 {
		if c := class(ns); least(c) > ns || least(c+1) <= ns || float64(ns-least(c)) > float64(ns)/5 {
			t.Fatalf("%d ns is of class %d, from %d", ns, c, least(c))
		}
	}
	var d Durations
	for ns := range int64(1000) {
		d[class(1000+ns)]++
	}
	if got := d.At(0.5); got < 1200 || got > 1500 {
		t.Errorf("the median is about %d", got)
	}
}

func TestArrivalsSayWhenEventsCame(t *testing.T) {
	var a Arrivals
	start := time.Now()
	if !a.Since(1).IsZero() {
		t.Error("nothing has come")
	}
	for place := range int64(5000) {
		a.Note(10*place, start.Add(time.Duration(place)*time.Second))
	}
	if len(a.came) > mostArrivals {
		t.Error(len(a.came))
	}
	// Old arrivals are known roughly, and none is said to be later than it is.
	for _, place := range []int64{40_000, 49_000} {
		if late := time.Duration(place/10)*time.Second - a.Since(place).Sub(start); late < 0 || late > 20*time.Second {
			t.Errorf("%d: %s too early", place, late)
		}
	}
	if !slices.IsSortedFunc(a.came, func(x, y arrival) int { return int(x.place - y.place) }) {
		t.Error("arrivals are out of order")
	}
}
