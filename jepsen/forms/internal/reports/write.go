// Package reports has the records of the reports that etcd's robustness tests leave, and writes them.
package reports

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"

	"clew/edn"
	"clew/jepsen"
)

// Write is forms.EtcdReport.
func Write(h *jepsen.History, clients int, create func(name string) (io.WriteCloser, error)) error {
	w := writer{h: h, v: h.Values}
	texts := map[string][]byte{}
	for op := range jepsen.Operation(h.Operations()) {
		if h.Status[op] == jepsen.Failed {
			continue // it did not happen
		}
		process, _ := w.v.Int(h.Processes[h.Process[h.Invocation[op]]])
		name, record := "operations.json", any(nil)
		if w.word(h.F[h.Invocation[op]]) == "watch" {
			name, record = "watch.json", w.watch(op)
		} else {
			record = w.operation(op, process)
		}
		if w.wrong != nil {
			return h.Errorf(h.Invocation[op], "a report of etcd cannot tell %s: %w", h.Name(op), w.wrong)
		}
		text, err := json.MarshalIndent(record, "", " ")
		if err != nil {
			return err
		}
		name = path.Join("client-"+strconv.FormatInt(process%int64(clients), 10), name)
		texts[name] = append(append(texts[name], text...), '\n')
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := create(name)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(f)
		out.Write(texts[name])
		if err := cmp.Or(out.Flush(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// writer makes records of operations. It keeps the first thing that it cannot tell.
type writer struct {
	h     *jepsen.History
	v     *edn.Values
	wrong error
}

func (w *writer) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

// eventTime is the time between two events of a history, in nanoseconds.
const eventTime = 1000

func (w *writer) operation(op jepsen.Operation, process int64) any {
	h, inv := w.h, w.h.Invocation[op]
	given := h.Value[inv]
	out, end := Response{Error: "it is not known whether it happened"}, int64(h.Events)
	if h.Status[op] == jepsen.Succeeded {
		out, end = w.response(w.word(h.F[inv]), h.OpValue(op), given), int64(h.Completion[op])
	}
	return struct {
		ClientID int64 `json:"ClientId"`
		Input    Request
		Call     int64
		Output   Response
		Return   int64
	}{process, w.request(w.word(h.F[inv]), given), int64(inv) * eventTime, out, end * eventTime}
}

func (w *writer) request(f string, given edn.ID) (r Request) {
	switch f {
	case "range":
		x := w.span(given)
		r.Type, r.Range = "range", &x
	case "put", "delete":
		r.Type, r.Txn = "txn", &Txn{OperationsOnSuccess: []Action{w.action(f, given)}}
	case "txn":
		r.Type, r.Txn = "txn", &Txn{OperationsOnSuccess: w.actions(given, "then"), OperationsOnFailure: w.actions(given, "else")}
		for _, test := range w.items(given, "if") {
			var c Condition
			c.Key = w.text(test, "key")
			for _, name := range []string{"value", "create-revision"} {
				if w.get(test, name) != edn.Nil {
					w.fail("conditions are on :mod-revision or :version, not on :%s", name)
				}
			}
			c.ExpectedRevision, c.ExpectedVersion = w.number(test, "mod-revision"), w.number(test, "version")
			r.Txn.Conditions = append(r.Txn.Conditions, c)
		}
	case "lease-grant":
		r.Type, r.LeaseGrant = "leaseGrant", &struct{ LeaseID int64 }{w.number(given, "lease")}
	case "lease-revoke":
		r.Type, r.LeaseRevoke = "leaseRevoke", &struct{ LeaseID int64 }{w.number(given, "lease")}
	case "compact":
		r.Type, r.Compact = "compact", &struct{ Revision int64 }{w.number(given, "revision")}
	default:
		r.Type = f
	}
	return r
}

func (w *writer) actions(given edn.ID, branch string) (actions []Action) {
	for _, a := range w.items(given, branch) {
		actions = append(actions, w.action(w.word(w.get(a, "f")), a))
	}
	return actions
}

func (w *writer) action(f string, given edn.ID) (a Action) {
	switch a.Type = f + "-operation"; f {
	case "range":
		a.Range = w.span(given)
	case "put":
		a.Put.Key, a.Put.Value, a.Put.LeaseID = w.text(given, "key"), w.value(given), w.number(given, "lease")
	default:
		if a.Delete.Key = w.text(given, "key"); w.get(given, "end") != edn.Nil {
			w.fail("a delete is of one key, without :end")
		}
	}
	return a
}

func (w *writer) span(given edn.ID) Range {
	for _, name := range []string{"serializable", "count-only"} {
		if w.get(given, name) == edn.True {
			w.fail("a range has no :%s", name)
		}
	}
	return Range{w.text(given, "key"), w.text(given, "end"), w.number(given, "limit"), w.get(given, "keys-only") == edn.True, w.number(given, "revision")}
}

func (w *writer) response(f string, answer, given edn.ID) (r Response) {
	if r.Revision = w.number(answer, "revision"); f == "compact" || f == "defragment" {
		r.Revision = -1
	} else if r.Revision == 0 {
		w.fail("an answer tells its :revision")
	}
	if why := w.get(answer, "error"); why != edn.Nil {
		r.ClientError = w.word(why)
		return r
	}
	switch f {
	case "range":
		x := w.result(answer)
		r.Range = &x
	case "put", "delete":
		r.Txn = &TxnResponse{Results: []Result{w.result(answer)}}
	case "txn":
		r.Txn = &TxnResponse{Failure: w.get(answer, "succeeded") == edn.False, Results: []Result{}}
		for _, x := range w.items(answer, "results") {
			r.Txn.Results = append(r.Txn.Results, w.result(x))
		}
	}
	return r
}

func (w *writer) result(answer edn.ID) Result {
	r := Result{Count: w.number(answer, "count"), Deleted: w.number(answer, "deleted")}
	for _, x := range w.items(answer, "kvs") {
		r.KVs = append(r.KVs, KV{w.text(x, "key"), w.value(x), w.number(x, "mod-revision"), w.number(x, "version")})
	}
	return r
}

func (w *writer) watch(op jepsen.Operation) any {
	h, given := w.h, w.h.Value[w.h.Invocation[op]]
	is := func(name string) bool { return w.get(given, name) == edn.True }
	responses := []Delivery{}
	if h.Status[op] == jepsen.Succeeded {
		for _, x := range w.items(h.OpValue(op), "responses") {
			d := Delivery{Revision: w.number(x, "revision"), IsProgressNotify: w.get(x, "progress") == edn.True, Time: int64(h.Completion[op]) * eventTime}
			for _, e := range w.items(x, "events") {
				d.Events = append(d.Events, w.event(e))
			}
			responses = append(responses, d)
		}
	}
	return struct {
		Request   Watch
		Responses []Delivery
	}{Watch{w.text(given, "key"), w.number(given, "revision"), is("prefix"), is("progress-notify"), is("prev-kv")}, responses}
}

func (w *writer) event(x edn.ID) Event {
	e := Event{Type: w.word(w.get(x, "type")) + "-operation", Key: w.text(x, "key"), Revision: w.number(x, "revision"), IsCreate: w.get(x, "create") == edn.True}
	if e.Type == "put-operation" {
		e.Value = w.value(x)
	}
	if prev := w.get(x, "prev"); prev != edn.Nil {
		e.PrevValue = &Previous{w.value(prev), w.number(prev, "mod-revision"), w.number(prev, "version")}
	}
	return e
}

// get returns a field of a map, nil if it is not there.
func (w *writer) get(id edn.ID, name string) edn.ID {
	if w.v.Kind(id) != edn.KindMap {
		return edn.Nil
	}
	x, there := w.v.Get(id, w.v.InternKeyword(name))
	if !there {
		return edn.Nil
	}
	return x
}

func (w *writer) items(id edn.ID, name string) []edn.ID { return w.v.Items(w.get(id, name)) }

// number returns a field that is a number, 0 if it is not there.
func (w *writer) number(id edn.ID, name string) int64 {
	x := w.get(id, name)
	n, isInt := w.v.Int(x)
	if x != edn.Nil && !isInt {
		w.fail("expected a number as :%s, found %s", name, w.v.Text(x))
	}
	return n
}

// text returns a field that is a string, "" if it is not there.
func (w *writer) text(id edn.ID, name string) string {
	x := w.get(id, name)
	if x != edn.Nil && w.v.Kind(x) != edn.KindString {
		w.fail("expected a string as :%s, found %s", name, w.v.Text(x))
	}
	return w.word(x)
}

// word returns the name of a keyword, or a string.
func (w *writer) word(id edn.ID) string {
	if kind := w.v.Kind(id); kind != edn.KindKeyword && kind != edn.KindString {
		return ""
	}
	return w.v.Str(id)
}

// value returns the :value of a map, as a string. Only a hash may be longer than etcd's tests record.
func (w *writer) value(id edn.ID) Value {
	x := w.get(id, "value")
	said := w.v.Text(x)
	if w.v.Kind(x) == edn.KindString {
		said = w.v.Str(x)
	}
	if x == edn.Nil {
		said = ""
	}
	return Value{Value: said}
}
