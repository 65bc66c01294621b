package jepsen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find is the files that a path stands for: itself, or, where it is a
// directory, every history.edn below it, or, where there is none, every file
// that ends in .edn, .edn.gz or .edn.zst. Symbolic links below the directory
// are not followed, and the independent/ folder beside a history.edn is
// skipped: its histories are parts of that one. The order is by name. Where a
// part of the directory cannot be read, there are files and an error.
func Find(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	if path == "" {
		return nil, errors.New("expected a path, found an empty argument")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	// A trailing separator makes the walk enter a root that is itself a link.
	root := path
	if !strings.HasSuffix(root, string(filepath.Separator)) {
		root += string(filepath.Separator)
	}
	var histories, others []string
	var unreadable []error
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unreadable = append(unreadable, plainPathError(err)) // and on with what is beside it
		case d.IsDir():
			if d.Name() == "independent" && exists(filepath.Join(filepath.Dir(p), "history.edn")) {
				return filepath.SkipDir
			}
		case !d.Type().IsRegular():
		case d.Name() == "history.edn":
			histories = append(histories, p)
		case isEDN(d.Name()):
			others = append(others, p)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, plainPathError(err)
	case len(histories) > 0:
		return histories, errors.Join(unreadable...)
	case len(others) > 0:
		return others, errors.Join(unreadable...)
	case len(unreadable) > 0:
		return nil, errors.Join(unreadable...)
	}
	return nil, fmt.Errorf("%s: no history.edn and no .edn, .edn.gz or .edn.zst file below it", path)
}

func isEDN(name string) bool {
	return strings.HasSuffix(name, ".edn") || strings.HasSuffix(name, ".edn.gz") || strings.HasSuffix(name, ".edn.zst")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
