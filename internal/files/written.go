package files

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A folder of evidence may also hold histories that a user put there. So clew keeps a list of what it wrote, in the form
// of sha256sum, and replaces nothing else.

// listOfWritten is the name of that list.
const listOfWritten = ".clew-evidence"

// listed returns the line of a list for a file with some content.
func listed(dir, path string, content []byte) []byte {
	below, err := filepath.Rel(dir, path)
	if err != nil {
		below = path
	}
	return fmt.Appendf(nil, "\n%x  %s\n", sha256.Sum256(content), filepath.ToSlash(below))
}

// isListed reports whether the list of a folder has a line.
func isListed(dir string, line []byte) bool {
	list, err := os.ReadFile(filepath.Join(dir, listOfWritten))
	return err == nil && bytes.Contains(append([]byte("\n"), list...), line)
}

// Foreign returns an error if a file in a folder is not one that clew wrote there, or if a link leads to it.
func Foreign(dir, path string) error {
	for at := path; at != filepath.Clean(dir) && at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: this is a symbolic link, and evidence may not leave its folder; remove it, or give another folder", at)
		}
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // nothing is there, or what fails when it is written
	}
	if content, err := os.ReadFile(path); err != nil || !isListed(dir, listed(dir, path, content)) {
		return fmt.Errorf("%s: clew did not write this file; move it away, or give another folder", path)
	}
	return nil
}

// List notes that clew writes a file into a folder.
func List(dir, path string, content []byte) error {
	name, line := filepath.Join(dir, listOfWritten), listed(dir, path, content)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: expected a file", name)
	}
	if isListed(dir, line) {
		return nil
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = out.Write(line[1:]) // at once, since other shards may add theirs
	return errors.Join(err, out.Close())
}
