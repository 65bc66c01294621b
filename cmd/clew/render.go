package main

import (
	"context"
	"io"

	"clew/report"
)

// drawn draws a window of a result as what an extension stands for. This is where
// the kinds of pictures are told apart.
func drawn(extension string, o report.WindowOptions) func(context.Context, *report.Result, io.Writer) error {
	return func(ctx context.Context, r *report.Result, w io.Writer) error {
		window, err := r.Window(ctx, o)
		if err != nil {
			return err
		}
		return window.WriteSVG(w)
	}
}
