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
	"clew/edn/opmap"
)

// Read reads one history in any of the forms, plain or compressed with gzip or
// zstd, told apart by content. Name stands for it in errors. Errors are
// *edn.Error or *Error with file, line and column, or I/O errors. Linear time.
func Read(r io.Reader, name string, opts Options) (*History, error) {
	b := newBuilder(name, edn.NewValues(), opts)
	if err := b.readEvents(r, "", b.add); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// size is the length of a file that is read as it is, 0 if it is not known.
func size(r io.Reader, in io.Reader) int64 {
	f, ok := r.(*os.File)
	if _, packed := in.(compressed); !ok || packed {
		return 0
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// ReadFile reads the history in a file; "-" is standard input.
func ReadFile(path string, opts Options) (*History, error) {
	if path == "-" {
		return Read(os.Stdin, "standard input", opts)
	}
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path, opts)
}

// Open opens a file. Its error names the file, and not the system call.
func Open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plainPathError(err)
	}
	return f, nil
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

func readEDN(r io.Reader, b *builder, take func(*opmap.Event) error) error {
	reader := opmap.NewReader(r, b.h.File, b.h.Values)
	var e opmap.Event
	for {
		if err := reader.Next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := take(&e); err != nil {
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
	case len(head) == 1 && head[0] == gzipMagic[0]: // by itself it would be white space
		return nil, compressedError("gzip", io.EOF)
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, compressedError("gzip", err)
		}
		return compressed{"gzip", z}, nil
	case bytes.HasPrefix(head, zstdMagic):
		d, err := zstd.NewReader(r)
		if err != nil {
			return nil, compressedError("zstd", err)
		}
		return compressed{"zstd", d.IOReadCloser()}, nil
	}
	return io.NopCloser(r), nil
}

// compressed says in its errors that it is the compression that is broken.
type compressed struct {
	form string
	io.ReadCloser
}

func (c compressed) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = compressedError(c.form, err)
	}
	return n, err
}

func compressedError(form string, err error) error {
	var p *os.PathError
	switch {
	case errors.As(err, &p):
		return p.Err // the file cannot be read at all
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s data is cut off: expected more of it, found the end of the file", form)
	case errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zstd.ErrCRCMismatch):
		return fmt.Errorf("the %s data is damaged: its checksum does not match", form)
	}
	return fmt.Errorf("the %s data is damaged: %w", form, err)
}

// foreign names what a text is that begins neither as EDN nor as a log does.
func foreign(r *bufio.Reader) string {
	head, _ := r.Peek(8)
	switch {
	case isUTF16(head):
		return "UTF-16; convert it to UTF-8 first, as iconv -f UTF-16 -t UTF-8 does"
	case bytes.HasPrefix(head, []byte("<")):
		return "HTML or XML"
	case bytes.ContainsFunc(head, func(c rune) bool { return c < '\t' || c > '\r' && c < 0x1c || c == 0x7f }):
		return "binary data"
	}
	return ""
}

// isUTF16 says whether a text begins with UTF-16's byte order mark, or with an
// ASCII character in UTF-16.
func isUTF16(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	mark := head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff
	ascii := func(c byte) bool { return c >= '\t' && c < 0x7f }
	return mark || ascii(head[0]) && head[1] == 0 || head[0] == 0 && ascii(head[1])
}
