package scan

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Place says where something stands in its text, from 1.
type Place struct{ Line, Col int }

// Past returns the place after a text that begins at p. Columns count characters.
func (p Place) Past(text []byte) Place {
	if n := bytes.Count(text, []byte{'\n'}); n > 0 {
		p = Place{p.Line + n, 1}
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	for _, c := range text {
		if utf8.RuneStart(c) {
			p.Col++
		}
	}
	return p
}

// MaxFound bounds what a message shows of a line, in characters.
const MaxFound = 60

// Clip returns the beginning of a text, for a message.
func Clip(text []byte) string {
	if utf8.RuneCount(text) <= MaxFound {
		return strings.ToValidUTF8(string(text), "\ufffd")
	}
	return string([]rune(string(text))[:MaxFound-1]) + "…"
}
