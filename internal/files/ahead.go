package files

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"

	"clew/internal/blocks"

	"github.com/klauspost/compress/zstd"
)

// Ahead returns a reader of r. A goroutine reads r a few blocks ahead of it. The goroutine ends, and closes r, at the
// end of r or soon after Close. Close does not wait for it, so whatever r reads from must allow that.
func Ahead(r io.ReadCloser) io.ReadCloser {
	a := &ahead{blocks: make(chan []byte, aheadBlocks), spare: make(chan []byte, aheadBlocks+2), stop: make(chan struct{})}
	go a.pump(r)
	return a
}

// At most this much is read ahead.
const (
	aheadBytes  = 256 << 10
	aheadBlocks = 6
)

type ahead struct {
	blocks, spare chan []byte
	stop          chan struct{}
	end           error // what r ended with, once blocks is closed
	block, rest   []byte
}

func (a *ahead) pump(r io.ReadCloser) {
	defer r.Close()
	defer close(a.blocks)
	for {
		var block []byte
		select {
		case block = <-a.spare:
		default:
			block = make([]byte, blocks.Length(aheadBytes))
		}
		n, err := io.ReadFull(r, block)
		if err == io.ErrUnexpectedEOF { // the end, in a block
			err = io.EOF
		}
		select {
		case a.blocks <- block[:n]:
		case <-a.stop:
			return
		}
		if err != nil {
			a.end = err
			return
		}
	}
}

func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.block != nil {
			a.spare <- a.block[:cap(a.block)] // Never blocks: spare has room for every block.
		}
		var more bool
		if a.block, more = <-a.blocks; !more {
			return 0, a.end
		}
		a.rest = a.block
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

func (a *ahead) Close() error {
	close(a.stop)
	return nil
}

// Size returns the length of a file's content, unpacked if it is compressed. It returns 0 if that is not known, and
// for other readers.
func Size(r io.Reader) int64 {
	f, is := r.(*os.File)
	if !is {
		return 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	head := make([]byte, zstd.HeaderMaxSize)
	n, _ := f.ReadAt(head, 0)
	switch head = head[:n]; {
	case bytes.HasPrefix(head, gzipMagic):
		tail := make([]byte, 4) // the length modulo 2^32 of the last of its members
		if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
			return 0
		}
		size := int64(binary.LittleEndian.Uint32(tail))
		if size < info.Size() {
			return 0
		}
		return size
	case bytes.HasPrefix(head, zstdMagic):
		var frame zstd.Header
		if frame.Decode(head) != nil {
			return 0
		}
		return int64(min(frame.FrameContentSize, math.MaxInt64))
	}
	return info.Size()
}
