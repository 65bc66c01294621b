package scan

import (
	"bytes"
	"errors"
	"io"

	"clew/internal/blocks"
)

// Lines reads a text line by line.
type Lines struct {
	blocks.Blocks
	N   int  // the number of the last line, from 1
	Cut bool // the last line has no end
}

// MaxLine bounds a line.
const MaxLine = 64 << 20

// ErrTooLong is the error for a line longer than MaxLine.
var ErrTooLong = errors.New("line longer than 64 MB")

// Next returns the next line without its end, which is valid until the next call.
// The error is io.EOF at the end, ErrTooLong, or that of the underlying reader.
func (l *Lines) Next() ([]byte, error) {
	seen := 0 // bytes of the line
	for {
		rest := l.Data[l.At:]
		n := bytes.IndexByte(rest[seen:], '\n')
		if n += seen; n >= seen {
			l.At += n + 1
			return l.line(rest[:n]), nil
		}
		if seen = len(rest); seen >= MaxLine {
			return nil, ErrTooLong
		}
		if err := l.More(l.At); err == io.EOF && seen > 0 {
			l.At, l.Cut = l.At+seen, true
			return l.line(l.Data[l.At-seen : l.At]), nil
		} else if err != nil {
			return nil, err
		}
	}
}

func (l *Lines) line(text []byte) []byte {
	l.N++
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	return text
}

// Int reads an integer of at most 18 digits that is the whole text.
func Int(text []byte) (n int64, ok bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = 10*n + int64(c)
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}
