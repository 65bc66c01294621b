package report

import (
	_ "embed"
	"encoding/xml"
	"fmt"

	"clew/models"
)

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
