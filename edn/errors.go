package edn

import (
	"fmt"
	"strconv"
)

// Pos is a place in a text, or where a text starts: file, line and column
// (from 1; columns count characters) and byte offset (from 0). Line 0 is no place,
// such as that of an operation which a program has made.
type Pos struct {
	File      string
	Line, Col int
	Offset    int64
}

// lineCol is the place without its file, for a second place in a message.
func (p Pos) lineCol() string {
	return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// Error is an error about a text: what was expected, what was found, and where.
type Error struct {
	Pos
	Msg string
}

// Errorf is an error about what stands there.
func (p Pos) Errorf(format string, args ...any) *Error {
	return &Error{p, fmt.Sprintf(format, args...)}
}

// Error is "file:line:col: message", without the file if it has no name, and
// without the place if there is none.
func (e *Error) Error() string {
	s := e.Msg
	if e.Line > 0 {
		s = e.lineCol() + ": " + s
	}
	switch {
	case e.File == "":
		return s
	case e.Line == 0:
		return e.File + ": " + s
	}
	return e.File + ":" + s
}
