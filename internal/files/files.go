package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Open opens a file that is not a directory. Its error names the file, but not the system call.
func Open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, PathError(err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, syscall.EISDIR)
	}
	return f, nil
}

// PathError turns an error into "PATH: no such file or directory", without the name of the system call.
func PathError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

// IsClosed reports whether an error of writing to a pipe means that nothing reads it anymore.
func IsClosed(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // as Windows says it
	return errors.Is(err, syscall.EPIPE) || runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow bounds how much of its output zstd holds while it unpacks; ten bytes of a file can ask for any amount.
// The zstd program itself has the same bound unless it is told to take more.
const maxWindow = 128 << 20

// IsPacked reports whether Decompress would decompress a file that begins with head.
func IsPacked(head []byte) bool {
	return bytes.HasPrefix(head, gzipMagic) || isZstd(head)
}

// isZstd reports whether a file begins with a frame of zstd, which may be one to skip.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, zstdMagic) || len(head) >= 4 && head[0]>>4 == 5 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

// PackedName returns a file's name without .gz or .zst, and how such a file is compressed: "" if the name does not
// say that it is.
func PackedName(name string) (plain, packing string) {
	if plain, is := strings.CutSuffix(name, ".gz"); is {
		return plain, "gzip"
	}
	if plain, is := strings.CutSuffix(name, ".zst"); is {
		return plain, "zstd"
	}
	return name, ""
}

// Decompress returns the content of r, decompressed if it begins like gzip or zstd, or else r itself. It also returns
// whether r was packed.
func Decompress(r *bufio.Reader) (in io.ReadCloser, packed bool, err error) {
	head, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	switch {
	case len(head) == 1 && head[0] == gzipMagic[0]: // alone it would be white space
		return nil, true, compressedError("gzip", io.EOF)
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, true, compressedError("gzip", err)
		}
		z.Multistream(false)
		return compressed{"gzip", members{z, r}}, true, nil
	case isZstd(head):
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)) // decoding in parallel takes more time in all
		if err != nil {
			return nil, true, compressedError("zstd", err)
		}
		return compressed{"zstd", d.IOReadCloser()}, true, nil
	}
	return io.NopCloser(r), false, nil
}

type members struct {
	*gzip.Reader
	in *bufio.Reader
}

// errBehind says that a file does not end with its last member.
var errBehind = errors.New("something that is not gzip follows it")

func (m members) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	head, err := m.in.Peek(len(gzipMagic))
	switch {
	case len(head) == 0:
		return n, err
	case !bytes.HasPrefix(gzipMagic, head):
		return n, errBehind
	}
	if err := m.Reset(m.in); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	}
	m.Multistream(false)
	return n, nil
}

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
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("the %s data needs more than %d MB to unpack; expected data that zstd compressed without --long=28 or more", form, maxWindow>>20)
	}
	return fmt.Errorf("the %s data is damaged: %w", form, err)
}
