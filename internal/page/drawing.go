package page

import (
	"bytes"
	"html/template"

	"clew/report"
)

// drawing returns a window as an element of the page. Package report writes it as
// XML, where text is as safe as html/template makes it.
func drawing(w *report.Window) (template.HTML, error) {
	var b bytes.Buffer
	if err := w.DrawSVG(&b, report.SVGOptions{Part: true}); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}
