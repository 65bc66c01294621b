package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"clew/internal/files"
)

// A folder of evidence may also hold histories that a user put there. So clew keeps a list of the cores that it wrote,
// in the form of sha256sum, and replaces nothing else.

// listOfCores is the name of that list.
const listOfCores = ".clew-evidence"

// listed returns the line of a list for a file with some content.
func listed(dir, path string, content []byte) string {
	below, err := filepath.Rel(dir, path)
	if err != nil {
		below = path
	}
	return fmt.Sprintf("%x  %s\n", sha256.Sum256(content), filepath.ToSlash(below))
}

// foreign returns an error if a core would replace a file that clew did not write, or would go through a link.
func (f folder) foreign(path string) error {
	for at := path; at != filepath.Clean(f.dir) && at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s %s: this is a symbolic link, and evidence may not leave its folder; remove it, or give another folder", f.flag, at)
		}
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // nothing is there, or what fails when it is written
	}
	content, err := os.ReadFile(path)
	list, _ := os.ReadFile(filepath.Join(f.dir, listOfCores))
	if err != nil || !bytes.Contains(append([]byte("\n"), list...), []byte("\n"+listed(f.dir, path, content))) {
		return fmt.Errorf("%s %s: clew did not write this file; move it away, or give another folder", f.flag, path)
	}
	return nil
}

// list notes that clew writes a core.
func (f folder) list(path string, content []byte) error {
	name, line := filepath.Join(f.dir, listOfCores), listed(f.dir, path, content)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: expected a file", name)
	}
	if before, err := os.ReadFile(name); err == nil && strings.Contains("\n"+string(before), "\n"+line) {
		return nil
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, line) // at once, since other shards may add theirs
	return errors.Join(err, out.Close())
}

// isPromise reports whether an output is free for the promise of clew gen: nothing is there, or an earlier promise.
func isPromise(to *files.Output) bool {
	if to.Through() {
		return true
	}
	f, err := os.Open(to.File())
	if err != nil {
		return true // writing it says why
	}
	defer f.Close()
	head := make([]byte, len(promiseHead))
	n, _ := io.ReadFull(f, head)
	return n == 0 || string(head[:n]) == promiseHead
}

// promiseHead begins every promise.
const promiseHead = "{:valid? "
