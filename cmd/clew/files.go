package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"clew/internal/files"
	"clew/jepsen"
	"clew/report"
)

// open opens a file, or "-" for standard input, with the name that messages have
// for it. Standard input stays open.
func open(path string) (in io.ReadCloser, name string, err error) {
	if path == "-" {
		return io.NopCloser(os.Stdin), "standard input", nil
	}
	in, err = files.Open(path)
	return in, path, err
}

// readWitness reads an order of a history's operations.
func readWitness(path string, h *jepsen.History) ([]jepsen.Operation, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.ReadWitness(f, path, h)
}

// evidence is the files for what proves a verdict, "" for none.
type evidence struct{ witness, core, svg string }

// asked says whether any evidence is to be written.
func (e evidence) asked() bool { return e != evidence{} }

// write writes what a result has of what was asked for, and says to stderr what
// it has not.
func (e evidence) write(r *report.Result, stderr io.Writer) error {
	for _, x := range []struct {
		flag, path string
		verdict    jepsen.Verdict
		write      func(io.Writer) error
	}{
		{"--witness", e.witness, jepsen.Valid, r.WriteWitness},
		{"--core", e.core, jepsen.Invalid, r.WriteCore},
		{"--svg", e.svg, jepsen.Invalid, r.FirstFailing().WriteSVG},
	} {
		switch {
		case x.path == "":
		case r.Verdict != x.verdict:
			fmt.Fprintf(stderr, "clew: %s: nothing to write for %s: the history is %s\n", r.File, x.flag, r.Verdict)
		case r.Verdict == jepsen.Valid && r.Witness == nil:
			fmt.Fprintf(stderr, "clew: %s: nothing to write for %s: operations without a key take effect once for every key\n", r.File, x.flag)
		default:
			if err := writeWhole(x.path, x.write); err != nil {
				return fmt.Errorf("%s %s: %w", x.flag, x.path, err)
			}
		}
	}
	return nil
}

// writeWhole writes a file whole or not at all. Its errors do not name the file.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".clew-*")
	if err != nil {
		return withoutPath(err)
	}
	defer os.Remove(f.Name()) // fails once it has been renamed
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return withoutPath(os.Rename(f.Name(), path))
}

// withoutPath is the reason of an error about a file that goes by another name.
func withoutPath(err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// printWhole has a text printed whole or not at all.
func printWhole(stdout io.Writer, write func(io.Writer) error) error {
	f, err := os.CreateTemp("", "clew-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(stdout, f)
	return err
}
