package jepsen_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/fuzzing"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// scriptEvent is an event of FuzzPairing, which takes two bytes.
type scriptEvent struct {
	process, kind, f, value, index string // "": it has none
	position                       int
}

func script(bytes []byte) (events []scriptEvent) {
	for i := 0; i+1 < len(bytes); i += 2 {
		a, b := bytes[i], bytes[i+1]
		e := scriptEvent{process: []string{"0", "1", "2", "3", "0N", ":nemesis", ":other", "\"x\""}[a&7], kind: []string{":invoke", ":ok", ":fail", ":info"}[a>>3&3],
			f: []string{":read", ":write", ":write", ":cas"}[a>>5&3], value: fmt.Sprint(i), position: i / 2}
		switch b & 15 {
		case 0:
			e.value = ""
		case 1:
			e.value = "nil"
		case 2:
			e.index = fmt.Sprint(b >> 4)
		case 3:
			e.index = "-7"
		case 4:
			e.process = ""
		case 5:
			e.kind = []string{"", ":start", "nil"}[b>>4%3]
		}
		events = append(events, e)
	}
	return events
}

// text returns the op map of an event.
func (e scriptEvent) text() string {
	var fields []string
	for _, field := range [][2]string{{":index", e.index}, {":process", e.process}, {":type", e.kind}, {":f", e.f}, {":value", e.value}} {
		if field[1] != "" {
			fields = append(fields, field[0]+" "+field[1])
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// paired is an operation of a script.
type paired struct {
	invocation, completion int // positions; jepsen.None
	status                 jepsen.Status
	value                  string // the one that counts
}

// naivePairing pairs a script by its definition: the completion of an operation is the next
// event of its process. It returns where the first event stands that makes no sense, -1 if
// there is none, and which events count.
func naivePairing(events []scriptEvent, o jepsen.Options) (ops []paired, kept []int, wrong int) {
	said := map[string][]scriptEvent{} // by client
	wrong = len(events)
	for _, e := range events {
		isInt := e.process != "" && e.process[0] <= '9' && e.process[0] >= '0'
		switch {
		case e.process == "":
			wrong = min(wrong, e.position)
		case e.process == ":nemesis" || !isInt && !o.AllClients:
		case e.kind != ":invoke" && e.kind != ":ok" && e.kind != ":fail" && e.kind != ":info":
			wrong = min(wrong, e.position)
		default:
			client := strings.TrimSuffix(e.process, "N")
			said[client] = append(said[client], e)
		}
	}
	for _, all := range said {
		crashed := false // the last operation, if it has ended
		for len(all) > 0 {
			e := all[0]
			all = all[1:]
			if late := e.kind == ":info" || e.kind == ":fail" && crashed; late {
				continue
			}
			if e.kind != ":invoke" {
				wrong = min(wrong, e.position)
				break
			}
			op := paired{invocation: e.position, completion: jepsen.None, status: jepsen.Crashed, value: e.value}
			kept = append(kept, e.position)
			if len(all) > 0 {
				c := all[0]
				all = all[1:]
				if c.kind == ":invoke" || c.f != e.f && !(o.AnyFailedF && c.kind == ":fail") {
					wrong = min(wrong, c.position)
					break
				}
				op.completion, op.status = c.position, map[string]jepsen.Status{":ok": jepsen.Succeeded, ":fail": jepsen.Failed, ":info": jepsen.Crashed}[c.kind]
				if op.status == jepsen.Succeeded {
					op.value = c.value
				}
				kept = append(kept, c.position)
				crashed = op.status == jepsen.Crashed
			}
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b paired) int { return a.invocation - b.invocation })
	slices.Sort(kept)
	if wrong == len(events) {
		wrong = -1
	}
	return ops, kept, wrong
}

// FuzzPairing pairs events in any order. It compares the operations with those of a naive
// pairing, or the place of the first event that makes no sense.
func FuzzPairing(f *testing.F) {
	f.Add([]byte("\x20\x06\x28\x06\x01\x00\x09\x06"), false, false)       // two operations
	f.Add([]byte("\x20\x06\x38\x06\x28\x06"), false, false)               // :ok after :info
	f.Add([]byte("\x20\x06\x38\x06\x30\x06\x24\x16\x28\x06"), true, true) // :fail after :info, 0N
	f.Add([]byte("\x20\x06\x10\x06"), false, true)                        // another :f fails
	f.Add([]byte("\x25\x06\x06\x06\x07\x06\x0e\x06"), true, false)        // other processes
	f.Add([]byte("\x20\x04\x20\x05\x20\x06\x20\x06"), false, false)       // no :process, a strange :type, an open process
	f.Add([]byte("\x20\x02\x28\x02\x20\x12\x28\x03"), false, false)       // indices
	f.Fuzz(func(t *testing.T, bytes []byte, allClients, anyFailedF bool) {
		defer fuzzing.Guard(t)()
		events := script(bytes)
		var text strings.Builder
		for _, e := range events {
			text.WriteString(e.text() + "\n")
		}
		o := jepsen.Options{AllClients: allClients, AnyFailedF: anyFailedF}
		want, kept, wrong := naivePairing(events, o)
		h, err := forms.Read(strings.NewReader(text.String()), "h", o)
		if err != nil {
			var at *edn.Error
			if !errors.As(err, &at) {
				t.Fatalf("the error has no place: %v", err)
			}
			if strings.Contains(err.Error(), "no operation of a client") && wrong < 0 && len(kept) == 0 {
				return
			}
			if at.Line != wrong+1 {
				t.Fatalf("expected an error on line %d, found %v\n%s", wrong+1, err, text.String())
			}
			return
		}
		if wrong >= 0 {
			t.Fatalf("expected an error on line %d\n%s", wrong+1, text.String())
		}
		if len(h.Type) != len(kept) || h.Events != len(events) || h.Operations() != len(want) {
			t.Fatalf("%d operations of %d of %d events; expected %d of %d\n%s", h.Operations(), len(h.Type), h.Events, len(want), len(kept), text.String())
		}
		for e, position := range kept {
			index := fmt.Sprint(position)
			if events[position].index != "" {
				index = events[position].index
			}
			if ev := jepsen.Event(e); h.Line(ev) != position+1 || fmt.Sprint(h.Index(ev)) != index {
				t.Errorf("event %d has index %d and line %d; expected %s and %d\n%s", e, h.Index(ev), h.Line(ev), index, position+1, text.String())
			}
		}
		position := func(ev jepsen.Event) int {
			if ev == jepsen.None {
				return jepsen.None
			}
			return kept[ev]
		}
		for i, x := range want {
			op := jepsen.Operation(i)
			got := paired{position(h.Invocation[op]), position(h.Completion[op]), h.Status[op], h.Values.Text(h.OpValue(op))}
			if x.value == "" {
				x.value = "nil"
			}
			if got != x || h.OpOf[h.Invocation[op]] != op || x.completion >= 0 && h.OpOf[h.Completion[op]] != op {
				t.Errorf("operation %d is %v; expected %v\n%s", i, got, x, text.String())
			}
		}
	})
}

// FuzzIntervals makes a history of operations with times, four bytes for each. It compares
// their precedence with the times themselves.
func FuzzIntervals(f *testing.F) {
	f.Add([]byte("\x00\x01\x05\x00\x01\x05\x05\x00\x02\x03\x00\x02"))
	f.Add([]byte("\x00\x09\x01\x01\x01\x09\x00\x02\x00\x09\x00\x00"))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		defer fuzzing.Guard(t)()
		var ops []jepsen.Interval
		for ; len(bytes) >= 4; bytes = bytes[4:] {
			call := int64(int8(bytes[1]))
			ops = append(ops, jepsen.Interval{Process: int(bytes[0]), F: "write", Input: len(ops), Call: call, Return: call + int64(bytes[2]), Status: jepsen.Status(bytes[3] % 3)})
		}
		h, err := jepsen.FromIntervals(ops)
		if err != nil {
			t.Fatal(err)
		}
		if h.Operations() != len(ops) {
			t.Fatalf("%d operations; expected %d", h.Operations(), len(ops))
		}
		var of []int // by operation: its interval, whose number it wrote
		for op := range jepsen.Operation(len(ops)) {
			n, _ := h.Values.Int(h.OpValue(op))
			of = append(of, int(n))
			if h.Status[op] != ops[n].Status {
				t.Errorf("interval %d %s; expected that it %s", n, h.Status[op], ops[n].Status)
			}
		}
		for a := range min(len(of), 50) {
			for b := range min(len(of), 50) {
				x, y := ops[of[a]], ops[of[b]]
				precedes := x.Status != jepsen.Crashed && x.Return < y.Call
				if c := h.Completion[a]; precedes != (c != jepsen.None && c < h.Invocation[b]) {
					t.Errorf("%v precedes %v: %v expected", x, y, precedes)
				}
			}
		}
	})
}
