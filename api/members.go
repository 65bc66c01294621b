package api

import (
	"bytes"
	"encoding/json"
	"iter"
)

// member is a key of an object of JSON with its value, as they are written. They are not copied.
type member struct {
	key, value []byte
	from       int // where the value begins in the object
}

// name returns the key as a text.
func (m member) name() (name string) {
	json.Unmarshal(m.key, &name) // valid, as the object is
	return name
}

// members returns the members of an object in JSON that is valid, and nothing of any other value.
func members(object []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		i := blanksEnd(object, 0)
		if i == len(object) || object[i] != '{' {
			return
		}
		for {
			key := blanksEnd(object, i+1)
			if object[key] != '"' {
				return // an empty object
			}
			end := valueEnd(object, key)
			from := blanksEnd(object, blanksEnd(object, end)+1)
			to := valueEnd(object, from)
			if !yield(member{object[key:end], object[from:to], from}) {
				return
			}
			if i = blanksEnd(object, to); object[i] == '}' {
				return
			}
		}
	}
}

// parted returns the value in JSON that a request begins with, which may not be valid, and what follows it.
func parted(request []byte) (value, after []byte) {
	end := valueEnd(request, blanksEnd(request, 0))
	return request[:end], request[end:]
}

// blanksEnd returns where the blanks end that begin at i.
func blanksEnd(text []byte, i int) int {
	for i < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[i]) >= 0 {
		i++
	}
	return i
}

// valueEnd returns where the value ends that begins at i.
func valueEnd(text []byte, i int) int {
	depth, quoted := 0, false
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
			continue
		case c == '"':
			if quoted = !quoted; quoted || depth > 0 {
				continue
			}
			return i + 1
		case quoted:
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return i // of what the value is in
			}
			if depth == 0 {
				return i + 1
			}
		case depth == 0 && bytes.IndexByte([]byte(", :\t\r\n"), c) >= 0:
			return i
		}
	}
	return len(text)
}
