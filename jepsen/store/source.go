package store

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/files"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// Source is where a history is: a file, standard input, or a member of an
// archive.
type Source struct {
	// Path is how people name it. A member's is ARCHIVE/MEMBER.
	Path string
	// Stored says that it was found in a directory or an archive. Then Test and
	// Time are taken from the store's layout TEST/TIME/history.edn. If the
	// layout is a different one, Time is "" and Test is the path below the
	// directory.
	Stored     bool
	Test, Time string
	// InOrder says that the archive can only be read from front to back: its
	// sources are read one at a time, best in the order in which they were
	// found.
	InOrder bool

	archive string                        // the file that it is a member of
	open    func() (io.ReadCloser, error) // nil: Path is a file, or "-"
	test    *Source                       // the test.jepsen beside a history.edn, nil if there is none
}

// File is the file that holds the history: an archive, or that at Path.
func (s Source) File() string { return cmp.Or(s.archive, s.Path) }

// Member says whether it is a member of an archive.
func (s Source) Member() bool { return s.open != nil }

// Read reads the history, until the context is done. If a history.edn cannot be
// read, or is a file that has been cut off and has fewer events than the
// test.jepsen beside it, that one is read instead, with a warning.
func (s Source) Read(ctx context.Context, opts jepsen.Options) (*jepsen.History, error) {
	h, err := s.read(ctx, opts)
	if s.test == nil {
		return h, err
	}
	var wrong *edn.Error
	why := ""
	switch {
	case errors.As(err, &wrong):
		why = fmt.Sprintf("history.edn could not be read (%d:%d: %s)", wrong.Line, wrong.Col, wrong.Msg)
	case err != nil:
		return nil, err
	default:
		n := s.test.events(ctx, opts)
		if int64(h.Events) >= n {
			return h, nil
		}
		why = fmt.Sprintf("history.edn is cut off: it has %d events of %d", h.Events, n)
	}
	whole, failed := s.test.read(ctx, opts)
	if failed != nil {
		return h, err
	}
	whole.Warnings = append([]string{why + "; the test.jepsen beside it was read instead"}, whole.Warnings...)
	return whole, nil
}

// events is how many events a test.jepsen says that its history has, -1 if that is
// not known, or if it would take reading an archive again.
func (s Source) events(ctx context.Context, opts jepsen.Options) int64 {
	if s.open != nil {
		return -1
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return -1
	}
	defer f.Close()
	test, err := openTest(ctx, f, s.Path, opts.Memory)
	if test == nil || err != nil {
		return -1
	}
	return test.Count()
}

// read reads the history that is there.
func (s Source) read(ctx context.Context, opts jepsen.Options) (*jepsen.History, error) {
	if s.open == nil {
		return forms.ReadFileWithin(ctx, s.Path, opts)
	}
	r, err := s.open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	defer r.Close()
	return forms.ReadWithin(ctx, r, s.Path, opts)
}

// stored is a source below a root, which may be an archive.
func stored(root, below string) Source {
	s := Source{Path: strings.TrimSuffix(root, "/") + "/" + below, Stored: true, Test: below}
	if root == "." || root == "./" {
		s.Path = below
	}
	if !isRun(below) {
		return s
	}
	run := path.Dir(path.Join(root, below))
	switch dir := path.Dir(below); {
	case timestamp.MatchString(path.Base(run)):
		s.Test, s.Time = path.Base(path.Dir(run)), path.Base(run)
	case dir == ".":
		s.Test = path.Base(run)
	default:
		s.Test = dir
	}
	return s
}

// timestamp is how Jepsen names the folder of a run.
var timestamp = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}`)

// isRun says whether a file is the history of a run as Jepsen stores it.
func isRun(name string) bool {
	return path.Base(name) == "history.edn" || path.Base(name) == "test.jepsen"
}

// testBeside is where the test.jepsen of a history.edn would be.
func testBeside(history string) string { return path.Join(path.Dir(history), "test.jepsen") }

// histories chooses among the files of a directory or archive: every history.edn,
// and every test.jepsen without a history.edn beside it, or, if there is neither,
// everything that ends in .edn, .edn.gz or .edn.zst. What is in the independent/
// folder beside one of the former is part of that one. Tests are the test.jepsen
// beside a history.edn.
func histories(paths []string) (chosen []string, tests map[string]string) {
	all := map[string]bool{}
	for _, f := range paths {
		all[f] = true
	}
	part := func(f string) bool {
		for dir := path.Dir(f); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if whole := path.Dir(dir); path.Base(dir) == "independent" && (all[path.Join(whole, "history.edn")] || all[path.Join(whole, "test.jepsen")]) {
				return true
			}
		}
		return false
	}
	var whole, others []string
	tests = map[string]string{}
	for _, f := range paths {
		switch base := path.Base(f); {
		case part(f):
		case base == "history.edn":
			whole = append(whole, f)
			if test := testBeside(f); all[test] {
				tests[f] = test
			}
		case base == "test.jepsen":
			if !all[path.Join(path.Dir(f), "history.edn")] {
				whole = append(whole, f)
			}
		case isEDN(f):
			others = append(others, f)
		}
	}
	if len(whole) > 0 {
		return whole, tests
	}
	return others, tests
}

func isEDN(name string) bool {
	return strings.HasSuffix(name, ".edn") || strings.HasSuffix(name, ".edn.gz") || strings.HasSuffix(name, ".edn.zst")
}

// isTar and isZip judge by the name.
func isTar(name string) bool {
	for _, end := range []string{".tar", ".tar.gz", ".tgz", ".tar.zst"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

func isZip(name string) bool { return strings.HasSuffix(name, ".zip") }

// encrypted is the flag of a zip archive's member that needs a password.
const encrypted = 1

// findInZip is the histories in a zip archive, by name. It stays open.
func findInZip(file string) ([]Source, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, files.PathError(err))
	}
	members := map[string]*zip.File{}
	var names []string
	for _, f := range z.File {
		if f.Mode().IsRegular() {
			name := path.Clean(f.Name)
			members[name] = f
			names = append(names, name)
		}
	}
	slices.Sort(names)
	source := func(name string) Source {
		s := stored(file, name)
		s.archive = file
		member := members[name]
		s.open = func() (io.ReadCloser, error) {
			if member.Flags&encrypted != 0 {
				return nil, errors.New("it is encrypted; unpack the archive with its password, and check the folder")
			}
			return member.Open()
		}
		return s
	}
	return sources(slices.Compact(names), source), nil
}

// sources are the histories among files, each with its test.jepsen beside it.
func sources(files []string, source func(name string) Source) (found []Source) {
	chosen, tests := histories(files)
	for _, name := range chosen {
		s := source(name)
		if test, ok := tests[name]; ok {
			beside := source(test)
			s.test = &beside
		}
		found = append(found, s)
	}
	return found
}

// findInTar is the histories in a tar archive, in its order. The archive is
// read once for their names, and once more for what is in them.
func findInTar(file string) ([]Source, error) {
	t := &tarball{file: file}
	if err := t.begin(); err != nil {
		return nil, err
	}
	defer t.end()
	var names []string
	at := map[string]int{}
	for {
		header, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if header.Typeflag == tar.TypeReg {
			name := path.Clean(header.Name)
			if _, seen := at[name]; !seen {
				names = append(names, name)
			}
			at[name] = t.passed // a later member of the same name replaces it
		}
	}
	return sources(names, func(name string) Source {
		s := stored(file, name)
		s.archive = file
		s.InOrder = true
		s.open = func() (io.ReadCloser, error) { return t.open(at[name]) }
		return s
	}), nil
}

// tarball reads a tar archive, compressed or not, from front to back.
type tarball struct {
	file   string
	f      *os.File // nil if it is not open
	z      io.ReadCloser
	r      *tar.Reader
	passed int // members
}

func (t *tarball) begin() error {
	f, err := files.Open(t.file)
	if err != nil {
		return err
	}
	z, _, err := files.Decompress(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", t.file, err)
	}
	t.f, t.z, t.r, t.passed = f, z, tar.NewReader(z), 0
	return nil
}

func (t *tarball) end() {
	if t.f != nil {
		t.z.Close()
		t.f.Close()
		t.f = nil
	}
}

func (t *tarball) next() (*tar.Header, error) {
	header, err := t.r.Next()
	t.passed++
	return header, err
}

// open goes on to a member. If that one has been passed, it starts again from
// the front.
func (t *tarball) open(member int) (io.ReadCloser, error) {
	if t.f == nil || t.passed >= member {
		t.end()
		if err := t.begin(); err != nil {
			return nil, err
		}
	}
	for t.passed < member {
		if _, err := t.next(); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(t.r), nil
}
