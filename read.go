package clew

import (
	"io"

	"clew/jepsen"
	"clew/jepsen/forms"
)

// Read reads a history in any form that package forms knows, plain or compressed
// with gzip or zstd, told apart by content. Name stands for it in errors, which
// are *edn.Error with file, line and column (of a test.jepsen: with the offset), or
// I/O errors.
func Read(r io.Reader, name string, o jepsen.Options) (*jepsen.History, error) {
	return forms.Read(r, name, o)
}

// ReadFile is Read for a file; "-" is standard input.
func ReadFile(path string, o jepsen.Options) (*jepsen.History, error) {
	return forms.ReadFile(path, o)
}
