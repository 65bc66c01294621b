// Package blocks reads a text in blocks, for readers that need only a part of it at a time.
package blocks

import (
	"cmp"
	"io"
	"sync"
	"sync/atomic"
)

// Blocks is the part of a text that is in memory. A reader goes through Data, and calls More
// when it needs what follows.
type Blocks struct {
	In           io.Reader
	Eager        bool  // a block is the result of one Read, however short
	First, Later int   // the lengths of the first block, which is small since many texts are, and of later ones; 0: as usual
	Longest      int   // if not 0, what is kept of the text stays below this, so that a block need not be longer
	Ahead        Ahead // gives the blocks after the first two, unless nil; a shorter text is not worth the effort

	Data   []byte
	At     int   // how much of Data has been read
	Offset int64 // of Data in the text
	Err    error // what the text ended with: io.EOF, or why reading failed

	own   []byte // the last block that was allocated here
	first bool   // only the first block has been read
}

// Ahead gives a text in blocks, starting with the third, and learns where they are.
type Ahead interface {
	// Next returns rest, of which it keeps nothing, followed by the next block, and
	// the error that ends the input there. The results are valid until the next
	// call. If the text is nil, the rest must be read from Left.
	Next(rest []byte) (text []byte, err error)
	Left() io.Reader
}

const (
	firstBlock = 64 << 10
	fullBlock  = 256 << 10
)

// longest bounds the length of blocks, in tests; 0: they are as long as usual.
var longest atomic.Int64

// AtMost makes all blocks that are read from now on at most n bytes long, in every reader, until the function that it
// returns is called. It is for tests: a text of a few hundred bytes then ends in its tenth block. The text of a block
// is also overwritten once it is no longer valid, so that a reader that still looks at it is noticed.
func AtMost(n int) (restore func()) {
	before := longest.Swap(int64(n))
	return func() { longest.Store(before) }
}

// Length returns how long a block is that usually has that many bytes.
func Length(usual int) int {
	if n := int(longest.Load()); n > 0 {
		return min(n, usual)
	}
	return usual
}

func bounded() bool { return longest.Load() > 0 }

// spoil overwrites a block. A bracket that nothing opens is wrong in every form.
func spoil(block []byte) {
	for i := range block {
		block[i] = ']'
	}
}

// More reads more of the text, and keeps what is in memory from i. It moves that
// to the front of a block at least twice as long, so that a long form is moved
// only a few times. It returns Err once there is no more.
func (b *Blocks) More(i int) error {
	if b.Err != nil {
		return b.Err
	}
	size := cmp.Or(b.Later, fullBlock)
	if b.Data == nil {
		size = cmp.Or(b.First, firstBlock)
	}
	size = Length(size)
	rest := b.Data[i:]
	if b.Ahead != nil && b.Data != nil && !b.first {
		if text, err := b.Ahead.Next(rest); text != nil {
			b.Offset += int64(i)
			b.At -= i
			b.Data, b.Err = text, err
			return b.ended(len(rest))
		}
		b.In, b.Ahead = b.Ahead.Left(), nil
	}
	b.first = b.Data == nil
	twice := 2 * len(rest)
	if b.Longest > 0 {
		twice = min(twice, b.Longest)
	}
	block := b.Data[:cap(b.Data)]
	var old []byte
	if size = max(size, twice); len(block) < size || bounded() {
		old, b.own = b.own, newBlock(size)
		block = b.own
	}
	kept := copy(block, rest)
	if bounded() {
		spoil(old)
	}
	recycle(old)
	b.Offset += int64(i)
	b.At -= i
	n, err := Fill(b.In, block, kept, b.Eager)
	b.Data, b.Err = block[:n], err
	return b.ended(kept)
}

// Alone gives Ahead up, unless it has begun.
func (b *Blocks) Alone() {
	if b.first {
		b.Ahead = nil
	}
}

// ended returns Err if Data has not become longer than that.
func (b *Blocks) ended(before int) error {
	if len(b.Data) == before {
		return b.Err
	}
	return nil
}

// Release ends the reading. Data is no longer valid.
func (b *Blocks) Release() {
	recycle(b.own)
	b.own, b.Data = nil, nil
}

// spareBlocks holds blocks of the usual length that are no longer in use. A
// program that reads many histories reuses them and does not touch new memory.
var spareBlocks = sync.Pool{New: func() any { return (*[fullBlock]byte)(make([]byte, fullBlock)) }}

func newBlock(size int) []byte {
	if size == fullBlock || size == firstBlock {
		return spareBlocks.Get().(*[fullBlock]byte)[:size]
	}
	return make([]byte, size)
}

// recycle takes back a block that is no longer read.
func recycle(block []byte) {
	if cap(block) == fullBlock {
		spareBlocks.Put((*[fullBlock]byte)(block[:fullBlock]))
	}
}

// maxEmptyReads bounds how often in a row an io.Reader may return nothing.
const maxEmptyReads = 100

// Fill reads into a block that already has n bytes until it is full or the
// input ends; if eager, until the first bytes arrive. It returns how many
// bytes the block has then, and the error that ended the input.
func Fill(in io.Reader, block []byte, n int, eager bool) (int, error) {
	before, empty := n, 0
	for n < len(block) && !(eager && n > before) {
		k, err := in.Read(block[n:])
		n += k
		if err != nil {
			return n, err
		}
		if empty++; k > 0 {
			empty = 0
		}
		if empty == maxEmptyReads {
			return n, io.ErrNoProgress
		}
	}
	return n, nil
}
