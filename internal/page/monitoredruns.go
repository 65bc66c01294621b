package page

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"clew/internal/diagnosis"
	"clew/internal/text"
)

// MonitoredRun is what a page of a store shows of the pass over a run. It holds no part of the run.
type MonitoredRun struct {
	Name, Time string
	Link       string // to the page of the pass, "" if there is none
	Operations int
	Kinds      map[string]int // anomalies by kind
	Error      string         // why the run was not read to its end, or ""
	lane       *lane          // nil without anomalies
}

// Bounds of a page of a store: columns of kinds, and the bytes of lanes and of the table, as they are estimated.
const (
	maxKindColumns = 8
	runLanesBytes  = 700_000
	runRowsBytes   = 1_000_000
)

// Draw takes over when the anomalies of the run were, and when its nemesis was at work.
func (r *MonitoredRun) Draw(t *diagnosis.Timeline) {
	if len(r.Kinds) == 0 {
		return
	}
	var all laneMarks
	for i := range t.Buckets {
		all.add(i, t.Buckets[i].Anomalies)
	}
	r.lane = &lane{N: max(1, len(t.Buckets)), Bars: bands(t, func(b *diagnosis.Bucket) bool { return len(b.Nemesis) > 0 }, "s-shade", 0, laneHeight)}
	for _, x := range all.marks {
		bar := laneBar{Class: "m0", X: x.bucket, Width: 1, Height: max(3, x.count*laneHeight/all.most), Title: fmt.Sprintf("%s, from %s", anomalies(x.count), since(t, x.bucket))}
		bar.Y = laneHeight - bar.Height
		if r.Link != "" {
			bar.Link = r.Link + "#" + placeID(x.bucket, x.kind)
		}
		r.lane.Bars = append(r.lane.Bars, bar)
	}
}

// laneMarks are the stretches of a lane that have anomalies of any kind.
type laneMarks struct {
	marks []laneMark
	most  int
}

type laneMark struct {
	bucket, count int
	kind          string // the first that is most frequent
}

func (l *laneMarks) add(bucket int, of map[string]diagnosis.Mark) {
	x := laneMark{bucket: bucket}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		if x.count == 0 || of[kind].Count > of[x.kind].Count {
			x.kind = kind
		}
		x.count += of[kind].Count
	}
	if x.count > 0 {
		l.marks, l.most = append(l.marks, x), max(l.most, x.count)
	}
}

func anomalies(n int) string {
	if n == 1 {
		return "1 anomaly"
	}
	return fmt.Sprintf("%d anomalies", n)
}

// storePage is a page about the passes over the runs of a store.
type storePage struct {
	frame
	Head    heading
	Lanes   []lane
	Undrawn string
	Kinds   []string
	Others  bool // there are other kinds
	Errors  bool // some were not read to the end
	Runs    []runRow
	More    string
}

// runRow is a line of the table of runs.
type runRow struct {
	MonitoredRun
	Verdict, Word string
	Anomalies     int
	Cells         []kindCell
	Others        int // of other kinds
}

type kindCell struct {
	Count int
	Link  string
}

// WriteRuns writes a page about the passes over runs: when each had anomalies, and how many of which kind, those with most
// first.
func WriteRuns(w io.Writer, title string, runs []MonitoredRun) error {
	d := &storePage{frame: newFrame(text.Shorten(text.Line(title), maxName))}
	d.Head = heading{File: d.Title, Verdict: "valid", Word: "valid"}
	kinds, all, failing, unread := map[string]int{}, 0, 0, 0
	rows := make([]runRow, len(runs))
	for i, r := range runs {
		row := runRow{MonitoredRun: r, Verdict: "valid", Word: "valid"}
		for kind, n := range r.Kinds {
			kinds[kind] += n
			row.Anomalies += n
		}
		switch {
		case row.Anomalies > 0:
			row.Verdict, row.Word = "invalid", "INVALID"
			failing++
		case r.Error != "":
			row.Verdict, row.Word = "unknown", "unknown"
			unread++
		}
		row.Name, row.Time, row.Error = text.Shorten(text.Line(r.Name), maxName), text.Shorten(text.Line(r.Time), maxLabel), text.Shorten(text.Line(r.Error), maxName)
		all += row.Anomalies
		d.Errors = d.Errors || r.Error != ""
		rows[i] = row
	}
	switch {
	case failing > 0:
		d.Head.Verdict, d.Head.Word = "invalid", "INVALID"
	case unread > 0:
		d.Head.Verdict, d.Head.Word = "unknown", "unknown"
	}
	d.Head.Summary = fmt.Sprintf("%s, %d with anomalies; %s", text.Count(len(runs), "run"), failing, anomalies(all))
	if unread > 0 {
		d.Head.Summary += fmt.Sprintf("; %d not read to the end", unread)
	}
	rank := map[string]int{"invalid": 0, "unknown": 1, "valid": 2}
	slices.SortStableFunc(rows, func(a, b runRow) int {
		return cmp.Or(rank[a.Verdict]-rank[b.Verdict], b.Anomalies-a.Anomalies)
	})
	d.table(rows, kinds)
	return pages().ExecuteTemplate(w, "runs", d)
}

// table makes the lanes and the table of the runs.
func (d *storePage) table(rows []runRow, kinds map[string]int) {
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Or(kinds[b]-kinds[a], cmp.Compare(a, b)) })
	d.Others = len(names) > maxKindColumns
	names = names[:min(len(names), maxKindColumns)]
	for _, kind := range names {
		d.Kinds = append(d.Kinds, cmp.Or(kind, diagnosis.Unnamed))
	}
	lanes, lines, undrawn := runLanesBytes, runRowsBytes, 0
	for i := range rows {
		r := &rows[i]
		r.Others = r.Anomalies
		lines -= 400 + len(r.Name) + len(r.Error) + len(r.Link)
		for _, kind := range names {
			c := kindCell{Count: r.Kinds[kind]}
			if c.Count > 0 && r.Link != "" {
				c.Link = r.Link + "#" + (&Drawing{Kind: kind}).id()
				lines -= len(c.Link)
			}
			r.Cells, r.Others = append(r.Cells, c), r.Others-c.Count
		}
		if lines < 0 || i == maxEntries {
			d.More = fmt.Sprintf("%d more are not listed.", len(rows)-i)
			break
		}
		d.Runs = append(d.Runs, *r)
		if r.lane == nil {
			continue
		}
		if lanes -= r.lane.bytes(); lanes < 0 {
			undrawn++
			continue
		}
		l := *r.lane
		l.Name, l.Link = fmt.Sprintf("%s (%d)", r.called(), r.Anomalies), r.Link
		l.Text = "Anomalies over time: " + l.Name
		d.Lanes = append(d.Lanes, l)
	}
	if undrawn > 0 {
		d.Undrawn = fmt.Sprintf("%d more runs with anomalies are only in the table.", undrawn)
	}
}

// bytes estimates the size of a lane on a page.
func (l *lane) bytes() int {
	n := 1000
	for i := range l.Bars {
		n += 150 + len(l.Bars[i].Link) + len(l.Bars[i].Title)
	}
	return n
}

// called names a run with its time.
func (r *runRow) called() string {
	if r.Time == "" {
		return r.Name
	}
	return r.Name + " " + r.Time
}
