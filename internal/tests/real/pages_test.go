package real_test

import (
	"bytes"
	"context"
	"html"
	"strings"
	"testing"

	"clew/internal/page"
	"clew/internal/tests/kit"
	"clew/report"
)

// TestPagesOfRealFailures checks what a page of a failure promises, and a page as porcupine draws it.
func TestPagesOfRealFailures(t *testing.T) {
	t.Parallel()
	files := kit.InvalidHistories(t)
	for file, spec := range files {
		r, err := kit.CheckFile(file, spec)
		if err != nil {
			t.Fatal(err)
		}
		failing := r.FirstFailing()
		for style, write := range map[string]func(*bytes.Buffer) error{
			"clew":      func(b *bytes.Buffer) error { return page.Write(context.Background(), b, r, report.WindowOptions{}) },
			"porcupine": func(b *bytes.Buffer) error { return page.WritePorcupine(context.Background(), b, r) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Errorf("%s as %s: %v", file, style, err)
				continue
			}
			if b.Len() > page.MaxBytes {
				t.Errorf("%s as %s: %d bytes", file, style, b.Len())
			}
			said := html.UnescapeString(html.UnescapeString(strings.ReplaceAll(b.String(), `\u0026`, "&")))
			name := failing.History.Name(failing.History.OpOf[failing.FailEvent.OrNone()])
			if !strings.Contains(said, name) && !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), name) {
				t.Errorf("%s as %s: %s is not in it", file, style, name)
			}
		}
	}
	t.Logf("%d pages of each style", len(files))
}
