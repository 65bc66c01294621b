package files

import (
	"errors"
	"io"
)

// Part is a file among several that are read as one text.
type Part struct {
	Name string // in messages
	Open func() (io.ReadCloser, error)
}

// Between stands between the files of a Joined. It is in no text.
const Between = '\x1e'

// Joined reads several files as one text, with Between after each. It opens them one after the other.
type Joined struct {
	Parts []Part
	next  int
	open  io.ReadCloser
}

// Read implements io.Reader.
func (j *Joined) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for j.open == nil {
		if j.next == len(j.Parts) {
			return 0, io.EOF
		}
		var err error
		if j.open, err = j.Parts[j.next].Open(); err != nil {
			return 0, err
		}
		j.next++
	}
	n, err := j.open.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if n == len(p) {
		return n, nil // it says so again
	}
	err = j.open.Close()
	j.open = nil
	p[n] = Between
	return n + 1, err
}

// Close closes the file that is open.
func (j *Joined) Close() error {
	if j.open == nil {
		return nil
	}
	err := j.open.Close()
	j.open = nil
	return err
}
