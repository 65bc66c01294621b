package scan

import (
	"errors"
	"io"
	"testing"

	"clew/edn"
)

// idle is an input that returns nothing for some time.
type idle int

func (n *idle) Read([]byte) (int, error) {
	if *n--; *n < 0 {
		return 0, io.EOF
	}
	return 0, nil
}

func TestAnInputThatGivesNothingHasABound(t *testing.T) {
	for n, want := range map[int]error{maxEmptyReads - 1: io.EOF, maxEmptyReads + 1: io.ErrNoProgress} {
		in := idle(n)
		if err := (&Blocks{In: &in}).More(0); !errors.Is(err, want) {
			t.Errorf("nothing %d times: %v, want %v", n, err, want)
		}
	}
}

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
