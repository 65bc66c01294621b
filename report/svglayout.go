package report

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"clew/internal/text"
	"clew/models"
)

// layout finds where the columns stand, and how long labels may be.
func (d *svgDrawing) layout() {
	w := d.w
	name := 0.0
	for _, r := range w.Rows {
		name = max(name, textWidth(r.Name(), svgChar))
	}
	d.left = svgMargin + max(name, 80) + 2*svgPad
	const all = 40
	for _, most := range []struct{ context, core, why, column int }{
		{all, all, all, 16}, {20, all, 30, 16}, {16, 30, 24, 14}, {14, 20, 20, 12}, {14, 16, 16, 10}, {12, 14, 16, 8}, {10, 12, 14, 8},
		{8, 10, 12, 6}, {6, 8, 12, 6}, {5, 6, 12, 6}, {0, 6, 8, 5}, {0, 4, 8, 4}, {0, 0, 4, 2},
	} {
		d.why = most.why
		d.labels = make([]string, len(w.Ops))
		for i, x := range w.Ops {
			n := most.context
			if x.Core || x.Named || x.Failing {
				n = most.core
			}
			if n > 0 {
				d.labels[i] = text.Shorten(x.Label, n)
			}
		}
		if d.space(float64(most.column)) <= svgWidth-svgMargin {
			break
		}
	}
	end := d.space0()
	least := float64(svgLeast)
	if d.o.Part {
		least = svgPart
	}
	total := max(end, least-svgMargin)
	if !w.ByTime {
		total = min(svgWidth-svgMargin, max(total, d.left+1.3*(end-d.left)))
	} else {
		total = svgWidth - svgMargin
	}
	d.stretch(end, total)
	d.right = int(total)
	d.width = d.right + svgMargin
}

// space puts the columns as close together as the
// labels allow, and returns where the picture ends.
func (d *svgDrawing) space(least float64) float64 {
	w := d.w
	n := int(w.Width) + 1
	d.xs = make([]float64, n)
	points := make([]int, n)
	for _, p := range w.Points {
		points[int(p.At)+1]++
	}
	if w.ByTime {
		for c := range d.xs {
			d.xs[c] = d.left + float64(c)*least
		}
		return d.space0()
	}
	begins := make([]int, n) // by column: the operation that is invoked there, plus 1
	ends := make([]int, n)   // by column: the transaction of a cycle that returns there, plus 1
	for i, x := range w.Ops {
		begins[int(x.From)] = i + 1
		if len(w.Relations) > 0 && w.Relations[0].Label != "" && !x.Open && !x.Crashed {
			ends[int(x.To)] = i + 1
		}
	}
	last := make([]int, len(w.Rows)) // by row: its last operation so far, plus 1
	for c := range d.xs {
		x := d.left
		if c > 0 {
			x = d.xs[c-1] + max(least, float64(12*(points[c]+1)))
		}
		if i := begins[c] - 1; i >= 0 {
			row := w.Ops[i].Row
			if before := last[row] - 1; before >= 0 {
				room := textWidth(d.labels[before], svgChar) + svgPad
				if gap := d.gapBefore(i); gap != "" {
					room += textWidth(gap, svgSmall) + svgPad
				}
				x = max(x, d.xs[int(w.Ops[before].From)]+room)
			}
			last[row] = i + 1
		}
		if i := ends[c] - 1; i >= 0 {
			x = max(x, d.xs[int(w.Ops[i].From)]+textWidth(d.labels[i], svgChar)+svgSteps)
		}
		d.xs[c] = x
	}
	return d.space0()
}

// space0 returns where the picture ends: beyond every label, and
// beyond the reason why the failing operation cannot happen.
func (d *svgDrawing) space0() float64 {
	w := d.w
	end := d.xs[len(d.xs)-1] + 24
	for i, x := range w.Ops {
		room := textWidth(d.labels[i], svgChar)
		if gap := d.gapAfter(x.Row); gap != "" {
			room += svgPad + textWidth(gap, svgSmall)
		}
		end = max(end, d.column(x.From)+room)
		if x.Failing {
			end = max(end, d.column(x.To)+svgPad+textWidth(d.whyOf(x), svgChar))
		}
	}
	return end
}

// stretch moves the columns apart so that what ended at from ends at to.
func (d *svgDrawing) stretch(from, to float64) {
	last := d.xs[len(d.xs)-1]
	beyond := from - last
	if last <= d.left {
		return
	}
	by := (to - beyond - d.left) / (last - d.left)
	for c := range d.xs {
		d.xs[c] = d.left + (d.xs[c]-d.left)*by
	}
}

// column returns where a place on the axis stands.
func (d *svgDrawing) column(at float64) float64 {
	c := min(max(0, int(at)), len(d.xs)-1)
	x := d.xs[c]
	if c+1 < len(d.xs) {
		x += (at - float64(c)) * (d.xs[c+1] - x)
	}
	return x
}

func (d *svgDrawing) at(at float64) int { return int(math.Round(d.column(at))) }

// svgBox is the area that a text takes.
type svgBox struct{ x1, y1, x2, y2 float64 }

func (b svgBox) meets(o svgBox) bool {
	return b.x1 < o.x2 && o.x1 < b.x2 && b.y1 < o.y2 && o.y1 < b.y2
}

// textWidth returns an upper bound of the width of a text:
// letters of scripts other than Latin may take twice the room.
func textWidth(s string, char float64) float64 {
	n := 0.0
	for _, r := range s {
		if n++; r >= 0x250 && !unicode.Is(unicode.Mn, r) {
			n++
		}
	}
	return n * char
}

// fitted returns as much of a text as there is room for, or "" if that is less than 3 characters.
func fitted(s string, room, char float64) string {
	if textWidth(s, char) <= room {
		return s
	}
	for n := min(utf8.RuneCountInString(s)-1, int(room/char)); n > 3; n-- {
		if short := text.Shorten(s, n); textWidth(short, char) <= room {
			return short
		}
	}
	return ""
}

func boxOf(t svgText, char float64) svgBox {
	return svgBox{float64(t.X), float64(t.Y) - 11, float64(t.X) + textWidth(t.Text, char), float64(t.Y) + 3}
}

// wrap breaks a text at its blanks into lines that
// fit. It cuts a word that is longer than a line.
func wrap(s string, room float64) []string {
	lines := text.Wrap(s, func(line string) bool { return textWidth(line, svgChar) <= room })
	for i, line := range lines {
		lines[i] = fitted(line, room, svgChar)
	}
	return lines
}

type (
	svgPicture struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Width   int      `xml:"width,attr"`
		Height  int      `xml:"height,attr"`
		ViewBox string   `xml:"viewBox,attr"`
		Role    string   `xml:"role,attr"`
		Title   string   `xml:"title,omitempty"`
		Desc    string   `xml:"desc,omitempty"`
		Style   string   `xml:"style,omitempty"`
		Defs    svgDefs  `xml:"defs"`
		Items   []any
	}
	svgDefs struct {
		Fades   []svgFade   `xml:"linearGradient"`
		Markers []svgMarker `xml:"marker"`
	}
	svgFade struct {
		ID    string    `xml:"id,attr"`
		Stops []svgStop `xml:"stop"`
	}
	svgStop struct {
		Offset int    `xml:"offset,attr"`
		Class  string `xml:"class,attr"`
	}
	svgMarker struct {
		ID     string  `xml:"id,attr"`
		Box    string  `xml:"viewBox,attr"`
		RefX   int     `xml:"refX,attr"`
		RefY   int     `xml:"refY,attr"`
		Width  int     `xml:"markerWidth,attr"`
		Height int     `xml:"markerHeight,attr"`
		Orient string  `xml:"orient,attr"`
		Head   svgPath `xml:"path"`
	}
	svgGroup struct {
		XMLName xml.Name `xml:"g"`
		Class   string   `xml:"class,attr,omitempty"`
		Op      string   `xml:"data-op,attr,omitempty"`  // the operation that it draws
		Why     string   `xml:"data-why,attr,omitempty"` // why the operation cannot happen
		Title   string   `xml:"title,omitempty"`
		Items   []any
	}
	svgRect struct {
		XMLName xml.Name `xml:"rect"`
		X       int      `xml:"x,attr"`
		Y       int      `xml:"y,attr"`
		Width   int      `xml:"width,attr"`
		Height  int      `xml:"height,attr"`
		Round   int      `xml:"rx,attr,omitempty"`
		Class   string   `xml:"class,attr"`
	}
	svgStroke struct {
		XMLName xml.Name `xml:"line"`
		X1      int      `xml:"x1,attr"`
		Y1      int      `xml:"y1,attr"`
		X2      int      `xml:"x2,attr"`
		Y2      int      `xml:"y2,attr"`
		Class   string   `xml:"class,attr"`
	}
	svgPath struct {
		XMLName xml.Name `xml:"path"`
		D       string   `xml:"d,attr"`
		Class   string   `xml:"class,attr"`
		End     string   `xml:"marker-end,attr,omitempty"`
	}
	svgCircle struct {
		XMLName xml.Name `xml:"circle"`
		X       int      `xml:"cx,attr"`
		Y       int      `xml:"cy,attr"`
		R       int      `xml:"r,attr"`
		Class   string   `xml:"class,attr"`
		Title   string   `xml:"title,omitempty"`
	}
	svgText struct {
		XMLName xml.Name `xml:"text"`
		X       int      `xml:"x,attr"`
		Y       int      `xml:"y,attr"`
		Class   string   `xml:"class,attr,omitempty"`
		Text    string   `xml:",chardata"`
	}
)

func svgDefinitions() svgDefs {
	var d svgDefs
	for _, kind := range []string{"", "core"} {
		d.Fades = append(d.Fades, svgFade{"fade" + kind, []svgStop{{0, "from" + kind}, {1, "to"}}})
	}
	for _, kind := range []models.RelationKind{models.ReturnedBefore, models.MustBeBefore, models.Saw} {
		d.Markers = append(d.Markers, svgMarker{fmt.Sprint("m", uint8(kind)), "0 0 8 8", 7, 4, 8, 8, "auto",
			svgPath{D: "M0 0L8 4L0 8z", Class: fmt.Sprint("h", uint8(kind))}})
	}
	return d
}

var (
	//go:embed light.css
	svgLight string
	//go:embed dark.css
	svgDark string
)
