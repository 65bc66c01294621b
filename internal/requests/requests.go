// Package requests answers requests on a pipe, many at a time. docs/stdio.md describes the protocol. The package does
// not know what requests ask for: a function answers them.
package requests

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Server answers requests.
type Server struct {
	// Do answers a request: it reads standard input, writes to standard output and error, and returns an exit status.
	// Once the context is done, it ends soon. It does not panic.
	Do      func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int)
	AtOnce  int    // how many requests are answered side by side; others wait in order
	Held    int64  // how many bytes of texts may wait; a request with more is out of memory. 0 is no limit
	Version string // of the program, for the greeting
}

const (
	longestLine = 1 << 20
	piece       = 1 << 20 // texts are held in pieces of at most this size
	idle        = time.Second
)

// connection is a pipe with the requests that are not answered yet.
type connection struct {
	*Server
	ctx context.Context
	in  *bufio.Reader

	writing sync.Mutex
	out     io.Writer
	broken  chan struct{} // is closed if answers cannot be written

	mu       sync.Mutex
	open     map[int64]*request // those that are not answered yet
	waiting  []*request         // those of them whose text is whole, in order, until it is their turn
	running  int                // how many have their turn
	underWay int                // the same, and those that were cancelled before their turn
	answered *sync.Cond         // there is one fewer under way
	held     int64              // bytes of texts that are not read yet
	resting  *time.Timer        // gives memory back
}

// request is one of them.
type request struct {
	id     int64
	args   []string
	text   text
	begun  bool // it is not waiting anymore
	ctx    context.Context
	cancel context.CancelFunc

	asking sync.Mutex
	asked  []chan json.RawMessage // where the client's answers go, in the order of the questions
}

// line is a line of the client.
type line struct {
	ID     *int64          `json:"id"`
	Check  *[]string       `json:"check"`
	Bytes  *int64          `json:"bytes"`
	End    bool            `json:"end"`
	Cancel bool            `json:"cancel"`
	Told   json.RawMessage `json:"told"`
}

func (l *line) read(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(l)
	if _, more := d.Token(); err == nil && more != io.EOF {
		err = errors.New("more than one value")
	}
	if err != nil {
		return fmt.Errorf("expected a request, an object of JSON: %w", err)
	}
	if name, is := Twice(text); is {
		return fmt.Errorf("expected each key once, found %q twice", name)
	}
	return nil
}

// Serve answers requests until the input ends, or until answers cannot be written anymore. Requests that are not
// answered by then are dropped. When the context is done, Serve first answers what is under way. The error says how
// the input lost its form.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	c := &connection{Server: s, ctx: ctx, in: bufio.NewReaderSize(in, longestLine), out: out,
		broken: make(chan struct{}), open: map[int64]*request{}}
	c.answered = sync.NewCond(&c.mu)
	c.resting = time.AfterFunc(idle, c.rest)
	defer c.resting.Stop()
	c.write(struct {
		Version string `json:"clew"`
		AtOnce  int    `json:"at-once"`
	}{s.Version, s.AtOnce})
	ended := make(chan error, 1)
	go func() { ended <- c.read() }()
	select {
	case err := <-ended:
		return err
	case <-c.broken:
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		for c.underWay > 0 {
			c.answered.Wait()
		}
	}
	return nil
}

// read takes one line after another.
func (c *connection) read() error {
	for n := 1; ; n++ {
		text, err := c.in.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return c.lost(n, fmt.Errorf("expected a line of at most %d bytes: %w", longestLine, err))
		}
		var l line
		if err = l.read(text); err != nil && !bytes.Contains(bytes.ToLower(text), []byte(`"bytes"`)) {
			c.complain(n, err)
			continue
		}
		lost := err
		if lost == nil {
			lost, err = c.take(&l)
		}
		switch {
		case errors.Is(lost, io.EOF), errors.Is(lost, io.ErrUnexpectedEOF):
			return nil
		case lost != nil:
			return c.lost(n, lost)
		case err != nil:
			c.complain(n, err)
		}
	}
}

// lost says that what follows cannot be read, and why.
func (c *connection) lost(line int, err error) error {
	c.complain(line, err)
	return fmt.Errorf("line %d of the requests: %w", line, err)
}

func (c *connection) complain(line int, err error) {
	c.write(struct {
		Line  int    `json:"line"`
		Error string `json:"error"`
	}{line, err.Error()})
}

// take does what a line says, which may be several things: to begin a request, to take its text, and to end it. It
// returns lost if what follows cannot be read.
func (c *connection) take(l *line) (lost, err error) {
	if l.Bytes != nil && *l.Bytes < 0 {
		return fmt.Errorf(`expected "bytes" of at least 0, found %d`, *l.Bytes), nil
	}
	var r *request
	if l.ID != nil {
		c.mu.Lock()
		r = c.open[*l.ID]
		c.mu.Unlock()
	}
	switch {
	case l.ID == nil:
		err = errors.New(`expected an "id", a number`)
	case l.Check != nil && r != nil:
		err = fmt.Errorf("request %d is not answered yet; expected another id", *l.ID)
	case l.Check != nil:
		r = c.check(*l.ID, *l.Check)
	}
	waits := err == nil && r != nil && !r.begun
	switch {
	case l.Bytes != nil && waits:
		if lost := c.receive(r, *l.Bytes); lost != nil {
			return lost, nil
		}
	case l.Bytes != nil:
		if lost := c.skip(*l.Bytes); lost != nil {
			return lost, nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case l.Told != nil && r != nil:
		err = r.told(l.Told)
	}
	switch {
	case l.Cancel && r != nil:
		c.cancelled(r)
	case l.Cancel, l.Told != nil && !l.End && l.Bytes == nil: // the answer is on its way
	case l.Check == nil && l.Bytes == nil && !l.End:
		return nil, fmt.Errorf(`expected "check", "bytes", "end", "told" or "cancel" beside the id %d`, *l.ID)
	case !waits:
		return nil, fmt.Errorf(`no request %d waits for its history; expected its "check" first`, *l.ID)
	case l.End:
		c.whole(r)
	}
	return nil, err
}

func (c *connection) check(id int64, args []string) *request {
	r := &request{id: id, args: args}
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[id] = r
	return r
}

// receive adds what follows to the text of a request. If there is no memory for it, the whole text is dropped.
func (c *connection) receive(r *request, n int64) error {
	c.mu.Lock()
	if c.Held > 0 && n > c.Held-c.held {
		c.held -= r.text.bytes
		r.text = text{over: true}
	}
	if !r.text.over {
		c.held += n
		r.text.bytes += n
	}
	c.mu.Unlock()
	if r.text.over {
		return c.skip(n)
	}
	for n > 0 {
		p := make([]byte, min(n, piece))
		if _, err := io.ReadFull(c.in, p); err != nil {
			return err
		}
		r.text.pieces = append(r.text.pieces, p)
		n -= int64(len(p))
	}
	return nil
}

func (c *connection) skip(n int64) error {
	_, err := io.CopyN(io.Discard, c.in, n)
	return err
}

// whole says that the text of a request is whole.
func (c *connection) whole(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.begun = true
	c.waiting = append(c.waiting, r)
	c.next()
}

// next begins requests if there is room for them. The caller holds the lock.
func (c *connection) next() {
	for c.running < c.AtOnce && len(c.waiting) > 0 {
		r := c.waiting[0]
		c.waiting = slices.Delete(c.waiting, 0, 1)
		c.running++
		c.begin(r, func() {
			c.running--
			c.next()
		})
	}
}

// cancelled ends a request, wherever it stands. It need not wait to be answered.
func (c *connection) cancelled(r *request) {
	r.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, r)
	if i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	if i >= 0 || !r.begun {
		r.begun = true
		c.begin(r, func() {})
	}
}

// begin answers a request in the background, and then calls after with the lock. The caller holds the lock, too.
func (c *connection) begin(r *request, after func()) {
	c.resting.Stop()
	c.held -= r.text.bytes
	c.underWay++
	go func() {
		var stdout, stderr output
		status := c.Do(context.WithValue(r.ctx, askerKey{}, c.asker(r)), r.args, &r.text, &stdout, &stderr)
		r.cancel()
		said, complained := stdout.close(), stderr.close()
		c.mu.Lock()
		delete(c.open, r.id)
		c.mu.Unlock()
		c.write(struct {
			ID     int64 `json:"id"`
			Status int   `json:"status"`
			Err    int   `json:"err"`
			Out    int   `json:"out"`
		}{r.id, status, len(complained), len(said)}, complained, said)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.underWay--
		c.answered.Broadcast()
		if after(); len(c.open) == 0 {
			c.resting.Reset(idle)
		}
	}()
}

// rest gives memory back: it may be long until the next request.
func (c *connection) rest() { debug.FreeOSMemory() }

// write writes a line and the bytes that follow it.
func (c *connection) write(head any, rest ...[]byte) {
	b, err := json.Marshal(head)
	if err != nil {
		panic(err)
	}
	b = append(b, '\n')
	for _, r := range rest {
		b = append(b, r...)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(b); err != nil {
		select {
		case <-c.broken:
		default:
			close(c.broken)
		}
	}
}
