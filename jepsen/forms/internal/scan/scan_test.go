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
