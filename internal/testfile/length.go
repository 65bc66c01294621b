package testfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
)

// Length is what a test.jepsen says about the length of its history.
type Length struct {
	// Events is how many events the history has, or at least has if it is not whole; -1 if
	// the file does not say.
	Events int64
	// Whole says that no more events follow.
	Whole bool
	// Why says why the file does not say, such as "is empty"; "" if it does.
	Why string
}

// ReadLength returns what a file says about its history, without reading the history, until the
// context is done.
func ReadLength(ctx context.Context, in io.ReaderAt, size int64, name string, memory int64) (Length, error) {
	length := Length{Events: -1}
	head := make([]byte, min(size, int64(len(lfsPointer))))
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return length, err
	}
	switch {
	case size == 0:
		length.Why = "is empty"
	case string(head) == lfsPointer:
		length.Why = LFSPointer
	case len(bytes.Trim(head, "\x00")) == 0:
		length.Why = "has no header: it was never written"
	case !Is(head[:min(len(head), Head)]):
		length.Why = "is damaged: it does not begin like a test.jepsen"
	}
	if length.Why != "" {
		return length, nil
	}
	f, err := Open(ctx, in, size, name, memory)
	var count int64
	if err == nil {
		_, count, err = f.chunks()
	}
	switch {
	case ctx.Err() != nil:
		return length, context.Cause(ctx)
	case errors.Is(err, ErrSkipped):
		return length, ErrSkipped
	case err != nil:
		length.Why = fmt.Sprintf("cannot be read (%v)", err)
		return length, nil
	}
	length.Events, length.Whole = count, f.ends == whole
	return length, nil
}

// LFSPointer is the Why of a file that Git LFS has left in place of a test.jepsen.
const LFSPointer = "is a Git LFS pointer"

// lfsPointer begins a file that Git LFS leaves in place of a large one.
const lfsPointer = "version https://git-lfs"

// StreamLength is ReadLength for a file that is read from front to back.
func StreamLength(ctx context.Context, in io.Reader, name string, memory int64) (Length, error) {
	var s skeleton
	if err := s.skim(in); err != nil {
		return Length{}, err
	}
	return ReadLength(ctx, &s, s.size, name, memory)
}

// skeleton is a file without its chunks.
type skeleton struct {
	size  int64
	parts []piece
	kept  int64 // bytes
	err   error // of the text, unless that is its end
}

type piece struct {
	offset int64
	data   []byte
}

// The parts of a file that are kept: blocks of at most maxBlock bytes, up to maxSkimmed in
// all.
const (
	maxBlock   = 1 << 20
	maxSkimmed = 16 << 20
)

// ErrSkipped is the error of StreamLength if it has skipped a part that it needs. ReadLength on the
// whole file does not skip any.
var ErrSkipped = errors.New("a part of the file was skipped")

// skim reads a file to its end.
func (s *skeleton) skim(in io.Reader) error {
	r := bufio.NewReaderSize(in, 1<<16)
	if !s.keep(r, headerSize) {
		return s.rest(r)
	}
	for {
		head, err := r.Peek(blockHeader)
		if s.note(err); err != nil {
			return s.rest(r)
		}
		length := int64(binary.BigEndian.Uint64(head))
		kind := kind(binary.BigEndian.Uint16(head[typeAt:]))
		switch {
		case length < blockHeader: // not finished
			return s.rest(r)
		case kind == fressianStream || length > maxBlock || s.kept+length > maxSkimmed:
			if s.keep(r, blockHeader); !s.skip(r, length-blockHeader) {
				return s.rest(r)
			}
		case !s.keep(r, length):
			return s.rest(r)
		}
	}
}

func (s *skeleton) keep(r io.Reader, n int64) bool {
	data := make([]byte, n)
	got, err := io.ReadFull(r, data)
	s.parts = append(s.parts, piece{s.size, data[:got]})
	s.size, s.kept = s.size+int64(got), s.kept+int64(got)
	s.note(err)
	return err == nil
}

// note remembers an error of the text.
func (s *skeleton) note(err error) {
	if s.err == nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		s.err = err
	}
}

// skip skips n bytes and says whether there are that many.
func (s *skeleton) skip(r io.Reader, n int64) bool {
	got, err := io.CopyN(io.Discard, r, n)
	s.size += got
	s.note(err)
	return err == nil
}

// rest reads the rest: zeros, or the beginning of a block.
func (s *skeleton) rest(r *bufio.Reader) error {
	if head, _ := r.Peek(blockHeader); len(head) > 0 {
		s.keep(r, int64(len(head)))
	}
	n, err := io.Copy(io.Discard, r)
	s.size += n
	s.note(err)
	return s.err
}

// ReadAt reads from the parts that were kept.
func (s *skeleton) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		at := offset + int64(n)
		if at >= s.size {
			return n, io.EOF
		}
		i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].offset > at }) - 1
		if i < 0 || at >= s.parts[i].offset+int64(len(s.parts[i].data)) {
			return n, ErrSkipped
		}
		n += copy(p[n:], s.parts[i].data[at-s.parts[i].offset:])
	}
	return n, nil
}
