package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatATerminalWouldObeyIsReplaced(t *testing.T) {
	for _, c := range []struct{ name, text, printable, line string }{
		{"plain text", "añ 世 ▶ ✗", "añ 世 ▶ ✗", "añ 世 ▶ ✗"},
		{"an escape sequence", "\x1b[31mred", "\ufffd[31mred", "\ufffd[31mred"},
		{"C1 controls, a bell, a return", "\u009b31m\a\r", "\ufffd31m\ufffd\ufffd", "\ufffd31m\ufffd\ufffd"},
		{"direction", "a\u202eb\u2066c\u200fd\u061ce", "a\ufffdb\ufffdc\ufffdd\ufffde", "a\ufffdb\ufffdc\ufffdd\ufffde"},
		{"ends of lines", "a\nb\u2028c\u2029", "a\nb\ufffdc\ufffd", "a\ufffdb\ufffdc\ufffd"},
		{"no UTF-8", "a\xff\xc3", "a\ufffd\ufffd", "a\ufffd\ufffd"},
	} {
		if got := Printable(c.text); got != c.printable {
			t.Errorf("%s: %q, want %q", c.name, got, c.printable)
		}
		if got := Line(c.text); got != c.line {
			t.Errorf("%s: the line %q, want %q", c.name, got, c.line)
		}
	}
}

func TestTheMiddleOfAValueIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"#{1 2 3}", 8, "#{1 2 3}"},
		{"#{10 11 12 13 14 15 16 17 18 19 20}", 26, "#{10 11 12 13 … 19 20}"},
		{"#{10 11 12 13 14 15 16 17 18 19 20}", 5, "#{10…"},
		{`"a long word without any blank"`, 12, `"a long…nk"`},
		{"ääääääääääääääääääää", 13, "ääääääää…ääää"},
		{"[[:r :x [1 2 3 4 5 6 7]] [:w :z 0] [:r :y [1 2 3 4 5 6 7]]]", 40, "[[:r :x [1 2 3 4 5 6 …]] … [[… 5 6 7]]]"},
		{"[[:r :x [1 2 3 4 5 6 7]] [:w :z 0]]", 30, "[[:r :x [1 2 3 4 …]] [… :z 0]]"},
		{"[[:w :z 0] [:r :x [1 2 3 4 5 6 7]]]", 30, "[[:w :z 0] [:r … [… 6 7]]]"},
		{"[[:w :z 0] [:w :x 1] [:w :x 2] [:w :x 3]]", 30, "[[:w :z 0] [:w …] … [… :x 3]]"},
		{")]}([{)]}([{)]}([{)]}([{", 12, ")]}… ([…{"},
	} {
		if got := Middle(c.text, c.max); got != c.want || len([]rune(got)) > c.max {
			t.Errorf("%s in %d characters is %s; want %s", c.text, c.max, got, c.want)
		}
	}
}

func TestAWriterCutsNoCharacter(t *testing.T) {
	const s = "a世é\x1b▶𝄞\xffz"
	for i := range len(s) {
		for j := i; j < len(s); j++ {
			var b strings.Builder
			w := NewWriter(&b)
			for _, part := range []string{s[:i], s[i:j], s[j:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if b.String() != Printable(s) {
				t.Errorf("in parts at %d and %d: %q", i, j, b.String())
			}
		}
	}
}

func TestASCIIHasALikeForEveryCharacter(t *testing.T) {
	for _, c := range []struct{ s, want string }{
		{"├─▶ ┤ ✗ 3≠2 a→b …", "|-> | x 3!=2 a->b ..."},
		{"plain \"text\"\n", "plain \"text\"\n"},
		{"añ 世 𝄞 \ufffd", `a\u00f1 \u4e16 \U0001d11e ?`},
	} {
		if got := ASCII(c.s); got != c.want {
			t.Errorf("%q is %q, want %q", c.s, got, c.want)
		}
	}
}

func TestABriefTextHasItsBeginningAndItsEnd(t *testing.T) {
	for _, c := range []struct{ text, begins, ends string }{
		{"what was wrong", "what was wrong", "what was wrong"},
		{strings.Repeat("x", mostBrief), "xxx", "xxx"},
		{"no model " + strings.Repeat("世", 1<<20) + "; expected another", "no model 世世", "世世; expected another"},
		{"x" + strings.Repeat("世", 1<<20), "x世", "世"},
		{strings.Repeat("\xff", 1<<20), "\xff", "\xff"},
	} {
		got := Brief(c.text)
		if !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, c.ends) || len(got) > mostBrief+100 || utf8.ValidString(c.text) && !utf8.ValidString(got) {
			t.Errorf("%d bytes: %.60q .. %q", len(got), got, got[max(0, len(got)-60):])
		}
		if (got == c.text) != (len(c.text) <= mostBrief) {
			t.Errorf("%d bytes of %d", len(got), len(c.text))
		}
	}
}
