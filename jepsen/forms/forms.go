package forms

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"clew/jepsen/forms/internal/jsonops"
)

// Form is a form of histories.
type Form string

// The forms. JSON is one array of ops, and JSONL has one op per line. The same reader reads both.
const (
	EDN     Form = "edn"
	JSONL   Form = "jsonl"
	JSON    Form = "json"
	Log     Form = "log"
	Fastlin Form = "fastlin"
	Fptlin  Form = "fptlin"
	LiMo    Form = "limo"

	Intervals Form = "intervals"

	Test Form = "test.jepsen" // it is only read
)

// All lists the forms that are read and written.
var All = []Form{EDN, JSONL, JSON, Log, Fastlin, Fptlin, LiMo, Intervals}

// Names lists the forms that are written, for messages.
func Names() string { return names(All) }

func names(forms []Form) string {
	var names []string
	for _, f := range forms {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Named returns the form of that name, if it is one that is written.
func Named(name string) (Form, error) { return named(name, All) }

// NamedToRead returns the form of that name, if it is one that is read.
func NamedToRead(name string) (Form, error) { return named(name, append(slices.Clip(All), Test)) }

func named(name string, among []Form) (Form, error) {
	if !slices.Contains(among, Form(name)) {
		return "", fmt.Errorf("expected one of %s, not %q", names(among), name)
	}
	return Form(name), nil
}

var (
	limoEvent   = regexp.MustCompile(`^\[[0-9]+\][ \t]*(call|return)\b`)
	fptlinLine  = regexp.MustCompile(`^[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+[A-Za-z]`)
	fastlinLine = regexp.MustCompile(`^[A-Za-z_]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t\r]*(\n|$)`)
)

// detect recognizes a history's form by its beginning. A text in none of the other
// forms counts as EDN. The reader of EDN then says what is wrong with it.
func detect(head []byte) Form {
	text := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n\v\f,\x1c\x1d\x1e\x1f")
	if len(text) == 0 {
		return EDN
	}
	switch c := text[0]; {
	case c == '{' && isJSONObject(text), c == '[' && isJSONObject(bytes.TrimLeft(text[1:], " \t\r\n")):
		if isInterval(text) {
			return Intervals
		}
		return JSON
	case c == '[' && limoEvent.Match(text):
		return LiMo
	case c == '#' && len(text) > 1 && strings.IndexByte(" \t\r\n@", text[1]) >= 0:
		return detectText(text)
	case fptlinLine.Match(text):
		return Fptlin
	case fastlinLine.Match(text):
		return Fastlin
	case c == ':' || c == '-' || c == '\x1b' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return Log
	}
	return EDN
}

// isJSONObject says whether a text begins with a brace, a string and a colon.
// In EDN the colon would begin a keyword, but ops do not have strings as keys.
func isJSONObject(text []byte) bool {
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	if len(text) == 0 || text[0] != '"' {
		return false
	}
	end := jsonops.Literal(text, 0)
	rest := bytes.TrimLeft(text[min(end, len(text)):], " \t\r\n")
	return len(rest) == 0 || rest[0] == ':'
}

// detectText distinguishes the forms whose comments begin with #, by the heading
// and the first line that is not a comment.
func detectText(text []byte) Form {
	headed := false
	for line := range bytes.Lines(text) {
		rest := bytes.TrimSpace(line)
		switch {
		case len(rest) == 0:
		case rest[0] == '#':
			h := headingIn(string(rest))
			headed = headed || h.known || h.object
		case limoEvent.Match(rest) || headed && rest[0] == '[':
			return LiMo
		case fptlinLine.Match(rest) || headed && rest[0] >= '0' && rest[0] <= '9':
			return Fptlin
		case fastlinLine.Match(rest) || headed:
			return Fastlin
		default:
			return EDN
		}
	}
	if headed {
		return Fastlin
	}
	return EDN
}
