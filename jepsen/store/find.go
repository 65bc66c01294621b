package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"clew/internal/files"
)

// Find returns the histories that a path stands for: the file itself, or, if it
// is a directory or an archive (.tar, .tar.gz, .tgz, .tar.zst, .zip), every
// history.edn in it, and every test.jepsen without one beside it, or, if there is
// neither, every file that ends in .edn, .edn.gz or .edn.zst. Symbolic links below
// the directory are not followed, and the independent/ folder beside a history is
// skipped: its histories are parts of that one. The order is by name, except that a tar archive keeps its
// own. If a part of the directory cannot be read, Find returns the other
// histories and an error.
func Find(path string) ([]Source, error) { return FindWith(path, Options{}) }

// Options say how histories are found.
type Options struct {
	// Keep, unless nil, is how many bytes of members of compressed tar archives may
	// be held, so that these need not be read a second time. What is held, which is as
	// long as the sources are, is taken from it.
	Keep *int64
	// Own, unless nil, chooses the members that are worth it.
	Own func(Source) bool
}

// FindWith is Find with options.
func FindWith(path string, o Options) ([]Source, error) {
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
	switch {
	case info.IsDir():
		found, err = findBelow(path)
	case IsArchive(path):
		found, err = findInArchive(path, func() (io.ReadCloser, error) { return files.Open(path) }, o)
	default:
		return []Source{{Path: path}}, nil
	}
	return orNone(path, found, err)
}

// orNone is what was found, which is an error if it is nothing.
func orNone(path string, found []Source, err error) ([]Source, error) {
	if err == nil && len(found) == 0 {
		err = errNone(path)
	}
	return found, err
}

// findBelow is the histories below a directory.
func findBelow(dir string) ([]Source, error) {
	// A trailing separator makes the walk enter a root that is itself a link.
	root := dir
	if !strings.HasSuffix(root, string(filepath.Separator)) {
		root += string(filepath.Separator)
	}
	var below []string
	var unreadable []error
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unreadable = append(unreadable, files.PathError(err)) // and go on with what is beside it
		case d.Type().IsRegular():
			name, err := filepath.Rel(root, p) // The walk cleans paths: ./store/ is store in p.
			if err != nil {
				return err
			}
			below = append(below, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		return nil, files.PathError(err)
	}
	found := sources(below, func(name string) Source { return stored(filepath.ToSlash(dir), name) })
	if others := slices.DeleteFunc(below, func(name string) bool { return !otherForm.MatchString(name) }); len(found)+len(unreadable) == 0 && len(others) > 0 {
		return nil, fmt.Errorf("%w; it has %d of other forms, such as %s: give those by their names", errNone(dir), len(others), others[0])
	}
	return found, errors.Join(unreadable...)
}

// otherForm matches the names of files that may be histories, but are not looked for in
// folders, as other things have such names there.
var otherForm = regexp.MustCompile(`\.(jsonl?|log|txt)(\.gz|\.zst)?$`)

// errNone is the error of a folder or an archive without histories.
func errNone(path string) error {
	return fmt.Errorf("%s: no history.edn or test.jepsen, and no .edn, .edn.gz or .edn.zst file below it", path)
}
