package report

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"clew/internal/text"
	"clew/models"
)

// An SVG picture of a window:
//
//	h.edn: not linearizable
//	process 1's :read 1 (index 9) cannot happen after ..
//
//	             :start-partition          Bands
//	process 0    write 1      write 2      labels
//	812 earlier  ├──●───┤     ├──●───┤     bars, a dot where one takes effect
//	                1            2         the state after it
//	process 1                        read 1
//	                                 ├────┤✗ expected 2, got 1
//
//	(1) write 1 of process 0 returned before write 2 of process 0
//	● takes effect here; below it the state
//
// The columns of the window are moved apart until the labels of a row
// have room beside each other. If that makes the picture too wide, labels
// are shortened. Those of the operations that matter are shortened last.

// Bounds and sizes of an SVG picture, in pixels.
const (
	svgWidth, svgHeight  = 1400, 900 // unless more rows are requested
	svgLeast, svgPart    = 720, 330  // wide, and as a part of a page
	svgMargin            = 16
	svgChar, svgSmall    = 7.4, 6.8 // the width of a character in labels, and in small labels
	svgLine              = 18
	svgBar               = 14
	svgRow               = 54
	svgLeastRow          = 30
	svgPad               = 10 // between labels
	svgSteps             = 40 // beside the label of a transaction, where steps lead to it and on
	svgSentence, svgNote = 6, 10
	svgTitle             = 300 // characters of the text that a browser shows under the pointer
)

// WriteSVG draws the window around the failure of an invalid result,
// or around the witness of a valid one with independent keys.
func (r *Result) WriteSVG(w io.Writer) error {
	if r.Keys == nil && !r.fails() {
		return errors.New("a picture shows a failure; found a history that is " + r.Verdict.String())
	}
	window, err := r.Window(context.Background(), WindowOptions{})
	if err != nil {
		return err
	}
	return window.WriteSVG(w)
}

// WriteSVG draws the window, at most 1,400 pixels wide and 900 high unless more rows were requested. What is Below
// is as high.
func (w *Window) WriteSVG(out io.Writer) error { return w.DrawSVG(out, SVGOptions{}) }

// SVGOptions say what an SVG picture is for.
type SVGOptions struct {
	// Scheme is "light" or "dark", or "" for the one that the reader prefers.
	Scheme string
	// Part says that the picture is an element of an HTML page, which
	// has SVGStyle and the sentence. Its operations have a data-op,
	// their jepsen.Operation. The failing one also has a data-why.
	Part bool
}

// SVGStyle returns the style of pictures in pages, and how it differs in dark mode.
func SVGStyle() (light, dark string) { return svgLight, svgDark }

// DrawSVG draws the window with options.
func (w *Window) DrawSVG(out io.Writer, o SVGOptions) error {
	if !o.Part {
		if _, err := io.WriteString(out, xml.Header); err != nil {
			return err
		}
	}
	e := xml.NewEncoder(out)
	e.Indent("", " ")
	if err := e.Encode(drawSVG(w, o)); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

type svgDrawing struct {
	w      *Window
	o      SVGOptions
	labels []string // of the operations, as short as necessary
	xs     []float64
	left   float64 // where the axis begins
	right  int     // and where it ends
	why    int     // how many characters may say why the failing operation cannot happen
	width  int
	top    int // of the first row
	above  int // the height of the picture above it, or 0
	row    int // the height of a row
	items  []any
	texts  []any    // drawn on top of everything else
	taken  []svgBox // where the texts stand
}

func drawSVG(w *Window, o SVGOptions) svgPicture {
	d := &svgDrawing{w: w, o: o}
	height := d.draw()
	p := svgPicture{Role: "group", Defs: svgDefinitions()}
	if !o.Part {
		said := w.Result.sentence()
		if w.Below != nil {
			below := &svgDrawing{w: w.Below, o: o, above: height}
			height = below.draw()
			d.width, d.items = max(d.width, below.width), append(d.items, below.items...)
			said += "; " + w.Below.Result.sentence()
		}
		d.items = append([]any{svgRect{Width: d.width, Height: height, Class: "paper"}}, d.items...)
		p.Role, p.Title, p.Desc = "img", w.Title, text.Shorten(text.Line(said), 4*svgTitle)
		p.Style = map[string]string{"": svgLight + "@media (prefers-color-scheme: dark) {" + svgDark + "}\n", "light": svgLight, "dark": svgLight + svgDark}[o.Scheme]
	}
	p.Width, p.Height, p.ViewBox, p.Items = d.width, height, fmt.Sprintf("0 0 %d %d", d.width, height), d.items
	return p
}

// draw draws everything below what is above, and returns where it ends.
func (d *svgDrawing) draw() (bottom int) {
	d.layout()
	head, foot := d.sentence(), d.w.Legend()
	if d.o.Part { // which the page has as text
		head, foot = nil, nil
	}
	lanes, bandsHigh := d.bandLanes()
	y := d.above + svgMargin + len(head)*svgLine + svgLine/2
	d.top = y + bandsHigh
	left := d.above + svgHeight - d.top - len(foot)*svgLine - 2*svgMargin
	d.row = min(svgRow, max(svgLeastRow, left/max(1, len(d.w.Rows))))
	bottom = d.top + d.row*len(d.w.Rows)
	for i, line := range head {
		line.Y = d.above + svgMargin + (i+1)*svgLine - 4
		d.items = append(d.items, line)
	}
	d.bands(lanes, y, bottom)
	d.rules()
	if d.w.FailAt >= 0 {
		x := d.at(d.w.FailAt)
		d.items = append(d.items, svgStroke{X1: x, Y1: d.top, X2: x, Y2: bottom, Class: "cut"})
	}
	for i := range d.w.Ops {
		d.bar(i)
	}
	d.whys()
	arrows := d.arrows()
	d.points()
	for i, a := range arrows {
		d.arrow(i, a)
	}
	d.items = append(d.items, d.texts...)
	for i, line := range foot {
		d.explain(line, bottom+svgMargin+(i+1)*svgLine-4)
	}
	if len(foot) > 0 {
		bottom += len(foot)*svgLine + svgMargin
	}
	return bottom + svgMargin
}

// gapBefore returns the words for what is omitted before an operation that is not the
// first of its row. gapAfter returns those for what is omitted after the last one.
func (d *svgDrawing) gapBefore(op int) string {
	x := d.w.Ops[op]
	for _, g := range d.w.Rows[x.Row].Gaps {
		if g.To == x.From && g.From > 0 {
			return fmt.Sprintf("… %d more", g.Count)
		}
	}
	return ""
}

func (d *svgDrawing) gapAfter(row int) string {
	for _, g := range d.w.Rows[row].Gaps {
		if g.To == d.w.Width {
			return fmt.Sprintf("… %d more", g.Count)
		}
	}
	return ""
}

// put adds a text and marks the area that it takes.
func (d *svgDrawing) put(t svgText, char float64) {
	if t.Text == "" {
		return
	}
	d.taken = append(d.taken, boxOf(t, char))
	d.texts = append(d.texts, t)
}

// barTop returns the upper edge of the bars of a row.
func (d *svgDrawing) barTop(row int) int { return d.top + row*d.row + 17 }

// rules draws the names of the rows, and lines between them.
func (d *svgDrawing) rules() {
	for i, r := range d.w.Rows {
		y := d.barTop(i)
		d.items = append(d.items, svgStroke{X1: svgMargin, Y1: d.top + (i+1)*d.row - 2, X2: d.right, Y2: d.top + (i+1)*d.row - 2, Class: "rule"})
		name := svgText{X: svgMargin, Y: y + 2, Text: r.Name()}
		if d.o.Part {
			name.Class = "name"
		}
		d.put(name, svgChar)
		if len(r.Gaps) > 0 && r.Gaps[0].From == 0 && d.isFirst(i, r.Gaps[0].To) {
			d.put(svgText{X: svgMargin, Y: y + 14, Class: "small", Text: fmt.Sprintf("… %d earlier", r.Gaps[0].Count)}, svgSmall)
		}
		if gap := d.gapAfter(i); gap != "" {
			d.put(svgText{X: d.right - int(textWidth(gap, svgSmall)), Y: y - 4, Class: "small halo", Text: gap}, svgSmall)
		}
	}
}

// isFirst says whether the first operation of a row begins at a column.
func (d *svgDrawing) isFirst(row int, at float64) bool {
	i := slices.IndexFunc(d.w.Ops, func(x WindowOp) bool { return x.Row == row })
	return i >= 0 && d.w.Ops[i].From == at
}

func (d *svgDrawing) bar(i int) {
	x := d.w.Ops[i]
	from, to, until, y := d.at(x.From), d.at(x.To), d.at(x.Until), d.barTop(x.Row)
	class, fade, label := "bar", "fade", "halo"
	switch {
	case x.Failing:
		class, label = "wrong", "wrong"
	case x.Core || x.Named:
		class, fade = "core", "fadecore"
	case x.Failed:
		class = "bar failed"
	}
	g := svgGroup{Title: text.Shorten(x.Name, svgTitle)}
	if d.o.Part {
		d.tie(&g, &x)
	}
	if x.Open {
		to = d.right
	}
	if x.Crashed {
		if until == d.at(d.w.Width) {
			until = d.right
		}
		g.Title += ": crashed; it may take effect later, or never"
		start := min(from+6, until)
		start = max(start, to)
		g.Items = append(g.Items, svgRect{X: start, Y: y, Width: max(1, until-start-2), Height: svgBar, Class: fade})
		to = start
	}
	g.Items = append(g.Items, svgRect{X: from, Y: y, Width: max(4, to-from), Height: svgBar, Round: 3, Class: class})
	d.items = append(d.items, g)
	if d.w.Result.Told != nil || d.o.Part && len(d.w.Points) == 0 { // where a page puts points of its own
		d.taken = append(d.taken, svgBox{float64(from), float64(y), float64(until), float64(y + svgBar)})
	}
	room := float64(d.right - from)
	for k := i + 1; k < len(d.w.Ops); k++ {
		if d.w.Ops[k].Row == x.Row {
			next := float64(d.at(d.w.Ops[k].From))
			if gap := d.gapBefore(k); gap != "" {
				next -= textWidth(gap, svgSmall) + svgPad
				if next-float64(from) > 3*svgChar {
					d.put(svgText{X: int(next) + svgPad/2, Y: y - 4, Class: "small halo", Text: gap}, svgSmall)
				}
			}
			room = min(room, next-float64(from)-svgPad/2)
			break
		}
	}
	if gap := d.gapAfter(x.Row); gap != "" {
		room = min(room, float64(d.right-from)-textWidth(gap, svgSmall)-svgPad)
	}
	d.put(svgText{X: from, Y: y - 4, Class: label, Text: fitted(d.labels[i], room, svgChar)}, svgChar)
}

// whyOf returns why an operation cannot happen, as short as necessary.
func (d *svgDrawing) whyOf(x WindowOp) string {
	return strings.TrimSpace("✗ " + text.Shorten(x.Why, d.why))
}

// tie connects the drawing of an operation to what a page knows about it.
func (d *svgDrawing) tie(g *svgGroup, x *WindowOp) {
	if g.Op = fmt.Sprint(x.Operation); x.Failing {
		g.Class = "failing"
		if x.Why != "" {
			g.Why = text.Shorten("cannot happen: "+x.Why, svgTitle)
		}
	}
}

// whys writes why the failing operation cannot happen beside it.
func (d *svgDrawing) whys() {
	for _, x := range d.w.Ops {
		if to := d.at(x.To); x.Failing && !x.Open {
			d.put(svgText{X: to + 6, Y: d.barTop(x.Row) + 11, Class: "wrong reason", Text: fitted(d.whyOf(x), float64(d.right-to-6), svgChar)}, svgChar)
		}
	}
}

// points draws where operations take effect, and the states
// after that where there is room for them below the bars.
func (d *svgDrawing) points() {
	w := d.w
	for i, p := range w.Points {
		x, row := d.at(p.At), w.Ops[p.Op].Row
		y := d.barTop(row)
		said, class := "takes effect here", "dot"
		if p.Attempt {
			said, class = "tried here, which does not help", "dot try"
		}
		if p.State != "" {
			said += "; then the state is " + p.State
		}
		d.items = append(d.items, svgCircle{X: x, Y: y + svgBar/2, R: 4, Class: class, Title: w.Ops[p.Op].Label + " " + said})
		if d.row < svgRow-8 || p.State == "" {
			continue
		}
		room := float64(d.right - x)
		for _, q := range w.Points[i+1:] {
			if w.Ops[q.Op].Row == row {
				room = min(room, float64(d.at(q.At)-x-6))
				break
			}
		}
		for left := x - 3; left < x+40; left += 5 { // beside the heads of arrows
			t := svgText{X: left, Y: y + svgBar + 12, Class: "small halo", Text: fitted(p.State, room-float64(left-x+3), svgSmall)}
			if !slices.ContainsFunc(d.taken, boxOf(t, svgSmall).meets) {
				d.put(t, svgSmall)
				break
			}
		}
	}
}

// curve is a cubic Bézier curve: its ends, and what bends it.
type curve [4][2]float64

func (p curve) at(t float64) (x, y float64) {
	u := 1 - t
	a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
	return a*p[0][0] + b*p[1][0] + c*p[2][0] + d*p[3][0], a*p[0][1] + b*p[1][1] + c*p[2][1] + d*p[3][1]
}

// drawn returns how many relations are drawn: all steps between transactions, or the first relations.
func (w *Window) drawn() int {
	if w.Result.Told != nil {
		return len(w.Relations)
	}
	return min(len(w.Relations), svgNote-3)
}

// arrows finds the course of each arrow, and keeps the area at its head free of text.
func (d *svgDrawing) arrows() []curve {
	w := d.w
	arrows := make([]curve, w.drawn())
	for i := range arrows {
		r := w.Relations[i]
		a, b := w.Ops[r.From], w.Ops[r.To]
		ay, by := float64(d.barTop(a.Row))+svgBar/2, float64(d.barTop(b.Row))+svgBar/2
		if r.Kind == models.ReturnedBefore {
			x1, x2 := d.column(a.To), d.column(b.From)
			bend := max(16, (x2-x1)/2)
			arrows[i] = curve{{x1, ay}, {x1 + bend, ay}, {x2 - bend, by}, {x2, by}}
			continue
		}
		from, to, beside := .6, .6, 8.0
		switch {
		case r.Label != "": // each transaction has a step that leads to it, and one that leads on
			from, to, beside = .75, .25, 24
		case r.Kind == models.MustBeBefore:
			from, to = .3, .3
		}
		x1, y1, dy1 := d.edge(r.From, by >= ay, from, beside)
		x2, y2, dy2 := d.edge(r.To, by <= ay, to, 8)
		arrows[i] = curve{{x1, y1}, {x1, y1 + dy1}, {x2, y2 + dy2}, {x2, y2}}
		d.taken = append(d.taken, svgBox{x2 - 6, min(y2, y2+dy2/3), x2 + 6, max(y2, y2+dy2/3)})
	}
	return arrows
}

// edge returns where an arrow that comes from below or above leaves or reaches the bar of
// an operation, and which way it bends. The place is so far beside the label if there is room.
func (d *svgDrawing) edge(op int, below bool, part, beside float64) (x, y, bend float64) {
	o := d.w.Ops[op]
	from, to := d.column(o.From), max(d.column(o.To), d.column(o.From)+8)
	x, y, bend = from+part*(to-from), float64(d.barTop(o.Row)), -3*svgBar
	if below {
		return x, y + svgBar, -bend
	}
	if end := from + textWidth(fitted(d.labels[op], 1e4, svgChar), svgChar) + beside; end < to-4 {
		x = max(x, end)
	}
	return x, y, bend
}

func (d *svgDrawing) arrow(i int, p curve) {
	r := d.w.Relations[i]
	d.items = append(d.items, svgGroup{Title: text.Shorten(r.Text, svgTitle), Items: []any{svgPath{
		D:     fmt.Sprintf("M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f", p[0][0], p[0][1], p[1][0], p[1][1], p[2][0], p[2][1], p[3][0], p[3][1]),
		Class: fmt.Sprint("arrow a", uint8(r.Kind)), End: fmt.Sprintf("url(#m%d)", uint8(r.Kind))}}})
	if r.Label == "" || !d.badge(r, p, textWidth(r.Label, svgSmall)+4) {
		d.badge(r, p, 0)
	}
}

// badge puts the number of an arrow on it where the area is free, with its label if there is room for it. It reports whether it found
// such a place.
func (d *svgDrawing) badge(r WindowRelation, p curve, room float64) bool {
	for _, aside := range []float64{0, -9, 9, -18, 18} {
		for _, t := range []float64{.5, .45, .55, .4, .6, .35, .65, .3, .7, .25, .75, .2, .8} {
			x, y := p.at(t)
			y += aside
			box := svgBox{x - 8, y - 8, x + 8 + room, y + 8}
			if room > 0 {
				box.y1 -= 4
			}
			if box.y1 < float64(d.top) || box.x2 > float64(d.right) || slices.ContainsFunc(d.taken, box.meets) {
				continue
			}
			d.taken = append(d.taken, box)
			d.items = append(d.items, numbered(fmt.Sprint(r.Number), r.Kind, int(x), int(y))...)
			if room > 0 {
				d.texts = append(d.texts, svgText{X: int(x) + 11, Y: int(y) - 3, Class: "small halo", Text: r.Label})
			}
			return true
		}
	}
	return false
}

func numbered(n string, kind models.RelationKind, x, y int) []any {
	return []any{svgCircle{X: x, Y: y, R: 8, Class: fmt.Sprint("h", uint8(kind))}, svgText{X: x, Y: y + 4, Class: "badge", Text: n}}
}

// sentence returns what is wrong, as lines above the picture.
func (d *svgDrawing) sentence() []svgText {
	said := text.Shorten(d.w.Result.sentence(), svgSentence*svgWidth/6)
	lines := wrap(text.Printable(said), float64(d.width-2*svgMargin))
	if len(lines) > svgSentence {
		lines = append(lines[:svgSentence-1], "…")
	}
	title := []rune(d.w.Title)
	if most := int(float64(d.width-2*svgMargin) / 9 / 2); textWidth(d.w.Title, 9) > float64(d.width-2*svgMargin) {
		title = append([]rune("…"), title[max(0, len(title)-most):]...) // the end of a path says more
	}
	head := []svgText{{X: svgMargin, Class: "title", Text: string(title)}}
	for _, line := range lines {
		head = append(head, svgText{X: svgMargin, Text: line})
	}
	return head
}

// LegendLine explains a mark of a picture.
type LegendLine struct {
	Mark string // the number of a relation, or one of the marks below
	Text string
	kind models.RelationKind
}

// Marks of a legend.
const (
	MarkPoint   = "●"
	MarkAttempt = "○"
	MarkCrashed = "▒"
	markNothing = ""
)

// Legend explains the marks of the picture: first the relations in words, last what is omitted.
func (w *Window) Legend() (lines []LegendLine) {
	add := func(mark, text string) { lines = append(lines, LegendLine{Mark: mark, Text: text}) }
	for _, r := range w.Relations[:w.drawn()] {
		said := r.Text
		if r.Label != "" {
			said = r.Label + ": " + said
		}
		lines = append(lines, LegendLine{fmt.Sprint(r.Number), said, r.Kind})
	}
	if slices.ContainsFunc(w.Points, func(p Point) bool { return !p.Attempt }) {
		said := "takes effect here; below it, the state after that"
		if w.MorePoints > 0 {
			said += fmt.Sprintf(" (%d operations before the first)", w.MorePoints)
		}
		add(MarkPoint, said)
	}
	if slices.ContainsFunc(w.Points, func(p Point) bool { return p.Attempt }) {
		add(MarkAttempt, "open at the failure: taking effect here does not help either")
	}
	if slices.ContainsFunc(w.Ops, func(x WindowOp) bool { return x.Crashed }) {
		add(MarkCrashed, "crashed: it may take effect later, or never")
	}
	if s := w.omitted(); s != "" {
		add(markNothing, s)
	}
	return lines
}

// explain draws a line of the legend.
func (d *svgDrawing) explain(l LegendLine, y int) {
	x, class := svgMargin+22, "small"
	switch l.Mark {
	case MarkPoint:
		d.items = append(d.items, svgCircle{X: svgMargin + 8, Y: y - 4, R: 4, Class: "dot"})
	case MarkAttempt:
		d.items = append(d.items, svgCircle{X: svgMargin + 8, Y: y - 4, R: 4, Class: "dot try"})
	case MarkCrashed:
		d.items = append(d.items, svgRect{X: svgMargin, Y: y - 9, Width: 18, Height: 9, Class: "fade"})
	case markNothing:
		x = svgMargin
	default:
		class = ""
		d.items = append(d.items, numbered(l.Mark, l.kind, svgMargin+8, y-4)...)
	}
	d.items = append(d.items, svgText{X: x, Y: y, Class: class, Text: fitted(l.Text, float64(d.width-svgMargin-x), svgChar)})
}

// omitted says what a window omits, or returns "" if it omits only what its rows say.
func (w *Window) omitted() string {
	var all []string
	add := func(n int, one, many string) {
		if n == 1 {
			all = append(all, "1 "+one)
		} else if n > 1 {
			all = append(all, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(w.MoreRows, "more process", "more processes")
	add(w.MoreTxns, "more transaction", "more transactions")
	add(w.MoreCore, "more operation of the core", "more operations of the core")
	add(w.MoreNamed, "that the sentence names", "that the sentence names")
	add(w.MoreBands, "more nemesis event", "more nemesis events")
	if all == nil {
		return ""
	}
	return "not shown: " + strings.Join(all, ", ")
}

// bandLanes puts the names of bands into lines so that they
// do not overlap, and returns the height of these lines.
func (d *svgDrawing) bandLanes() (lanes []int, high int) {
	const most = 4
	var ends []float64
	for _, b := range d.w.Bands {
		from := d.column(max(0, b.From))
		lane := slices.IndexFunc(ends, func(end float64) bool { return end < from })
		if lane < 0 {
			if lane = len(ends); lane == most {
				lanes = append(lanes, -1)
				continue
			}
			ends = append(ends, 0)
		}
		ends[lane] = max(from+textWidth(b.title(), svgSmall), d.column(b.To)) + svgPad
		lanes = append(lanes, lane)
	}
	return lanes, len(ends)*14 + 6
}

func (b Band) title() string {
	if b.Process == ":nemesis" {
		return b.Name
	}
	return b.Process + " " + b.Name
}

func (d *svgDrawing) bands(lanes []int, top, bottom int) {
	for i, b := range d.w.Bands {
		from, to := d.at(max(0, b.From)), d.at(b.To)
		if b.To == d.w.Width {
			to = d.right
		}
		g := svgGroup{Title: fmt.Sprintf("%s %s (index %d)", b.Process, b.Name, b.Index)}
		y := top
		if lanes[i] >= 0 {
			y += lanes[i] * 14
		}
		if b.From == b.To {
			g.Items = []any{svgStroke{X1: from, Y1: y, X2: from, Y2: bottom, Class: "moment"}}
		} else {
			g.Items = []any{svgRect{X: from, Y: y, Width: max(2, to-from), Height: bottom - y, Class: "band"}}
		}
		d.items = append(d.items, g)
		if lanes[i] >= 0 {
			d.put(svgText{X: from + 3, Y: y + 11, Class: "bandname", Text: fitted(b.title(), float64(d.right-from-3), svgSmall)}, svgSmall)
		}
	}
}
