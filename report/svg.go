package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"clew/internal/text"
	"clew/jepsen"
)

// maxDrawn bounds the operations in an SVG picture, since the core of a lock is
// its whole history up to the failure.
const maxDrawn = 60

// Sizes of an SVG picture, in pixels.
const (
	svgCharacter = 8 // more than the width of one in the font below
	svgMargin    = 16
	svgLine      = 18
	svgBar       = 14
	svgRow       = svgLine + svgBar + 12
	svgWrap      = 100 // characters in a line of the explanation
	svgLines     = 6   // lines of it at most
)

const svgStyle = `
text { font: 12px monospace; fill: #222 }
.rule { stroke: #ddd }
.bar { fill: #a9c7e8; stroke: #4a78a8 }
.open { stroke-dasharray: 4 3 }
.wrong { fill: #f2a3a0; stroke: #b3261e }
text.wrong { fill: #b3261e; stroke: none }
.cut { stroke: #b3261e; stroke-dasharray: 2 3 }
.note { fill: #777 }
`

type svgPicture struct {
	XMLName xml.Name  `xml:"http://www.w3.org/2000/svg svg"`
	Width   int       `xml:"width,attr"`
	Height  int       `xml:"height,attr"`
	ViewBox string    `xml:"viewBox,attr"`
	Title   string    `xml:"title"`
	Style   string    `xml:"style"`
	Paper   svgRect   `xml:"rect"`
	Head    []svgText `xml:"text"`
	Cut     svgStroke `xml:"line"`
	Rows    []svgLane `xml:"g"`
}

// svgLane is a process: its name, a rule below it, and its operations.
type svgLane struct {
	Name svgText   `xml:"text"`
	Rule svgStroke `xml:"line"`
	Ops  []svgOp   `xml:"g"`
}

// svgOp is an operation. Its title is what a browser shows under the pointer.
type svgOp struct {
	Title string  `xml:"title"`
	Bar   svgRect `xml:"rect"`
	Label svgText `xml:"text"`
}

type svgRect struct {
	X      int    `xml:"x,attr"`
	Y      int    `xml:"y,attr"`
	Width  int    `xml:"width,attr"`
	Height int    `xml:"height,attr"`
	Class  string `xml:"class,attr,omitempty"`
	Fill   string `xml:"fill,attr,omitempty"`
}

type svgStroke struct {
	X1    int    `xml:"x1,attr"`
	Y1    int    `xml:"y1,attr"`
	X2    int    `xml:"x2,attr"`
	Y2    int    `xml:"y2,attr"`
	Class string `xml:"class,attr"`
}

type svgText struct {
	X     int    `xml:"x,attr"`
	Y     int    `xml:"y,attr"`
	Class string `xml:"class,attr,omitempty"`
	Text  string `xml:",chardata"`
}

// WriteSVG draws an invalid result: a row for every process, and in it a bar for
// every operation of the core and every one that was open at the failure, from
// its invocation to its completion, or to the failure if it was open then.
// Distances are counted in events, not in time. The failing operation is red.
func (r *Result) WriteSVG(w io.Writer) error {
	if !r.fails() {
		return fmt.Errorf("a picture is of a failure; found a history that is %s", r.Verdict)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(r.svg()); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Result) svg() svgPicture {
	h := r.History
	ops, omitted := r.drawn()
	var events []jepsen.Event // the ends of the bars, in order
	label, wrong, name := 0, 0, 0
	for _, op := range ops {
		events = append(events, h.Invocation[op])
		if c := h.Completion[op]; !r.openAtFailure(op) {
			events = append(events, c)
		}
		if n := utf8.RuneCountInString(r.label(op)); h.OpOf[r.FailEvent] == op {
			wrong = n
		} else {
			label = max(label, n)
		}
		name = max(name, utf8.RuneCountInString(h.ProcessName(op)))
	}
	slices.Sort(events)
	rows := r.lanes(ops)

	// Two operations of a row begin at least two events apart, so labels do not
	// meet if a column is half as wide as a label. Nothing follows the failing
	// operation, whose label is the longest.
	column := max(30, (label+2)*svgCharacter/2)
	left := svgMargin + (len("process ")+name+2)*svgCharacter
	at := func(event jepsen.Event) int { i, _ := slices.BinarySearch(events, event); return left + i*column }
	head := r.heading(omitted)
	top := svgMargin + (len(head)+1)*svgLine
	cut := at(r.FailEvent)
	// Labels may reach beyond their bars, and beyond the failure.
	p := svgPicture{
		Width:  max(cut+max(label, wrong)*svgCharacter, svgWrap*svgCharacter) + svgMargin,
		Height: top + len(rows)*svgRow + svgMargin,
		Title:  text.Printable(r.File + ": not linearizable"),
		Style:  svgStyle,
		Head:   head,
		Cut:    svgStroke{cut, top - svgLine/2, cut, top + len(rows)*svgRow, "cut"},
	}
	p.ViewBox = fmt.Sprintf("0 0 %d %d", p.Width, p.Height)
	p.Paper = svgRect{Width: p.Width, Height: p.Height, Fill: "white"}
	for i, row := range rows {
		y := top + i*svgRow
		lane := svgLane{
			Name: svgText{X: svgMargin, Y: y + svgLine + svgBar - 3, Text: "process " + h.ProcessName(row[0])},
			Rule: svgStroke{svgMargin, y + svgRow - 5, p.Width - svgMargin, y + svgRow - 5, "rule"},
		}
		for _, op := range row {
			lane.Ops = append(lane.Ops, r.svgOp(op, y, at))
		}
		p.Rows = append(p.Rows, lane)
	}
	return p
}

// lanes puts operations into rows: one row for every process, and more rows if
// a process went on under the same number after it had crashed.
func (r *Result) lanes(ops []jepsen.Operation) [][]jepsen.Operation {
	h := r.History
	var rows [][]jepsen.Operation
	process := func(op jepsen.Operation) int32 { return h.Process[h.Invocation[op]] }
	for _, op := range ops {
		i := slices.IndexFunc(rows, func(row []jepsen.Operation) bool {
			last := row[len(row)-1]
			return process(last) == process(op) && !r.openAtFailure(last)
		})
		if i < 0 {
			i, rows = len(rows), append(rows, nil)
		}
		rows[i] = append(rows[i], op)
	}
	slices.SortStableFunc(rows, func(a, b []jepsen.Operation) int { return cmp.Compare(process(a[0]), process(b[0])) })
	return rows
}

// svgOp is the bar of an operation in the row that begins at y.
func (r *Result) svgOp(op jepsen.Operation, y int, at func(event jepsen.Event) int) svgOp {
	h := r.History
	from, to, class := at(h.Invocation[op]), at(r.FailEvent), "bar"
	label := svgText{X: from, Y: y + svgLine - 5, Text: r.label(op)}
	switch {
	case h.OpOf[r.FailEvent] == op:
		class, label.Class = "bar wrong", "wrong"
	case r.openAtFailure(op):
		class = "bar open"
	default:
		to = at(h.Completion[op])
	}
	return svgOp{
		Title: text.Printable(h.Name(op)),
		Bar:   svgRect{X: from, Y: y + svgLine, Width: to - from, Height: svgBar, Class: class},
		Label: label,
	}
}

// maxWhy bounds, in characters, the reason why the failing operation cannot
// happen.
const maxWhy = 40

// label is what an operation did, and for the failing one also why that cannot
// be.
func (r *Result) label(op jepsen.Operation) string {
	s := r.History.Call(op)
	if why := r.why(); r.History.OpOf[r.FailEvent] == op && why != "" {
		s += " ✗ " + text.Shorten(why, maxWhy)
	}
	return text.Printable(s)
}

// heading is the explanation, and what is missing from the picture.
func (r *Result) heading(omitted int) []svgText {
	lines := wrap(text.Printable(r.sentence()), svgWrap)
	if len(lines) > svgLines {
		lines = append(lines[:svgLines-1], "…")
	}
	var head []svgText
	add := func(class, line string) {
		head = append(head, svgText{X: svgMargin, Y: svgMargin + (len(head)+1)*svgLine, Class: class, Text: line})
	}
	for _, line := range lines {
		add("", line)
	}
	if omitted > 0 {
		add("note", fmt.Sprintf("%d more operations of the core, or open at the failure, are not drawn", omitted))
	}
	return head
}

// wrap breaks a text at its blanks into lines of about width characters. A
// longer word is cut.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if n := utf8.RuneCountInString(word); n > width {
			word = string([]rune(word)[:width-1]) + "…"
		}
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// openAtFailure says whether an operation was open at the failure. The failing
// one has just returned.
func (r *Result) openAtFailure(op jepsen.Operation) bool {
	h := r.History
	c := h.Completion[op]
	return c == jepsen.None || c > r.FailEvent || h.Status[op] == jepsen.Crashed
}

// drawn is the operations of a picture in order of invocation: the failing one,
// then those of the core and those that were open, the latest first, up to
// maxDrawn. It says how many more there are.
func (r *Result) drawn() (ops []jepsen.Operation, omitted int) {
	h := r.History
	failing := h.OpOf[r.FailEvent]
	var rest, open []jepsen.Operation
	inCore := make([]bool, h.Operations())
	for _, op := range r.Core {
		inCore[op] = true
		if op != failing {
			rest = append(rest, op)
		}
	}
	for op := jepsen.Operation(0); int(op) < h.Operations() && h.Invocation[op] < r.FailEvent; op++ {
		if r.openAtFailure(op) && h.Status[op] != jepsen.Failed && !inCore[op] {
			open = append(open, op)
		}
	}
	slices.Sort(rest)
	slices.Reverse(rest)
	slices.Reverse(open)
	rest = append(rest, open...)
	n := min(len(rest), maxDrawn-1)
	ops = append(rest[:n:n], failing)
	slices.Sort(ops)
	return ops, len(rest) - n
}
