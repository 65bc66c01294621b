package held

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"clew/internal/files"
)

// File is a file that keeps a state, for programs of one build.
type File struct {
	Path  string
	Build string   // of the program
	About []string // what the state depends on, in words
}

// head begins the file; the sum of what follows comes after it.
const head = "a state of clew monitor, "

func (f *File) head() string { return head + f.Build + ", sha256 " }

// stored is what the file has.
type stored[S any] struct {
	About []string
	State *S
}

// Save writes a state, so that the file has it whole or not at all. S can be stored by package encoding/gob.
func Save[S any](f *File, state *S) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(stored[S]{f.About, state}); err != nil {
		return err
	}
	err := files.To(f.Path, nil, nil).Write(func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s%x\n", f.head(), sha256.Sum256(text.Bytes())); err != nil {
			return err
		}
		_, err := w.Write(text.Bytes())
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// Probe says why the file cannot be written, or is not one.
func (f *File) Probe() error {
	to := files.To(f.Path, nil, nil)
	if f.Path == "-" || to.Through() {
		return f.errorf("expected the name of a regular file for the state")
	}
	if err := to.Probe(); err != nil {
		return f.errorf("%w", err)
	}
	return nil
}

// Load reads a state into one that may have been initialized. It returns false if there is none, or an empty file.
func Load[S any](f *File, state *S) (found bool, err error) {
	text, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0:
		return false, nil
	case err != nil:
		return false, files.PathError(err)
	}
	begin, rest, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case !bytes.HasPrefix(begin, []byte(head)):
		return false, f.errorf("expected a state that clew monitor has saved, found something else")
	case !bytes.HasPrefix(begin, []byte(f.head())):
		build, _, _ := bytes.Cut(begin[len(head):], []byte(", sha256 "))
		return false, f.errorf("the state is of another build of clew: expected %s, found %s", f.Build, build)
	case string(begin[len(f.head()):]) != fmt.Sprintf("%x", sha256.Sum256(rest)):
		return false, f.errorf("the state is damaged: its sum does not fit")
	}
	s := stored[S]{State: state}
	if err := gob.NewDecoder(bytes.NewReader(rest)).Decode(&s); err != nil {
		return false, f.errorf("%w", err)
	}
	for i, about := range f.About {
		if i >= len(s.About) || s.About[i] != about {
			return false, f.errorf("the state is of a monitor with other options: expected %s, found %s; give the options that it was begun with, or start again without this file", about, s.About[min(i, len(s.About)-1)])
		}
	}
	return true, nil
}

func (f *File) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", f.Path, fmt.Errorf(format, args...))
}
