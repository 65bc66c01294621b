package forms

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"clew/internal/fuzzing"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// formTexts are histories in each form other than EDN, including corner cases of
// the smaller ones.
var formTexts = map[Form][]string{
	JSON: {`[{"process":0,"type":"invoke","f":"txn","value":[["r","x",null]],"index":1},{"f":"txn","value":[["r","x",1e3]],"process":0,"type":"ok","index":2,"error":"\n"}]`},
	Log: {
		"INFO  jepsen.core - Run\n {:a 1}\nINFO  jepsen.util - 0\t:invoke\t:write\t[1 nil]\n0 :ok :write [1 nil]\n8\t:invoke\t:read\tnil\n8\t:fail\t:read\tnil\tCarmine error\n2019-04-01 11:25:23,719{GMT}\tINFO\t[w] jepsen.util: 3 :info :x #{1}",
		"0 :invoke :write 1\n0 :ok :write 1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t-12 free text\r\n:nemesis :info :start [:a]\n",
	},
	Fastlin: {
		"# queue\nenq 2 9223372036854775806 9223372036854775807\ndeq -1 1 3\n\nenq 007 -1 +2\nDEQ 7 -9223372036854775808 -1",
		"# stack\npush 1 0 3\npop 1 2 5\npeek -1 6 7\n", "contains_false 1 5 6\ninsert 1 0 1\n remove\t1 3 4\r\ncontains_true 1 1 2",
	},
	Fptlin: {
		"# set\n2 0 2 CONTAINS 2 0\n0 1 4 INSERT 2 1\n", "# rmw\n0 1 10 READ_MODIFY_WRITE 0 2\n1 1 10 READ_MODIFY_WRITE 2 3",
		"# semaphore\n0 0 2 INCR 1\n1 0 4 DECR 1\n0 3 5 DECR 0", "# queue\n0 0 2 ENQ 1\n1 1 3 DEQ 1\n0 3 4 DEQ -1\n",
	},
	LiMo: {"# @object atomic-stack\n[1] call push(a)\n  [2] call pop\n[1] return\n  [2] return a\n[99999] call pop(b) # x\n[2] call add 7\n[99999] return"},
	Intervals: {
		`{"process":1,"f":"put","key":"x","value":3,"output":null,"call":1200,"return":1900,"by":["x",{"edn":":y"}]}` + "\n" + `{"process":"a b","f":"get","call":1900,"output":{"b":1,"a":2},"return":1900}` + "\n" + `{"process":2,"f":"put","value":[["r",1]],"call":-5}`,
		`{"process":0,"f":"read","output":1,"call":0,"return":9}` + "\n" + `{"process":0,"f":"write","value":1,"call":0,"return":9}` + "\n" + `{"process":1,"f":"write","value":1,"call":3,"return":3}`,
	},
}

// readAs reads a text as a form, with all fast paths or event by event, and returns the history with the places of its events, or
// the error.
func readAs(t *testing.T, form Form, r io.Reader, quick bool) string {
	t.Helper()
	b := jepsen.NewBuilder(jepsen.Options{File: "h", AllClients: true, AnyFailedF: true})
	to := feed.Of(b)
	if !quick {
		to = eventwise{to}
	}
	in := newInput(t.Context(), to, "h", jepsen.Options{Memory: 64 << 20})
	in.eager = !quick // else a block is filled before it is read, however small the pieces are
	if err := in.read(r, form.row()); err != nil {
		return err.Error()
	}
	h, err := b.History()
	if err != nil {
		return err.Error()
	}
	var places []string
	for e := range h.Type {
		places = append(places, h.Where(jepsen.Event(e)), fmt.Sprint(h.Col(jepsen.Event(e))))
	}
	return strings.Join(slices.Concat(whole(h), places, h.Warnings), "\n")
}

// FuzzReaders reads a text as each form, all at once with all fast paths. Then it reads the text in short blocks with
// them, and in small pieces without them. All must give the same result. The form's number also says how long blocks are.
func FuzzReaders(f *testing.F) {
	for form, texts := range formTexts {
		for _, text := range texts {
			f.Add(uint8(slices.Index(Readable, form)), text)
		}
	}
	for _, text := range manyBlocks(f, EDN) {
		f.Add(uint8(slices.Index(Readable, EDN)), text)
		f.Add(uint8(slices.Index(Readable, EDN)), text+" ; ]")
	}
	f.Fuzz(func(t *testing.T, form uint8, text string) {
		defer fuzzing.Guard(t)()
		as := Readable[int(form)%len(Readable)]
		blocksDiffer(t, as, text, lengths[int(form)/len(Readable)%len(lengths)])
	})
}

// FuzzFollow reads a text while it grows. Every time, what it reads is a beginning
// of the history that the whole text gives.
func FuzzFollow(f *testing.F) {
	for _, text := range growing {
		f.Add(text)
	}
	for _, texts := range formTexts {
		for _, text := range texts {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer fuzzing.Guard(t)()
		opts := jepsen.Options{AllClients: true, AnyFailedF: true, Memory: 64 << 20}
		want, wantErr := Read(strings.NewReader(text), "h", opts)
		var looked []string
		got, err := Follow(context.Background(), iotest.HalfReader(strings.NewReader(text)), "h", opts, Following{Look: func(h *jepsen.History) bool {
			if len(looked) < 3 || len(h.Type) == h.Events {
				looked = append(looked, opsOf(h))
			}
			return true
		}})
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v; read at once: %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		all := opsOf(want)
		if opsOf(got) != all {
			t.Fatalf("%q:\n%s\nread at once:\n%s", text, opsOf(got), all)
		}
		for _, ops := range looked {
			if !strings.HasPrefix(all, ops) {
				t.Fatalf("%q: looked at\n%s\nread at once:\n%s", text, ops, all)
			}
		}
	})
}
