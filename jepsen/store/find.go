package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"clew/internal/files"
)

// Find returns the histories that a path stands for: the file itself, or, if it
// is a directory or an archive (.tar, .tar.gz, .tgz, .tar.zst, .zip), every
// history.edn in it, every test.jepsen without one beside it, and every history.txt
// without either, or, if there is none of them, every file of one form by their names:
// .edn but for results.edn, or else .json and .jsonl, .log, .hist or .jepsen, or else .txt. Symbolic links below
// the directory are not followed (Options.Warn is told of those), and the independent/ folder beside a history is
// skipped: its histories are parts of that one. The order is by name, except that a tar archive keeps its
// own. If a part of the directory cannot be read, Find returns the other
// histories and an error.
func Find(path string) ([]Source, error) { return FindWith(context.Background(), path, Options{}) }

// Options say how histories are found.
type Options struct {
	// Keep, unless nil, is how many bytes of members of compressed tar archives may
	// be held, so that these need not be read a second time. What is held, which is as
	// long as the sources are, is taken from it.
	Keep *int64
	// Own, unless nil, chooses the members that are worth it.
	Own func(Source) bool
	// Warn, unless nil, is told what was passed by though its name is one of those that
	// are looked for.
	Warn func(string)
	// ModelOf, unless nil, has the results of runs read while an archive is read for the
	// names of its members, for Source.Checked. It is that of ReadClaims.
	ModelOf func(record string) (model string, ok bool)
}

// FindWith is Find with options, until the context is done: then the error is its
// cause.
func FindWith(ctx context.Context, path string, o Options) ([]Source, error) {
	if path == "-" {
		return []Source{{Path: path}}, nil
	}
	if path == "" {
		return nil, errors.New("expected a path, found an empty argument")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, files.PathError(err)
	}
	var found []Source
	var passed []string
	switch {
	case info.IsDir():
		found, passed, err = findBelow(ctx, path)
	case IsArchive(path):
		found, passed, err = findInArchive(ctx, path, func(context.Context) (io.ReadCloser, error) { return files.Open(path) }, o)
	default:
		return []Source{File(path)}, nil
	}
	return o.found(path, found, passed, err)
}

// File is the history in a file of this machine.
func File(path string) Source {
	return Source{Path: path, test: besideFile(path), results: resultsBeside(path)}
}

// found is what was found at a path. If it is nothing that is an error, and what was
// passed by is a part of it; else it is a warning.
func (o Options) found(path string, found []Source, passed []string, err error) ([]Source, error) {
	if err == nil && len(found) == 0 {
		none := path + ": no history.edn or test.jepsen, and no .edn, .edn.gz or .edn.zst file below it"
		return nil, errors.New(strings.Join(append([]string{none}, passed...), "; "))
	}
	for _, what := range passed {
		if o.Warn != nil {
			o.Warn(what)
		}
	}
	return found, err
}

// findBelow is the histories below a directory, and what was passed by.
func findBelow(ctx context.Context, dir string) (found []Source, passed []string, err error) {
	// A trailing separator makes the walk enter a root that is itself a link.
	root := dir
	if !strings.HasSuffix(root, string(filepath.Separator)) {
		root += string(filepath.Separator)
	}
	var below []string
	var others []hidden
	var unreadable []error
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			unreadable = append(unreadable, files.PathError(err)) // and go on with what is beside it
			return nil
		}
		name, err := filepath.Rel(root, p) // The walk cleans paths: ./store/ is store in p.
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case d.Type().IsRegular():
			below = append(below, name)
		case name != ".":
			if kind := kindOf(d.Type()); kind != link || !leadsToFolder(p) {
				others = append(others, hidden{name, kind})
			} else if leadsOut(root, p) {
				others = append(others, hidden{name, linkOut})
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, files.PathError(err)
	}
	found = sources(below, func(name string) Source { return stored(filepath.ToSlash(dir), name) })
	passed = passedBy(below, others)
	return found, passed, errors.Join(unreadable...)
}
