package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
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
	return among(root, names, nil, open)
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
