package textforms

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/fallback"
	"clew/fastpath"
	"clew/internal/archive"
	"clew/jepsen"
	"clew/models"
)

func TestForms(t *testing.T) {
	for _, test := range []struct{ name, text, model, want string }{
		{"fastlin", "# queue\nenq 2 0 1\ndeq -1 1 3\nenq 3 1 2\n", "fifo-queue",
			"0 invoke :enqueue 2; 0 ok :enqueue 2; 1 invoke :dequeue nil; 2 invoke :enqueue 3; 2 ok :enqueue 3; 1 ok :dequeue nil"},
		{"fptlin", "# set\n2 0 2 CONTAINS 2 0\n0 1 4 INSERT 2 1\n", "lookup-set",
			"2 invoke :contains 2; 0 invoke :insert 2; 2 ok :contains [2 false]; 0 ok :insert [2 true]"},
		{"limo", "# by X\n# @object atomic-stack\n\n[1] call push(a)\n  [2] call pop\n[1] return\n  [2] return a\n[1] call pop(b)\n[2] call push 7\n[1] return # x\n", "stack",
			`1 invoke :push "a"; 2 invoke :pop nil; 1 ok :push "a"; 2 ok :pop "a"; 1 invoke :pop nil; 2 invoke :push 7; 1 ok :pop "b"`},
		{"limo, empty", "[1] call deq()\n[1] return empty\n[1] call deq\n[1] return", "",
			"1 invoke :dequeue nil; 1 ok :dequeue nil; 1 invoke :dequeue nil; 1 ok :dequeue nil"},
	} {
		h, err := Read(strings.NewReader(test.text), test.name)
		if err != nil {
			t.Error(err)
			continue
		}
		var got bytes.Buffer
		if err := h.WriteEDN(&got); err != nil {
			t.Fatal(err)
		}
		read, err := jepsen.Read(&got, test.name, jepsen.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		var events []string
		for i := range read.Type {
			what := map[bool]string{false: "invoke", true: "ok"}[h.Events[i].Complete]
			events = append(events, strings.Join([]string{string(rune('0' + h.Events[i].Process)), what, h.Events[i].F, h.Events[i].Value}, " "))
		}
		if s := strings.Join(events, "; "); s != test.want || h.Model != test.model {
			t.Errorf("%s: model %q\ngot  %s\nwant %s", test.name, h.Model, s, test.want)
		}
	}
	for _, bad := range []string{"enq 1 2", "enq 1 3 3", "enq 1 x 3", "1 2 3", "[1] return", "[x] call pop", "[1] call pop\n[1] call pop", "1 2 3 POP"} {
		if h, err := Read(strings.NewReader(bad), "f"); err == nil || !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%q: %v, %v", bad, h, err)
		}
	}
}

// decide checks a history, by the fast path where there is one and it is
// unambiguous.
func decide(t *testing.T, h *History, file string) (linearizable, fast bool) {
	t.Helper()
	var text bytes.Buffer
	if err := h.WriteEDN(&text); err != nil {
		t.Fatal(err)
	}
	read, err := jepsen.Read(&text, file, jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := models.Spec{Name: h.Model}.Read(read)
	if err != nil {
		t.Fatal(err)
	}
	path := map[string]func(*models.Columns, int32, fastpath.Want) fastpath.Decision{
		"fifo-queue": fastpath.FIFOQueue, "stack": fastpath.Stack, "priority-queue": fastpath.PriorityQueue}[h.Model]
	general := fallback.Check(context.Background(), fallback.Porcupine{}, ops, fallback.Limits{})
	if path == nil {
		return general.Verdict == fallback.Valid, false
	}
	d := path(&ops.Columns, 0, fastpath.WantWitness|fastpath.WantFailure)
	if d.Verdict == fastpath.Ambiguous {
		return general.Verdict == fallback.Valid, false
	}
	if (d.Verdict == fastpath.Valid) != (general.Verdict == fallback.Valid) || d.Verdict == fastpath.Invalid && d.Fail >= 0 && d.Fail != general.Fail {
		t.Errorf("%s: the fast path says %v at %d, the search %v at %d", file, d.Verdict, d.Fail, general.Verdict, general.Fail)
	}
	if d.Verdict == fastpath.Valid {
		if _, err := models.Replay(ops.Model, &ops.Columns, d.Witness); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	return d.Verdict == fastpath.Valid, true
}

// TestPublishedHistories checks the files of other tools' test suites, whose
// names or folders say what they are.
func TestPublishedHistories(t *testing.T) {
	files, ambiguous := 0, 0
	for _, root := range []string{archive.Path(t, "linp"), archive.Path(t, "limo")} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			file, _ := filepath.Rel(root, path)
			h, err := Read(bytes.NewReader(text), file)
			if err != nil {
				t.Error(err)
				return nil
			}
			want := filepath.Base(filepath.Dir(path)) == "safe" || strings.HasPrefix(entry.Name(), "lin_")
			got, fast := decide(t, h, file)
			if got != want {
				t.Errorf("%s: linearizable is %v", file, got)
			}
			if files++; !fast {
				ambiguous++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files, %d of them left to the general search", files, ambiguous)
}
