package report_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// check returns the result of a history, one event per line: "0 invoke :write 1".
func check(t *testing.T, spec models.Spec, o clew.Options, lines ...string) *report.Result {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		f := strings.SplitN(line, " ", 4)
		fmt.Fprintf(&text, "{:process %s :type :%s :f :%s :value %s}\n", f[0], f[1], f[2], append(f, "nil")[3])
	}
	h, err := clew.Read(strings.NewReader(text.String()), "history.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAFailureSaysHowItsOperationsAreRelated(t *testing.T) {
	for _, c := range []struct {
		name, model, algorithm string
		lines                  []string
		named, want            string
	}{
		{"a stale read", "register", "", []string{
			"0 invoke write 1", "0 ok write 1", "0 invoke write 2", "0 ok write 2", "1 invoke read", "1 ok read 1",
		}, ":write 1, :write 2, :read 1", ":write 1 returned before :write 2; :write 2 returned before :read 1; :write 1 was seen by :read 1"},
		{"a read after a cas", "cas-register", "", []string{
			"0 invoke write 1", "0 ok write 1", "0 invoke cas [1 2]", "0 ok cas [1 2]", "1 invoke read", "1 ok read 1",
		}, ":cas [1 2], :read 1", ":cas [1 2] returned before :read 1; :read 1 must be before :cas [1 2]"},
		{"a queue out of order", "fifo-queue", "", []string{
			"0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke enqueue 2", "0 ok enqueue 2", "1 invoke dequeue", "1 ok dequeue 2", "1 invoke dequeue", "1 ok dequeue 1",
		}, ":enqueue 1, :enqueue 2, :dequeue 2", ":enqueue 1 returned before :enqueue 2; :enqueue 2 was seen by :dequeue 2"},
		{"a lock held twice", "mutex", "", []string{
			"0 invoke acquire", "0 ok acquire", "1 invoke acquire", "1 ok acquire",
		}, ":acquire, :acquire", ":acquire returned before :acquire"},
		{"by the general search", "register", "window", []string{
			"0 invoke write 1", "0 ok write 1", "0 invoke write 2", "0 ok write 2", "1 invoke read", "1 ok read 1",
		}, ":write 1, :write 2, :read 1", ":write 1 returned before :write 2; :write 2 returned before :read 1; :write 1 was seen by :read 1"},
		{"a value that may have been there at first", "register", "window", []string{
			"0 invoke write nil", "0 ok write nil", "1 invoke write 2", "1 ok write 2", "1 invoke read", "1 ok read nil",
		}, ":read, :write, :write 2", ":write 2 returned before :read; :read must be before :write 2"},
	} {
		spec := models.Spec{Name: c.model, NilReadsExact: strings.HasPrefix(c.name, "a value that")}
		r := check(t, spec, clew.Options{Algorithm: c.algorithm}, c.lines...)
		if r.Verdict != jepsen.Invalid {
			t.Errorf("%s: %s", c.name, r.Verdict)
			continue
		}
		var named, relations []string
		for _, op := range r.Named {
			named = append(named, r.History.Call(op))
		}
		for _, x := range r.Relations {
			relations = append(relations, fmt.Sprint(r.History.Call(x.From), " ", x.Kind, " ", r.History.Call(x.To)))
		}
		if got := strings.Join(named, ", "); got != c.named {
			t.Errorf("%s: it names %s, want %s", c.name, got, c.named)
		}
		if got := strings.Join(relations, "; "); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		if n := len(r.Before); n == 0 || n >= r.History.Operations() {
			t.Errorf("%s: %d operations are linearized before the failure", c.name, n)
		}
	}
}
