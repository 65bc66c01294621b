package opmap

import (
	"bytes"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"clew/edn"
	"clew/internal/blocks"
	"clew/internal/layouts"
)

// A history is read ahead in blocks, and the Reader goes through them in order.
// Scouts run ahead of it, each in a block of its own. They note where op maps begin
// that are like others, and what these contain. The Reader interns the values in
// the order of the text, so that their numbers are the same as without scouts. It
// reads anything unusual itself. A block that no scout has reached it scans as they do.
//
// If the input is always ready, as a file is, whichever goroutine scans a block fills it and those
// before it. Otherwise only the Reader fills blocks, because nothing else may wait for the input.
// If op maps are needed as soon as they arrive, the Reader fills and scans each block when it comes to it, with
// what the input has at once.

const (
	// A block is long enough that handing it over costs little, and short
	// enough to stay in a core's cache.
	blockBytes = 256 << 10
	// If a form is longer, the Reader continues alone.
	longForm = 1 << 20
	// It also does so if, after this many op maps, it had to read most of them itself.
	enoughFound = 1000

	maxScouts = 8
	maxWords  = 1 << 14 // how many keywords a scout may have seen
)

// record is an op map that a scout has found. It is small because it moves
// between cores. Only the fields that its layout has count.
type record struct {
	begin        int32  // in the block
	size, others uint16 // of its text, and of the values of its other keys
	typ, f       uint16
	last         uint8 // the number of the last step of its layout
	lines        lineEnds
	index        int64
	process      int64
	value        edn.Raw
	other        int64
}

// lineEnds says where there are line ends.
type lineEnds uint8

const (
	noLineEnd lineEnds = iota
	lineEndBehind
	lineEndsWithin // in a value
)

// scouting is the state of a Reader that scans for another one.
type scouting struct {
	block  *block // what it scans, unless nil
	record        // the current op map
	typ, f edn.ID
	key    edn.Raw
}

// block is a part of the text.
type block struct {
	buf, text []byte
	err       error // what ended the input after it
	job       *job
	filled    atomic.Bool
	done      chan struct{} // receives once, when it has been scanned
	bug       any           // the panic of its scan, or nil

	scout   *scout
	records []record
	others  []byte    // of the records, in a row
	keys    []edn.Raw // the same, for those that have a :key
	raws    edn.Raws
	steps   []*step // of the scout, by number
}

// job is a block to be scanned by the first goroutine that claims it. A claimed
// job may stay in the channel of jobs for longer than the block is needed.
type job struct {
	*block
	claimed atomic.Bool
}

func (j *job) claim() bool { return j.claimed.CompareAndSwap(false, true) }

// scout scans blocks.
type scout struct {
	r     *Reader
	words *edn.Words
	steps []*step // by number: the Reader's own, nil if not known yet
}

// ahead is what a Reader knows of the text ahead of it.
type ahead struct {
	r       *Reader
	scouts  int
	size    int
	long    int
	started bool
	ready   bool // see ReadAhead
	eager   bool // see Eager
	most    int  // the longest that the queue may be
	queue   []*block
	jobs    chan *job
	spare   []*block
	own     *scout                   // the Reader's own, for when it has to wait
	syntax  func(*edn.Values) Syntax // of a scout whose words are in the given table; nil: EDN

	mu    sync.Mutex // guards what follows, and the input
	empty []*block   // blocks of the queue that are to be filled next
	torn  []byte     // the beginning of a line
	err   error      // what ended the input
	ended bool       // nothing may fill blocks any more

	now          *block // the block being read
	base         int    // where it begins in Data
	next         int    // the index of its next record,
	others       int    // where that record's others begin,
	keys         int    // and the index of its key
	joined       []byte
	found, taken int // how many op maps there were, and how many were taken from records
}

// ReadAhead makes that many goroutines run ahead of the reader once the text turns out to be
// long; if there are none, the reader scans one block after the other before it returns what is in
// them. The events and errors are the same. It must be called before Next, and Close after
// the last read. If the input is ready, as a file always is, the goroutines read it, too.
func (r *Reader) ReadAhead(scouts int, ready bool) {
	r.ahead = &ahead{r: r, scouts: min(scouts, maxScouts), ready: ready || scouts == 0, size: blocks.Length(blockBytes), long: longForm / blockBytes * blocks.Length(blockBytes)}
	r.maps.ReadAhead(r.ahead)
}

// Eager makes the reader return op maps as soon as their text arrives. It is called instead of ReadAhead.
func (r *Reader) Eager() {
	r.ReadAhead(0, true)
	r.ahead.eager = true
	r.maps.Eager()
}

// Close ends the reading. Events that were read last are no longer valid.
func (r *Reader) Close() {
	r.maps.Release()
	if a := r.ahead; a != nil {
		a.close()
		// Scouts may still be scanning blocks in the queue.
		for _, b := range append(a.spare, a.now) {
			if b != nil && a.size == blockBytes && len(b.buf) == blockBytes {
				b.job, b.scout, b.steps = nil, nil, nil
				spareBlocks.Put(b)
			}
		}
		r.ahead = nil
	}
}

// spareBlocks holds blocks that are no longer in use. A program that reads
// many histories reuses them and does not touch new memory.
var spareBlocks = sync.Pool{New: func() any { return newBlock() }}

func newBlock() *block { return &block{done: make(chan struct{}, 1)} }

func (a *ahead) block() *block {
	if a.size != blockBytes {
		return newBlock()
	}
	return spareBlocks.Get().(*block)
}

// close lets the scouts go and waits until none of them reads.
func (a *ahead) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	if a.jobs != nil {
		close(a.jobs)
		a.jobs = nil
	}
}

// Next implements blocks.Ahead.
func (a *ahead) Next(rest []byte) ([]byte, error) {
	if !a.started {
		a.start(rest)
		rest = nil
	}
	if len(rest) > a.long || a.found > enoughFound && a.taken < a.found/2 {
		return nil, nil
	}
	if a.eager && len(rest) > 0 { // the block begins with the rest, whose line has not ended yet
		a.torn, rest = append(a.torn[:0], rest...), nil
	}
	a.base, a.next, a.others, a.keys = len(rest), 0, 0, 0
	a.joined = append(a.joined[:0], rest...) // before the block that contains rest is filled again
	head := a.queue[0]
	a.queue = append(a.queue[:0], a.queue[1:]...)
	if a.now != nil {
		a.spare = append(a.spare, a.now)
	}
	a.now = head
	if !a.ready || len(a.queue) <= a.most/2 { // see start
		a.extend()
	}
	a.wait(head)
	text := head.text
	if len(a.joined) > 0 || len(text) == 0 {
		a.joined = append(a.joined, text...)
		text = a.joined
	}
	return text, head.err
}

// Left returns the text of the blocks that Next has not returned, and all that follows.
func (a *ahead) Left() io.Reader {
	a.close()
	var parts []io.Reader
	for _, b := range a.queue {
		parts = append(parts, bytes.NewReader(b.text))
	}
	parts = append(parts, bytes.NewReader(a.torn))
	if a.err != nil {
		parts = append(parts, failing{a.err})
	} else {
		parts = append(parts, a.r.in)
	}
	a.r.ahead = nil
	return io.MultiReader(parts...)
}

// failing is an input that ended with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// start begins with the text that has been read but not returned.
func (a *ahead) start(rest []byte) {
	a.started = true
	a.torn = append(a.torn, rest...)
	// Waking a scout for every block takes a good part of the time of a block.
	// So it gets several at once if the Reader need not fill them first.
	switch {
	case a.scouts == 0:
		a.most = 1
	case a.ready:
		a.most = 4*a.scouts + 8
	default:
		a.most = 2*a.scouts + 2
	}
	a.queue = make([]*block, 0, a.most)
	a.jobs = make(chan *job, 2*a.most)
	for range a.scouts {
		go a.work(a.jobs)
	}
	a.extend()
}

// extend makes the queue as long as allowed, unless the input has ended.
func (a *ahead) extend() {
	for len(a.queue) < a.most {
		var b *block
		if last := len(a.spare) - 1; last >= 0 {
			b, a.spare = a.spare[last], a.spare[:last]
		} else {
			b = a.block()
		}
		b.job = &job{block: b}
		b.scout, b.bug, b.text, b.err, b.records, b.others, b.keys = nil, nil, nil, nil, b.records[:0], b.others[:0], b.keys[:0]
		b.filled.Store(false)
		a.mu.Lock()
		more := a.err == nil
		if more {
			a.empty = append(a.empty, b)
		}
		a.mu.Unlock()
		if !more {
			a.spare = append(a.spare, b)
			return
		}
		a.queue = append(a.queue, b)
		if !a.ready {
			a.fill(b)
		}
		select {
		case a.jobs <- b.job:
		default: // The scouts have enough to do.
		}
	}
}

// fill fills a block, after those before it.
func (a *ahead) fill(b *block) {
	if b.filled.Load() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for !b.filled.Load() && !a.ended {
		a.fillNext()
	}
}

// fillNext fills the first empty block. The caller holds the lock.
func (a *ahead) fillNext() {
	b := a.empty[0]
	a.empty = append(a.empty[:0], a.empty[1:]...)
	defer b.filled.Store(true)
	if b.err = a.err; a.err != nil {
		return
	}
	if size := max(a.size, 2*len(a.torn)); len(b.buf) < size {
		b.buf = make([]byte, size)
	}
	var n int
	n, a.err = blocks.Fill(a.r.in, b.buf, copy(b.buf, a.torn), a.eager)
	b.err, b.text = a.err, b.buf[:n]
	a.torn = a.torn[:0]
	if end := bytes.LastIndexByte(b.text, '\n') + 1; end > 0 && a.err == nil && !a.eager {
		a.torn = append(a.torn, b.text[end:]...)
		b.text = b.text[:end]
	}
}

// wait waits until a block has been scanned. The Reader scans it itself if that has not begun,
// and others in the meantime if it has.
func (a *ahead) wait(head *block) {
	if head.job.claim() {
		a.own = a.own.scan(a, head)
	}
	for scanned := false; !scanned; {
		select {
		case <-head.done:
			scanned = true
		default:
			if !a.help() {
				<-head.done
				scanned = true
			}
		}
	}
	if head.bug != nil {
		panic(head.bug) // where it is caught and the file is named
	}
}

func (a *ahead) help() bool {
	for _, b := range a.queue {
		if b.job.claim() {
			a.own = a.own.scan(a, b)
			return true
		}
	}
	return false
}

func (a *ahead) work(jobs <-chan *job) {
	var s *scout
	for j := range jobs {
		if j.claim() {
			s = s.scan(a, j.block)
		}
	}
}

// scan fills and scans a block. It returns the scout for the next block,
// because one that has seen many keywords must forget them.
func (s *scout) scan(a *ahead, b *block) *scout {
	if s == nil || s.r.values.Len() > maxWords {
		v := edn.NewValues()
		s = &scout{r: NewReader(nil, "", v), words: &edn.Words{}}
		if a.syntax != nil {
			s.r.write(a.syntax(v))
		}
	}
	defer func() {
		b.bug = recover()
		b.done <- struct{}{}
	}()
	a.fill(b)
	b.scout = s
	b.raws.Reset(s.words)
	r := s.r
	r.block = b
	if r.syntax != nil {
		r.scanLines()
	} else {
		r.scanMaps()
	}
	r.maps.Scanned()
	b.steps = slices.Clip(r.tree.All)
	return s
}

// scanMaps scans a block of op maps.
func (r *Reader) scanMaps() {
	b := r.block
	// Text that is not an op map may have been a part of one. Every line may
	// begin one, but the time must stay linear.
	for from, cost := 0, 0; from >= 0 && cost <= len(b.text); {
		r.maps.Scan(b.text, from, &b.raws)
		for r.scout() {
		}
		var more int
		from, more = r.maps.Resume()
		cost += more
	}
}

// scout scans the next op map of a block and reports whether there is one.
func (r *Reader) scout() bool {
	for {
		i, err := r.maps.Next()
		if err != nil {
			return false
		}
		if end := r.op(i, nil); r.maps.Done(end) {
			if b := r.block; end > i && b.text[end-1] == '\n' {
				r.maps.Passed(r.alike(end), 0)
			}
			return true
		}
	}
}

// note records the op map from i to end, unless it is too large.
func (r *Reader) note(i, end int, last *step, within, behind bool) {
	rec, b := &r.record, r.block
	if end-i > math.MaxUint16 || len(r.others) > math.MaxUint16 || max(r.typ, r.f) > math.MaxUint16 {
		return
	}
	rec.begin, rec.size, rec.others, rec.last = int32(i), uint16(end-i), uint16(len(r.others)), uint8(last.About.last)
	rec.typ, rec.f, rec.lines = uint16(r.typ), uint16(r.f), noLineEnd
	switch {
	case within:
		rec.lines = lineEndsWithin
	case behind:
		rec.lines = lineEndBehind
	}
	b.records = append(b.records, *rec)
	b.others = append(b.others, r.others...)
	if last.About.all&HasKey != 0 {
		b.keys = append(b.keys, r.key)
	}
}

// chained returns the next record and where its op map begins, or nil if the last op
// map did not end there. It nearly always did, and then the text need not be examined.
func (r *Reader) chained() (i int, rec *record) {
	a := r.ahead
	if a.now == nil || a.next >= len(a.now.records) {
		return 0, nil
	}
	rec = &a.now.records[a.next]
	if i = a.base + int(rec.begin); !r.maps.Found(i) {
		return 0, nil
	}
	return i, rec
}

// recorded returns the record of the op map at i, or nil.
func (r *Reader) recorded(i int) *record {
	a := r.ahead
	if a.now.scout == nil {
		return nil
	}
	a.found++
	for at := int32(i - a.base); a.next < len(a.now.records); a.pass(1) {
		if rec := &a.now.records[a.next]; rec.begin == at {
			return rec
		} else if rec.begin > at {
			return nil
		}
	}
	return nil
}

// pass leaves n records behind.
func (a *ahead) pass(n int) {
	for range n {
		rec := &a.now.records[a.next]
		a.next++
		a.others += int(rec.others)
		if a.now.steps[rec.last].About.all&HasKey != 0 {
			a.keys++
		}
	}
}

// take makes an event from the op map at i, whose record is the next one.
func (r *Reader) take(rec *record, i int, ev *Event) int {
	a, b, maps := r.ahead, r.ahead.now, &r.maps
	b.raws.In(r.values)
	last := b.steps[rec.last]
	end := i + int(rec.size)
	ev.Line, ev.Col = maps.Place()
	ev.Key, ev.Index, ev.Has, ev.Text, ev.layout, ev.others = edn.Nil, rec.index, last.About.all, maps.Data()[i:end:end], nil, nil
	ev.Misnamed = last.About.odd
	if !r.fields(rec, last, ev) {
		a.pass(1)
		return r.general(i, ev)
	}
	if rec.lines != lineEndsWithin {
		if ev.layout = b.scout.own(last, &r.tree); ev.layout != nil {
			ev.others, ev.other = b.others[a.others:][:rec.others:rec.others], rec.other
		}
	}
	if rec.lines == lineEndBehind {
		end = maps.LineEnd(end)
	}
	a.taken++
	a.pass(1)
	return end
}

// fields interns the values of a record and reports whether it could. Keywords that are
// already known may come first, because values are numbered in the order of the text.
func (r *Reader) fields(rec *record, last *step, ev *Event) (ok bool) {
	maps, a, raws := &r.maps, r.ahead, &r.ahead.now.raws
	base, typ, f := a.base, edn.ID(rec.typ), edn.ID(rec.f)
	if ev.Type, ev.F = raws.Known(typ), raws.Known(f); last.About.plain != unusual && ev.Type != edn.Nil && ev.F != edn.Nil {
		if last.About.plain == processFirst {
			ev.Process = r.values.InternInt(rec.process)
		}
		ev.Value, ok = maps.Intern(rec.value, raws, base)
		if ok && last.About.plain == valueFirst {
			ev.Process = r.values.InternInt(rec.process)
		}
		return ok
	}
	ev.Type, ev.F, ev.Process, ev.Value = edn.Nil, edn.Nil, edn.Nil, edn.Nil
	ok = true
	for _, has := range last.About.order {
		switch has {
		case HasType:
			ev.Type = maps.Word(typ, raws)
		case HasF:
			ev.F = maps.Word(f, raws)
		case HasProcess:
			ev.Process = r.values.InternInt(rec.process)
		case HasValue:
			ev.Value, ok = maps.Intern(rec.value, raws, base)
		case HasKey:
			ev.Key, ok = maps.Intern(a.now.keys[a.keys], raws, base)
		}
		if !ok {
			return false
		}
	}
	return true
}

// own returns the step of the Reader's tree that corresponds to a scout's
// step, or nil if the tree has too many.
func (s *scout) own(p *step, t *layouts.Tree[about]) *step {
	if p.Parent == nil {
		return &t.Root
	}
	for len(s.steps) <= p.Number {
		s.steps = append(s.steps, nil)
	}
	if s.steps[p.Number] == nil {
		if parent := s.own(p.Parent, t); parent != nil {
			s.steps[p.Number] = grow(t, parent, p.Text, about{has: p.About.has, end: p.About.end})
		}
	}
	return s.steps[p.Number]
}
