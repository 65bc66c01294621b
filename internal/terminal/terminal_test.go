package terminal

import "testing"

func TestTheLocaleSaysWhetherThereIsUTF8(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", true},
		{"", "", "de_DE.UTF-8", true},
		{"", "C.utf8", "C", true},
		{"", "", "C", false},
		{"POSIX", "", "en_US.UTF-8", false},
		{"", "en_US.ISO-8859-1", "en_US.UTF-8", false},
	} {
		locale := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if got := hasUTF8(func(name string) string { return locale[name] }); got != c.want {
			t.Errorf("LC_ALL=%s LC_CTYPE=%s LANG=%s: %t", c.all, c.ctype, c.lang, got)
		}
	}
}
