package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/testfile"
	"clew/jepsen"
)

// A test prints its operations while it runs. If it was killed before it wrote any of its history, what it printed has
// them. The history.txt has all of them, so it also shows that a history.edn is not whole.

// printed are the files to which a test prints its operations. The first one that has some is read.
var printed = []string{"history.txt", "jepsen.log"}

// orPrinted returns what was read of a history or, if that has no events, what the test printed. A warning says so, and
// that a history has fewer events than were printed.
func (s Source) orPrinted(ctx context.Context, opts jepsen.Options, h *jepsen.History, why string, err error) (*jepsen.History, string, error) {
	var none testfile.NoHistory
	name := filepath.Base(s.Path)
	switch {
	case s.Path == "-" || slices.Contains(printed, name) || err != nil && !errors.As(err, &none):
		return h, why, err
	case err == nil && h.Events > 0:
		if h.File == s.Path {
			s.fewerThanPrinted(ctx, h)
		}
		return h, why, nil
	}
	has := "has no events"
	if err != nil {
		has = "has nothing of the history"
	}
	for _, other := range printed {
		beside, ok := s.beside(other)
		if !ok || beside.InOrder || !IsOfRun(filepath.ToSlash(s.Path)) {
			continue
		}
		whole, wrong := beside.read(ctx, opts)
		switch {
		case wrong == nil && whole.Events > 0:
			return whole, fmt.Sprintf("%s %s; the %s beside it was read instead", name, has, other), nil
		case wrong != nil && err != nil && ctx.Err() == nil:
			return nil, "", fmt.Errorf("%w; the %s beside it cannot be read either (%w)", err, other, wrong)
		}
	}
	return h, why, err
}

// isEmpty reports whether a file of a run shows, without being read as a whole, that it has no events.
func (s Source) isEmpty(ctx context.Context, memory int64) bool {
	if s.Path == "-" || !IsOfRun(filepath.ToSlash(s.Path)) {
		return false
	}
	if isTest(s.Path) {
		length, err := s.TestLength(ctx, memory)
		return err == nil && length.Events <= 0
	}
	info, err := os.Stat(s.Path)
	return err == nil && info.Size() == 0
}

// fewerThanPrinted warns if the history.txt beside a history has more events.
func (s Source) fewerThanPrinted(ctx context.Context, h *jepsen.History) {
	if !IsOfRun(filepath.ToSlash(s.Path)) || isTest(s.Path) {
		return
	}
	txt, ok := s.beside(printed[0])
	if !ok || txt.InOrder {
		return
	}
	if n, err := txt.printedEvents(ctx); err == nil && n > h.Events {
		h.Warnings = append(h.Warnings, fmt.Sprintf("it has %d events, but the %s beside it has %d: events may be missing", h.Events, printed[0], n))
	}
}

// printedEvents returns how many lines of a history.txt are events: their second word, behind a tab, is a :type.
func (s Source) printedEvents(ctx context.Context) (n int, err error) {
	in, err := s.openRegular(ctx)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	plain, _, err := files.Decompress(bufio.NewReader(limits.Reader(ctx, in, 0)))
	if err != nil {
		return 0, err
	}
	defer plain.Close()
	lines := bufio.NewReaderSize(plain, 1<<16)
	for begins := true; ; {
		line, err := lines.ReadSlice('\n')
		if begins && isPrintedEvent(line) {
			n++
		}
		begins = err == nil
		if err == io.EOF {
			return n, nil
		} else if err != nil && err != bufio.ErrBufferFull {
			return n, err
		}
	}
}

func isPrintedEvent(line []byte) bool {
	_, rest, found := bytes.Cut(line, []byte{'\t'})
	word, _, more := bytes.Cut(rest, []byte{'\t'})
	return found && more && slices.ContainsFunc([]string{":invoke", ":ok", ":fail", ":info"}, func(t string) bool { return string(word) == t })
}
