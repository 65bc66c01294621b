package edn

import (
	"errors"
	"fmt"
	"strconv"
)

// Pos is a place in a text, or the place where a text starts. Unknown fields are zero.
type Pos struct {
	File      string // file name as the user gave it
	Line, Col int    // from 1; columns count characters
	Offset    int64  // in bytes, from 0
}

// String returns "file:line:col" without the unknown parts.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return p.lineCol()
	}
	return p.File + ":" + p.lineCol()
}

// lineCol returns the place without its file, for a second place in a message.
func (p Pos) lineCol() string {
	return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// Errorf returns an Error at this place. As with fmt.Errorf, %w wraps an error.
func (p Pos) Errorf(format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Pos: p, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// Error says what is wrong at a place in a text: what was expected and what was
// found, in lower case. To get the place, match it:
//
//	var at *edn.Error
//	if errors.As(err, &at) {
//		fmt.Println(at.File, at.Line, at.Col, at.Msg)
//	}
//
// A failure to read at all, such as a missing file, does not give an Error.
type Error struct {
	Pos
	Msg string
	Err error // the error that this one wraps, or nil
}

// ErrUnfinished is wrapped by the Error for a text that ends within a form
// and that more text might complete.
var ErrUnfinished = errors.New("the text ends within a form")

// Unwrap returns the error that e wraps, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Error returns "file:line:col: message" without the unknown parts of the place.
func (e *Error) Error() string {
	if place := e.String(); place != "" {
		return place + ": " + e.Msg
	}
	return e.Msg
}
