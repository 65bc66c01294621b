// Package live reads a text that may pause: a caller can do something else while nothing comes. It does not follow files
// that grow; package forms does.
package live

import (
	"context"
	"io"
	"time"
)

// Reader is a text that is read ahead, in the background.
type Reader struct {
	ctx    context.Context
	pause  func() (after time.Duration, ok bool)
	look   func() error
	blocks chan block
	ended  chan struct{} // nothing more is wanted
	free   chan []byte   // what blocks were read into that are done
	buf    []byte        // of the block that is being used
	rest   []byte
	err    error
}

type block struct {
	buf, text []byte
	err       error
}

// Blocks grow from leastBlock to mostBlock while they are filled: of many streams, most are slow.
const leastBlock, mostBlock = 8 << 10, 256 << 10

// NewReader returns a Reader of r. When nothing has come, it asks pause how long to wait until it calls look, or whether
// to call it at all. Read returns the error of look, or the cause of the end of the context, without waiting for r. The
// caller calls Close when nothing more is wanted; a Read of r that is under way may end later.
func NewReader(ctx context.Context, r io.Reader, pause func() (time.Duration, bool), look func() error) *Reader {
	x := &Reader{ctx: ctx, pause: pause, look: look, blocks: make(chan block, 1), free: make(chan []byte, 1), ended: make(chan struct{})}
	go x.pump(r)
	return x
}

// Close ends the reading.
func (x *Reader) Close() { close(x.ended) }

// pump reads until the text ends.
func (x *Reader) pump(r io.Reader) {
	for size := leastBlock; ; {
		var buf []byte
		select {
		case buf = <-x.free:
		default:
		}
		if len(buf) < size {
			buf = make([]byte, size)
		}
		n, err := r.Read(buf)
		if n == size {
			size = min(2*size, mostBlock)
		}
		select {
		case x.blocks <- block{buf, buf[:n], err}:
		case <-x.ended:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read implements io.Reader.
func (x *Reader) Read(p []byte) (int, error) {
	for len(x.rest) == 0 && x.err == nil {
		if err := x.next(); err != nil {
			return 0, err
		}
	}
	if len(x.rest) == 0 {
		return 0, x.err
	}
	n := copy(p, x.rest)
	x.rest = x.rest[n:]
	return n, nil
}

// next waits for a block, and looks in between.
func (x *Reader) next() error {
	if x.buf != nil {
		select {
		case x.free <- x.buf:
		default:
		}
		x.buf = nil
	}
	select {
	case b := <-x.blocks:
		x.take(b)
		return nil
	default:
	}
	var look <-chan time.Time
	if after, ok := x.pause(); ok {
		timer := time.NewTimer(after)
		defer timer.Stop()
		look = timer.C
	}
	select {
	case b := <-x.blocks:
		x.take(b)
	case <-look:
		return x.look()
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
	return nil
}

// take goes on with a block.
func (x *Reader) take(b block) { x.buf, x.rest, x.err = b.buf, b.text, b.err }
