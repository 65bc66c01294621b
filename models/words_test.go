package models_test

import (
	"fmt"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

func TestOperationsInWords(t *testing.T) {
	for _, c := range []struct{ f, invoked, returned, want string }{
		{"read", "nil", "471", "read 471"},
		{"read", "nil", "nil", "read nil"},
		{"read", "nil", "", "read ?"},
		{"write", "1", "1", "write 1"},
		{"cas", "[3 5]", "[3 5]", "cas 3→5"},
		{"cas", "[:k [3 5]]", "[:k [3 5]]", "cas :k 3→5"},
		{"dequeue", "nil", "nil", "dequeue → empty"},
		{"pop", "nil", ":empty", "pop → empty"},
		{"dequeue", "nil", "4", "dequeue 4"},
		{"dequeue", "nil", "", "dequeue ?"},
		{"cas", "[3 5]", "fail", "failed cas 3→5"},
		{"acquire", "nil", "nil", "acquire"},
		{"acquire", "nil", "", "acquire"},
		{"transfer", "{:from :a :to :b :amount 5}", "{:from :a :to :b :amount 5}", "transfer 5 a→b"},
		{"txn", "[[:r :x nil] [:w :y 2]]", "[[:r :x 1] [:w :y 2]]", "r x 1, w y 2"},
		{"txn", "[]", "[]", "txn []"},
		{"put, :key 7", "8", "8", "put 7 8"},
		{"write", `"a\nb"`, `"a\nb"`, `write "a\nb"`},
		{"write", `"` + strings.Repeat("x", 99) + `"`, `"` + strings.Repeat("x", 99) + `"`, `write "` + strings.Repeat("x", 19) + "…" + strings.Repeat("x", 12) + `"`},
	} {
		text := fmt.Sprintf("{:process 0 :type :invoke :f :%s :value %s}\n", c.f, c.invoked)
		switch c.returned {
		case "":
		case "fail":
			text += fmt.Sprintf("{:process 0 :type :fail :f :%s :value %s}\n", c.f, c.invoked)
		default:
			text += fmt.Sprintf("{:process 0 :type :ok :f :%s :value %s}\n", c.f, c.returned)
		}
		h, err := forms.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := (models.Spec{}).Words(t.Context(), h, 0); got != c.want {
			t.Errorf("%s%q, want %q", text, got, c.want)
		}
	}
}
