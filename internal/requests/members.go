package requests

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// Member is a key of an object of JSON with its value, as they are written. They are not copied.
type Member struct {
	Key, Value []byte
	From       int // where the value begins in the object
}

// Name returns the key as a text.
func (m Member) Name() (name string) {
	json.Unmarshal(m.Key, &name) // valid, as the object is
	return name
}

// Twice returns a key that an object in valid JSON has twice, or one of the objects in it, unless it is in an array. Of
// two equal keys encoding/json takes the last, and the first is lost. In the object itself it takes keys in any case.
func Twice(object []byte) (name string, is bool) { return twice(object, strings.ToLower) }

func twice(object []byte, same func(string) string) (string, bool) {
	seen := map[string]bool{}
	for m := range Members(object) {
		name := same(m.Name())
		if seen[name] {
			return name, true
		}
		seen[name] = true
		if name, is := twice(m.Value, strings.Clone); is {
			return name, true
		}
	}
	return "", false
}

// Members returns the members of an object in JSON that is valid, and nothing of any other value.
func Members(object []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
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
			if !yield(Member{object[key:end], object[from:to], from}) {
				return
			}
			if i = blanksEnd(object, to); object[i] == '}' {
				return
			}
		}
	}
}

// Parted returns the value in JSON that a request begins with, which may not be valid, and what follows it.
func Parted(request []byte) (value, after []byte) {
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
