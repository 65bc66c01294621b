package certificate_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"clew"
	"clew/internal/certificate"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A core has exactly what the rules of docs/certificate.md require. The operations
// follow one another; a ! marks those that crashed.
func TestACoreHasWhatItsRulesAskFor(t *testing.T) {
	for _, c := range []struct{ name, model, ops, want string }{
		{"a value that was overwritten before anybody looked", "register", "write 1, write 1, write 2, read 1", "1,2,3"},
		{"what nobody wrote", "register", "!write 1, write 1, write 2, read 3, read 1", "3"},
		{"a write that nobody can have seen", "register", "write 1, write 3, write 2, read 1", "0,1,3"},
		{"values of a queue", "fifo-queue", "enqueue 1, enqueue 3, enqueue 2, dequeue 3, dequeue 2, dequeue 1", "0,1,3"},
		{"what crashed and may have taken anything", "fifo-queue", "enqueue 1, enqueue 2, enqueue 3, !dequeue nil, dequeue 3", "0,1,2,3,4"},
		{"but of a bag only if it was found empty", "unordered-queue", "enqueue 1, !dequeue nil, dequeue 2", "2"},
		{"as here", "unordered-queue", "enqueue 1, enqueue 2, !dequeue nil, dequeue nil", "0,1,2,3"},
		{"elements", "lookup-set", "insert 1 -> true, insert 2 -> true, insert 1 -> true", "0,2"},
		{"a lock", "mutex", "acquire nil, release nil, acquire nil, acquire nil", "0,1,2,3"},
	} {
		var text strings.Builder
		for op := range strings.SplitSeq(c.ops, ", ") {
			op, crashed := strings.CutPrefix(op, "!")
			f, value, _ := strings.Cut(op, " ")
			value, answer, answers := strings.Cut(value, " -> ")
			if !answers {
				answer = value
			}
			fmt.Fprintf(&text, "{:process 0 :type :invoke :f :%s :value %s}\n{:process 0 :type :%s :f :%[1]s :value %[4]s}\n", f, value, map[bool]string{false: "ok", true: "info"}[crashed], answer)
		}
		h, err := clew.Read(strings.NewReader(text.String()), "h.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: c.model}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := certificate.Write(context.Background(), &b, r, certificate.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := regexp.MustCompile(`"core":\[(.*)\]`).FindStringSubmatch(b.String()); got == nil || got[1] != c.want {
			t.Errorf("%s: %s", c.name, b.String())
		}
	}
}

func TestOnlyAVerdictHasACertificate(t *testing.T) {
	for _, r := range []*report.Result{{}, {Verdict: jepsen.Invalid}, {Cause: jepsen.Timeout, History: new(jepsen.History)}} {
		var b bytes.Buffer
		if err := certificate.Write(context.Background(), &b, r, certificate.Options{}); err == nil || b.Len() > 0 {
			t.Errorf("%v: %v, %q", r.Verdict, err, b.String())
		}
	}
}
