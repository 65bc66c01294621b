package clew

import (
	"context"
	"io"
	"slices"

	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// Read reads a history in any form that package forms knows, plain or compressed
// with gzip or zstd, told apart by content. Name stands for it in errors, which
// are *edn.Error with file, line and column (of a test.jepsen: with the offset), or
// I/O errors.
func Read(r io.Reader, name string, o jepsen.Options) (*jepsen.History, error) {
	return forms.Read(r, name, o)
}

// ReadFile is Read for a file; "-" is standard input.
func ReadFile(path string, o jepsen.Options) (*jepsen.History, error) {
	return forms.ReadFile(path, o)
}

// ReadResult reads the result map of a history, as Result.WriteEDN wrote it, or
// Knossos, for pictures: see report.ReadEDN. What the spec's model makes of the
// history says how its operations are related; a spec that does not fit is no error.
func ReadResult(ctx context.Context, in io.Reader, name string, h *jepsen.History, spec models.Spec) (*report.Result, error) {
	r, err := report.ReadEDN(in, name, h)
	if err != nil {
		return nil, err
	}
	spec, _, err = spec.Infer(h)
	if err != nil {
		return r, nil
	}
	r.Spec, r.Model = spec, spec.Name
	ops, err := spec.ReadWithin(ctx, h)
	if err != nil || r.Verdict != jepsen.Invalid {
		return r, nil
	}
	for _, part := range ops.Parts() {
		if failing := rowsAmong(part, []jepsen.Operation{h.OpOf[r.FailEvent]}); len(failing) > 0 {
			rows := rowsAmong(part, slices.Concat(r.Named, r.Core))
			stopped(func() { r.Relations = report.Relate(ctx, part, r.FailEvent, rows, nil, true) })
		}
	}
	return r, nil
}
