package old

import (
	"bytes"

	"clew/edn"
)

// scratch is a table of values that are needed for a moment only.
type scratch struct {
	v     *edn.Values
	names map[string]bool
}

// values is the table. It is replaced by a new one before it grows large, so an
// ID is good until the next call only.
func (s *scratch) values() *edn.Values {
	const large = 1 << 15
	if s.v == nil || s.v.Len() > large {
		s.v = edn.NewValues()
	}
	return s.v
}

// isName says whether a text is the name of a keyword.
func (s *scratch) isName(text []byte) bool {
	const large = 1 << 12
	is, known := s.names[string(text)]
	if known {
		return is
	}
	if s.names == nil || len(s.names) > large {
		s.names = map[string]bool{}
	}
	v := s.values()
	id, err := v.Parse(append([]byte{':'}, text...), edn.Pos{})
	is = err == nil && v.Kind(id) == edn.KindKeyword && v.Str(id) == string(text)
	s.names[string(text)] = is
	return is
}

// readsBack says whether a value's text gives the same text when it is read.
// The text of a form that is not a value may hold a comment, whose line end has
// become a blank.
func (s *scratch) readsBack(text string) bool {
	if !bytes.Contains([]byte(text), []byte(";")) {
		return true
	}
	v := s.values()
	id, err := v.ParseLenient([]byte(text))
	return err == nil && v.Text(id) == text
}
