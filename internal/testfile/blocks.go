package testfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"clew/edn"
	"clew/internal/fressian"
	"clew/internal/limits"
)

// The header: MAGIC, an int32 version, and the int64 offset of the index.
const (
	magic      = "JEPSEN"
	versionAt  = 6
	indexAt    = 10
	headerSize = 18
)

// A block begins with its int64 length, an int32 CRC, and an int16 type with zeros up to 16
// bytes. The length includes this header.
const (
	blockHeader = 28
	crcAt       = 8
	typeAt      = 12
)

// kind is the type of a block.
type kind uint16

const (
	indexBlock kind = 1 + iota
	fressianBlock
	partialMap
	fressianStream
	bigVector
)

func (k kind) String() string {
	return [...]string{"an index", "a value", "a map in parts", "a stream of values", "a vector of chunks"}[k-1]
}

// Head is how many bytes of a file Is needs.
const Head = len(magic) + 1

// Is says whether a text begins as a test.jepsen does.
func Is(head []byte) bool {
	return len(head) >= len(magic) && string(head[:len(magic)]) == magic && (len(head) == len(magic) || head[len(magic)] == 0)
}

// File is a test.jepsen.
type File struct {
	ctx    context.Context
	in     io.ReaderAt
	size   int64
	memory int64
	name   string

	root   int32
	blocks map[int32]int64 // where they are, by number
	index  int64           // where the current index is

	ends     ending  // whether the file is whole
	endsAt   int64   // where it is not whole
	later    []int64 // the streams behind everything that the index knows
	warnings []string
}

// ending says how a file ends.
type ending int

const (
	whole   ending = iota
	cut            // something is missing behind the last byte
	growing        // in an unfinished block
	running        // before the end of the test
)

// block is the content of a block's header.
type block struct {
	kind           kind
	offset, length int64
	crc            uint32
}

func (b block) end() int64 { return b.offset + b.length }

// Open finds the index of a file, until the context is done. If memory is not 0, no block
// may be longer than an eighth of it. Errors call the file by name. They are *edn.Error
// with the offset, or I/O errors.
func Open(ctx context.Context, in io.ReaderAt, size int64, name string, memory int64) (*File, error) {
	f := &File{ctx: ctx, in: in, size: size, name: name, memory: memory}
	if head := make([]byte, headerSize); size > 0 {
		if n, err := in.ReadAt(head, 0); (err == nil || err == io.EOF) && !slices.ContainsFunc(head[:n], func(c byte) bool { return c != 0 }) {
			return nil, NoHistory{f.errorf(0, "expected %s, with which a test.jepsen begins, found zeros: the header was never written, so the test was killed as it began or the copy is incomplete", magic)}
		}
	}
	if size < headerSize {
		return nil, f.errorf(size, "expected the header of a test.jepsen, %d bytes, found the end of the file", headerSize)
	}
	head, err := f.read(0, headerSize, nil)
	if err != nil {
		return nil, err
	}
	version := binary.BigEndian.Uint32(head[versionAt:])
	switch f.index = int64(binary.BigEndian.Uint64(head[indexAt:])); {
	case string(head[:versionAt]) != magic:
		return nil, f.errorf(0, "expected %s, with which a test.jepsen begins, found %q", magic, head[:versionAt])
	case version > 1:
		return nil, f.errorf(versionAt, "expected version 0 or 1, found %d: the file was written by a newer Jepsen than clew knows", version)
	case f.index != 0 && f.index < headerSize:
		return nil, f.errorf(indexAt, "expected the offset of an index, found %d", f.index)
	}
	b, ends, err := f.header(f.index)
	if f.index == 0 || ends == cut {
		return f, f.recover(f.index)
	}
	switch {
	case err != nil:
		return nil, err
	case ends == growing || b.kind != indexBlock:
		return nil, f.errorf(f.index, "expected an index, to which the header leads, found another block")
	}
	if err := f.readIndex(b); err != nil {
		return nil, err
	}
	known, err := f.known(b)
	if err != nil {
		return nil, err
	}
	return f, f.scan(known)
}

// NoHistory is the error for a file that has no event, because nothing of the history was written.
type NoHistory struct{ Err error }

func (e NoHistory) Error() string { return e.Err.Error() }

func (e NoHistory) Unwrap() error { return e.Err }

func (f *File) errorf(offset int64, format string, args ...any) error {
	return fressian.At(f.at(offset), format, args...)
}

func (f *File) at(offset int64) edn.Pos { return edn.Pos{File: f.name, Offset: offset} }

// read reads n bytes into old memory, if that is large enough.
func (f *File) read(offset, n int64, old []byte) ([]byte, error) {
	data := slices.Grow(old[:0], int(n))[:n]
	r := limits.Reader(f.ctx, limits.Counted(f.ctx, io.NewSectionReader(f.in, offset, n)), f.memory)
	got, err := r.Read(data)
	if int64(got) < n && err == nil || errors.Is(err, io.EOF) {
		return nil, f.errorf(offset+int64(got), "expected %d more bytes, found the end of the file: it has become shorter", n-int64(got))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return data, nil
}

// header reads the header of the block at an offset. It reports cut if the file ends before
// the block does. It reports growing if the block is unfinished: its header is zeros.
func (f *File) header(offset int64) (b block, ends ending, err error) {
	if offset > f.size-blockHeader {
		return b, cut, nil
	}
	head, err := f.read(offset, blockHeader, nil)
	if err != nil {
		return b, whole, err
	}
	b = block{kind(binary.BigEndian.Uint16(head[typeAt:])), offset, int64(binary.BigEndian.Uint64(head)), binary.BigEndian.Uint32(head[crcAt:])}
	switch {
	case b == block{offset: offset}:
		return b, growing, nil
	case b.length < blockHeader:
		return b, whole, f.errorf(offset, "expected a block of at least %d bytes, found a length of %d", blockHeader, b.length)
	case b.kind < indexBlock || b.kind > bigVector:
		return b, whole, f.errorf(offset+typeAt, "expected a block of type %d to %d, found %d", indexBlock, bigVector, b.kind)
	case b.length > f.size-offset:
		return b, cut, nil
	}
	return b, whole, nil
}

// data reads the content of a block and checks its CRC. The CRC is of the data first and
// then of the header with zeros for the CRC. The content is read into old memory, if that
// is large enough.
func (f *File) data(b block, old []byte) ([]byte, error) {
	all, err := f.read(b.offset, b.length, old)
	if err != nil {
		return nil, err
	}
	var head [blockHeader]byte
	copy(head[:], all)
	clear(head[crcAt:typeAt])
	if crc := crc32.Update(crc32.ChecksumIEEE(all[blockHeader:]), crc32.IEEETable, head[:]); crc != b.crc {
		return nil, f.errorf(b.offset, "expected a block whose CRC is %08x, found %08x: the file is damaged", b.crc, crc)
	}
	return all[blockHeader:], nil
}

// readIndex makes an index the current one. It has the int32 number of the root, then the
// int32 number and the int64 offset of each block.
func (f *File) readIndex(b block) error {
	data, err := f.data(b, nil)
	if err != nil {
		return err
	}
	const root, entry = 4, 12
	if len(data) < root || (len(data)-root)%entry != 0 {
		return f.errorf(b.offset, "expected an index of a number and pairs of %d bytes, found %d bytes", entry, len(data))
	}
	f.index = b.offset
	f.root = int32(binary.BigEndian.Uint32(data))
	f.blocks = make(map[int32]int64, len(data)/entry)
	for at := root; at < len(data); at += entry {
		f.blocks[int32(binary.BigEndian.Uint32(data[at:]))] = int64(binary.BigEndian.Uint64(data[at+4:]))
	}
	return nil
}

// known returns where everything that an index knows ends, including the index.
func (f *File) known(index block) (int64, error) {
	end := index.end()
	for id, offset := range f.blocks {
		b, err := f.block(id, f.at(index.offset))
		if errors.Is(err, errCut) {
			f.ends, f.endsAt = cut, offset
			continue
		}
		if err != nil {
			return 0, err
		}
		end = max(end, b.end())
	}
	return end, nil
}

// errCut says that the file ends before a block does.
var errCut = errors.New("the file is cut off")

// block returns the block with a number that something at a place refers to.
func (f *File) block(id int32, from edn.Pos) (block, error) {
	offset, ok := f.blocks[id]
	if !ok || offset < headerSize {
		return block{}, fressian.At(from, "expected the number of a block that the index knows, found %d", id)
	}
	b, ends, err := f.header(offset)
	switch {
	case err != nil:
		return block{}, err
	case ends == cut && offset < f.index:
		return block{}, f.errorf(offset, "expected a block that ends before the index at offset %d, found one of %d bytes", f.index, b.length)
	case ends == cut:
		return block{}, errCut
	case ends == growing:
		return block{}, f.errorf(offset, "expected a block, found zeros")
	}
	return b, nil
}

// recover finds the last whole index of a file whose header does not lead to one.
func (f *File) recover(index int64) error {
	f.index = math.MinInt64
	if err := f.scan(headerSize); err != nil {
		return err
	}
	f.ends = max(f.ends, cut)
	if f.ends == cut {
		f.endsAt = f.size
	}
	if f.blocks == nil {
		return NoHistory{f.errorf(f.endsAt, "expected the history of a test and an index of it, found %s", f.ends.found())}
	}
	return nil
}

// scan goes from block to block, to the end of the file or to a block that is not whole.
// The last index becomes the current one. The streams behind it belong to the history:
// Jepsen was about to write the index that has them.
func (f *File) scan(from int64) error {
	for at := from; at < f.size; {
		b, ends, err := f.header(at)
		if err != nil {
			return err
		}
		if ends != whole {
			f.ends, f.endsAt = ends, at
			return nil
		}
		switch b.kind {
		case indexBlock:
			if err := f.readIndex(b); err != nil {
				return err
			}
			f.later = nil
		case fressianStream:
			f.later = append(f.later, at)
		}
		at = b.end()
	}
	return nil
}

func (e ending) found() string {
	if e == growing {
		return "an unfinished chunk: the test was killed or is still running"
	}
	return "the end of the file: it is cut off"
}
