package clew

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"slices"
	"time"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// Read reads a history in any form that package forms knows, plain or compressed with gzip or zstd. It recognizes the
// form by content. Errors call the history by its name. They are *edn.Error with file, line and column (with the
// offset for a test.jepsen), or I/O errors.
func Read(r io.Reader, name string, o jepsen.Options) (*jepsen.History, error) {
	return forms.Read(r, name, o)
}

// ReadFile reads a file as Read does; "-" is standard input.
func ReadFile(path string, o jepsen.Options) (*jepsen.History, error) {
	return forms.ReadFile(path, o)
}

// ReadFS reads a file of a file system as Read does, such as one of an object store. Package store finds the
// histories in a file system, archives among them.
func ReadFS(fsys fs.FS, name string, o jepsen.Options) (*jepsen.History, error) {
	if fsys == nil {
		return nil, fmt.Errorf("%s: expected a file system, found nil", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, files.PathError(err)
	}
	defer f.Close()
	return forms.Read(f, name, o)
}

// ReadResult reads the result map of a history, as Result.WriteEDN, Knossos or Elle wrote it, for pictures: see
// report.ReadEDN. The spec's model shows how the operations are related. A spec that does not fit is not an error.
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
	if err != nil || !r.Placed() {
		return r, nil
	}
	for _, part := range ops.Parts() {
		if failing := part.Among([]jepsen.Operation{h.OpOf[r.FailEvent.OrNone()]}); len(failing) > 0 {
			rows := part.Among(slices.Concat(r.Named, r.Core))
			stopped(part.Model, func() { r.Relations = report.Relate(ctx, part, r.FailEvent.OrNone(), rows, nil, true) })
		}
	}
	return r, nil
}

// Try reads a history and checks it, and returns a Result whatever happens. It is for programs that check many
// histories and must not stop at one. The verdict is unknown in these cases:
//
//   - The history cannot be read, or the spec or the options do not fit it. The cause is jepsen.Unreadable, and Error
//     says why.
//   - A limit or the context ends the check, with that cause.
//   - A panic ends the check, a bug in clew or in a model in Go. The cause is jepsen.Panicked, and Error says where.
//
// The time limit of the options is for reading and checking together. The result calls the history name, and read
// reads it, such as
//
//	func(ctx context.Context) (*jepsen.History, error) { return source.Read(ctx, spec.Pairing()) }
//
// Try waits for read and for the steps of the model. It cannot end those that never end.
func Try(ctx context.Context, name string, read func(context.Context) (*jepsen.History, error), spec models.Spec, o Options) (r *report.Result) {
	start := time.Now()
	unknown := func(cause jepsen.Cause, why string) *report.Result {
		return &report.Result{File: name, Model: spec.Name, Init: spec.Init, Spec: spec, Cause: cause, Error: why}
	}
	defer func() {
		if p := recover(); p != nil {
			r = unknown(jepsen.Panicked, fmt.Sprintf("%v\n%s", p, debug.Stack()))
		}
		r.File, r.Ms = name, float64(time.Since(start).Microseconds())/1000
	}()
	switch {
	case ctx == nil:
		return unknown(jepsen.Unreadable, errNoContext.Error())
	case read == nil:
		return unknown(jepsen.Unreadable, "expected what reads the history, found nil")
	}
	if o.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.TimeLimit)
		defer cancel()
		o.TimeLimit = 0
	}
	h, err := read(ctx)
	var cutOff *jepsen.CutOffError
	if errors.As(err, &cutOff) {
		if failing, err := Check(ctx, cutOff.Shown(), spec, o); err == nil && failing.Verdict == jepsen.Invalid {
			return failing
		}
	}
	switch {
	case errors.Is(err, limits.ErrOutOfMemory):
		return unknown(jepsen.OutOfMemory, "")
	case err != nil && ctx.Err() != nil:
		return unknown(limits.Stopped(ctx), "")
	case err != nil:
		return unknown(jepsen.Unreadable, err.Error())
	}
	checked, err := Check(ctx, h, spec, o)
	if err != nil {
		return unknown(jepsen.Unreadable, Placed(h, err).Error())
	}
	return checked
}

// Placed returns an error of Check with the file of its history in front, unless the error has a place there.
func Placed(h *jepsen.History, err error) error {
	var e *edn.Error
	var failed *models.Failure // its place is one in a model
	if h == nil || errors.As(err, &e) && !errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("%s: %w", h.File, err)
}
