// Package geometry looks at SVG pictures as a reader does: it finds where their
// texts are. Tests share it.
package geometry

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Picture is what an SVG picture shows.
type Picture struct {
	Width, Height int
	Texts         []Text
	Classes       []string // of everything that is drawn, in order
	Titles        []string // what a browser shows under the pointer
}

// Text is a text and the room that it takes.
type Text struct {
	Text, Class            string
	Left, Top, Right, Base float64
}

// Read reads a picture. It returns an error if the picture is not well-formed, or
// if it has a script or something from elsewhere in it.
func Read(svg []byte) (Picture, error) {
	var p Picture
	d := xml.NewDecoder(bytes.NewReader(svg))
	var open []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		switch x := token.(type) {
		case xml.StartElement:
			name, a := x.Name.Local, attributes(x)
			if name == "script" || a["href"] != "" || a["onload"] != "" {
				return p, fmt.Errorf("it has a <%s> with %v", name, a)
			}
			if open = append(open, name); a["class"] != "" {
				p.Classes = append(p.Classes, a["class"])
			}
			switch name {
			case "svg":
				p.Width, p.Height = number(a["width"]), number(a["height"])
			case "text":
				p.Texts = append(p.Texts, Text{Class: a["class"], Left: float64(number(a["x"])), Base: float64(number(a["y"]))})
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			switch in := strings.Join(open, "/"); {
			case strings.HasSuffix(in, "/text"):
				t := &p.Texts[len(p.Texts)-1]
				t.Text += string(x)
				t.room()
			case strings.HasSuffix(in, "/title") && strings.TrimSpace(string(x)) != "":
				p.Titles = append(p.Titles, string(x))
			}
		}
	}
}

func attributes(x xml.StartElement) map[string]string {
	a := map[string]string{}
	for _, attr := range x.Attr {
		a[attr.Name.Local] = attr.Value
	}
	return a
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// The widths of a character of a monospaced font of 12 and of 10 pixels, as
// browsers draw it.
const (
	usual = 7.25
	small = 6.05
)

// room finds the room that a text takes. Scripts other than Latin may be twice as wide.
func (t *Text) room() {
	char, high := usual, 10.0
	switch {
	case strings.Contains(t.Class, "small"), strings.Contains(t.Class, "bandname"), strings.Contains(t.Class, "badge"):
		char, high = small, 8
	case strings.Contains(t.Class, "title"):
		char, high = 8.5, 11
	}
	width := 0.0
	for _, r := range t.Text {
		if width += char; r >= 0x1100 && !unicode.Is(unicode.Mn, r) {
			width += char * .7
		}
	}
	if t.Right, t.Top = t.Left+width, t.Base-high; strings.Contains(t.Class, "badge") {
		t.Left, t.Right = t.Left-8, t.Left+8
		t.Top, t.Base = t.Base-12, t.Base+4
	}
}

// Overlaps says which texts overlap others, or extend beyond the edge of the picture.
func (p Picture) Overlaps() []string {
	var all []string
	for i, a := range p.Texts {
		if a.Left < 0 || a.Top < 0 || a.Right > float64(p.Width) || a.Base > float64(p.Height) {
			all = append(all, fmt.Sprintf("%q is beyond the edge", a.Text))
		}
		for _, b := range p.Texts[:i] {
			if a.Left < b.Right && b.Left < a.Right && a.Top < b.Base && b.Top < a.Base {
				all = append(all, fmt.Sprintf("%q stands on %q", a.Text, b.Text))
			}
		}
	}
	return all
}
