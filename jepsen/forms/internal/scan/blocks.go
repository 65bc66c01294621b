package scan

import "io"

// The text is read in blocks. The first block is small, since many texts are.
const (
	firstBlock = 64 << 10
	fullBlock  = 256 << 10
)

// Blocks is the part of a text that is in memory.
type Blocks struct {
	In     io.Reader
	Eager  bool // a block is the result of one Read
	Data   []byte
	At     int   // how much of Data has been read
	Offset int64 // of Data in the text
	err    error // what the text ended with
}

// More reads more of the text, and keeps what is in memory from i. It moves that
// to the front of a block at least twice as long, so that a long form is moved
// only a few times. It returns io.EOF at the end.
func (b *Blocks) More(i int) error {
	if b.err != nil {
		return b.err
	}
	size := fullBlock
	if b.Data == nil {
		size = firstBlock
	}
	rest := b.Data[i:]
	block := b.Data[:cap(b.Data)]
	if size = max(size, 2*len(rest)); len(block) < size {
		block = make([]byte, size)
	}
	n := copy(block, rest)
	b.Offset += int64(i)
	b.At -= i
	before := n
	for empty := 0; n < len(block) && b.err == nil && !(b.Eager && n > before); empty++ {
		var k int
		k, b.err = b.In.Read(block[n:])
		if n += k; k > 0 {
			empty = 0
		}
		if b.err == nil && empty == maxEmptyReads {
			b.err = io.ErrNoProgress
		}
	}
	b.Data = block[:n]
	if n == before {
		return b.err
	}
	return nil
}

// maxEmptyReads bounds how often in a row an io.Reader may return nothing.
const maxEmptyReads = 100
