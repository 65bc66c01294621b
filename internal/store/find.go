package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clew/internal/files"
)

// Find returns the histories for a path: the file itself, or the histories in a directory or an archive
// (.tar, .tar.gz, .tgz, .tar.zst, .zip). These are every history.edn, every test.jepsen without one beside
// it, and every history.txt or clew.jsonl without either. If there are none, they are all files of one form by their
// names: .edn except results.edn, otherwise .json and .jsonl, .log, .hist or .jepsen, otherwise .txt.
//
// Find does not follow symbolic links below the directory, but passes them to
// Options.Warn. It skips the independent/ folder beside a history: its histories are
// parts of that one. The order is by name, except that a tar archive keeps its own. If a
// part of the directory cannot be read, Find returns the other histories and an error.
// Once the context is done, the error is its cause.
func Find(ctx context.Context, path string, o Options) ([]Source, error) {
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
	var skipped []string
	switch {
	case info.IsDir():
		found, skipped, err = findBelow(ctx, path)
	case IsArchive(path):
		found, skipped, err = findInArchive(ctx, path, func(context.Context) (io.ReadCloser, error) { return files.Open(path) }, o)
	default:
		return []Source{File(path)}, nil
	}
	return o.found(path, found, skipped, err)
}

// Options say how histories are found.
type Options struct {
	// Keep, unless nil, bounds how many bytes of members of compressed tar archives
	// are held, so that they need not be read a second time. Find subtracts what it
	// holds. The sources keep it for as long as they exist.
	Keep *int64
	// Own, unless nil, chooses the members that should be held.
	Own func(Source) bool
	// Bare asks also for the runs that have results but no history. Source.NoHistory says so.
	Bare bool
	// Warn, unless nil, is called for what was skipped although it has the name of a history.
	Warn func(string)
}

// File returns the history in a file of this machine.
func File(path string) Source {
	s := Source{Path: path, results: resultsBeside(path)}
	s.test, s.unread = besideFile(path)
	s.recorder = recorderBeside(path)
	return s
}

// found returns what was found at a path. Finding nothing is an error that
// includes what was skipped; otherwise each skipped item is a warning.
func (o Options) found(path string, found []Source, skipped []string, err error) ([]Source, error) {
	if !o.Bare || len(withHistory(slices.Clone(found))) == 0 {
		found = withHistory(found)
	}
	if err == nil && len(found) == 0 {
		none := path + ": no history.edn or test.jepsen, and no .edn, .edn.gz or .edn.zst file below it"
		return nil, errors.New(strings.Join(append([]string{none}, skipped...), "; "))
	}
	for _, what := range skipped {
		if o.Warn != nil {
			o.Warn(what)
		}
	}
	return found, err
}

// findBelow returns the histories below a directory, and what was skipped.
func findBelow(ctx context.Context, dir string) (found []Source, skipped []string, err error) {
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
			unreadable = append(unreadable, files.PathError(err)) // and continue with the rest
			return nil
		}
		name, err := filepath.Rel(root, p) // The walk cleans paths: ./store/ is store in p.
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case d.Type().IsRegular():
			below = append(below, name)
		case name != ".":
			if kind := kindOf(d.Type()); kind != link || isTest(name) || !leadsToFolder(p) {
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
	found = sources(below, others, func(name string) Source { return stored(filepath.ToSlash(dir), name) })
	skipped = skippedAmong(below, others)
	return found, skipped, errors.Join(unreadable...)
}
