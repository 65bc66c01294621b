package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/testfile"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// A test that was killed while its history was written leaves a history.edn that
// ends too early, possibly between two lines. Jepsen writes the test.jepsen beside
// it while the test runs, so that file shows it.

var testNames = []string{"test.jepsen", "test.jepsen.gz", "test.jepsen.zst"}

func isTest(name string) bool { return slices.Contains(testNames, path.Base(name)) }

// hasTest says whether a file is a history that a test.jepsen beside it can replace.
func hasTest(name string) bool {
	name, _ = files.PackedName(name)
	return isRun(name) && !isTest(name) && !isRecorder(name)
}

// besideFile returns the test.jepsen beside a history that was given by its name, or beside the
// file that a link leads to. If it is not a file, unread says what it is.
func besideFile(name string) (test *Source, unread string) {
	names := []string{name}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		names = append(names, real)
	}
	for _, name := range names {
		if !hasTest(filepath.ToSlash(name)) {
			continue
		}
		for _, test := range testNames {
			test = filepath.Join(filepath.Dir(name), test)
			if _, err := os.Lstat(test); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			info, err := os.Stat(test)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, "is a symbolic link that leads nowhere"
			case err != nil:
				return nil, fmt.Sprintf("cannot be read (%v)", files.Reason(err))
			case !info.Mode().IsRegular():
				return nil, kindOf(info.Mode()).unread()
			}
			return &Source{Path: test}, ""
		}
	}
	return nil, ""
}

// unread says of a test.jepsen why it does not count.
func (k kind) unread() string { return fmt.Sprintf("is a %s, which is not %s", k.one, k.not) }

// Read reads the history, until the context is done. If the history of a run cannot
// be read, or has fewer events than the test.jepsen or the clew.jsonl beside it, Read reads that one
// instead and adds a warning; if it has none, so it does with what the test printed, the history.txt or the jepsen.log; From returns which one it was. It returns an error if
// a test.jepsen that is cut off or damaged leaves the number of events unknown,
// because operations may be missing.
func (s Source) Read(ctx context.Context, opts jepsen.Options) (*jepsen.History, error) {
	h, why, err := s.readWhole(ctx, opts)
	if why != "" {
		h.Warnings = append([]string{why}, h.Warnings...)
	}
	return h, err
}

// Whole returns the source that Read reads, and its warning about that or "". Text that cannot be
// read is not an error here, but for the next reader.
func (s Source) Whole(ctx context.Context, opts jepsen.Options) (from Source, why string, err error) {
	if s.test == nil && s.recorder == nil && !s.isEmpty(ctx, opts.Memory) {
		return s, s.notKnown(), nil
	}
	h, why, err := s.readWhole(ctx, opts)
	if _, ofText := err.(*edn.Error); ofText || s.test == nil && s.recorder == nil && err != nil && ctx.Err() == nil {
		return s, "", nil
	} else if err != nil {
		return s, "", err
	}
	return s.From(h), why, nil
}

// notKnown returns the warning about a test.jepsen that does not count, or "".
func (s Source) notKnown() string {
	if s.unread == "" {
		return ""
	}
	return "the test.jepsen beside it " + s.unread + ", so it is not known whether the history is whole"
}

// readStored does the same as Read for what Jepsen has stored, and returns the warning, which is "" if there is an error.
func (s Source) readStored(ctx context.Context, opts jepsen.Options) (h *jepsen.History, why string, err error) {
	h, err = s.read(ctx, opts)
	if s.test == nil && err == nil {
		return h, s.notKnown(), nil
	} else if s.test == nil {
		return nil, "", err
	}
	var wrong *edn.Error
	if errors.As(err, &wrong) {
		whole, failed := s.test.read(ctx, opts)
		if failed != nil {
			return nil, "", err
		}
		return whole, s.instead("could not be read (%d:%d: %s)", wrong.Line, wrong.Col, wrong.Msg), nil
	} else if err != nil {
		return nil, "", err
	}
	length, err := s.test.TestLength(ctx, opts.Memory)
	n := int64(h.Events)
	switch {
	case err != nil:
		return nil, "", err
	case length.Why == testfile.LFSPointer:
		return h, "the test.jepsen beside it " + length.Why + ", which does not say whether the history is whole", nil
	case length.Why != "":
		return nil, "", s.mayBeCut(n, length.Why)
	case length.Whole && length.Events >= 0 && n >= length.Events:
		return h, "", nil
	}
	whole, err := s.test.read(ctx, opts)
	switch {
	case ctx.Err() != nil:
		return nil, "", err
	case err != nil && length.Events > n:
		return nil, "", fmt.Errorf("%s: the history is cut off: it has %d events of %d, and the test.jepsen beside it cannot be read (%w)", s.Path, n, length.Events, err)
	case err != nil:
		return nil, "", s.mayBeCut(n, fmt.Sprintf("cannot be read (%v)", err))
	case int64(whole.Events) > n:
		return whole, s.instead("is cut off: it has %d events of %d", n, whole.Events), nil
	case length.Whole:
		return h, "", nil
	}
	return nil, "", s.mayBeCut(n, fmt.Sprintf("ends before the test did, after %d events", whole.Events))
}

// instead returns the warning that the test.jepsen was read instead.
func (s Source) instead(why string, args ...any) string {
	return fmt.Sprintf("%s %s; the %s beside it was read instead", filepath.Base(s.Path), fmt.Sprintf(why, args...), filepath.Base(s.test.Path))
}

// From returns the source that Read has read a history from: the test.jepsen, the clew.jsonl, or s itself.
func (s Source) From(h *jepsen.History) Source {
	if s.recorder != nil && h.File == s.recorder.Path {
		return *s.recorder
	}
	if s.test != nil && h.File == s.test.Path {
		return *s.test
	}
	if name := filepath.Base(h.File); slices.Contains(printed, name) && h.File != s.Path {
		if beside, ok := s.beside(name); ok && beside.Path == h.File {
			return beside
		}
	}
	return s
}

// mayBeCut returns the error for a history that may continue.
func (s Source) mayBeCut(events int64, why string) error {
	err := fmt.Errorf("%s: the history may be cut off after %s: the test.jepsen beside it %s, so the test was killed or the copy is incomplete; give the events on standard input (-) to check them alone", s.Path, text.Count(int(events), "event"), why)
	if events == 0 {
		return testfile.NoHistory{Err: err}
	}
	return err
}

// TestLength is what a test.jepsen says about the length of its history.
type TestLength = testfile.Length

// WithTestLength returns the source with what the test.jepsen beside it says about its
// history, for callers that have already found that out.
func (s Source) WithTestLength(length TestLength) Source {
	if s.test != nil {
		test := *s.test
		test.length = &length
		s.test = &test
	}
	return s
}

// TestLength returns what a test.jepsen says about its history, until the context is done. For
// a file that cannot be read, the result says why. memory, if not 0, bounds what is read.
func (s Source) TestLength(ctx context.Context, memory int64) (TestLength, error) {
	if s.length != nil {
		return *s.length, nil
	}
	length, err := s.readLength(ctx, memory)
	if err != nil && ctx.Err() == nil {
		return TestLength{Events: -1, Why: fmt.Sprintf("cannot be read (%v)", err)}, nil
	}
	return length, err
}

func (s Source) readLength(ctx context.Context, memory int64) (length TestLength, err error) {
	in, err := s.openPlain(ctx)
	if err != nil {
		return length, err
	}
	defer in.Close()
	if f, isFile := in.(*os.File); isFile {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return testfile.ReadLength(ctx, f, info.Size(), s.Path, memory)
		}
	}
	if length, err = testfile.StreamLength(ctx, in, s.Path, memory); !errors.Is(err, testfile.ErrSkipped) {
		return length, err
	}
	again, err := s.openPlain(ctx)
	if err != nil {
		return length, err
	}
	defer again.Close()
	all, err := io.ReadAll(limits.Reader(ctx, again, memory))
	if err != nil {
		return length, err
	}
	return testfile.ReadLength(ctx, bytes.NewReader(all), int64(len(all)), s.Path, memory)
}

// openPlain does the same as OpenWithin for the content of a file with the name of a compressed one.
func (s Source) openPlain(ctx context.Context) (io.ReadCloser, error) {
	in, err := s.OpenWithin(ctx)
	if _, packing := files.PackedName(s.Path); err != nil || packing == "" {
		return in, err
	}
	plain, _, err := files.Decompress(bufio.NewReader(in))
	if err != nil {
		in.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{plain, in}, nil
}

// RecorderFile is where clew.watch, of the plugin for Jepsen, writes every event of a test before it is judged. A test
// that is killed leaves no history.edn, and its test.jepsen lacks up to 16,383 events; here are all of them. The
// last line may not be whole.
const RecorderFile = "clew.jsonl"

func isRecorder(name string) bool { return path.Base(filepath.ToSlash(name)) == RecorderFile }

// hasRecorder says whether a file is a history that a recorder beside it can replace.
func hasRecorder(name string) bool {
	name, _ = files.PackedName(filepath.ToSlash(name))
	return isRun(name) && !isRecorder(name)
}

// recorderBeside returns the recorder beside a history that was given by its name, or nil.
func recorderBeside(name string) *Source {
	recorder := filepath.Join(filepath.Dir(name), RecorderFile)
	if info, err := os.Stat(recorder); !hasRecorder(name) || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return &Source{Path: recorder}
}

// readWhole does the same as Read, and returns the warning, which is "" if there is an error.
func (s Source) readWhole(ctx context.Context, opts jepsen.Options) (h *jepsen.History, why string, err error) {
	h, why, err = s.readRecorded(ctx, opts)
	if ctx.Err() != nil {
		return h, why, err
	}
	return s.orPrinted(ctx, opts, h, why, err)
}

// readRecorded does the same as readStored, and reads the recorder instead if that has more.
func (s Source) readRecorded(ctx context.Context, opts jepsen.Options) (h *jepsen.History, why string, err error) {
	h, why, err = s.readStored(ctx, opts)
	if s.recorder == nil || ctx.Err() != nil {
		return h, why, err
	}
	had := "could not be read"
	events := 0
	if err == nil {
		events = h.Events
	}
	recorded, wrong := s.recorder.lines(ctx)
	if wrong != nil || recorded <= events {
		return h, why, err
	}
	if err != nil {
		if had, wrong := s.mentioned(ctx); wrong != nil || recorded < had {
			return nil, "", err // it would take away what is there
		}
	}
	whole, wrong := s.recorder.read(ctx, opts)
	switch {
	case wrong != nil && err == nil && ctx.Err() == nil:
		return nil, "", fmt.Errorf("%s: the history is cut off: it has %d events of %d, and the %s beside it cannot be read (%w)", s.Path, events, recorded, RecorderFile, wrong)
	case wrong != nil:
		return h, why, err
	case err == nil:
		had = fmt.Sprintf("is cut off: it has %d events of %d", events, whole.Events)
	}
	return whole, fmt.Sprintf("%s %s; the %s beside it was read instead", filepath.Base(s.Path), had, RecorderFile), nil
}

// lines returns how many lines a recorder has, each of which is an event.
func (s Source) lines(ctx context.Context) (n int, err error) { return s.count(ctx, "\n") }

// mentioned returns about how many events a history that cannot be read mentions, and no fewer if it is text.
func (s Source) mentioned(ctx context.Context) (n int, err error) {
	if strings.HasSuffix(s.Path, ".txt") {
		return s.lines(ctx)
	}
	return s.count(ctx, ":type")
}

// count returns how often a word occurs in the text of a history, compressed or not.
func (s Source) count(ctx context.Context, word string) (n int, err error) {
	in, err := s.OpenWithin(ctx)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	plain, _, err := files.Decompress(bufio.NewReader(limits.Reader(ctx, in, 0)))
	if err != nil {
		return 0, err
	}
	defer plain.Close()
	block, held := make([]byte, 64<<10), 0
	for {
		read, err := plain.Read(block[held:])
		text := block[:held+read]
		n += bytes.Count(text, []byte(word))
		if rest := text[max(0, len(text)-len(word)+1):]; err == nil {
			held = copy(block, rest)
			continue
		}
		if err == io.EOF {
			err = nil
		}
		return n, err
	}
}

// readRecorder reads a recorder, but for a last line that is not whole.
func (s Source) readRecorder(ctx context.Context, opts jepsen.Options) (*jepsen.History, error) {
	in, err := s.OpenWithin(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	whole := &wholeLines{in: in}
	h, err := forms.ReadWithin(ctx, whole, s.Path, opts)
	if err == nil {
		err = gapless(h)
	}
	if err != nil {
		return nil, err
	}
	if len(whole.rest) > 0 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("the last line is not whole (%d bytes), so it was left out", len(whole.rest)))
	}
	return h, nil
}

// gapless returns an error if events of a recorder are missing. They have the numbers from 0 on.
func gapless(h *jepsen.History) error {
	last := int64(-1)
	if n := len(h.Type); n > 0 {
		last = h.Index(jepsen.Event(n - 1))
	}
	if skipped := h.SkippedEvents(); len(skipped) > 0 {
		last = max(last, skipped[len(skipped)-1].Index)
	}
	if missing := last + 1 - int64(h.Events); missing > 0 {
		return fmt.Errorf("%s: events are missing: it has %d, and the last one has index %d", h.File, h.Events, last)
	}
	return nil
}

// wholeLines is a text without a last line that has no end.
type wholeLines struct {
	in   io.Reader
	text []byte // lines that are to be read
	rest []byte // the beginning of a line
	err  error
}

func (w *wholeLines) Read(p []byte) (int, error) {
	for len(w.text) == 0 && w.err == nil {
		block := make([]byte, 64<<10)
		var n int
		n, w.err = w.in.Read(block)
		w.rest = append(w.rest, block[:n]...)
		if end := bytes.LastIndexByte(block[:n], '\n'); end >= 0 {
			end += len(w.rest) - n + 1
			w.text, w.rest = w.rest[:end:end], bytes.Clone(w.rest[end:])
		}
	}
	if len(w.text) == 0 {
		return 0, w.err
	}
	n := copy(p, w.text)
	w.text = w.text[n:]
	return n, nil
}

// Whole returns the stamp of what the text is read from.
func (w *wholeLines) Whole() files.Stamp { return files.StampOf(w.in) }

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
