package store

import (
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

	"clew/internal/files"
)

// FindFS does the same as Find in a file system, such as one of an object store. The names of files are
// the path, a slash and the rest. The file system should have no symbolic links, or not show them as
// regular files: FindFS skips them. It holds a zip archive in memory if its file is not an io.ReaderAt.
func FindFS(ctx context.Context, fsys fs.FS, root string, o Options) ([]Source, error) {
	if fsys == nil {
		return nil, errors.New("expected a file system, found nil")
	}
	info, err := fs.Stat(fsys, root)
	if err != nil {
		return nil, files.PathError(err)
	}
	if !info.IsDir() {
		return FindIn(ctx, root, func() (io.ReadCloser, error) { return fsys.Open(root) }, o)
	}
	above := root + "/"
	if root == "." {
		above = ""
	}
	var below []string
	var others []hidden
	var unreadable []error
	err = fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unreadable = append(unreadable, files.PathError(err)) // and continue with the rest
		case d.Type().IsRegular():
			below = append(below, strings.TrimPrefix(p, above))
		case p != root:
			others = append(others, hidden{strings.TrimPrefix(p, above), kindOf(d.Type())})
		}
		return nil
	})
	if err != nil {
		return nil, files.PathError(err)
	}
	found := among(root, below, others, func(name string) (io.ReadCloser, error) { return fsys.Open(path.Join(root, name)) })
	return o.found(root, found, skippedAmong(below, others), errors.Join(unreadable...))
}

// FindIn does the same as Find for a file that may be anywhere. It returns the
// file itself, or the histories in an archive if the name is that of one. open
// opens the file, and is called every time that the file must be read. FindIn
// holds a zip archive in memory if its reader has no ReadAt and Stat.
func FindIn(ctx context.Context, name string, open func() (io.ReadCloser, error), o Options) ([]Source, error) {
	if open == nil {
		return nil, fmt.Errorf("%s: expected what opens it, found nil", name)
	}
	if !IsArchive(name) {
		return []Source{{Path: name, open: func(context.Context) (io.ReadCloser, error) { return open() }}}, nil
	}
	found, skipped, err := findInArchive(ctx, name, func(context.Context) (io.ReadCloser, error) {
		f, err := open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, files.Reason(err))
		}
		return f, nil
	}, o)
	return o.found(name, found, skipped, err)
}

// FindAmong chooses the histories for a directory whose files the caller has listed by their
// names below root, such as the objects below a prefix. open opens a file by its name below root.
func FindAmong(root string, names []string, open func(name string) (io.ReadCloser, error)) []Source {
	return withHistory(among(root, names, nil, open))
}

// withHistory returns the sources that have a history.
func withHistory(found []Source) []Source {
	return slices.DeleteFunc(found, func(s Source) bool { return s.bare })
}

func among(root string, names []string, others []hidden, open func(name string) (io.ReadCloser, error)) []Source {
	return sources(names, others, func(name string) Source {
		s := stored(root, name)
		s.open = func(context.Context) (io.ReadCloser, error) { return open(name) }
		return s
	})
}

// SkippedAmong says what FindAmong skips although it has the name of a history.
func SkippedAmong(names []string) []string { return skippedAmong(names, nil) }

// FindRun returns the history of a run: the folder with a name below root, whose regular files the caller has listed.
// It returns false if the folder has none. Reading the history never leads out of root, even if links do.
func FindRun(root *os.Root, folder string, names []string) (Source, bool) {
	at := path.Join(filepath.ToSlash(root.Name()), folder)
	found := sources(names, nil, func(name string) Source {
		s := stored(at, name)
		s.local = true
		s.open = func(context.Context) (io.ReadCloser, error) { return OpenRegular(root, path.Join(folder, name)) }
		return s
	})
	if found = withHistory(found); len(found) == 0 {
		return Source{Path: at}, false
	}
	return found[0], true
}

// IsRunFolder says whether a folder has a name that Jepsen gives to a run, which is a time.
func IsRunFolder(name string) bool { return timestamp().MatchString(name) }

// IsHistory says whether a file is the history of a run by its name, compressed or not.
func IsHistory(name string) bool {
	name, _ = files.PackedName(name)
	return isRun(name)
}

var errIrregular = errors.New("it is not a regular file")

// OpenRegular opens a regular file below root. It would have to wait for anything else, such as a pipe.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		return nil, err
	}
	return root.Open(name)
}
