package forms

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms/internal/jsonops"
)

func TestTextFormsOfOtherMonitors(t *testing.T) {
	for _, c := range []struct{ name, text, object, want string }{
		{"fastlin", "# queue\nenq 2 0 1\ndeq -1 1 3\nenq 3 1 2\n", "queue",
			"0 :invoke :enqueue 2; 0 :ok :enqueue 2; 1 :invoke :dequeue nil; 2 :invoke :enqueue 3; 2 :ok :enqueue 3; 1 :ok :dequeue nil"},
		{"fastlin without a heading", "push 2 0 1\npop 2 1 3", "",
			"0 :invoke :push 2; 0 :ok :push 2; 1 :invoke :pop nil; 1 :ok :pop 2"},
		{"fptlin", "# set\n2 0 2 CONTAINS 2 0\n0 1 4 INSERT 2 1\n", "set",
			"2 :invoke :contains 2; 0 :invoke :insert 2; 2 :ok :contains [2 false]; 0 :ok :insert [2 true]"},
		{"fptlin without a heading", "7 1 5 ENQ 10", "", "7 :invoke :enqueue 10; 7 :ok :enqueue 10"},
		{"LiMo", "# by X\n# @object atomic-stack\n\n[1] call push(a)\n  [2] call pop\n[1] return\n  [2] return a\n[1] call pop(b)\n[2] call push 7\n[1] return # x\n", "stack",
			`1 :invoke :push "a"; 2 :invoke :pop nil; 1 :ok :push "a"; 2 :ok :pop "a"; 1 :invoke :pop nil; 2 :invoke :push 7; 1 :ok :pop "b"`},
		{"LiMo, empty", "[1] call deq()\r\n[1] return empty\r\n[1] call deq\r\n[1] return", "",
			"1 :invoke :dequeue nil; 1 :ok :dequeue nil; 1 :invoke :dequeue nil; 1 :ok :dequeue nil"},
		{"LiMo, other values", "# @object atomic-queue\n[1] call enq(?<0,1>)\n[1] return", "queue",
			`1 :invoke :enqueue "?<0,1>"; 1 :ok :enqueue "?<0,1>"`},
		{"a heading alone", "# stack\n", "stack", ""},
		{"fastlin's sets", "# set\ninsert 1 0 1\ncontains_true 1 2 3\nremove 1 4 5\ncontains_false 1 6 7\n", "set",
			"0 :invoke :insert 1; 0 :ok :insert [1 true]; 1 :invoke :contains 1; 1 :ok :contains [1 true]; 2 :invoke :remove 1; 2 :ok :remove [1 true]; 3 :invoke :contains 1; 3 :ok :contains [1 false]"},
		{"fastlin's sets without a heading", "contains_false -1 0 1\ninsert -1 2 3", "",
			"0 :invoke :contains -1; 0 :ok :contains [-1 false]; 1 :invoke :insert -1; 1 :ok :insert [-1 true]"},
		{"fptlin's registers", "# rmw\n0 1 10 READ_MODIFY_WRITE 0 2\n1 11 12 READ_MODIFY_WRITE 2 3", "rmw",
			"0 :invoke :cas [0 2]; 0 :ok :cas [0 2]; 1 :invoke :cas [2 3]; 1 :ok :cas [2 3]"},
		{"fptlin's semaphores", "# semaphore\n0 0 2 INCR 1\n1 0 4 DECR 1\n0 3 5 DECR 0\n", "counting semaphore",
			"0 :invoke :incr nil; 1 :invoke :decr nil; 0 :ok :incr true; 0 :invoke :decr nil; 1 :ok :decr true; 0 :ok :decr false"},
		{"LiMo's generated queues", "# @object atomic-queue\n[1] call add(1)\n[1] return\n[2] call remove\n[2] return 1\n[3] call rmv\n[3] return Empty\n[4] call put(2)\n[5] call get", "queue",
			"1 :invoke :enqueue 1; 1 :ok :enqueue 1; 2 :invoke :dequeue nil; 2 :ok :dequeue 1; 3 :invoke :dequeue nil; 3 :ok :dequeue nil; 4 :invoke :enqueue 2; 5 :invoke :dequeue nil"},
		{"LiMo's generated stacks", "# @object atomic-stack\n[1] call add(1)\n[1] return\n[2] call rem\n[2] return 1\n", "stack",
			"1 :invoke :push 1; 1 :ok :push 1; 2 :invoke :pop nil; 2 :ok :pop 1"},
		{"LiMo's registers", "# @object register\n[1] call write(a)\n[1] return \n[1] call read(a)\n[1] return\n[2] call write(b)", "",
			`1 :invoke :write "a"; 1 :ok :write "a"; 1 :invoke :read nil; 1 :ok :read "a"; 2 :invoke :write "b"`},
		{"LiMo, a value that begins as an integer", "# @object atomic-queue\n[1] call enq(7)\n[1] return\n[1] call enq(7]\n[1] return\n[1] call deq()\n[1] return 7\n", "queue",
			`1 :invoke :enqueue 7; 1 :ok :enqueue 7; 1 :invoke :enqueue "7]"; 1 :ok :enqueue "7]"; 1 :invoke :dequeue nil; 1 :ok :dequeue 7`},
		{"LiMo, comments", "# @object atomic-queue\n[1] call enq(a)# x\n[1] return # y\n[1] call deq # z\n[1] return a #\n", "queue",
			`1 :invoke :enqueue "a"; 1 :ok :enqueue "a"; 1 :invoke :dequeue nil; 1 :ok :dequeue "a"`},
		{"fptlin, blanks at the end", "# queue\n0 0 2 ENQ 1\n0 3 4 ENQ 2" + strings.Repeat(" ", 23), "queue",
			"0 :invoke :enqueue 1; 0 :ok :enqueue 1; 0 :invoke :enqueue 2; 0 :ok :enqueue 2"},
		{"fptlin, with and without answers", "# set\n0 0 1 INSERT 2 1\n0 2 3 POLL -1\n0 4 5 INSERT -1\n", "set",
			"0 :invoke :insert 2; 0 :ok :insert [2 true]; 0 :invoke :poll nil; 0 :ok :poll nil; 0 :invoke :insert -1; 0 :ok :insert -1"},
		{"interval records", `{"value":[1,{"a":2}],"process":0,"f":"put","call":3}` + "\n" + `{"process":1,"f":"read","value":null,"output":5,"call":1,"return":4}`, "",
			`1 :invoke :read nil; 0 :invoke :put [1 {:a 2}]; 0 :info :put [1 {:a 2}]; 1 :ok :read 5`},
	} {
		h, err := Read(strings.NewReader(c.text), c.name, jepsen.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for e := range h.Type {
			got = append(got, fmt.Sprint(h.Values.Text(h.Processes[h.Process[e]]), " ", h.Type[e], " ", h.Values.Text(h.F[e]), " ", h.Values.Text(h.Value[e])))
		}
		if s := strings.Join(got, "; "); s != c.want || h.Object != c.object {
			t.Errorf("%s: object %q\ngot  %s\nwant %s", c.name, h.Object, s, c.want)
		}
	}
}

func TestFormsAreToldByContent(t *testing.T) {
	for text, want := range map[string]Form{
		"":                                  EDN,
		" \n,{:process 0}":                  EDN,
		"; x\n[{}]":                         EDN,
		"[]":                                EDN,
		"({:a 1})":                          EDN,
		`{"a" 1}`:                           EDN,
		"#jepsen.history.Op{:index 0}":      EDN,
		"#!/bin/sh":                         EDN,
		"# Title\n\nProse.":                 EDN,
		"[1 2]":                             EDN,
		"[[:invoke]]":                       EDN,
		`{"a": 1}`:                          JSON,
		"\ufeff [ {\n\"a\\\"\" :1}]":        JSON,
		`{"` + strings.Repeat("a", 1<<17):   JSON,
		"INFO  jepsen.util - 0 :invoke":     Log,
		"0\t:invoke\t:read\tnil":            Log,
		":nemesis :info :start":             Log,
		"42":                                Log,
		"Hello, world.":                     Log,
		"enq 1 2":                           Log,
		"enq 1 2 3":                         Fastlin,
		"contains_true 1 2 3":               Fastlin,
		"# queue\nenq 1 2":                  Fastlin,
		"#\n# by X\nenq 1 2 3":              Fastlin,
		"0 1 2 ENQ 3":                       Fptlin,
		`{"value":[1,{}],"return":2}`:       Intervals,
		`{"value":{"call":1},"f":2}`:        JSON,
		"# stack\n0 1 2 3":                  Fptlin,
		"[1] call pop":                      LiMo,
		"# by X\n  [1] return 1":            LiMo,
		"#@object atomic-queue\n[1] throws": LiMo,
	} {
		if got := detect([]byte(text)).name; got != want {
			t.Errorf("%.40q is %s, want %s", text, got, want)
		}
	}
}

// heldBy says whether a form holds an operation that succeeded, or that crashed
// for good, and returns the operation as the form holds it.
func heldBy(form Form, h *jepsen.History, op jepsen.Operation) (text string, ok bool) {
	v, id := h.Values, h.OpValue(op)
	f := strings.NewReplacer(":add", ":insert", ":delete", ":remove", ":lookup", ":contains").Replace(v.Text(h.F[h.Invocation[op]]))
	known := map[Form]string{Fastlin: ":enqueue :dequeue :push :pop :insert :poll :peek :remove :contains", LiMo: ":enqueue :dequeue :push :pop",
		Fptlin: ":enqueue :dequeue :push :pop :insert :poll :peek :remove :contains"}[form]
	if !slices.Contains(strings.Fields(known), f) || h.Status[op] == jepsen.Failed || h.Status[op] == jepsen.Crashed && form != LiMo {
		return "", false
	}
	if id == edn.Nil || jsonops.IsKeyword(v, id, "empty") {
		return f, strings.Contains(":dequeue :pop :poll :peek", f)
	}
	if called := h.Value[h.Invocation[op]]; (id == edn.True || id == edn.False) && id != called {
		id = v.InternVector([]edn.ID{called, id})
	}
	if items := v.Items(id); len(items) == 2 && strings.Contains(":insert :remove :contains", f) {
		n, ok := v.Int(items[0])
		return fmt.Sprint(f, n, items[1]), ok && (form == Fptlin || form == Fastlin && (f == ":contains" || items[1] == edn.True))
	}
	if h.Status[op] == jepsen.Crashed && strings.Contains(":dequeue :pop", f) {
		return "", false // it names the element that it takes
	}
	if form == LiMo && v.Kind(id) == edn.KindString {
		return f + v.Str(id), regexp.MustCompile(`^[a-z]+$`).MatchString(v.Str(id))
	}
	n, ok := v.Int(id)
	if n == -1 && form != LiMo {
		return "", false // an empty container's answer
	}
	return fmt.Sprint(f, n), ok
}

// shape returns what a form holds of a history, except for fastlin's processes.
func shape(form Form, h *jepsen.History) (all []string, ok bool) {
	dead := map[int32]bool{}
	for e, op := range h.OpOf {
		text, held := heldBy(form, h, op)
		isCall := h.Invocation[op] == jepsen.Event(e)
		if !held || isCall && dead[h.Process[e]] {
			return nil, false
		}
		dead[h.Process[e]] = h.Status[op] == jepsen.Crashed
		process, _ := h.Values.Int(h.Processes[h.Process[e]])
		if form == Fastlin {
			process = int64(op)
		}
		if isCall || h.Status[op] != jepsen.Crashed {
			all = append(all, fmt.Sprint(process, isCall, text))
		}
	}
	return all, h.Skipped == 0
}

// TestTextFormsHoldWhatTheyCan writes generated histories. The forms accept
// exactly those that they can hold, and these can be read back.
func TestTextFormsHoldWhatTheyCan(t *testing.T) {
	for form, models := range map[Form][]string{
		Fastlin: {"fifo-queue", "stack", "priority-queue", "lookup-set", "register"},
		Fptlin:  {"fifo-queue", "stack", "priority-queue", "lookup-set", "mutex"},
		LiMo:    {"fifo-queue", "unordered-queue", "stack", "lookup-set"},
	} {
		for _, model := range models {
			r := gen.Rand(7)
			held, refused, crashed := 0, 0, 0
			rounds := 500
			if form == Fastlin && model == "lookup-set" {
				rounds = 1000 // it holds few: no :insert that found its value
			}
			for range rounds {
				text := gen.New(r, gen.Options{Model: model, Operations: 5}).Text
				if model == "priority-queue" { // or it may look like a FIFO queue
					text = strings.NewReplacer(":enqueue", ":insert", ":dequeue", ":poll").Replace(text)
				}
				h, err := Read(strings.NewReader(text), "h", jepsen.Options{})
				if err != nil {
					t.Fatal(err)
				}
				want, ok := shape(form, h)
				var out bytes.Buffer
				_, err = Convert(&out, strings.NewReader(text), "h", "", form)
				switch {
				case (err == nil) != ok:
					t.Fatalf("%s: %v\n%s", form, err, text)
				case err != nil:
					refused++
					if !strings.HasPrefix(err.Error(), "h:") || !strings.Contains(err.Error(), " cannot hold process ") {
						t.Fatalf("%s: %v", form, err)
					}
					continue
				}
				held++
				crashed += h.CrashedCount()
				back, err := Read(&out, "back", jepsen.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got, _ := shape(form, back)
				same(t, fmt.Sprintf("%s of\n%s", form, text), got, want)
			}
			t.Logf("%s of %s: %d held, %d refused, %d crashed operations", form, model, held, refused, crashed)
			if none := model == "register" || model == "mutex" || model == "lookup-set" && form == LiMo; !none && held < 50 || refused < 50 {
				t.Errorf("%s of %s: %d held, %d refused", form, model, held, refused)
			}
		}
	}
}

// A form can also be refused without an operation to name.
func TestNothingOfAnObjectThatAFormDoesNotHave(t *testing.T) {
	_, err := Convert(io.Discard, strings.NewReader("# priorityqueue\n"), "h", "", LiMo)
	if err == nil || err.Error() != "h: limo has no priorityqueue" {
		t.Error(err)
	}
}

// Objects that only one of the other monitors has can also be read back.
func TestOtherMonitorsObjectsComeBack(t *testing.T) {
	for text, form := range map[string]Form{
		"# set\ninsert 1 0 1\ncontains_true 1 2 3\nremove 1 4 5\ncontains_false 1 6 7\n": Fastlin,
		"# rmw\n0 0 2 READ_MODIFY_WRITE 0 2\n1 1 3 READ_MODIFY_WRITE 2 -3\n":             Fptlin,
		"# semaphore\n0 0 2 INCR 1\n1 1 3 DECR 1\n0 4 5 DECR 0\n":                        Fptlin,
	} {
		if got := converted(t, text, form); got != text {
			t.Errorf("%s\nwant\n%s", got, text)
		}
		for other, refused := range map[Form]string{LiMo: "", Fastlin: "h:2:1: fastlin cannot hold"} {
			_, err := Convert(io.Discard, strings.NewReader(text), "h", "", other)
			if err == nil && other != form || err != nil && !strings.HasPrefix(err.Error(), refused) {
				t.Errorf("%s in %s: %v", text, other, err)
			}
		}
	}
	for text, want := range map[string]string{
		"# rmw\n0 0 2 READ_MODIFY_WRITE 0":        "h:2:1: expected what READ_MODIFY_WRITE read and what it wrote, two integers, found 0",
		"# rmw\n0 0 2 READ_MODIFY_WRITE 0 x":      "h:2:1: expected what READ_MODIFY_WRITE read and what it wrote, two integers, found 0 x",
		"# semaphore\n0 0 2 INCR 2":               "h:2:1: expected 0 or 1 for the answer, found 2",
		"# semaphore\n0 0 2 DECR 1 1":             "h:2:1: expected 0 or 1 for the answer, found 1 1",
		"# set\n0 0 2 INSERT 1 2":                 "h:2:1: expected 0 or 1 for the answer, found 2",
		"# @object atomic-queue\n[1] call a b(1)": "",
	} {
		_, err := Read(strings.NewReader(text), "h", jepsen.Options{})
		if fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A line that was joined to the line before it, because the end of that line was
// lost, causes a message.
func TestAnOperationBehindAnotherLineIsToldOf(t *testing.T) {
	for _, c := range []struct{ text, said string }{
		{"# queue 0 0 1 ENQ 10\n1 2 3 DEQ 10\n", "line 1: 0 0 1 ENQ 10 is in a comment and is ignored"},
		{"# queue\nenq 1 0 1\n# enq 2 2 3\ndeq 1 4 5\n", "line 3: enq 2 2 3 is in a comment and is ignored"},
		{"# @object atomic-queue\n[0] call enq(1)#[1] call enq(2)\n[0] return\n", "line 2: [1] call enq(2) is in a comment and is ignored"},
		{"# @object atomic-queue\n[0] call enq(1)\n[0] return 1[1] call enq(2)\n", "h:3:1: expected one event on a line, found [0] return 1[1] call enq(2)"},
		{"# queue\n# a comment of 2026 12 24 days\nenq 1 0 1\n", ""},
	} {
		h, err := Read(strings.NewReader(c.text), "h", jepsen.Options{})
		said := fmt.Sprint(err)
		if err == nil {
			said = strings.Join(h.Warnings, "; ")
		}
		if said != c.said {
			t.Errorf("%q: %q, want %q", c.text, said, c.said)
		}
	}
}

// A name for the object of a history is either known or an error.
func TestHeadings(t *testing.T) {
	const (
		push, fpush, call = "push 1 0 1\n", "0 0 1 PUSH 1\n", "[1] call push(1)\n[1] return\n"
		expected          = " is not an object that clew knows in this form: expected # priorityqueue, # queue, # stack, # set, # rmw, # semaphore or # unordered-queue, or a comment of several words"
		limo              = "expected # @object atomic-queue, # @object atomic-stack or # @object register, found @object "
	)
	for _, c := range []struct{ text, object, err string }{
		{"# deque\n" + push, "", "h:1:1: deque" + expected},
		{"# deque\n" + fpush, "", "h:1:1: deque" + expected},
		{"# by X\n\n  # durable-stack\n" + push, "", "h:3:3: durable-stack" + expected},
		{"# stacks\n" + call, "", "h:1:1: stacks is not an object that clew knows in this form: expected # @object atomic-queue, # @object atomic-stack or # @object register, or a comment of several words"},
		{"# @object unknown-after\n" + call, "", "h:1:1: " + limo + "unknown-after"},
		{"# @object deque of integers\n[1] throws\n", "", "h:1:1: " + limo + "deque of integers"},
		{call + "# @object deque\n", "", "h:3:1: " + limo + "deque"},
		{"# queue\n# stack\n" + push, "", "h:2:1: expected one object, found stack after queue"},
		{"# stack\n" + push + "# queue\n", "", "h:3:1: expected one object, found queue after stack"},

		{"# priority-queue\ninsert 1 0 1\n", "priorityqueue", ""},
		{"# Priority Queue\ninsert 1 0 1\n", "priorityqueue", ""},
		{"# PRIORITY_QUEUE\n0 0 1 INSERT 1\n", "priorityqueue", ""},
		{"# Unordered-Queue\nenq 1 0 1\n", "unordered-queue", ""},
		{"# fifo_queue\nenq 1 0 1\n", "queue", ""},
		{"# lookup-set\ninsert 1 0 1\n", "set", ""},
		{"# counting-semaphore\n0 0 2 INCR 1\n", "counting semaphore", ""},
		{"# @object stack\n" + call, "stack", ""},
		{"# @Object Atomic_Stack\n" + call, "stack", ""},
		{"# @object registers\n[1] call write(a)\n[1] return\n", "", ""},
		{"# @object atomic-register\n# x\n[1] call write(a)\n[1] return\n", "", ""},
		{"# violation\n# @object atomic-stack\n" + call, "stack", ""},
		{"# stack\n# generated\n" + push + "# later\n", "stack", ""},
		{push + "# later\npop 1 2 3\n", "", ""},
		{"# produced by foo on 3 May\n# ---\n#\n# 7\n" + push, "", ""},
	} {
		h, err := Read(strings.NewReader(c.text), "h", jepsen.Options{})
		switch {
		case err != nil && err.Error() != c.err, err == nil && c.err != "":
			t.Errorf("%q: %v, want %s", c.text, err, c.err)
		case err == nil && (h.Object != c.object || len(h.Warnings) > 0):
			t.Errorf("%q: object %q, want %q; %v", c.text, h.Object, c.object, h.Warnings)
		}
	}
}

// A bag is also an object of other monitors, and is written as such if it is named.
func TestAnUnorderedQueueComesBack(t *testing.T) {
	const text = "# unordered-queue\nenq 1 0 1\nenq 2 2 3\ndeq 2 4 5\n"
	if got := converted(t, text, Fastlin); got != text {
		t.Error(got)
	}
}

// fastlin's contains without its answer says nothing.
func TestContainsWithoutItsAnswer(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# set\ninsert 1 0 1\ncontains 1 2 3\n", "h:3:1: expected contains_true or contains_false, found contains, which does not say what it found"},
		{"insert 1 0 1\nCONTAINS 1 2 3\n", "h:2:1: expected contains_true or contains_false, found CONTAINS, which does not say what it found"},
		{"# set\n0 2 3 CONTAINS 1 1\n", "<nil>"},
	} {
		if _, err := Read(strings.NewReader(c.text), "h", jepsen.Options{}); fmt.Sprint(err) != c.want {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
