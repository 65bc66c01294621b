package page

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"clew/internal/diagnosis"
	"clew/internal/text"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

//go:embed monitored.html
var monitoredMarkup string

// Monitored is what a page shows of a pass over a history.
type Monitored struct {
	File     string
	Summary  string // the totals in words
	Found    bool   // there is an anomaly
	Ended    bool   // the history was read to its end
	Index    string // the link to the page of all runs, or ""
	Totals   []Total
	Timeline diagnosis.Timeline
	Drawings []Drawing
}

// Total is a table of counts by name. Rows that count all other names come last.
type Total struct {
	Of   string // what the names are: "node"
	Rows []TotalRow
}

// TotalRow is a line of a Total.
type TotalRow struct {
	Name  string
	Count int
}

// NewTotal returns the table of some counts, the largest first. Other is what the name "" stands for.
func NewTotal(of, other string, counts map[string]int) Total {
	t := Total{Of: of}
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		switch {
		case a == "":
			return 1
		case b == "":
			return -1
		}
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	}) {
		t.Rows = append(t.Rows, TotalRow{text.Shorten(text.Line(cmp.Or(name, other)), maxLabel), counts[name]})
	}
	return t
}

// Drawing is an anomaly that is drawn. It is made while its history is there, and holds no part of it.
type Drawing struct {
	Kind  string
	Index int64
	Full  bool // it shows what fails, and not only what was around it
	HTML  string
}

// id returns where a page has the drawing of a kind.
func (d *Drawing) id() string { return "kind-" + cmp.Or(d.Kind, diagnosis.Unnamed) }

// drawingBytes bounds the operations of a drawing.
const drawingBytes = heldBytes / maxSections

// NewDrawing draws an anomaly of a kind: what a result shows if it is a failure, and otherwise what is around an index of
// its history. Its HTML is "" if that cannot be drawn.
func NewDrawing(ctx context.Context, kind models.Anomaly, index int64, explanation string, r *report.Result) Drawing {
	d := Drawing{Kind: string(kind), Index: index, Full: r.Verdict == jepsen.Invalid}
	s := &section{ID: d.id(), Title: fmt.Sprintf("%s at index %d", cmp.Or(d.Kind, diagnosis.Unnamed), index), r: r}
	if !d.Full {
		s.around = &index
	}
	if s.fill(ctx, report.WindowOptions{Around: s.around}) != nil {
		return d
	}
	s.hold(ctx, drawingBytes)
	if !d.Full {
		s.Kind, s.Sentence = kind, text.Shorten(text.Line(explanation), maxSentence)
		s.Text = s.Sentence
	}
	s.Strip.Of = "What the monitor held"
	var b strings.Builder
	if pages().ExecuteTemplate(&b, "section", s) == nil {
		d.HTML = b.String()
	}
	return d
}

// monitoredPage is a page about a pass.
type monitoredPage struct {
	frame
	Head     heading
	Index    string // a link, or ""
	N        int    // buckets
	Note     string // the totals in words, which a page of a server replaces
	Axis     string
	Lanes    []lane
	Charts   []chart
	Tables   []Total
	Places   []place
	More     string
	Drawings []template.HTML
	Undrawn  string
}

// lane is a row of the run over time: the anomalies of a kind, or the windows of the nemesis with an :f.
type lane struct {
	N          int
	Name, Text string
	Link       string // of the name, or ""
	Bars       []laneBar
}

// laneBar is a bucket of a lane, or several.
type laneBar struct {
	Class, Link, Title  string
	X, Width, Y, Height int
}

// place is a line of the table of anomalies.
type place struct {
	ID, From, Kind, Link string
	Count                int
	Index                int64
}

// Bounds of a page about a pass: lanes of kinds and of the nemesis, lines of the table, and colors of kinds.
const (
	maxLanes   = 12
	maxPlaces  = 1000
	kindColors = 6
	laneHeight = 16
)

// WriteRun writes a page about a pass: as a page of a server unless served is nil.
func WriteRun(w io.Writer, m Monitored, served *Served) error {
	d := &monitoredPage{Index: m.Index, frame: newFrame(text.Shorten(text.Line(m.File), maxName)), N: max(1, len(m.Timeline.Buckets))}
	d.Head = heading{File: d.Title, Summary: text.Line(m.Summary)}
	switch {
	case m.Found:
		d.Head.Verdict, d.Head.Word = "invalid", "INVALID"
	case m.Ended:
		d.Head.Verdict, d.Head.Word = "valid", "valid"
	default:
		d.Head.Verdict, d.Head.Word = "live", "no anomalies"
	}
	if !m.Ended {
		d.Head.Notes = []string{"The history has not been read to its end: this is what has been found so far."}
	}
	if served != nil {
		d.serve(served)
		d.Note, d.Head.Summary = d.Head.Summary, ""
	}
	for _, t := range m.Totals {
		if len(t.Rows) > 0 {
			d.Tables = append(d.Tables, t)
		}
	}
	drawn := d.draw(m.Drawings)
	d.Axis = axisOf(&m.Timeline)
	d.lanes(&m.Timeline, drawn)
	d.Charts = chartsOf(&m.Timeline)
	return pages().ExecuteTemplate(w, "monitored", d)
}

// draw takes over as many drawings as there is room for, and returns them by kind.
func (d *monitoredPage) draw(all []Drawing) map[string]Drawing {
	drawn, room := map[string]Drawing{}, heldBytes
	for _, x := range all {
		if room -= len(x.HTML); x.HTML == "" || room < 0 {
			d.Undrawn = "Some kinds are not drawn here."
			continue
		}
		drawn[x.Kind] = x
		d.Drawings = append(d.Drawings, template.HTML(x.HTML)) // that is what the template section has made
	}
	return drawn
}

// since tells a time of a timeline.
func since(t *diagnosis.Timeline, bucket int) string {
	at := int64(bucket) * t.Width
	if !t.ByTime {
		return fmt.Sprintf("event %d", t.Start+at)
	}
	return text.Rounded(at)
}

func axisOf(t *diagnosis.Timeline) string {
	if len(t.Buckets) == 0 {
		return "No operation has been judged."
	}
	if !t.ByTime {
		return fmt.Sprintf("%d events from left to right, %d in each stretch", t.End()-t.Start, t.Width)
	}
	return fmt.Sprintf("%s from left to right, %s in each stretch", text.Rounded(t.End()-t.Start), text.Rounded(t.Width))
}

// placeID returns where the table has the anomalies of a kind in a bucket.
func placeID(bucket int, kind string) string {
	return fmt.Sprintf("at-%d-%s", bucket, cmp.Or(kind, diagnosis.Unnamed))
}

// lanes makes the lanes, and the table of the anomalies.
func (d *monitoredPage) lanes(t *diagnosis.Timeline, drawn map[string]Drawing) {
	kinds, windows := map[string]int{}, map[string]bool{}
	for i := range t.Buckets {
		for kind, mark := range t.Buckets[i].Anomalies {
			kinds[kind] += mark.Count
		}
		maps.Copy(windows, t.Buckets[i].Nemesis)
	}
	shaded := bands(t, func(b *diagnosis.Bucket) bool { return len(b.Nemesis) > 0 }, "s-shade", 0, laneHeight)
	for i, kind := range slices.Sorted(maps.Keys(kinds))[:min(len(kinds), maxLanes)] {
		l := lane{N: d.N, Name: fmt.Sprintf("%s (%d)", cmp.Or(kind, diagnosis.Unnamed), kinds[kind]), Bars: slices.Clone(shaded)}
		l.Text = "Anomalies over time: " + l.Name
		d.marks(t, &l, kind, fmt.Sprint("m", i%kindColors), drawn)
		d.Lanes = append(d.Lanes, l)
	}
	for _, name := range slices.Sorted(maps.Keys(windows))[:min(len(windows), maxLanes)] {
		bars := bands(t, func(b *diagnosis.Bucket) bool { return b.Nemesis[name] }, "s-spell", 4, laneHeight-8)
		shown := text.Shorten(text.Line(name), maxLabel)
		d.Lanes = append(d.Lanes, lane{N: d.N, Name: "nemesis: " + shown, Text: "When the nemesis did " + shown, Bars: bars})
	}
	slices.SortStableFunc(d.Places, func(a, b place) int { return cmp.Compare(a.Index, b.Index) })
	if n := len(d.Places) - maxPlaces; n > 0 {
		d.Places, d.More = d.Places[:maxPlaces], fmt.Sprintf("%d more lines are not shown.", n)
	}
}

// bands returns the stretches of buckets that have something.
func bands(t *diagnosis.Timeline, has func(*diagnosis.Bucket) bool, class string, y, height int) (bars []laneBar) {
	for i := 0; i < len(t.Buckets); i++ {
		from := i
		for i < len(t.Buckets) && has(&t.Buckets[i]) {
			i++
		}
		if i > from {
			bars = append(bars, laneBar{Class: class, X: from, Width: i - from, Y: y, Height: height})
		}
	}
	return bars
}

// marks adds the anomalies of a kind to its lane and to the table.
func (d *monitoredPage) marks(t *diagnosis.Timeline, l *lane, kind, class string, drawn map[string]Drawing) {
	most := 0
	for i := range t.Buckets {
		most = max(most, t.Buckets[i].Anomalies[kind].Count)
	}
	shown := cmp.Or(kind, diagnosis.Unnamed)
	for i := range t.Buckets {
		mark, found := t.Buckets[i].Anomalies[kind]
		if !found {
			continue
		}
		p := place{ID: placeID(i, kind), From: since(t, i), Kind: shown, Count: mark.Count, Index: mark.Index}
		if x, ok := drawn[kind]; ok && x.Index == mark.Index {
			p.Link = "#" + x.id()
		}
		height := max(3, mark.Count*laneHeight/most)
		l.Bars = append(l.Bars, laneBar{Class: class, X: i, Width: 1, Y: laneHeight - height, Height: height, Link: cmp.Or(p.Link, "#"+p.ID),
			Title: fmt.Sprintf("%d %s, from %s; the first at index %d", mark.Count, shown, p.From, mark.Index)})
		d.Places = append(d.Places, p)
	}
}

// rate tells a rate.
func rate(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// chartsOf returns the throughput and the latency of a timeline.
func chartsOf(t *diagnosis.Timeline) (charts []chart) {
	most, from, to := 0, int64(math.MaxInt64), int64(0)
	for i := range t.Buckets {
		b := &t.Buckets[i]
		most = max(most, b.Succeeded+b.Failed+b.Crashed)
		if b.Took != nil {
			from, to = min(from, b.Took.At(0)), max(to, b.Took.At(1))
		}
	}
	if most == 0 {
		return nil
	}
	through := chart{Text: fmt.Sprintf("Operations that ended: at most %d in a stretch", most)}
	if t.ByTime {
		through.Text = fmt.Sprintf("Operations that ended: at most %s a second", rate(float64(most)*float64(time.Second)/float64(t.Width)))
	}
	took := chart{Text: fmt.Sprintf("Latency of those that succeeded: about %s to %s, on a logarithmic scale; the line is the median", text.Rounded(from), text.Rounded(to))}
	span := math.Log(float64(to) / float64(from))
	y := func(ns int64) float64 {
		if span == 0 {
			return barHeight / 2
		}
		return math.Round(10*(barHeight-2-(barHeight-4)*math.Log(float64(ns)/float64(from))/span)) / 10
	}
	for i := range t.Buckets {
		b := &t.Buckets[i]
		if n := b.Succeeded + b.Failed + b.Crashed; n > 0 {
			height := math.Round(10*float64(barHeight*n)/float64(most)) / 10
			through.Bars = append(through.Bars, chartBar{X: i, Y: barHeight - height, Height: height})
		}
		if b.Took != nil {
			top, bottom := y(b.Took.At(1)), y(b.Took.At(0))
			took.Bars = append(took.Bars, chartBar{X: i, Y: top, Height: max(1, bottom-top)}, chartBar{X: i, Y: y(b.Took.At(0.5)) - 1, Height: 2, Mid: true})
		}
	}
	charts = append(charts, through)
	if took.Bars != nil {
		charts = append(charts, took)
	}
	return charts
}
