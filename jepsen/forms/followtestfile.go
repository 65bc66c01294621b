package forms

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"clew/internal/files"
	"clew/internal/testfile"
	"clew/jepsen"
)

// isTest reports whether a file is a test.jepsen.
func isTest(f *os.File) bool {
	head := make([]byte, testfile.Head)
	_, err := f.ReadAt(head, 0)
	return err == nil && testfile.Is(head)
}

// followTest follows a test.jepsen. Jepsen changes the beginning of the file, so the whole file is read again
// whenever it has grown. That takes a tenth of one processor at most. A file that cannot be read may be half written;
// it is read again later.
func followTest(ctx context.Context, f *os.File, opts jepsen.Options, how Following) (*jepsen.History, error) {
	last, end := Later(ctx, lastMoment)
	defer end()
	t := growingTest{ctx: last, file: f, stamp: files.StampOf(f), opts: opts}
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

// growingTest is a test.jepsen that is read now and then.
type growingTest struct {
	ctx     context.Context
	file    *os.File
	stamp   files.Stamp
	opts    jepsen.Options
	info    os.FileInfo // when it was read last, nil before
	history *jepsen.History
	err     error // why the file could not be read the last time
}

// grown reports whether the file has changed since it was read.
func (t *growingTest) grown() (bool, error) {
	switch t.stamp.Moved() {
	case "deleted", files.Gone:
		return false, fmt.Errorf("%s: %w", t.opts.File, errDeleted)
	case "replaced":
		return false, fmt.Errorf("%s: %w", t.opts.File, errReplaced)
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
func (t *growingTest) read() {
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
func (t *growingTest) whole() (*jepsen.History, error) {
	if t.history == nil {
		return nil, t.err
	}
	if t.err != nil {
		t.history.Warnings = append(t.history.Warnings, fmt.Sprintf("later events could not be read: %v", t.err))
	}
	return t.history, nil
}
