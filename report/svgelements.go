package report

import (
	"encoding/xml"
	"fmt"

	"clew/models"
)

// The elements of a picture.
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

// svgLight and svgDark hold the colors and other styles.
const svgLight = `
text { font: 12px monospace; fill: #1c2330; white-space: pre }
.paper { fill: #fff }
.title { font-weight: bold; font-size: 14px }
.small { font-size: 10px; fill: #5d6673 }
.halo { paint-order: stroke; stroke: #fff; stroke-width: 3px }
.rule { stroke: #e3e6ea }
.bar { fill: #dfe3e9; stroke: #98a2b0 }
.core { fill: #a5c8f0; stroke: #2b6cb0 }
.wrong { fill: #f6b0ab; stroke: #b3261e; stroke-width: 2 }
.failed { fill: none; stroke-dasharray: 2 2 }
.fade { stroke: none; fill: url(#fade) } .fadecore { stroke: none; fill: url(#fadecore) }
.from { stop-color: #98a2b0; stop-opacity: .6 } .fromcore { stop-color: #2b6cb0; stop-opacity: .5 } .to { stop-opacity: 0; stop-color: #98a2b0 }
text.wrong { fill: #b3261e; paint-order: stroke; stroke: #fff; stroke-width: 3px; font-weight: bold }
.cut { stroke: #b3261e; stroke-dasharray: 2 3 }
.dot { fill: #1c2330; stroke: #fff } .try { fill: #fff; stroke: #1c2330 }
.band { fill: #e0a030; fill-opacity: .13 } .moment { stroke: #b07a10; stroke-dasharray: 4 2 } .bandname { fill: #8a5d00; font-size: 10px }
.arrow { fill: none; stroke-width: 1.5 }
.a0 { stroke: #6b46c1 } .a1 { stroke: #b3261e; stroke-dasharray: 5 3 } .a2 { stroke: #1b7f4d }
.h0 { fill: #6b46c1 } .h1 { fill: #b3261e } .h2 { fill: #1b7f4d }
text.badge { fill: #fff; font-size: 10px; font-weight: bold; text-anchor: middle }
`

const svgDark = `
text { fill: #e6e9ee }
.paper { fill: #14181f }
.small { fill: #9aa3b0 }
.halo { stroke: #14181f }
.rule { stroke: #2a313b }
.bar { fill: #39424f; stroke: #74808f }
.core { fill: #23507f; stroke: #7fb2ee }
.wrong { fill: #7d2721; stroke: #ff8a80 }
.from, .to { stop-color: #74808f } .fromcore { stop-color: #7fb2ee }
text.wrong { fill: #ff8a80; stroke: #14181f }
.cut { stroke: #ff8a80 }
.dot { fill: #e6e9ee; stroke: #14181f } .try { fill: #14181f; stroke: #e6e9ee }
.bandname { fill: #e0b050 }
.a0 { stroke: #b79cf5 } .a1 { stroke: #ff8a80 } .a2 { stroke: #5fd39a }
.h0 { fill: #b79cf5 } .h1 { fill: #ff8a80 } .h2 { fill: #5fd39a }
text.badge { fill: #14181f }
`

const svgStyle = svgLight + "@media (prefers-color-scheme: dark) {" + svgDark + "}\n"
