package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // users import the others that they need
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"clew/internal/store"
	"clew/jepsen"
)

// Found is a history that has been found: files of one folder, or a member of an archive with its text. Among the
// files, such as a history.edn and the test.jepsen beside it, the store's reader chooses.
type Found struct {
	Root  string   // the folder, with its scheme; "" if it is the current one
	Names []string // the names there; of a member, those in the archive
	Text  []byte   // of a member
	// TestLength is what the test.jepsen beside a member says of its history.
	TestLength *store.TestLength
	// Checked is what the results beside a member say.
	Checked *store.Checked
	Error   string // why it cannot be read, if that is known already
}

// Path returns the name that people use.
func (f *Found) Path() string { return f.Root + f.Names[0] }

// open opens a file of any of Beam's file systems.
func open(ctx context.Context, name string) (io.ReadCloser, error) {
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	r, err := files.OpenRead(ctx, name)
	if err != nil {
		files.Close()
		return nil, err
	}
	if file, local := r.(*os.File); local { // the reader can then seek, which is cheaper
		return file, files.Close()
	}
	return opened{r, files}, nil
}

// opened closes the file system with the file.
type opened struct {
	io.ReadCloser
	files io.Closer
}

func (o opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.files.Close()) }

// list returns the files that a glob matches, and how many folders it matches.
func list(ctx context.Context, glob string) (names []string, folders int, err error) {
	files, err := filesystem.New(ctx, glob)
	if err != nil {
		return nil, 0, err
	}
	defer files.Close()
	if names, err = files.List(ctx, glob); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", glob, err)
	}
	all := len(names)
	names = slices.DeleteFunc(names, func(name string) bool { // object stores have none
		info, err := os.Stat(name)
		return err == nil && info.IsDir()
	})
	slices.Sort(names)
	return names, all - len(names), nil
}

// CheckInputs returns an error unless every glob matches some history or archive.
func CheckInputs(ctx context.Context, globs []string) error {
	for _, glob := range globs {
		names, folders, err := list(ctx, glob)
		if err != nil {
			return err
		}
		if len(chosen(names)) == 0 && !slices.ContainsFunc(names, store.IsArchive) {
			if folders > 0 {
				return fmt.Errorf("%s: expected at least one history, found %d folders; a glob names files, such as %s", glob, folders, strings.TrimSuffix(glob, "/")+"/history.edn")
			}
			return fmt.Errorf("%s: expected at least one history, found none among the %d files that it matches", glob, len(names))
		}
	}
	return nil
}

// chosen returns the histories among files, with the files beside them: those of a store, as its reader chooses them,
// or else all files.
func chosen(names []string) []Found {
	var plain []string
	for _, name := range names {
		if !store.IsArchive(name) {
			plain = append(plain, name)
		}
	}
	among := map[string]bool{}
	for _, name := range plain {
		among[name] = true
	}
	var all []Found
	for _, s := range store.FindAmong("", plain, nil) {
		name := s.Below
		f := Found{Root: strings.TrimSuffix(name, path.Base(name)), Names: []string{path.Base(name)}}
		if test := f.Root + "test.jepsen"; among[test] && test != name {
			f.Names = append(f.Names, "test.jepsen")
		}
		all = append(all, f)
	}
	if len(all) == 0 { // files in another form, which the glob names
		for _, name := range plain {
			all = append(all, Found{Names: []string{name}})
		}
	}
	return all
}

// find calls emit with the histories that a glob matches.
func find(ctx context.Context, glob string, emit func(Found)) error {
	names, _, err := list(ctx, glob)
	if err != nil {
		return err
	}
	for _, what := range store.SkippedAmong(names) {
		log.Warnf(ctx, "%s: %s", glob, what)
	}
	for _, f := range chosen(names) {
		emit(f)
	}
	for _, name := range names {
		if store.IsArchive(name) {
			unpack(ctx, name, emit)
		}
	}
	return nil
}

// unpack calls emit with the histories in an archive, one after the other. As in clew check, a damaged archive may
// still have some.
func unpack(ctx context.Context, archive string, emit func(Found)) {
	members, err := membersOf(ctx, archive, func(what string) { log.Warnf(ctx, "%s: %s", archive, what) })
	for _, m := range members {
		f := Found{Root: archive + "/", Names: []string{m.Below}, Checked: m.Checked(ctx, 0)}
		if test, ok := m.Beside(); ok {
			f.Names = append(f.Names, test.Below)
			if length, err := test.TestLength(ctx, 0); err == nil {
				f.TestLength = &length
			}
		}
		var failed error
		if f.Text, failed = text(ctx, m); failed != nil {
			f.Text, f.Error = nil, failed.Error()
		}
		emit(f)
	}
	if err != nil {
		emit(Found{Names: []string{archive}, Error: err.Error()})
	}
}

// membersOf finds the histories in an archive.
func membersOf(ctx context.Context, archive string, warn func(string)) ([]store.Source, error) {
	return store.FindIn(ctx, archive, func() (io.ReadCloser, error) { return open(ctx, archive) }, store.Options{Warn: warn})
}

// text returns the content of a member.
func text(ctx context.Context, s store.Source) ([]byte, error) {
	r, err := s.OpenWithin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	return all, nil
}

// checked returns how the history was checked, as the results beside it say, or nil.
func (f *Found) checked(ctx context.Context, memory int64) *store.Checked {
	if f.Text != nil {
		return f.Checked
	}
	if _, err := os.Stat(f.Path()); err == nil {
		return store.File(f.Path()).Checked(ctx, memory)
	}
	if !store.IsOfRun(f.Path()) {
		return nil
	}
	in, err := open(ctx, f.Root+"results.edn")
	if err != nil {
		return nil
	}
	defer in.Close()
	return store.ReadChecked(in)
}

// read reads the history.
func (f *Found) read(ctx context.Context, how jepsen.Options) (*jepsen.History, error) {
	root := cmp.Or(strings.TrimSuffix(f.Root, "/"), ".")
	at := func(name string) (io.ReadCloser, error) { return open(ctx, f.Root+name) }
	switch {
	case f.Error != "":
		return nil, errors.New(f.Error)
	case f.Text != nil:
		at = func(name string) (io.ReadCloser, error) {
			if name == f.Names[0] {
				return io.NopCloser(bytes.NewReader(f.Text)), nil
			}
			return beside(ctx, root, f.Names[0])
		}
	}
	found := store.FindAmong(root, f.Names, at)
	if len(found) == 0 {
		var err error
		if found, err = store.FindIn(ctx, f.Path(), func() (io.ReadCloser, error) { return at(f.Names[0]) }, store.Options{}); err != nil {
			return nil, err
		}
	}
	if f.TestLength != nil {
		found[0] = found[0].WithTestLength(*f.TestLength) // this saves reading the archive again
	}
	return found[0].Read(ctx, how)
}

// beside opens the test.jepsen beside a history.edn in an archive. Few histories need that.
func beside(ctx context.Context, archive, history string) (io.ReadCloser, error) {
	members, err := membersOf(ctx, archive, nil)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if test, ok := m.Beside(); ok && m.Below == history {
			return test.Open()
		}
	}
	return nil, fmt.Errorf("%s: expected a test.jepsen beside %s, as there was", archive, history)
}
