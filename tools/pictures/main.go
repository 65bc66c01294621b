// Command pictures draws the failure at the top of the README, for light and for
// dark pages: docs/failure-light.svg and docs/failure-dark.svg. Run it in the
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

// draw draws the pictures of a project, and returns them by file.
func draw(root string) (map[string][]byte, error) {
	h, err := clew.ReadFile(filepath.Join(root, "testdata", "histories", "stale-read.edn"), jepsen.Options{})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	r, err := clew.Check(ctx, h, models.Spec{}, clew.Options{})
	if err != nil {
		return nil, err
	}
	r.File = "stale-read.edn"
	window, err := r.Window(ctx, report.WindowOptions{})
	if err != nil {
		return nil, err
	}
	drawn := map[string][]byte{}
	for _, scheme := range []string{"light", "dark"} {
		var b bytes.Buffer
		if err := window.DrawSVG(&b, report.SVGOptions{Scheme: scheme}); err != nil {
			return nil, err
		}
		drawn[filepath.Join(root, "docs", "failure-"+scheme+".svg")] = b.Bytes()
	}
	return drawn, nil
}
