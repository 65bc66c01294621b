// Package text prepares text for people: it shortens it, and makes it safe to print.
package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Shorten returns a text of at most max characters.
func Shorten(s string, max int) string {
	if utf8.RuneCountInString(s) > max {
		s = string([]rune(s)[:max-1]) + "…"
	}
	return s
}

// Middle returns a text of at most max characters. It leaves out the middle, where the elements
// of a value are that say least, from blank to blank if there are some near. Brackets stay in pairs:
// what is left of two lists does not look like one.
func Middle(s string, max int) string {
	runes := []rune(s)
	if len(runes) <= max || max < 8 {
		return Shorten(s, max)
	}
	for room := max; ; room-- {
		head, tail := around(runes, room)
		mark := between(runes[len(head) : len(runes)-len(tail)])
		if len(head)+utf8.RuneCountInString(mark)+len(tail) <= max {
			return string(head) + mark + string(tail)
		}
		if room < max/2 {
			return string(head) + "…" + string(tail)
		}
	}
}

// around returns what Middle leaves of a longer text in max characters.
func around(runes []rune, max int) (head, tail []rune) {
	head, tail = runes[:(max-1)*2/3], runes[len(runes)-(max-1)/3:]
	for i := len(head) - 1; i > len(head)-max/4; i-- {
		if head[i] == ' ' {
			head = head[:i+1]
			break
		}
	}
	for i := range tail[:max/4] {
		if tail[i] == ' ' {
			tail = tail[i:]
			break
		}
	}
	return head, tail
}

// between returns what stands for a part of a text that is left out: the brackets without their partners in it, and
// an ellipsis for all else.
func between(left []rune) string {
	var closed, open []rune
	more := false // whether there is something between them
	for _, r := range left {
		switch {
		case strings.ContainsRune("([{", r):
			open = append(open, r)
		case strings.ContainsRune(")]}", r) && len(open) == 0:
			closed, more = append(closed, r), false
		case strings.ContainsRune(")]}", r):
			open, more = open[:len(open)-1], true
		default:
			more = more || len(open) == 0 && r != ' ' && r != ','
		}
	}
	mark := "…" + string(closed)
	if len(closed) > 0 && more {
		mark += " …"
	}
	if len(open) > 0 {
		mark += " " + string(open) + "…"
	}
	return mark
}

// Wrap breaks a text at its blanks into lines that fit. A word that does not fit has its own line.
func Wrap(s string, fits func(line string) bool) (lines []string) {
	for i, word := range strings.Split(s, " ") {
		if last := len(lines) - 1; i > 0 && fits(lines[last]+" "+word) {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// maxKey is how many characters of a key a sentence shows.
const maxKey = 1000

// Key returns the name of an independent key for a sentence.
func Key(key string) string { return "key " + Shorten(key, maxKey) }

// mostBrief is how long a brief text may be, in bytes, and how much of its end is kept.
const (
	mostBrief = 8 << 10
	briefEnd  = 2 << 10
)

// Brief returns a text without its middle if it is longer than any sentence:
// then it has names or values of megabytes. What to do is often at its end.
func Brief(s string) string {
	if len(s) <= mostBrief {
		return s
	}
	cut := mostBrief - briefEnd
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	begin, end := s[:cut], s[len(s)-briefEnd:]
	for len(end) > 0 && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	return fmt.Sprintf("%s… (%d bytes are left out) …%s", begin, len(s)-len(begin)-len(end), end)
}

// Printable returns a text that a terminal shows and does not obey. It replaces each
// control character except newline and tab, characters that change the direction of
// writing, Unicode's own line ends, and each byte that is not UTF-8.
func Printable(s string) string { return strings.Map(printable, s) }

func printable(r rune) rune {
	if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp) {
		return unicode.ReplacementChar
	}
	return r
}

// Line does what Printable does for a text that must stay on one line. A name
// may contain newlines, so it replaces them too.
func Line(s string) string {
	return strings.ReplaceAll(Printable(s), "\n", string(unicode.ReplacementChar))
}

// ASCII returns a text for readers that have no other characters. Our own characters
// have an equivalent, and others become their numbers, as Go writes them.
func ASCII(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if like, ok := likes[r]; ok {
			b.WriteString(like)
		} else if r <= unicode.MaxASCII {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

var likes = map[rune]string{'├': "|", '─': "-", '┄': ".", '┤': "|", '▶': ">", '✗': "x", '≠': "!=", '→': "->", '…': "...", unicode.ReplacementChar: "?"}

// Writer writes a text as Printable returns it. It is safe for concurrent use.
type Writer struct {
	Under io.Writer // gets the text
	mu    sync.Mutex
	begun []byte // the beginning of a character that the next write continues
}

// NewWriter returns a Writer to another one.
func NewWriter(w io.Writer) *Writer { return &Writer{Under: w} }

// Write writes all of p, except for the beginning of a character at its end.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := append(w.begun, p...)
	end := len(s)
	for back := 1; back < utf8.UTFMax && back <= len(s); back++ {
		if utf8.RuneStart(s[len(s)-back]) {
			if !utf8.FullRune(s[len(s)-back:]) {
				end = len(s) - back
			}
			break
		}
	}
	_, err := io.WriteString(w.Under, Printable(string(s[:end])))
	w.begun = append(w.begun[:0:0], s[end:]...)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// ShellWord returns a word as a shell reads it.
func ShellWord(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(":._-+/", r)
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
