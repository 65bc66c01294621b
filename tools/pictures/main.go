// Command pictures draws the failure at the top of the README and the one in docs/transactions.md, for light and for
// dark pages: docs/failure-light.svg, docs/failure-dark.svg and so on. Run it in the
// project's folder (make pictures).
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func main() {
	drawn, err := draw(".")
	for name, picture := range drawn {
		if err == nil {
			err = os.WriteFile(name, picture, 0o666)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// pictures are the failures that are drawn: the file of the history, and the document that shows the picture.
var pictures = []struct{ name, history, document string }{
	{"failure", "testdata/histories/stale-read.edn", "README.md"},
	{"cycle", "report/testdata/list-append.edn", "docs/transactions.md"},
}

// draw draws the pictures of a project, and returns them by file.
func draw(root string) (map[string][]byte, error) {
	drawn := map[string][]byte{}
	for _, p := range pictures {
		h, err := clew.ReadFile(filepath.Join(root, p.history), jepsen.Options{})
		if err != nil {
			return nil, err
		}
		ctx := context.Background()
		r, err := clew.Check(ctx, h, models.Spec{}, clew.Options{})
		if err != nil {
			return nil, err
		}
		r.File = filepath.Base(p.history)
		window, err := r.Window(ctx, report.WindowOptions{})
		if err != nil {
			return nil, err
		}
		for _, scheme := range []string{"light", "dark"} {
			var b bytes.Buffer
			if err := window.DrawSVG(&b, report.SVGOptions{Scheme: scheme}); err != nil {
				return nil, err
			}
			drawn[filepath.Join(root, "docs", p.name+"-"+scheme+".svg")] = b.Bytes()
		}
	}
	return drawn, nil
}
