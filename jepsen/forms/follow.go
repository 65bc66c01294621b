package forms

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"sync"
	"time"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// Following says how to read a history that is still being written.
type Following struct {
	// Idle is how long nothing may come until the history counts as ended; 0 means forever. A pipe also ends with its
	// writer. A file does not, since it may grow.
	Idle time.Duration
	// Look is called now and then, when everything that had come by then has been read. It gets the history so far,
	// which stays whole until Look returns. If it returns false, nothing more is read.
	Look func(soFar *jepsen.History) bool
}

// Follow reads a history line by line while it is being written. The last line counts once it ends, or the text does.
// Follow treats what is not whole then as Read does. EDN, JSON lines and the .log form can be looked at on the way;
// in other forms Look sees nothing before the end. A test.jepsen file grows by chunks of 16,384 events, and ends once
// the test says that its history is whole.
//
// If the context is done, the history ends there: a file is read to its end, a pipe until nothing comes. ErrUnread
// says that there was more than could be read in 60 ms. If the text ends within an event, the error is a *TornError, and
// Follow returns the history before that, too. A file that is compressed, that becomes shorter, or that is
// written again, deleted or replaced, is an error. Follow reads a file that is written to again, to compare it: now
// and then, and at the end. Follow takes the memory and time of Read, and a buffer.
func Follow(ctx context.Context, r io.Reader, name string, opts jepsen.Options, f Following) (*jepsen.History, error) {
	if r == nil || f.Look == nil {
		return nil, fmt.Errorf("%s: expected a reader and a function that looks, found nil", name)
	}
	opts.File = name
	if file, ok := r.(*os.File); ok && isRewritten(file) {
		return followRewritten(ctx, file, opts, f)
	}
	b := jepsen.NewBuilder(opts)
	last, end := Later(ctx, lastMoment)
	defer end()
	compare, ended := Later(ctx, lastComparison)
	defer ended()
	t := &tail{ctx: ctx, over: last.Done(), growing: newGrowth(r), idle: f.Idle, blocks: make(chan block, blocksAhead), look: func() bool {
		h, err := b.SoFar()
		return err != nil || f.Look(h)
	}}
	stop, pumped := make(chan struct{}), make(chan struct{})
	halt := sync.OnceFunc(func() { close(stop) })
	defer halt()
	go func() {
		defer close(pumped)
		t.pump(r, stop)
	}()
	in := newInput(context.WithoutCancel(ctx), feed.Of(b), name, opts)
	in.eager = true
	err := in.read(t, nil)
	if errors.Is(err, ErrUnread) {
		return nil, err
	}
	halt()
	if wrong := t.growing.compare(compare, pumped); wrong == errUncompared {
		in.to.Warn("%v", wrong)
	} else if wrong != nil {
		return nil, fmt.Errorf("%s: %w", name, wrong)
	}
	if err != nil && !errors.Is(err, errEnough) {
		if !t.cutOff && !errors.Is(err, edn.ErrUnfinished) {
			return nil, err
		}
		before, none := b.History()
		if none != nil {
			return nil, err
		}
		return before, &TornError{err}
	}
	if in.form != nil && in.form.wholeOps && ctx.Err() != nil {
		in.to.Warn("operations that had not returned yet are missing, and others may have seen their effects")
	}
	return b.History()
}

// settled is a text that ends as soon as no more of it is wanted.
type settled struct{ io.Reader }

func (s settled) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, errEnough) {
		err = io.EOF
	}
	return n, err
}

// Later returns a context that is done some time after another one is, for the same reason. If there is not enough
// memory, it is done at once.
func Later(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	later, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); errors.Is(cause, limits.ErrOutOfMemory) {
			end(cause)
		} else {
			time.AfterFunc(by, func() { end(cause) })
		}
	})
	return later, func() {
		stop()
		end(nil)
	}
}

// ErrUnread says that when the context was done, more of the history was there than could be read in a moment.
var ErrUnread = errors.New("not everything that was there had been read when the signal came")

// errRead ends the text of a file that was read to its end after the context was done.
var errRead = errors.New("the file may grow, but not before the end of the context")

// errEnough ends the reading of a text that may go on.
var errEnough = errors.New("the text may go on, but no more is wanted")

// tail reads a history that is being written, as whole lines.
type tail struct {
	ctx     context.Context
	over    <-chan struct{} // closed at the end of the last moment after that of ctx
	growing *growth         // nil: not a file
	idle    time.Duration
	blocks  chan block
	look    func() bool

	whole []byte // lines that have not been read yet
	torn  []byte // the beginning of a line
	opens byte   // what the text begins with, 0 if it has not begun
	end   error  // what the text ended with

	cutOff bool // it ended within a line
}

// TornError says that a text ended within an event, which cannot be read.
type TornError struct{ Err error }

func (e *TornError) Error() string { return e.Err.Error() }

func (e *TornError) Unwrap() error { return e.Err }

type block struct {
	text []byte
	err  error
}

// This much is read ahead, so that a writer need not wait while the history is looked at.
const (
	blockBytes  = 64 << 10
	blocksAhead = 256
)

// A file that has ended is looked at again after growthPause. While nothing comes, a history is offered to Look every
// lookPause.
const (
	growthPause = 50 * time.Millisecond
	lookPause   = 100 * time.Millisecond
)

// Once the context is done, lines that may have been there before are still read for at most lastMoment: those of a
// file to its end, those of a pipe until lastSilence passes without any. A file is compared until lastComparison. Tests
// set other times.
var (
	lastMoment     = 60 * time.Millisecond
	lastSilence    = 20 * time.Millisecond
	lastComparison = 85 * time.Millisecond
)

// pump reads until the text ends, or is no longer wanted.
func (t *tail) pump(r io.Reader, stop <-chan struct{}) {
	growing := t.growing
	for first := true; ; {
		over := t.ctx.Err() != nil // before it is read
		b := block{text: make([]byte, blocks.Length(blockBytes))}
		var n int
		n, b.err = r.Read(b.text)
		b.text = b.text[:n]
		growing.read(b.text)
		if growing != nil && b.err == io.EOF {
			b.err = growing.look(t.ctx)
		}
		if growing != nil && first && files.IsPacked(b.text) {
			b.text, b.err = nil, errPacked
		}
		first = first && n == 0
		switch {
		case n > 0 || b.err != nil:
		case over:
			b.err = errRead
		default:
			select {
			case <-time.After(growthPause):
				continue
			case <-t.ctx.Done():
				continue
			case <-stop:
				return
			}
		}
		select {
		case t.blocks <- b:
		case <-stop:
			return
		}
		if b.err != nil {
			return
		}
	}
}

// Read returns whole lines, and the rest once the text has ended. In between it calls look.
func (t *tail) Read(p []byte) (int, error) {
	if len(t.whole) == 0 && t.end == nil {
		if !t.look() {
			return 0, errEnough
		}
		if err := t.more(); err != nil {
			return 0, err
		}
	}
	if len(t.whole) == 0 {
		return 0, t.end
	}
	n := copy(p, t.whole)
	t.whole = t.whole[n:]
	return n, nil
}

// last ends the text with what there is of a line, as if it were the end of the file. A vector, list or array of
// operations may be open then, but no operation in it.
func (t *tail) last() error {
	t.whole, t.torn, t.end = t.torn, nil, io.EOF
	t.cutOff = len(t.whole) > 0
	if t.opens == '[' || t.opens == '(' {
		if isWhole(bytes.TrimSuffix(bytes.TrimSpace(t.whole), []byte(","))) {
			t.whole, t.end = append(t.whole, '\n'), errEnough
		}
	}
	return nil
}

// cut ends the text when there is no more time. If more of the text is there, it returns ErrUnread.
func (t *tail) cut() error {
	if t.growing != nil || len(t.blocks) > 0 {
		return ErrUnread
	}
	return t.last()
}

// isWhole reports whether a text is one map in EDN, one object in JSON, or empty.
func isWhole(text []byte) bool {
	if len(text) == 0 || json.Valid(text) && text[0] == '{' {
		return true
	}
	v := edn.NewValues()
	op, err := v.Parse(text, edn.Pos{})
	return err == nil && v.Kind(op) == edn.KindMap
}

func (t *tail) more() error {
	since := time.Now()
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	done := t.ctx.Done()
	var silence <-chan time.Time
	for {
		if t.ctx.Err() != nil {
			if done = nil; t.growing == nil {
				silence = time.After(lastSilence)
			}
		}
		select {
		case <-t.over: // before anything else that is ready
			return t.cut()
		default:
		}
		select {
		case <-done:
		case <-t.over:
			return t.cut()
		case <-silence:
			return t.last()
		case b := <-t.blocks:
			if b.err == errRead {
				return t.last()
			}
			since, t.end = time.Now(), b.err
			text := append(t.torn, b.text...)
			if begins := bytes.TrimSpace(text); t.opens == 0 && len(begins) > 0 {
				t.opens = begins[0]
			}
			lines := 0
			if end := bytes.LastIndexByte(b.text, '\n'); b.err != nil {
				lines = len(text)
			} else if end >= 0 {
				lines = len(t.torn) + end + 1
			}
			t.cutOff = b.err != nil && len(text) > 0 && text[len(text)-1] != '\n'
			if t.whole, t.torn = text[:lines:lines], text[lines:]; lines > 0 || b.err != nil {
				return nil
			}
		case now := <-tick.C:
			switch {
			case !t.look():
				return errEnough
			case t.idle > 0 && now.Sub(since) >= t.idle:
				return t.last()
			}
		}
	}
}

// Why a file cannot be followed.
var (
	errPacked    = errors.New("compressed data cannot be followed, since the end of the data so far need not be the end of a line; check it without following it")
	errShorter   = errors.New("it has become shorter since it was read, so it is not the same history")
	errRewritten = errors.New("the part that was read has been overwritten, so it is not the same history")
	errDeleted   = errors.New("it was deleted while it was followed, so later events cannot be read")
	errReplaced  = errors.New("another file replaced it while it was followed and was not read; follow the new file")
)

// moved returns an error if the path of a file does not lead to it anymore.
func moved(s files.Stamp) error {
	switch s.Moved() {
	case "":
		return nil
	case "replaced":
		return errReplaced
	}
	return errDeleted
}

// IsChanged reports whether an error says that a file does not hold anymore what was read from it.
func IsChanged(err error) bool { return errors.Is(err, errShorter) || errors.Is(err, errRewritten) }

// errUncompared says that a file is too long to read it again in the time that there is.
var errUncompared = errors.New("the file was not compared with what was read, since there was no time to read it again; check it without following it")

type growth struct {
	file     *os.File
	stamp    files.Stamp
	from, at int64        // where reading began, and where it is
	seen     maphash.Hash // of what was read
	info     os.FileInfo  // of the file before it was compared, nil before that
	next     time.Time    // when it may be compared again
}

// newGrowth returns nil if r is not a regular file.
func newGrowth(r io.Reader) *growth {
	file, ok := r.(*os.File)
	if !ok {
		return nil
	}
	stamp := files.StampOf(file)
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil || stamp == (files.Stamp{}) {
		return nil
	}
	return &growth{file: file, stamp: stamp, from: at, at: at}
}

func (g *growth) read(text []byte) {
	if g != nil {
		g.seen.Write(text)
		g.at += int64(len(text))
	}
}

// look returns an error if the file, which was read to its end, has changed other than by growing. It reads the file
// again if that has been written to, but takes a tenth of one processor at most.
func (g *growth) look(ctx context.Context) error {
	if err := moved(g.stamp); err != nil {
		return err
	}
	info, err := g.file.Stat()
	if err != nil {
		return err
	}
	now := time.Now()
	switch {
	case info.Size() < g.at:
		return errShorter
	case now.Before(g.next) || g.info != nil && !files.Touched(g.info, info):
		return nil
	}
	err = g.same(ctx)
	g.next = now.Add(readShare * time.Since(now))
	if err == errUncompared { // it is compared at the end
		return nil
	}
	g.info = info
	return err
}

// same reads again what was read. It returns errShorter or errRewritten if that has changed, and errUncompared if the context was
// done first.
func (g *growth) same(ctx context.Context) error {
	var now maphash.Hash
	now.SetSeed(g.seen.Seed())
	n, err := io.Copy(&now, limits.Reader(ctx, io.NewSectionReader(g.file, g.from, g.at-g.from), 0))
	switch {
	case ctx.Err() != nil && err != nil:
		return errUncompared
	case err == nil && n < g.at-g.from:
		return errShorter
	case err != nil || now.Sum64() != g.seen.Sum64():
		return errRewritten
	}
	return nil
}

// compare does what same does once nothing more is read.
func (g *growth) compare(ctx context.Context, pumped <-chan struct{}) error {
	if g == nil {
		return nil
	}
	select {
	case <-pumped:
		return g.same(ctx)
	case <-ctx.Done():
		return errUncompared
	}
}

// isRewritten reports whether a file has a form whose writer changes what is there.
func isRewritten(f *os.File) bool {
	head := make([]byte, binaryHead)
	if _, err := f.ReadAt(head, 0); err != nil {
		return false
	}
	form := detectBinary(head, "")
	return form != nil && form.rewritten
}

// followRewritten follows a file such as a test.jepsen. Jepsen changes its beginning, so the whole file is read again
// whenever it has grown. That takes a tenth of one processor at most. A file that cannot be read may be half written;
// it is read again later.
func followRewritten(ctx context.Context, f *os.File, opts jepsen.Options, how Following) (*jepsen.History, error) {
	last, end := Later(ctx, lastMoment)
	defer end()
	t := rewrittenFile{ctx: last, file: f, stamp: files.StampOf(f), opts: opts}
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	var next time.Time // when it may be read again
	for changed := time.Now(); ; {
		now := time.Now()
		grown, err := t.grown()
		ends := ctx.Err() != nil || how.Idle > 0 && now.Sub(changed) >= how.Idle
		switch {
		case err != nil:
			return nil, err
		case grown && (ends || !now.Before(next)):
			if t.read(); last.Err() != nil {
				return nil, ErrUnread
			}
			changed = time.Now()
			next = changed.Add(readShare * changed.Sub(now))
		}
		if t.history != nil && (!how.Look(t.history) || len(t.history.Warnings) == 0) || ends {
			return t.whole()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// readShare is how much longer the pause after a reading is than the reading.
const readShare = 10

type rewrittenFile struct {
	ctx     context.Context
	file    *os.File
	stamp   files.Stamp
	opts    jepsen.Options
	info    os.FileInfo // when it was read last, nil before
	history *jepsen.History
	err     error // why the file could not be read the last time
}

func (t *rewrittenFile) grown() (bool, error) {
	if err := moved(t.stamp); err != nil {
		return false, fmt.Errorf("%s: %w", t.opts.File, err)
	}
	info, err := t.file.Stat()
	if err != nil || t.info == nil {
		return err == nil, err
	}
	if info.Size() < t.info.Size() {
		return false, fmt.Errorf("%s: %w", t.opts.File, errShorter)
	}
	return info.Size() != t.info.Size() || files.Touched(t.info, info), nil
}

// read reads the file. If that fails, the history that was read before stands.
func (t *rewrittenFile) read() {
	info, err := t.file.Stat()
	if err == nil {
		t.info = info
		_, err = t.file.Seek(0, io.SeekStart)
	}
	var h *jepsen.History
	if err == nil {
		h, err = ReadWithin(t.ctx, t.file, t.opts.File, t.opts)
	}
	if t.err = err; err != nil {
		return
	}
	if t.history != nil && h.Events < t.history.Events {
		t.err = fmt.Errorf("%s: %w", t.opts.File, errRewritten)
		return
	}
	t.history = h
}

// whole returns the history once no more of it is wanted.
func (t *rewrittenFile) whole() (*jepsen.History, error) {
	if t.history == nil {
		return nil, t.err
	}
	if t.err != nil {
		t.history.Warnings = append(t.history.Warnings, fmt.Sprintf("later events could not be read: %v", t.err))
	}
	return t.history, nil
}
