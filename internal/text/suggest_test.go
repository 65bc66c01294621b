package text

import (
	"strings"
	"testing"
)

func TestWordsThatAreLikeOthers(t *testing.T) {
	models := []string{"register", "cas-register", "multi-register", "mutex", "owner-mutex", "set", "lookup-set", "fifo-queue", "unordered-queue", "kv", "log", "bank"}
	flags := []string{"--model", "--models", "--init", "--time-limit", "--permits"}
	for _, c := range []struct {
		word  string
		known []string
		want  string
	}{
		{"regster", models, "register"},
		{"registre", models, "register"},
		{"REGISTER", models, "register"},
		{"cas_register", models, "cas-register"},
		{":cas-register", models, "cas-register"},
		{"CAS register", models, "cas-register"},
		{"multiregister", models, "multi-register"},
		{"queue", models, "fifo-queue or unordered-queue"},
		{"lookup", models, "lookup-set"},
		{"sets", models, "set"},
		{"k", models, ""},
		{"frob", models, ""},
		{"", models, ""},
		{"logs", models, "log"},
		{"stack", models, ""},
		{"--modle", flags, "--model"},
		{"-model_s", flags, "--models"},
		{"--timelimit", flags, "--time-limit"},
		{"--permit", flags, "--permits"},
		{"--inti", flags, "--init"},
		{"--bogus", flags, ""},
	} {
		want := c.want
		if want != "" {
			want = "did you mean " + want + "? "
		}
		if got := DidYouMean(c.word, c.known); got != want {
			t.Errorf("%s: %q, want %q", c.word, got, want)
		}
	}
}

// A word of megabytes is not a mistyped one. Comparing it would take minutes.
func TestALongWordIsLikeNoOther(t *testing.T) {
	long := strings.Repeat("register", 1<<20)
	if got := DidYouMean(long, []string{"register", long, long + "s"}); got != "" {
		t.Error(len(got))
	}
	if got := DidYouMean("regster", []string{"register", long}); got != "did you mean register? " {
		t.Error(len(got))
	}
}

func TestMistakesAreCounted(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "abxc", 1},
		{"abc", "axc", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}, {"añb", "añ", 1},
	} {
		if got := mistakes([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
