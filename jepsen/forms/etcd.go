package forms

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/opmap"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms/internal/jsonops"
	"clew/jepsen/forms/internal/reports"
)

// Etcd are the operations and watches that etcd's robustness tests record, as JSON values one after another. A report
// is a folder with such files for each client, which are read as one text (files.Joined). Convert only reads it; EtcdReport writes one:
//
//	{"ClientID":7,"Input":{"Type":"range","Range":{"Start":"a"}},"Call":12,"Output":{"Range":{"KVs":[],"Count":0},"Revision":3},"Return":19}
//	{"Request":{"Key":"a","Revision":2},"Responses":[{"Events":[{"Type":"put-operation","Key":"a","Value":{"Value":"b"},"Revision":2}],"Revision":2,"Time":15}]}
//
// An operation whose output has an "Error" has crashed. One that is "Persisted" has happened. The case of letters in names does not matter.
const Etcd Form = "etcd"

var etcdForm = form{name: Etcd, wholeOps: true, times: true, read: readEtcd, detect: func(b beginning) bool {
	first := firstObject(b.text)
	if first == nil {
		return false
	}
	text := bytes.ToLower(first)
	keys := keysOf(text)
	has := func(all ...string) bool {
		return !slices.ContainsFunc(all, func(key string) bool { return !slices.Contains(keys, key) })
	}
	if has("process") || has("type") || has("f") {
		return false // an op or an interval record, which may have any other keys
	}
	return has("request", "responses") || has("clientid", "input") && etcdType().Match(text)
}}

// etcdType matches the type of a request, in lower case.
var etcdType = text.Pattern(`"type"\s*:\s*"(range|txn|leasegrant|leaserevoke|defragment|compact)"`)

// EtcdReport writes a history of etcd as a report of its robustness tests: operations.json and watch.json in a folder for
// each of some clients. create makes a file, whose name has slashes. Each process is a client's stream, as a client goes on
// under another number after a failure. Values become strings. An error names the first operation that a report cannot tell.
func EtcdReport(h *jepsen.History, clients int, create func(name string) (io.WriteCloser, error)) error {
	return reports.Write(h, clients, create)
}

// etcdReader makes operations of records.
type etcdReader struct {
	*intervals
	v        *edn.Values
	watches  []int // of ops
	client   int64 // that the name of the file says, or -1
	greatest int64
	made     map[int64]bool // revisions that operations tell which may have made them
	latest   int64          // the greatest revision that is told
	unclear  int64          // operations that may have made a revision and tell none
}

func readEtcd(in *input, from source) error {
	t := &etcdReader{intervals: newIntervals(in.values), v: in.values, greatest: -1, made: map[int64]bool{}}
	parts := []files.Part{{Name: in.file}}
	if joined, several := from.file.(*files.Joined); several {
		parts = joined.Parts
		in.to.NoLines()
	}
	in.to.SetObject("etcd")
	for _, part := range parts {
		before := len(t.ops)
		t.client = clientOf(part.Name)
		j := jsonops.NewReader(&section{Reader: from.Reader}, jsonops.Options{File: part.Name, Values: in.values, Warn: in.to.Warn})
		for {
			object, err := j.NextObject()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = j.Unrepeated(object)
			}
			if err == nil {
				err = t.record(object, j.Fail)
			}
			if err != nil {
				return err
			}
			if len(t.ops) == math.MaxInt32/2 {
				return j.Fail("more operations than clew can number (2^30)")
			}
			at := j.Begins()
			t.ops[len(t.ops)-1].line, t.ops[len(t.ops)-1].col = int32(at.Line), int32(at.Col)
		}
		if len(t.ops) == before {
			in.to.Warn("%s is empty: some of it may be lost, since a client that did nothing leaves no file", part.Name)
		}
	}
	if _, several := from.file.(*files.Joined); !several {
		t.lacksClients(in)
	}
	t.number()
	return t.events(in, t.inTime(in.clockError))
}

// told notes which revision an operation tells.
func (t *etcdReader) told(in *reports.Request, out *reports.Response) {
	revision := out.Revision
	if out.Error != "" || out.Persisted {
		revision = out.PersistedRevision
	}
	switch {
	case in.Type != "range" && in.Type != "defragment" && in.Type != "compact" && revision > 0:
		t.made[revision] = true
	case in.Type == "txn" || in.Type == "leaseRevoke":
		t.unclear++
	}
	t.latest = max(t.latest, revision)
}

// lacksClients warns of a file in which nothing can have made some revisions: that of one client, perhaps.
func (t *etcdReader) lacksClients(in *input) {
	if missing := t.latest - 1 - int64(len(t.made)); missing > t.unclear {
		in.to.Warn(fmt.Sprintf("no operation can have made %s of those up to %d: if other clients did, check the folder of the report, which has their files, too",
			text.Count(int(missing), "revision"), t.latest))
	}
}

// clientOf returns the number of the client whose folder a file is in, or -1.
func clientOf(name string) int64 {
	digits, is := strings.CutPrefix(path.Base(path.Dir(name)), "client-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !is || err != nil {
		return -1
	}
	return n
}

// section is the text of one of several files.
type section struct {
	*bufio.Reader
	done bool
}

func (s *section) Read(p []byte) (int, error) {
	if s.done {
		return 0, io.EOF
	}
	if _, err := s.Peek(1); err != nil {
		return 0, err
	}
	text, _ := s.Peek(min(s.Buffered(), len(p)))
	end := bytes.IndexByte(text, files.Between)
	if end < 0 {
		return s.Reader.Read(p[:len(text)])
	}
	n := copy(p, text[:end])
	s.Discard(end + 1)
	s.done = true
	return n, io.EOF
}

// number gives watches without a client's folder processes of their own. Watches last from the beginning to the end: when
// they began is not recorded.
func (t *etcdReader) number() {
	if len(t.watches) == 0 {
		return
	}
	first, last := slices.Min(t.calls), slices.Max(t.returns)
	for _, op := range t.watches {
		t.calls[op], t.returns[op] = first, last
		if t.ops[op].process == edn.Nil {
			t.greatest++
			t.ops[op].process = t.v.InternInt(t.greatest)
		}
	}
}

// record adds the operation of a record. fail makes an error about it.
func (t *etcdReader) record(object []byte, fail func(string, ...any) error) error {
	var r reports.Record
	if err := json.Unmarshal(object, &r); err != nil {
		return fail("expected an operation or a watch of etcd's robustness tests: %v", err)
	}
	op := intervalOp{layout: bare, has: opmap.HasProcess | opmap.HasType | opmap.HasF | opmap.HasValue}
	var call, end int64
	var err error
	switch {
	case r.Request != nil:
		call = t.watch(&op, &r)
		end = call
	case r.ClientID == nil || r.Input == nil:
		return fail("expected an operation with ClientId and Input, or a watch with Request and Responses")
	case r.Call == nil || r.Output == nil || r.Return == nil:
		return fail("expected an operation with Call, Output and Return; it lacks %s", etcdLacks(&r))
	default:
		call, end = *r.Call, *r.Return
		op.process = t.v.InternInt(*r.ClientID)
		t.greatest = max(t.greatest, *r.ClientID)
		t.told(r.Input, r.Output)
		err = t.operation(&op, &r)
	}
	switch {
	case err != nil:
		return fail("%v", err)
	case !op.crashed && end < call:
		return fail("it returns at %d, before its call at %d", end, call)
	case !op.crashed:
		t.returned = append(t.returned, int32(len(t.ops)))
	}
	t.ops, t.calls, t.returns = append(t.ops, op), append(t.calls, call), append(t.returns, end)
	return nil
}

// etcdLacks says which parts of an operation are missing.
func etcdLacks(r *reports.Record) string {
	var lacks []string
	for _, part := range []struct {
		name string
		has  bool
	}{{"Call", r.Call != nil}, {"Output", r.Output != nil}, {"Return", r.Return != nil}} {
		if !part.has {
			lacks = append(lacks, part.name)
		}
	}
	return strings.Join(lacks, " and ")
}

// operation reads what an operation asks for and what it returned.
func (t *etcdReader) operation(op *intervalOp, r *reports.Record) (err error) {
	in, out := r.Input, r.Output
	var answer []any
	switch {
	case in.Type == "range" && in.Range != nil:
		op.f, op.value = t.word("range"), t.fields(t.span(in.Range)...)
		if out.Range != nil {
			answer = t.found(out.Range)
		}
	case in.Type == "txn" && in.Txn != nil:
		answer, err = t.txn(op, in.Txn, out)
	case in.Type == "leaseGrant" && in.LeaseGrant != nil:
		op.f, op.value = t.word("lease-grant"), t.fields("lease", in.LeaseGrant.LeaseID)
	case in.Type == "leaseRevoke" && in.LeaseRevoke != nil:
		op.f, op.value = t.word("lease-revoke"), t.fields("lease", in.LeaseRevoke.LeaseID)
	case in.Type == "compact" && in.Compact != nil:
		op.f, op.value = t.word("compact"), t.fields("revision", in.Compact.Revision)
	case in.Type == "defragment":
		op.f = t.word("defragment")
	default:
		return fmt.Errorf("expected a request of type range, txn, leaseGrant, leaseRevoke, compact or defragment, and what it asks for, found %q", in.Type)
	}
	op.output = op.value
	switch {
	case out.Error != "":
		op.crashed = true
	case out.Persisted:
		op.output = t.fields("revision", positive(out.PersistedRevision))
	case out.ClientError != "":
		op.output = t.fields("error", out.ClientError)
	default:
		op.output = t.fields(append([]any{"revision", positive(out.Revision)}, answer...)...)
	}
	return err
}

// positive returns a number above 0, else nil, which leaves out the field.
func positive(n int64) any {
	if n <= 0 {
		return nil
	}
	return n
}

// yes returns true, or nil for false.
func yes(is bool) any {
	if is {
		return true
	}
	return nil
}

// txn reads a transaction. One that does a single thing whatever there is has the name of that.
func (t *etcdReader) txn(op *intervalOp, txn *reports.Txn, out *reports.Response) (answer []any, err error) {
	single := len(txn.Conditions) == 0 && len(txn.OperationsOnSuccess) == 1 && len(txn.OperationsOnFailure) == 0
	var branches [2][]edn.ID
	for i, actions := range [][]reports.Action{txn.OperationsOnSuccess, txn.OperationsOnFailure} {
		for _, a := range actions {
			f, fields, err := t.action(&a)
			if err != nil {
				return nil, err
			}
			if single {
				op.f, op.value = t.word(f), t.fields(fields...)
			}
			branches[i] = append(branches[i], t.fields(append([]any{"f", t.word(f)}, fields...)...))
		}
	}
	answer, err = t.results(txn, out, single)
	if single || err != nil {
		return answer, err
	}
	var tests []edn.ID
	for _, c := range txn.Conditions {
		test := []any{"key", c.Key, "mod-revision", c.ExpectedRevision}
		if c.ExpectedVersion > 0 {
			test = []any{"key", c.Key, "version", c.ExpectedVersion}
		}
		tests = append(tests, t.fields(test...))
	}
	op.f, op.value = t.word("txn"), t.fields("if", t.v.InternVector(tests), "then", t.v.InternVector(branches[0]), "else", t.v.InternVector(branches[1]))
	return answer, nil
}

// results returns the fields of a transaction's answer, or those of its only action.
func (t *etcdReader) results(txn *reports.Txn, out *reports.Response, single bool) (answer []any, err error) {
	if out.Txn == nil || out.Error != "" {
		return nil, nil
	}
	taken := txn.OperationsOnSuccess
	if out.Txn.Failure {
		taken = txn.OperationsOnFailure
	}
	if len(out.Txn.Results) != len(taken) {
		return nil, fmt.Errorf("expected a result for each operation of the transaction, found %d", len(out.Txn.Results))
	}
	var results []edn.ID
	for i := range taken {
		answer = t.shown(&taken[i], &out.Txn.Results[i])
		results = append(results, t.fields(answer...))
	}
	if single {
		return answer, nil
	}
	return []any{"succeeded", !out.Txn.Failure, "results", t.v.InternVector(results)}, nil
}

// action returns the name of an action, and its fields.
func (t *etcdReader) action(a *reports.Action) (f string, fields []any, err error) {
	switch a.Type {
	case "range-operation":
		return "range", t.span(&a.Range), nil
	case "put-operation":
		return "put", []any{"key", a.Put.Key, "value", t.value(a.Put.Value), "lease", positive(a.Put.LeaseID)}, nil
	case "delete-operation":
		return "delete", []any{"key", a.Delete.Key}, nil
	}
	return "", nil, fmt.Errorf("expected an operation of type range-operation, put-operation or delete-operation, found %q", a.Type)
}

// shown returns the fields of an action's result.
func (t *etcdReader) shown(a *reports.Action, r *reports.Result) []any {
	switch a.Type {
	case "range-operation":
		return t.found(r)
	case "delete-operation":
		return []any{"deleted", r.Deleted}
	}
	return nil
}

func (t *etcdReader) span(r *reports.Range) []any {
	fields := []any{"key", r.Start, "limit", positive(r.Limit), "keys-only", yes(r.KeysOnly), "revision", positive(r.Revision)}
	if r.End != "" {
		fields = append(fields, "end", r.End)
	}
	return fields
}

func (t *etcdReader) found(r *reports.Result) []any {
	var kvs []edn.ID
	for _, kv := range r.KVs {
		kvs = append(kvs, t.fields("key", kv.Key, "value", t.value(kv.Value), "mod-revision", kv.ModRevision, "version", kv.Version))
	}
	return []any{"kvs", t.v.InternVector(kvs), "count", r.Count}
}

// value returns a short value, or the hash of a long one.
func (t *etcdReader) value(x reports.Value) edn.ID {
	if x.Hash != 0 {
		return t.fields("hash", int64(x.Hash))
	}
	return t.v.InternString(x.Value)
}

// watch reads a watch. It returns the time of a response.
func (t *etcdReader) watch(op *intervalOp, r *reports.Record) (time int64) {
	w := r.Request
	t.watches = append(t.watches, len(t.ops))
	if t.client >= 0 {
		op.process = t.v.InternInt(t.client)
	}
	op.f = t.word("watch")
	op.value = t.fields("key", w.Key, "prefix", yes(w.WithPrefix), "revision", positive(w.Revision), "prev-kv", yes(w.WithPrevKV), "progress-notify", yes(w.WithProgressNotify))
	var responses []edn.ID
	for _, d := range r.Responses {
		time = d.Time
		var events []edn.ID
		for _, e := range d.Events {
			events = append(events, t.event(&e))
		}
		said := []any{"revision", d.Revision, "progress", yes(d.IsProgressNotify), "events", t.v.InternVector(events)}
		if d.Error != "" {
			said = append(said, "error", d.Error)
		}
		responses = append(responses, t.fields(said...))
	}
	op.output, op.crashed = t.fields("responses", t.v.InternVector(responses)), len(responses) == 0
	return time
}

func (t *etcdReader) event(e *reports.Event) edn.ID {
	fields := []any{"type", t.word(strings.TrimSuffix(e.Type, "-operation")), "key", e.Key, "revision", e.Revision, "create", yes(e.IsCreate)}
	if e.Type == "put-operation" {
		fields = append(fields, "value", t.value(e.Value))
	}
	if p := e.PrevValue; p != nil {
		fields = append(fields, "prev", t.fields("value", t.value(p.Value), "mod-revision", p.ModRevision, "version", p.Version))
	}
	return t.fields(fields...)
}

func (t *etcdReader) word(name string) edn.ID { return t.v.InternKeyword(name) }

// fields returns a map of names and values in turn. It leaves out values that are nil.
func (t *etcdReader) fields(kvs ...any) edn.ID {
	var ids []edn.ID
	for i := 0; i < len(kvs); i += 2 {
		id := edn.Nil
		switch x := kvs[i+1].(type) {
		case nil:
			continue
		case edn.ID:
			id = x
		case int64:
			id = t.v.InternInt(x)
		case string:
			id = t.v.InternString(x)
		case bool:
			id = edn.False
			if x {
				id = edn.True
			}
		}
		ids = append(ids, t.word(kvs[i].(string)), id)
	}
	return t.v.InternMap(ids)
}
