package forms

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Form is a text form of histories.
type Form string

// The forms. FormJSON is one array of ops and FormJSONL an op a line; what reads
// one reads the other.
const (
	FormEDN     Form = "edn"
	FormJSONL   Form = "jsonl"
	FormJSON    Form = "json"
	FormLog     Form = "log"
	FormFastlin Form = "fastlin"
	FormFptlin  Form = "fptlin"
	FormLiMo    Form = "limo"
)

// Forms are all forms.
var Forms = []Form{FormEDN, FormJSONL, FormJSON, FormLog, FormFastlin, FormFptlin, FormLiMo}

// FormNames lists the forms, for messages.
func FormNames() string {
	var names []string
	for _, f := range Forms {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// FormOf is the form of that name.
func FormOf(name string) (Form, error) {
	if !slices.Contains(Forms, Form(name)) {
		return "", fmt.Errorf("expected one of %s, not %q", FormNames(), name)
	}
	return Form(name), nil
}

var (
	limoEvent   = regexp.MustCompile(`^\[[0-9]+\][ \t]*(call|return)\b`)
	fptlinLine  = regexp.MustCompile(`^[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+[A-Za-z]`)
	fastlinLine = regexp.MustCompile(`^[A-Za-z]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t\r]*(\n|$)`)
)

// detect tells a history's form by its beginning. What is none of the others is
// EDN, whose reader says what is wrong with it.
func detect(head []byte) Form {
	text := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n\v\f,\x1c\x1d\x1e\x1f")
	if len(text) == 0 {
		return FormEDN
	}
	switch c := text[0]; {
	case c == '{' && isJSONObject(text):
		return FormJSON
	case c == '[' && isJSONObject(bytes.TrimLeft(text[1:], " \t\r\n")):
		return FormJSON
	case c == '[' && limoEvent.Match(text):
		return FormLiMo
	case c == '#' && len(text) > 1 && strings.IndexByte(" \t\r\n@", text[1]) >= 0:
		return detectText(text)
	case fptlinLine.Match(text):
		return FormFptlin
	case fastlinLine.Match(text):
		return FormFastlin
	case c == ':' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return FormLog
	}
	return FormEDN
}

// isJSONObject says whether a text begins with a brace, a string and a colon. In
// EDN the colon would begin a keyword, but ops have no strings for keys.
func isJSONObject(text []byte) bool {
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	if len(text) == 0 || text[0] != '"' {
		return false
	}
	end := literal(text, 0)
	rest := bytes.TrimLeft(text[min(end, len(text)):], " \t\r\n")
	return len(rest) == 0 || rest[0] == ':'
}

// detectText tells apart the forms whose comments begin with #, by the heading
// and the first line that is no comment.
func detectText(text []byte) Form {
	headed := false
	for line := range bytes.Lines(text) {
		rest := bytes.TrimSpace(line)
		switch {
		case len(rest) == 0:
		case rest[0] == '#':
			headed = headed || heading(string(rest)) != ""
		case limoEvent.Match(rest) || headed && rest[0] == '[':
			return FormLiMo
		case fptlinLine.Match(rest) || headed && rest[0] >= '0' && rest[0] <= '9':
			return FormFptlin
		case fastlinLine.Match(rest) || headed:
			return FormFastlin
		default:
			return FormEDN
		}
	}
	if headed {
		return FormFastlin
	}
	return FormEDN
}
