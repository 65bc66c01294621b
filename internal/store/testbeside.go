package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
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
	"clew/internal/samerun"
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
		h.WarnFirst(why, h.File != s.Path)
	}
	return h, err
}

// Whole returns the source that Read reads, and its warning about that or "". Text that cannot be
// read is not an error here, but for the next reader.
func (s Source) Whole(ctx context.Context, opts jepsen.Options) (from Source, why string, err error) {
	if s.test == nil && s.recorder == nil && !s.hasOthers() && !s.isEmpty(ctx, opts.Memory) {
		return s, s.notKnown(), nil
	}
	h, why, err := s.readWhole(ctx, opts)
	if _, ofText := err.(*edn.Error); ofText || s.test == nil && s.recorder == nil && err != nil && ctx.Err() == nil {
		return s, "", nil
	} else if err != nil {
		return s, "", err
	}
	if damage := h.Record().Damage; why == "" && len(damage) > 0 {
		why = damage[len(damage)-1]
	}
	return s.From(h), why, nil
}

// hasOthers reports whether another file of the run may have more of the history.
func (s Source) hasOthers() bool {
	return IsOfRun(filepath.ToSlash(s.Path)) && slices.ContainsFunc(others, func(other string) bool {
		_, ok := s.beside(other)
		return ok && other != filepath.Base(s.Path)
	})
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
	case length.Whole && length.Events >= 0 && n > length.Events:
		h.Damaged(fmt.Sprintf("it has %d events, but the test.jepsen beside it has only %d: one of them is damaged, or they are of different runs", n, length.Events))
		return h, "", nil
	case length.Whole && n == length.Events:
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
	case int64(whole.Events) > n && !samerun.Part(h, whole):
		h.Damaged(ofAnother(s.test.Path, whole.Events, n))
		return h, "", nil
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

// ofAnother says of a file beside a history that it has more events, but not those of the history.
func ofAnother(path string, theirs int, ours int64) string {
	return fmt.Sprintf("the %s beside it has %d events, and it has %d, which are not all among them: they are of different runs, or one of them is damaged", filepath.Base(path), theirs, ours)
}

// From returns the source that Read has read a history from: the test.jepsen, the clew.jsonl, or s itself.
func (s Source) From(h *jepsen.History) Source {
	if s.recorder != nil && h.File == s.recorder.Path {
		return *s.recorder
	}
	if s.test != nil && h.File == s.test.Path {
		return *s.test
	}
	if name := filepath.Base(h.File); slices.Contains(others, name) && h.File != s.Path {
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
	case err == nil && !samerun.Part(h, whole):
		h.Damaged(ofAnother(s.recorder.Path, whole.Events, int64(events)))
		return h, why, nil
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
// them. That also shows that a history is not whole. So does another copy of the history.

// printed are the files to which a test prints its operations. The first one that has some is read.
var printed = []string{"history.txt", logFile}

// others are the files that may have more of a history.edn.
var others = append([]string{"history.edn.gz", "history.edn.zst"}, printed...)

// orPrinted returns what was read of a history or, if that has no events, what the test printed. A warning says so, and
// that a history has fewer events than were printed.
func (s Source) orPrinted(ctx context.Context, opts jepsen.Options, h *jepsen.History, why string, err error) (*jepsen.History, string, error) {
	var none testfile.NoHistory
	name := filepath.Base(s.Path)
	switch {
	case s.Path == "-" || name == logFile || err != nil && !errors.As(err, &none):
		return h, why, err
	case err == nil && h.Events > 0:
		return s.orLonger(ctx, opts, h, why)
	case name == printed[0]:
		return h, why, err
	}
	has := "has no events"
	if err != nil {
		has = "has nothing of the history"
	}
	for _, other := range printed {
		beside, ok := s.beside(other)
		switch {
		case !ok || !beside.InOrder:
		case err != nil:
			err = fmt.Errorf("%w; %s", err, notLookedAt(other))
		default:
			h.Warnings = append(h.Warnings, notLookedAt(other))
		}
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

func notLookedAt(others string) string {
	return fmt.Sprintf("not looked at: the %s beside it, since the archive can only be read from front to back; unpack it", others)
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

// orLonger returns what was read of a history or, if that is a part of what another file beside it has, what that has. A
// warning says so, and that the two differ.
func (s Source) orLonger(ctx context.Context, opts jepsen.Options, h *jepsen.History, why string) (*jepsen.History, string, error) {
	if !IsOfRun(filepath.ToSlash(s.Path)) {
		return h, why, nil
	}
	var unseen []string
	for i, other := range others {
		name := filepath.Base(s.Path)
		beside, ok := s.beside(other)
		if packed := !slices.Contains(printed, other); !ok || other == name || packed && name != "history.edn" {
			continue
		}
		if beside.InOrder {
			unseen = append(unseen, other)
			continue
		}
		has, differs := beside.clientEvents(ctx, opts, s, i < len(others)-len(printed))
		ours := h.Events - h.Skipped
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if !differs || has >= 0 && has <= ours && slices.Contains(printed, other) {
			continue
		}
		whole, err := beside.read(ctx, opts)
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		theirs := 0
		if err == nil {
			theirs = whole.Events - whole.Skipped
		}
		switch {
		case err != nil && has > ours:
			h.Damaged(fmt.Sprintf("it has %d events, but the %s beside it has %d: events may be missing, and that file cannot be read (%v)", ours, other, has, err))
		case err != nil:
			h.Damaged(fmt.Sprintf("the %s beside it has another text, and cannot be read (%v)", other, err))
		case theirs <= ours && has > ours:
			h.Damaged(fmt.Sprintf("it has %d events, but %d lines of the %s beside it look like events: events may be missing", ours, has, other))
		case theirs < ours && !samerun.Part(whole, h), theirs >= ours && !samerun.Part(h, whole):
			h.Damaged(ofAnother(other, theirs, int64(ours)))
		case theirs < ours:
			h.Damaged(fmt.Sprintf("it has %d events, but the %s beside it has only %d of them", ours, other, theirs))
		case theirs > ours:
			h, why = whole, fmt.Sprintf("%s is cut off: it has %d events of %d; the %s beside it was read instead", filepath.Base(h.File), ours, theirs, other)
		}
	}
	if len(unseen) > 0 {
		h.Warnings = append(h.Warnings, notLookedAt(text.AllOf(unseen)))
	}
	return h, why, nil
}

// clientEvents returns about how many events of clients another file of a run has, and no fewer, -1 if only reading it shows
// that. It returns false if it is a copy of the history.
func (s Source) clientEvents(ctx context.Context, opts jepsen.Options, history Source, packed bool) (n int, differs bool) {
	if packed {
		same, err := s.sameText(ctx, history)
		return -1, err != nil || !same
	}
	n, err := s.printedEvents(ctx, opts.AllClients)
	return n, err == nil
}

// sameText reports whether two files have the same text, compressed or not.
func (s Source) sameText(ctx context.Context, other Source) (same bool, err error) {
	var sums [2][]byte
	for i, x := range []Source{s, other} {
		in, err := x.OpenWithin(ctx)
		if err != nil {
			return false, err
		}
		hash := sha256.New()
		plain, _, err := files.Decompress(bufio.NewReader(limits.Reader(ctx, in, 0)))
		if err == nil {
			_, err = io.Copy(hash, plain)
			plain.Close()
		}
		if in.Close(); err != nil {
			return false, err
		}
		sums[i] = hash.Sum(nil)
	}
	return bytes.Equal(sums[0], sums[1]), nil
}

// printedEvents returns how many lines are events of clients: their second word, behind a tab, is a :type. Jepsen prints them
// to a log through a logger that is called jepsen.util.
func (s Source) printedEvents(ctx context.Context, all bool) (n int, err error) {
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
	lines, log := bufio.NewReaderSize(plain, 1<<16), filepath.Base(s.Path) == logFile
	for begins := true; ; {
		line, err := lines.ReadSlice('\n')
		if at := bytes.Index(line, []byte(eventLogger)); at >= 0 {
			line = bytes.TrimLeft(line[at+len(eventLogger):], " :-")
		} else if log {
			line = nil
		}
		if begins && isPrintedEvent(line, all) {
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

// eventLogger is the logger to which Jepsen prints events.
const eventLogger = "jepsen.util"

// isPrintedEvent reports whether a line is an event of a client. all says that other processes than integers are clients, too.
func isPrintedEvent(line []byte, all bool) bool {
	process, rest, found := bytes.Cut(line, []byte{'\t'})
	word, _, more := bytes.Cut(rest, []byte{'\t'})
	if !found || !more || len(process) == 0 || string(process) == ":nemesis" || !all && len(bytes.Trim(process, "0123456789")) > 0 {
		return false
	}
	return slices.ContainsFunc([]string{":invoke", ":ok", ":fail", ":info"}, func(t string) bool { return string(word) == t })
}
