// Package terminal says how to show a text on standard output.
package terminal

import (
	"cmp"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"clew/internal/text"
	"clew/report"
)

// defaultWidth is the width of a terminal that does not tell its width.
const defaultWidth = 80

// Look returns how to show a text on standard output: on a terminal within its
// width, and in colors unless NO_COLOR says otherwise. Colors go to screen, which
// is nil if there are none. Everything else goes through a Writer that does not
// let escape sequences pass.
func Look(stdout io.Writer) (o report.TextOptions, screen io.Writer) {
	o.ASCII = !hasUTF8(os.Getenv)
	w, ok := stdout.(*text.Writer)
	if !ok {
		return o, nil
	}
	f, ok := w.Under.(*os.File)
	if !ok {
		return o, nil
	}
	if o.Width, _, _ = term.GetSize(int(f.Fd())); o.Width <= 0 {
		o.Width = defaultWidth
	}
	if o.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && obeys(f); o.Color {
		screen = f
	}
	return o, screen
}

// hasUTF8 says whether the locale has UTF-8. Without a locale, as in containers, it
// assumes so.
func hasUTF8(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return locale == "" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
