package forms

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"os"
	"time"

	"clew/internal/files"
)

// Why a file cannot be followed.
var (
	errPacked    = errors.New("compressed data is not followed, since the end of what is there cannot be told from the end of a line; check it without following it")
	errShorter   = errors.New("it has become shorter since it was read, so this is not the history that it was")
	errRewritten = errors.New("what has been read of it is not there anymore: it was written from its beginning again, so this is not the history that it was")
	errDeleted   = errors.New("it was deleted while it was followed, and what is written now cannot be seen")
	errReplaced  = errors.New("another file has taken its place while it was followed, and what is written there has not been read; follow that one")
)

// growth sees to it that a file which is followed only grows.
type growth struct {
	file     *os.File
	stamp    files.Stamp
	from, at int64        // where reading began, and where it is
	seen     maphash.Hash // of what was read
	first    []byte       // the beginning of it
	last     []byte       // the end of it
	checked  int64        // where reading was at the last look
	written  time.Time    // when the file was written to, then
}

// edge is how much of the beginning and the end of what was read is compared each time
// that the file has grown.
const edge = 4 << 10

// newGrowth is nil if r is not a regular file.
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
	return &growth{file: file, stamp: stamp, from: at, at: at, checked: at}
}

// read notes what was read.
func (g *growth) read(text []byte) {
	if g == nil {
		return
	}
	g.seen.Write(text)
	g.at += int64(len(text))
	g.first = append(g.first, text[:min(len(text), edge-len(g.first))]...)
	if len(text) < edge {
		text = append(g.last, text...)
	}
	g.last = append([]byte{}, text[max(0, len(text)-edge):]...)
}

// look is an error if the file, which was read to its end, has not only grown.
func (g *growth) look() error {
	switch g.stamp.Moved() {
	case "deleted":
		return errDeleted
	case "replaced":
		return errReplaced
	}
	info, err := g.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < g.at {
		return errShorter
	}
	grown, touched := g.at > g.checked, !info.ModTime().Equal(g.written)
	if g.checked, g.written = g.at, info.ModTime(); !touched {
		return nil
	}
	// Of what has grown the edges are compared, and all if nothing has come.
	same := g.holds(g.first, g.from) && g.holds(g.last, g.at-int64(len(g.last)))
	if same && !grown {
		same = g.whole()
	}
	if !same {
		return errRewritten
	}
	return nil
}

// holds says whether a text stands in the file.
func (g *growth) holds(text []byte, at int64) bool {
	there := make([]byte, len(text))
	_, err := g.file.ReadAt(there, at)
	return err == nil && bytes.Equal(there, text)
}

// whole says whether all that was read still stands in the file.
func (g *growth) whole() bool {
	var now maphash.Hash
	now.SetSeed(g.seen.Seed())
	_, err := io.Copy(&now, io.NewSectionReader(g.file, g.from, g.at-g.from))
	return err == nil && now.Sum64() == g.seen.Sum64()
}
