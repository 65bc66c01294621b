package scan

import (
	"bytes"

	"clew/edn"
)

// Scratch is a table of values that are needed only for a moment.
type Scratch struct {
	v     *edn.Values
	names map[string]bool
}

// Values returns the table. A new one replaces it before it grows large, so an ID
// is valid only until the next call.
func (s *Scratch) Values() *edn.Values {
	const large = 1 << 15
	if s.v == nil || s.v.Len() > large {
		s.v = edn.NewValues()
	}
	return s.v
}

// IsName says whether a text is the name of a keyword.
func (s *Scratch) IsName(text []byte) bool {
	const large = 1 << 12
	is, known := s.names[string(text)]
	if known {
		return is
	}
	if s.names == nil || len(s.names) > large {
		s.names = map[string]bool{}
	}
	v := s.Values()
	id, err := v.Parse(append([]byte{':'}, text...), edn.Pos{})
	is = err == nil && v.Kind(id) == edn.KindKeyword && v.Str(id) == string(text)
	s.names[string(text)] = is
	return is
}

// ReadsBack says whether reading a value's text gives the same text. The text of a
// form that is not a value may hold a comment whose end of line has become a blank.
func (s *Scratch) ReadsBack(text string) bool {
	if !bytes.Contains([]byte(text), []byte(";")) {
		return true
	}
	v := s.Values()
	id, err := v.ParseLenient([]byte(text))
	return err == nil && v.Text(id) == text
}
