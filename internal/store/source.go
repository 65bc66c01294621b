package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"clew/internal/files"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// Source says where a history is: a file, standard input, or a member of an archive.
type Source struct {
	// Path is its name for people. For a member it is ARCHIVE/MEMBER.
	Path string
	// Test and Time are taken from the store's layout TEST/TIME/history.edn. If the layout
	// differs, Time is "" and Test is the path below the directory or in the archive.
	// Both are "" if the history itself was given.
	Test, Time string
	// InOrder says that the archive can only be read from front to back. Its sources
	// are read one at a time, best in the order in which they were found.
	InOrder bool
	// Below is its path below the given directory, or in the given archive. It is ""
	// if the history itself was given.
	Below string

	archive  string    // the file that it is a member of
	open     opener    // nil: Path is a file of this machine, or "-"
	stdin    io.Reader // what "-" is, nil for the standard input of the process
	local    bool      // open opens a file of this machine
	test     *Source   // the test.jepsen beside the history of a run, nil if there is none
	recorder *Source   // the clew.jsonl beside the history of a run, nil if there is none
	unread   string    // why something beside it that is called test.jepsen does not count, or ""

	results *Source  // the results.edn beside the history of a run, nil if there is none
	checked *Checked // what the results say, nil if that is not known

	sibling func(name string) (Source, bool) // of an archive: another file in its folder; nil for a file of this machine
	asked   *TestMap                         // of an archive that is read in order: what the file says of its test, nil if nothing

	bare bool // there is a results.edn, and no history

	length *TestLength // what the test.jepsen says about its history, nil if that is not known yet
}

// File returns the file that holds the history: an archive, or the file at Path.
func (s Source) File() string { return cmp.Or(s.archive, s.Path) }

// NoHistory says why a run that Options.Bare asks for has no history, or "".
func (s Source) NoHistory() string {
	if !s.bare {
		return ""
	}
	return "it has a " + resultsFile + ", but no history"
}

// Member says whether the history is a member of an archive.
func (s Source) Member() bool { return s.archive != "" }

// Beside returns the test.jepsen beside the history of a run. Read reads it instead if necessary.
func (s Source) Beside() (test Source, ok bool) {
	if s.test == nil {
		return Source{}, false
	}
	return *s.test, true
}

// Recorder returns the clew.jsonl beside the history of a run. Read reads it instead if necessary.
func (s Source) Recorder() (recorder Source, ok bool) {
	if s.recorder == nil {
		return Source{}, false
	}
	return *s.recorder, true
}

// WithInput returns the source with another standard input than that of the process.
func (s Source) WithInput(stdin io.Reader) Source {
	if s.Path == "-" {
		s.stdin = stdin
	}
	return s
}

// InMemory returns the source of a text that is not in a file. Messages call it by its name, and open begins to read it.
func InMemory(name string, open func() io.Reader) Source {
	return Source{Path: name, open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(open()), nil }}
}

// Open opens the text of the history as it is, compressed or not.
func (s Source) Open() (io.ReadCloser, error) { return s.OpenWithin(context.Background()) }

// OpenWithin does the same as Open, until the context is done. Opening a member of an archive
// may take long, because others before it must be skipped. Reading may also take long.
func (s Source) OpenWithin(ctx context.Context) (io.ReadCloser, error) {
	switch {
	case s.stdin != nil:
		return io.NopCloser(s.stdin), nil
	case s.open == nil && s.Path == "-":
		return io.NopCloser(os.Stdin), nil
	}
	if s.open == nil {
		return files.Open(s.Path)
	}
	r, err := s.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, files.Reason(err))
	}
	return r, nil
}

func (s Source) read(ctx context.Context, opts jepsen.Options) (*jepsen.History, error) {
	switch {
	case isRecorder(s.Path):
		return s.readRecorder(ctx, opts)
	case s.stdin != nil:
		return forms.ReadWithin(ctx, s.stdin, "standard input", opts)
	case s.open == nil:
		return forms.ReadFileWithin(ctx, s.Path, opts)
	}
	r, err := s.OpenWithin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return forms.ReadWithin(ctx, r, s.Path, opts)
}

// stored returns a source below a root, which may be an archive.
func stored(root, below string) Source {
	s := Source{Path: strings.TrimSuffix(root, "/") + "/" + below, Test: below, Below: below}
	if root == "." || root == "./" {
		s.Path = below
	}
	if !isRun(below) {
		return s
	}
	run := path.Dir(path.Join(root, below))
	switch dir := path.Dir(below); {
	case timestamp().MatchString(path.Base(run)):
		s.Test, s.Time = path.Base(path.Dir(run)), path.Base(run)
	case dir == ".":
		s.Test = path.Base(run)
	default:
		s.Test = dir
	}
	return s
}

// TestName returns the name of the test of a source according to its folder. If
// the file was given, it is the name that it would have if the folder had been
// given. It is "" for standard input.
func (s Source) TestName() string {
	if s.Test != "" {
		return s.Test
	}
	path, err := filepath.Abs(s.Path)
	if err != nil || s.Path == "-" {
		return ""
	}
	return stored(filepath.ToSlash(filepath.Dir(path)), filepath.Base(path)).Test
}

// timestamp matches the names that Jepsen gives to the folders of runs.
var timestamp = text.Pattern(`^[0-9]{8}T[0-9]{6}`)

// sources returns the histories among files, each with the test.jepsen, the clew.jsonl
// and the results.edn beside it. What is not read may have the place of a test.jepsen.
func sources(files []string, others []hidden, source func(name string) Source) (found []Source) {
	unread := map[string]string{}
	for _, o := range others {
		if isTest(o.name) {
			unread[path.Dir(o.name)] = o.kind.unread()
		}
	}
	for _, f := range files {
		if dir := path.Dir(f); isTest(dir) { // archives need not list their folders
			unread[path.Dir(dir)] = kindOf(fs.ModeDir).unread()
		}
	}
	c := choose(files)
	all := map[string]bool{}
	for _, f := range files {
		all[f] = true
	}
	for _, name := range c.chosen {
		s := source(name)
		s.sibling = func(other string) (Source, bool) {
			other = path.Join(path.Dir(name), other)
			if !all[other] {
				return Source{}, false
			}
			return source(other), true
		}
		if recorder := path.Join(path.Dir(name), RecorderFile); all[recorder] && hasRecorder(name) {
			beside := source(recorder)
			s.recorder = &beside
		}
		if test, ok := c.tests[name]; ok {
			beside := source(test)
			s.test = &beside
		} else if hasTest(name) {
			s.unread = unread[path.Dir(name)]
		}
		if results, ok := c.results[name]; ok {
			beside := source(results)
			s.results = &beside
		}
		found = append(found, s)
	}
	for _, name := range c.bare {
		s := source(name)
		of := stored(strings.TrimSuffix(s.Path, name), path.Join(path.Dir(name), "history.edn"))
		s.Test, s.Time = of.Test, of.Time
		s.Path, s.bare, s.InOrder = strings.TrimSuffix(s.Path, "/"+resultsFile), true, false
		s.open = func(context.Context) (io.ReadCloser, error) { return nil, errors.New(s.NoHistory()) }
		at := slices.IndexFunc(found, func(other Source) bool { return other.Path > s.Path })
		if at < 0 {
			at = len(found)
		}
		found = slices.Insert(found, at, s)
	}
	for _, dir := range slices.Sorted(maps.Keys(c.reports)) {
		found = append(found, reported(dir, c.reports[dir], others, source))
	}
	if len(c.reports) > 0 {
		slices.SortStableFunc(found, func(a, b Source) int { return cmp.Compare(a.Path, b.Path) })
	}
	return found
}
