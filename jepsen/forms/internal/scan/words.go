package scan

import (
	"clew/edn"
)

// Keywords finds the keywords of a text, most of which occur many times.
type Keywords struct {
	Scratch
	V     *edn.Values // of the history
	words [64]keyword
}

type keyword struct {
	name string
	id   edn.ID
}

// Named returns the keyword of that name, if the name is valid.
func (k *Keywords) Named(name []byte) (id edn.ID, ok bool) {
	if len(name) == 0 {
		return edn.Nil, false
	}
	w := &k.words[(len(name)*7+int(name[0])+int(name[len(name)-1])*5)%len(k.words)]
	if w.name == string(name) {
		return w.id, true
	}
	if !k.IsName(name) {
		return edn.Nil, false
	}
	*w = keyword{string(name), k.V.InternKeyword(string(name))}
	return w.id, true
}

// IsBlank says whether a byte may surround a line, or stand between words.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// Trim returns a text without the blanks around it, and the number of blanks before it.
func Trim(text []byte) (trimmed []byte, before int) {
	for before < len(text) && IsBlank(text[before]) {
		before++
	}
	end := len(text)
	for end > before && IsBlank(text[end-1]) {
		end--
	}
	return text[before:end], before
}

// Word returns the beginning of a text up to a blank, and the rest without the
// blanks between them.
func Word(text []byte) (word, rest []byte) {
	end := 0
	for end < len(text) && !IsBlank(text[end]) {
		end++
	}
	rest = text[end:]
	for len(rest) > 0 && IsBlank(rest[0]) {
		rest = rest[1:]
	}
	return text[:end], rest
}
