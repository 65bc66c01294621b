package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"clew/edn"
)

// Read reads one history: EDN or the .log form, plain or compressed with gzip
// or zstd, told apart by content. Name stands for it in errors. Errors are
// *edn.Error or *Error with file, line and column, or I/O errors. Linear time.
func Read(r io.Reader, name string, opts Options) (*History, error) {
	in, err := decompress(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer in.Close()
	buffered := bufio.NewReaderSize(in, 1<<16)
	b := newBuilder(name, edn.NewValues(), opts)
	log, err := isLog(buffered)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if log {
		err = readLog(buffered, b)
	} else {
		err = readEDN(buffered, b)
	}
	if err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// ReadFile reads the history in a file; "-" is standard input.
func ReadFile(path string, opts Options) (*History, error) {
	if path == "-" {
		return Read(os.Stdin, "standard input", opts)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer f.Close()
	return Read(f, path, opts)
}

// plainPathError says "PATH: no such file or directory", without the name of
// the system call.
func plainPathError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

func readEDN(r io.Reader, b *builder) error {
	reader := edn.NewReader(r, b.h.File, b.h.Values)
	var e edn.Event
	for {
		if err := reader.Next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := b.add(&e); err != nil {
			return err
		}
	}
}

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

func decompress(r *bufio.Reader) (io.ReadCloser, error) {
	head, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return gzip.NewReader(r)
	case bytes.HasPrefix(head, zstdMagic):
		d, err := zstd.NewReader(r)
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}

// isLog says whether the first character that is no white space cannot begin
// EDN's op maps: a letter, a digit or a colon begins a log line.
func isLog(r *bufio.Reader) (bool, error) {
	for n := 1; ; n++ {
		head, err := r.Peek(n)
		if len(head) < n {
			if err == io.EOF || errors.Is(err, bufio.ErrBufferFull) {
				return false, nil
			}
			return false, err
		}
		switch c := head[n-1]; {
		case c <= ' ', c == ',', c == 0xef, c == 0xbb, c == 0xbf: // white space and the byte order mark
		default:
			return c == ':' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z', nil
		}
	}
}
