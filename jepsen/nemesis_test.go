package jepsen_test

import (
	"fmt"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
)

func TestWhatTheNemesisStartsLastsUntilItIsStopped(t *testing.T) {
	const read = "{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read :value 1}\n"
	nemesis := func(f, value string) string {
		return fmt.Sprintf("{:process :nemesis :type :info :f :%s :value %s}\n", f, value)
	}
	for _, c := range []struct{ name, text, want string }{
		{"a partition", nemesis("start-partition", ":majority") + read + nemesis("start-partition", `"cut"`) + read + nemesis("stop-partition", "nil") + read + nemesis("stop-partition", "nil") + read,
			":start-partition :majority 0-6"},
		{"start and stop", read + nemesis("start", "nil") + nemesis("start", `"n1"`) + read + nemesis("stop", "nil") + nemesis("stop", "nil") + read, `:start nil 2-4`},
		{"never stopped", read + nemesis("kill", "[n1]") + read, ":kill [n1] 2-4"},
		{"killed and started", read + nemesis("kill", "[n1]") + nemesis("kill", "nil") + read + nemesis("start", "nil") + read + nemesis("start", "nil") + read + nemesis("start", "nil"), ":kill [n1] 2-6, :start nil 8-8"},
		{"an operation with an end", nemesis("bump", "nil") + read + nemesis("bump", "{n1 5}") + read + nemesis("bump", "nil"), ":bump {n1 5} 0-2, :bump nil 4-4"},
		{"nothing of clients after it", read + nemesis("look", "nil"), ":look nil 2-2"},
	} {
		h, err := forms.Read(strings.NewReader(c.text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, s := range h.NemesisWindows() {
			all = append(all, fmt.Sprintf("%s %s %d-%d", h.Values.Text(s.F), h.Values.Text(s.Value), s.From, s.To))
		}
		if got := strings.Join(all, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
