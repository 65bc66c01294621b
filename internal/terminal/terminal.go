// Package terminal says how a text is shown on standard output.
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

// defaultWidth is how wide a terminal is that does not say.
const defaultWidth = 80

// Look is how a text is shown on standard output: on a terminal within its width,
// and in colors unless NO_COLOR says otherwise. screen is what colors are written
// to, nil if there are none: everything else goes through a Writer that lets no
// escape sequence pass.
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

// hasUTF8 says whether the locale has UTF-8. If there is no locale, as in containers,
// it is taken to have it.
func hasUTF8(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return locale == "" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
