package edn

import "strconv"

// Pos is a place in a text, or where a text starts: file, line and column
// (from 1; columns count characters) and byte offset (from 0).
type Pos struct {
	File      string
	Line, Col int
	Offset    int64
}

// lineCol is the place without its file, for a second place in a message.
func (p Pos) lineCol() string {
	return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// Error is a syntax error: what was expected, what was found, and where.
type Error struct {
	Pos
	Msg string
}

// Error is "file:line:col: message", without the file if it has no name.
func (e *Error) Error() string {
	s := e.lineCol() + ": " + e.Msg
	if e.File != "" {
		s = e.File + ":" + s
	}
	return s
}
