package scan

import (
	"testing"

	"clew/edn"
)

func TestKeywordsHaveAnyName(t *testing.T) {
	v := edn.NewValues()
	k := Keywords{V: v}
	for range 2 {
		for _, name := range []string{"a", "ok", "ä!", "中!", "a/b", "\xff!", "read"} {
			if id, ok := k.Named([]byte(name)); !ok || v.Text(id) != ":"+name {
				t.Errorf("%s: %s, %t", name, v.Text(id), ok)
			}
		}
		for _, name := range []string{"", "a b", "a;", "]"} {
			if id, ok := k.Named([]byte(name)); ok {
				t.Errorf("%q is %s", name, v.Text(id))
			}
		}
	}
}

func TestAPrefixIsTheSameTextExceptForDigits(t *testing.T) {
	const text = "INFO [2019-04-01 11:25:23,719] worker 8 - "
	for _, any := range []bool{false, true} {
		p := NewPrefix([]byte(text), any)
		for i := range text {
			for c := range 256 {
				line := []byte("\n" + text + "        ")
				line[1+i] = byte(c)
				isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
				want := -1
				if byte(c) == text[i] || any && isDigit(text[i]) && isDigit(byte(c)) {
					want = 1 + len(text)
				}
				if got := p.At(line, 1); got != want {
					t.Fatalf("any digits: %v, %q: %d, want %d", any, line, got, want)
				}
			}
		}
		if end := p.At([]byte(text), 0); end != -1 {
			t.Errorf("a text that ends too soon: %d", end)
		}
	}
}
