package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"clew/edn"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/testfile"
)

// A test that was killed while its history was written leaves a history.edn that
// ends too early, possibly between two lines. Jepsen writes the test.jepsen beside
// it while the test runs, so that file shows it.

// besideFile returns the test.jepsen beside a history.edn that was given by its
// name, or nil if there is none.
func besideFile(name string) *Source {
	if filepath.Base(name) != "history.edn" {
		return nil
	}
	test := filepath.Join(filepath.Dir(name), "test.jepsen")
	if info, err := os.Stat(test); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return &Source{Path: test}
}

// Read reads the history, until the context is done. If a history.edn cannot be
// read, or has fewer events than the test.jepsen beside it, Read reads that one
// instead and adds a warning. It returns an error if a test.jepsen that is cut off
// or damaged leaves the number of events unknown, because operations may be missing.
func (s Source) Read(ctx context.Context, opts jepsen.Options) (*jepsen.History, error) {
	h, err := s.read(ctx, opts)
	if s.test == nil {
		return h, err
	}
	var wrong *edn.Error
	if errors.As(err, &wrong) {
		whole, failed := s.test.read(ctx, opts)
		if failed != nil {
			return h, err
		}
		return instead(whole, fmt.Sprintf("history.edn could not be read (%d:%d: %s)", wrong.Line, wrong.Col, wrong.Msg)), nil
	} else if err != nil {
		return nil, err
	}
	told, err := s.test.Tells(ctx, opts.Memory)
	n := int64(h.Events)
	switch {
	case err != nil:
		return nil, err
	case told.Why == testfile.Pointer:
		h.Warnings = append(h.Warnings, "the test.jepsen beside it "+told.Why+", which does not say whether the history is whole")
		return h, nil
	case told.Why != "":
		return nil, s.mayBeCut(n, told.Why)
	case told.Whole && told.Events >= 0 && n >= told.Events:
		return h, nil
	}
	whole, err := s.test.read(ctx, opts)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil && told.Events > n:
		return nil, fmt.Errorf("%s: the history is cut off: it has %d events of %d, and the test.jepsen beside it cannot be read (%w)", s.Path, n, told.Events, err)
	case err != nil:
		return nil, s.mayBeCut(n, fmt.Sprintf("cannot be read (%v)", err))
	case int64(whole.Events) > n:
		return instead(whole, fmt.Sprintf("history.edn is cut off: it has %d events of %d", n, whole.Events)), nil
	case told.Whole:
		return h, nil
	}
	return nil, s.mayBeCut(n, fmt.Sprintf("ends before the test did, after %d events", whole.Events))
}

// instead returns a history with a warning that it was read instead of a history.edn.
func instead(h *jepsen.History, why string) *jepsen.History {
	h.Warnings = append([]string{why + "; the test.jepsen beside it was read instead"}, h.Warnings...)
	return h
}

// mayBeCut returns the error for a history.edn that may continue.
func (s Source) mayBeCut(events int64, why string) error {
	return fmt.Errorf("%s: the history may be cut off after %s: the test.jepsen beside it %s, so the test was killed or the copy is incomplete; give the events on standard input (-) to check them alone", s.Path, text.Count(int(events), "event"), why)
}

// WithTold returns the source with what the test.jepsen beside it says about its
// history, for callers that have already found that out.
func (s Source) WithTold(told testfile.Told) Source {
	if s.test != nil {
		test := *s.test
		test.told = &told
		s.test = &test
	}
	return s
}

// Tells returns what a test.jepsen says about its history, until the context is done. For
// a file that cannot be read, the result says why. memory, if not 0, bounds what is read.
func (s Source) Tells(ctx context.Context, memory int64) (testfile.Told, error) {
	if s.told != nil {
		return *s.told, nil
	}
	in, err := s.OpenWithin(ctx)
	if err != nil && ctx.Err() == nil {
		return testfile.Told{Events: -1, Why: fmt.Sprintf("cannot be read (%v)", err)}, nil
	} else if err != nil {
		return testfile.Told{}, err
	}
	defer in.Close()
	if f, isFile := in.(*os.File); isFile {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return testfile.Tell(ctx, f, info.Size(), s.Path, memory)
		}
	}
	told, err := testfile.TellStream(ctx, in, s.Path, memory)
	if !errors.Is(err, testfile.ErrSkipped) {
		return orUnreadable(ctx, told, err)
	}
	again, err := s.OpenWithin(ctx)
	if err != nil {
		return orUnreadable(ctx, told, err)
	}
	defer again.Close()
	all, err := io.ReadAll(again)
	if err != nil {
		return orUnreadable(ctx, told, err)
	}
	return testfile.Tell(ctx, bytes.NewReader(all), int64(len(all)), s.Path, memory)
}

// orUnreadable returns the result for a file that could not be read, unless the context is done.
func orUnreadable(ctx context.Context, told testfile.Told, err error) (testfile.Told, error) {
	if err == nil || ctx.Err() != nil {
		return told, err
	}
	return testfile.Told{Events: -1, Why: fmt.Sprintf("cannot be read (%v)", err)}, nil
}
