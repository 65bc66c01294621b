// Package diagnosis remembers what a monitor says of anomalies besides that there are some: during which windows of the
// nemesis they happened, on which nodes, of which keys, how old values were, and how a run went over time. It does not find
// anomalies.
//
// All of it is plain data of bounded size, however long a run is: windows.go has the windows, counts.go the counts by name,
// and timeline.go the run over time.
package diagnosis

import (
	"maps"

	"clew/internal/nemesis"
)

// Unnamed is what an anomaly is called whose kind the operations do not show for certain.
const Unnamed = "not-linearizable"

// Diagnosis is what has been remembered. The zero Diagnosis has seen nothing.
type Diagnosis struct {
	Windows  Windows
	Nodes    Counts // of anomalies, by node
	Keys     Counts // by key
	Nemesis  Counts // by the :f of a window, "" outside any
	Behind   int    // the most versions that a value was behind
	For      int64  // and for how long at most, in nanoseconds of :time
	Timeline Timeline
}

// Found is what is known of an anomaly.
type Found struct {
	Kind     string
	Node     string // "" if it is not known
	Key      string // "" without keys
	Index    int64
	From, To int64 // the places of its invocation and of its completion
	Time     int64 // of its completion
	Behind   int   // or -1
	For      int64 // or -1
}

// Note notes an anomaly, and returns the windows into which it falls.
func (d *Diagnosis) Note(f Found) []nemesis.Window {
	during := d.Windows.During(f.From, f.To)
	names := map[string]bool{}
	for _, w := range during {
		names[Name(w.F)] = true
	}
	for name := range names {
		d.Nemesis.Add(name)
	}
	if len(names) == 0 {
		d.Nemesis.Outside++
	}
	if f.Node != "" {
		d.Nodes.Add(f.Node)
	}
	if f.Key != "" {
		d.Keys.Add(f.Key)
	}
	d.Behind, d.For = max(d.Behind, f.Behind), max(d.For, f.For)
	d.Timeline.Anomaly(f.Time, f.Kind, f.Index)
	return during
}

// Skip notes an event of a process that is not a client.
func (d *Diagnosis) Skip(e nemesis.Event) {
	for _, w := range d.Windows.add(e) {
		d.Timeline.Band(Name(w.F), w.Began, w.Ended)
	}
}

// Drawn returns the timeline with the windows that go on, as far as it has got.
func (d *Diagnosis) Drawn() Timeline {
	t := d.Timeline
	t.Buckets = make([]Bucket, len(d.Timeline.Buckets))
	for i, b := range d.Timeline.Buckets {
		b.Nemesis = maps.Clone(b.Nemesis)
		t.Buckets[i] = b
	}
	for _, w := range d.Windows.Live {
		if d.Windows.GoesOn(&w) && len(t.Buckets) > 0 {
			t.Band(Name(w.F), w.Began, t.End()-1)
		}
	}
	return t
}
