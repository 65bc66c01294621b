package requests

import (
	"bytes"
	"io"
	"sync"

	"clew/internal/limits"
)

// text is the text of a request, which is read once. It lets go of what has been read.
type text struct {
	pieces [][]byte
	bytes  int64 // of all pieces
	over   bool  // there was not enough memory for it
}

func (t *text) Read(p []byte) (int, error) {
	if t.over {
		return 0, limits.ErrOutOfMemory
	}
	for len(t.pieces) > 0 && len(t.pieces[0]) == 0 {
		t.pieces[0] = nil
		t.pieces = t.pieces[1:]
	}
	if len(t.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, t.pieces[0])
	t.pieces[0] = t.pieces[0][n:]
	return n, nil
}

// Len returns how many bytes are left.
func (t *text) Len() (n int) {
	for _, p := range t.pieces {
		n += len(p)
	}
	return n
}

// output holds what is written until it is closed. What was left behind may go on writing.
type output struct {
	mu     sync.Mutex
	held   bytes.Buffer
	closed bool
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return 0, io.ErrClosedPipe
	}
	return o.held.Write(p)
}

// close returns what was written.
func (o *output) close() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	return o.held.Bytes()
}
