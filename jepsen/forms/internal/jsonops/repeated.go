package jsonops

import (
	"bytes"
	"strconv"
	"strings"

	"clew/jepsen/forms/internal/scan"
)

// Unrepeated returns an error if an object has a key twice: the one that NextObject has returned, or one within it. Keys
// that differ only in the case of letters are one key, as they are to package json, which would take the last value.
// Linear time.
func (r *Reader) Unrepeated(object []byte) error {
	type keyOf struct {
		object int // where it begins
		key    string
	}
	known, within := map[keyOf]string{}, []int(nil)
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '{', '[':
			within = append(within, i)
		case '}', ']':
			within = within[:len(within)-1]
		case '"':
			begin := i
			i = Literal(object, begin) - 1
			if rest := bytes.TrimLeft(object[i+1:], " \t\r\n"); len(rest) == 0 || rest[0] != ':' {
				continue
			}
			key := string(unquoted(object[begin : i+1]))
			folded := keyOf{within[len(within)-1], strings.ToLower(strings.ToUpper(key))} // either alone leaves some letters apart
			if first, twice := known[folded]; twice {
				as := ""
				if first != key {
					as = ", here as " + quote(key)
				}
				return r.fail(r.begins.Past(object[:begin]), "the object has the key %s twice%s", quote(first), as)
			}
			known[folded] = key
		}
	}
	return nil
}

func quote(key string) string { return scan.Clip(strconv.AppendQuote(nil, key)) }
