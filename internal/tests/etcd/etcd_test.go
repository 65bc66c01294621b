package etcd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/families"
	"clew/internal/gen"
	"clew/internal/store"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
	"clew/report"
)

// guarantees says which guarantee a bug of a watch breaks, and gen.Linearizable none.
var guarantees = map[gen.LongKind]string{gen.Linearizable: "", gen.EventLost: "reliable", gen.EventTwice: "unique", gen.EventsReordered: "ordered",
	gen.EventsSplit: "atomic", gen.EarlyBookmark: "bookmarkable", gen.WrongResume: "resumable"}

func broken(r *report.Result) string {
	var names []string
	for _, b := range r.Broken {
		names = append(names, b.Guarantee)
	}
	return strings.Join(names, ",")
}

// Every bug of a watch breaks exactly its guarantee, and watches without a bug break none, whatever crashes.
func TestBrokenWatchesAreFound(t *testing.T) {
	t.Parallel()
	for kind, want := range guarantees {
		for seed := range effort.Histories(4, 200) {
			var text bytes.Buffer
			o := gen.LongOptions{Model: "etcd", Kind: kind, Operations: 150, Seed: seed, Processes: 2 + int(seed%6), Keys: 2 + int(seed%4), Crashes: float64(seed%4) * 0.02}
			fail, err := gen.Long(&text, o)
			if err != nil {
				t.Fatal(err)
			}
			h, err := clew.Read(&text, "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := clew.Check(context.Background(), h, models.Spec{Name: "etcd"}, clew.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if broken(r) != want || (r.Verdict == jepsen.Valid) != (want == "") || r.FailingIndex() != int64(fail) {
				t.Errorf("%v, seed %d: %v at %d, %s broken: %s; expected %q at %d", kind, seed, r.Verdict, r.FailingIndex(), broken(r), r.Explanation, want, fail)
			}
		}
	}
}

// What a watch shows of a key before says which updates that never returned took effect.
func TestWatchesSayWhatHappenedBefore(t *testing.T) {
	t.Parallel()
	for version, valid := range map[int]bool{1: true, 2: true, 3: false} {
		text := `{:process 0, :type :invoke, :f :put, :value {:key "a", :value 1}}
{:process 1, :type :invoke, :f :put, :value {:key "a", :value 1}}
{:process 2, :type :invoke, :f :put, :value {:key "c", :value 1}}
{:process 0, :type :info, :f :put, :value {:key "a", :value 1}}
{:process 1, :type :info, :f :put, :value {:key "a", :value 1}}
{:process 2, :type :info, :f :put, :value {:key "c", :value 1}}
{:process 3, :type :invoke, :f :put, :value {:key "b", :value 1}}
{:process 3, :type :ok, :f :put, :value {:revision 4}}
{:process 3, :type :invoke, :f :put, :value {:key "a", :value 2}}
{:process 3, :type :ok, :f :put, :value {:revision 5}}
{:process 4, :type :invoke, :f :watch, :value {:key "a", :revision 5, :prev-kv true}}
{:process 4, :type :ok, :f :watch, :value {:responses [{:events [{:type :put, :key "a", :value 2, :revision 5, :prev {:value 1, :mod-revision 3, :version ` + fmt.Sprint(version) + `}}], :revision 5}]}}
`
		h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "etcd"}, clew.Options{})
		if err != nil || (r.Verdict == jepsen.Valid) != valid || !valid && r.Kind != models.BrokenGuarantee {
			t.Errorf("version %d: %v, %s, %v", version, r.Verdict, r.Explanation, err)
		}
	}
}

// A read of an old state is compared with what was there.
func TestReadsOfOldStatesAreJudged(t *testing.T) {
	t.Parallel()
	for value, want := range map[int]string{1: "", 2: "old-state"} {
		text := `{:process 0, :type :invoke, :f :put, :value {:key "a", :value 1}}
{:process 0, :type :ok, :f :put, :value {:revision 2}}
{:process 0, :type :invoke, :f :put, :value {:key "a", :value 2}}
{:process 0, :type :ok, :f :put, :value {:revision 3}}
{:process 0, :type :invoke, :f :range, :value {:key "a", :revision 2}}
{:process 0, :type :ok, :f :range, :value {:revision 3, :kvs [{:key "a", :value ` + fmt.Sprint(value) + `, :mod-revision 2, :version 1}], :count 1}}
`
		h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, models.Spec{}, clew.Options{})
		if err != nil || broken(r) != want {
			t.Errorf("%d: %s, %v; expected %q", value, broken(r), err, want)
		}
	}
}

// checkReport returns what Check says about the report in a folder.
func checkReport(t *testing.T, dir string) (*report.Result, error) {
	t.Helper()
	found, err := store.Find(context.Background(), dir, store.Options{})
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d histories, %v", dir, len(found), err)
	}
	h, err := found[0].Read(context.Background(), jepsen.Options{})
	if err != nil {
		return nil, err
	}
	return clew.Check(context.Background(), h, models.Spec{}, clew.Options{})
}

// Reports of etcd's robustness tests have the verdicts that others have for them.
func TestReportsOfEtcd(t *testing.T) {
	t.Parallel()
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	table, err := os.ReadFile(filepath.Join(root, "etcd-reports", "expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		if i == 0 {
			continue
		}
		want := strings.Split(line, "\t")
		r, err := checkReport(t, filepath.Join(root, "etcd-reports", want[0]))
		if err != nil {
			t.Fatal(err)
		}
		valid := want[1] == "true" && want[2] == ""
		if (r.Verdict == jepsen.Valid) != valid || want[1] == "true" && broken(r) != want[2] || (want[1] == "true") != (r.Verdict == jepsen.Valid || r.Kind == models.BrokenGuarantee) {
			t.Errorf("%s: %v, %q broken: %s; expected %v", want[0], r.Verdict, broken(r), r.Explanation, want)
		}
	}
}

// Generated reports have the verdict of their bug.
func TestGeneratedReportsOfEtcd(t *testing.T) {
	t.Parallel()
	for kind, want := range guarantees {
		for seed := range effort.Histories(1, 20) {
			var text bytes.Buffer
			o := gen.LongOptions{Model: "etcd", Kind: kind, Operations: 150, Seed: seed, Processes: 3, Crashes: float64(seed%3) * 0.02, Leases: int(seed%3) - 1, Plain: true}
			if _, err := gen.Long(&text, o); err != nil {
				t.Fatal(err)
			}
			h, err := clew.Read(&text, "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			err = forms.EtcdReport(h, 3, func(name string) (io.WriteCloser, error) {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
					return nil, err
				}
				return os.Create(filepath.Join(dir, name))
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := checkReport(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if broken(r) != want || (r.Verdict == jepsen.Valid) != (want == "") || r.History.Operations() != h.Operations()-failed(h) {
				t.Errorf("%v, seed %d: %v, %s broken, %d operations: %s; expected %q", kind, seed, r.Verdict, broken(r), r.History.Operations(), r.Explanation, want)
			}
		}
	}
}

// failed returns how many operations of a history failed.
func failed(h *jepsen.History) (n int) {
	for _, s := range h.Status {
		if s == jepsen.Failed {
			n++
		}
	}
	return n
}

// What a report cannot tell is an error that names the operation.
func TestWhatAReportOfEtcdCannotTell(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`:delete {:key "a", :end "c"}`:          "a delete is of one key",
		`:txn {:if [{:key "a", :value 1}]}`:     "conditions are on :mod-revision or :version",
		`:put {:key 7, :value 1}`:               "expected a string as :key, found 7",
		`:range {:key "a", :serializable true}`: "a range has no :serializable",
	} {
		h, err := clew.Read(strings.NewReader("0 :invoke "+value), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = forms.EtcdReport(h, 1, func(string) (io.WriteCloser, error) { return nil, errors.New("a file was made") })
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "index 0") {
			t.Errorf("%v; expected %q", err, want)
		}
	}
}

// aReport has a put of one client, and a read and a watch of others.
var aReport = map[string]string{
	"client-1/operations.json": `{"ClientId": 1, "Input": {"Type": "txn", "Txn": {"OperationsOnSuccess": [{"Type": "put-operation", "Put": {"Key": "a", "Value": {"Hash": 7}}}]}}, "Call": 1,
 "Output": {"Txn": {"Results": [{}]}, "Revision": 2}, "Return": 2}
{"clientid": 1, "input": {"type": "defragment"}, "call": 3, "output": {"error": "lost"}, "return": 99}
`,
	"client-2/operations.json": `{"ClientId": 2, "Input": {"Type": "range", "Range": {"Start": "a"}}, "Call": 3,
 "Output": {"Range": {"KVs": [{"Key": "a", "Value": {"Hash": 7}, "ModRevision": 2, "Version": 1}], "Count": 1}, "Revision": 2}, "Return": 4}
{"ClientId": 2, "Input": {"Type": "txn", "Txn": {"OperationsOnSuccess": [{"Type": "delete-operation", "Delete": {"Key": "a"}}]}}, "Call": 5, "Output": {"Persisted": true, "PersistedRevision": 3}, "Return": 9}`,
	"client-30/watch.json": `{"Request": {"Key": "a", "Revision": 2}, "Responses": [{"Events": [{"Type": "put-operation", "Key": "a", "Value": {"Hash": 7}, "Revision": 2, "IsCreate": true},
 {"Type": "delete-operation", "Key": "a", "Revision": 3}], "Revision": 3, "Time": 5}]}`,
	"traffic.json": `{"expectuniquerevision":true}`,
	"server-a/x":   "",
}

// Damaged reports are errors that say where.
func TestDamagedReports(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name           string
		file, from, to string
		want           string
	}{
		{"whole", "", "", "", ""},
		{"cut short", "client-1/operations.json", `"return": 99}`, "", "client-1/operations.json:4:1: expected } to close { opened at 3:1, found end of input"},
		{"with another type", "client-2/operations.json", `"range"`, `"rang"`, `client-2/operations.json:1:1: expected a request of type range`},
		{"with a result too few", "client-1/operations.json", `[{}]`, `[]`, `client-1/operations.json:1:1: expected a result for each operation`},
		{"with a word for a number", "client-2/operations.json", `"Call": 3`, `"Call": "3"`, "client-2/operations.json:1:1: expected an operation or a watch"},
		{"with an event of no kind", "client-30/watch.json", `delete-operation`, `x`, "expected :type :put or :delete"},
		{"with a client that has no file", "client-4/notes.txt", "", "", "client-4 has no operations.json and no watch.json"},
		{"with a key twice", "client-1/operations.json", `"call": 3`, `"call": 3, "call": 4`, `client-1/operations.json:3:61: the object has the key "call" twice`},
		{"with a key twice, in other letters", "client-2/operations.json", `"Count": 1`, `"Count": 1, "count": 0`, `client-2/operations.json:2:112: the object has the key "Count" twice, here as "count"`},
		{"with a key twice within a watch", "client-30/watch.json", `"Revision": 3}]`, `"Revision": 3, "Revis\u0069on": 2}]`, `client-30/watch.json:2:58: the object has the key "Revision" twice`},
		{"with a key twice that nobody reads", "client-1/operations.json", `"return": 99`, `"return": 99, "metadata": [{"a": 1, "a": 1}]`, `client-1/operations.json:3:126: the object has the key "a" twice`},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{x.file: ""}
			for name, text := range aReport {
				files[name] = text
			}
			if x.from != "" {
				files[x.file] = strings.Replace(files[x.file], x.from, x.to, 1)
			}
			for name, text := range files {
				if name == "" {
					continue
				}
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			r, err := checkReport(t, dir)
			switch {
			case x.want == "" && (err != nil || r.Verdict != jepsen.Valid || r.Model != "etcd" || r.History.Operations() != 5):
				t.Errorf("%v, %v", r, err)
			case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
				t.Errorf("%v; expected %q", err, x.want)
			}
		})
	}
}

// The order of revisions decides histories in which the order within a revision, or what made one, only shows later.
func TestEtcdIsDecidedByRevisions(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a lease that was granted and revoked in one revision does not exist": `
0 :invoke :lease-grant {:lease 2}
1 :invoke :lease-revoke {:lease 2}
0 :ok :lease-grant {:revision 1}
1 :ok :lease-revoke {:revision 1}
0 :invoke :put {:key "b", :value 1}
1 :invoke :put {:key "a", :value 2, :lease 2}
0 :ok :put {:revision 2}
1 :ok :put {:revision 2}
`,
		"the lower one of two compactions comes first": `
0 :invoke :put {:key "a", :value 1}
0 :ok :put {:revision 2}
0 :invoke :put {:key "a", :value 2}
0 :ok :put {:revision 3}
0 :invoke :compact {:revision 3}
1 :invoke :compact {:revision 2}
1 :ok :compact {}
0 :ok :compact {}
`,
		"the higher one of two compactions comes first": `
0 :invoke :put {:key "a", :value 1}
0 :ok :put {:revision 2}
0 :invoke :put {:key "a", :value 2}
0 :ok :put {:revision 3}
0 :invoke :compact {:revision 3}
1 :invoke :compact {:revision 2}
1 :ok :compact {:error "compacted"}
0 :ok :compact {}
`,
		"a watch shows that the put made a revision, and not the revoke": `
0 :invoke :lease-grant {:lease 1}
0 :ok :lease-grant {:revision 1}
0 :invoke :put {:key "a", :value 1, :lease 1}
0 :info :put {:key "a", :value 1, :lease 1}
1 :invoke :lease-revoke {:lease 2}
1 :ok :lease-revoke {:revision 2}
1 :invoke :watch {:key "a", :revision 1}
1 :ok :watch {:responses [{:events [{:type :put, :key "a", :value 1, :revision 2, :create true}], :revision 2}]}
`,
		"a lower compaction that returns later comes first": `
0 :invoke :put {:key "a", :value 1}
0 :ok :put {:revision 2}
0 :invoke :put {:key "a", :value 2}
0 :ok :put {:revision 3}
0 :invoke :compact {:revision 2}
1 :invoke :compact {:revision 3}
1 :ok :compact {}
1 :invoke :put {:key "a", :value 3}
0 :ok :compact {}
1 :ok :put {:revision 4}
`,
		"a watch shows a key before that the revoked lease never had": `
0 :invoke :lease-grant {:lease 1}
0 :ok :lease-grant {:revision 1}
0 :invoke :put {:key "a", :value 1}
0 :ok :put {:revision 2}
0 :invoke :put {:key "a", :value 2, :lease 1}
0 :info :put {:key "a", :value 2, :lease 1}
2 :invoke :delete {:key "a"}
2 :info :delete {:key "a"}
1 :invoke :lease-revoke {:lease 1}
1 :ok :lease-revoke {:revision 3}
1 :invoke :watch {:key "a", :revision 1, :prev-kv true}
1 :ok :watch {:responses [{:events [{:type :put, :key "a", :value 1, :revision 2, :create true} {:type :delete, :key "a", :revision 3, :prev {:value 1, :mod-revision 2, :version 1}}], :revision 3}]}
`,
		"a later read shows that a lease had been revoked before": `
0 :invoke :lease-grant {:lease 2}
0 :ok :lease-grant {:revision 1}
1 :invoke :lease-revoke {:lease 2}
1 :info :lease-revoke {:lease 2}
0 :invoke :txn {:if [], :then [{:f :put, :key "b", :value 1} {:f :put, :key "a", :value 1, :lease 2}]}
0 :ok :txn {:revision 2, :succeeded true, :results [{} {}]}
0 :invoke :put {:key "c", :value 1}
0 :ok :put {:revision 3}
0 :invoke :range {:key "a"}
0 :ok :range {:revision 3, :kvs [], :count 0}
`,
		"what a transaction deletes is not there for its later actions": `
0 :invoke :put {:key "a", :value 1}
0 :ok :put {:revision 2}
1 :invoke :put {:key "a", :value 1}
1 :info :put {:key "a", :value 1}
0 :invoke :txn {:then [{:f :delete, :key "a"} {:f :delete, :key "a"} {:f :range, :key "a", :end "c"}]}
0 :ok :txn {:revision 3, :results [{:deleted 1} {:deleted 0} {:count 0}]}
`,
		"a key that is shown with lease 0 has none": `
0 :invoke :put {:key "a", :value 1}
0 :ok :put {:revision 2}
0 :invoke :range {:key "a"}
0 :ok :range {:revision 2, :kvs [{:key "a", :value 1, :lease 0}], :count 1}
`,
		"what began after a read of its revision did not make that": `
0 :invoke :put {:key "a", :value 1}
0 :info :put {:key "a", :value 1}
1 :invoke :range {:key "b"}
1 :ok :range {:revision 2, :kvs [], :count 0}
1 :invoke :lease-revoke {:lease 2}
1 :ok :lease-revoke {:revision 2}
`,
	} {
		for _, algorithm := range []string{"fast", "frontier"} {
			if r := ofEtcd(t, text, algorithm); r.Verdict != jepsen.Valid {
				t.Errorf("%s: %s says %v", name, algorithm, r)
			}
		}
	}
}

// Most histories in which many operations crashed are decided by their revisions. The general search decides few of them.
func TestEtcdWithManyCrashedOperationsIsDecidedByRevisions(t *testing.T) {
	t.Parallel()
	seeds := uint64(20)
	if effort.Few() {
		seeds = 2
	}
	for _, x := range []struct {
		operations int
		crashes    float64
		leases     int
		least      uint64 // of 100
	}{{300, 0.3, -1, 100}, {3_000, 0.02, -1, 100}, {3_000, 0.05, -1, 100}, {3_000, 0.3, -1, 50}, {3_000, 0.02, 2, 50}} {
		for _, kind := range []gen.LongKind{gen.Linearizable, gen.StaleRead} {
			decided := uint64(0)
			for seed := range seeds {
				o := gen.LongOptions{Model: "etcd", Operations: x.operations, Processes: 8, Keys: 5, Leases: x.leases, Watches: float64(x.leases) / 100, Crashes: x.crashes, Kind: kind, At: 0.8, Seed: seed}
				var text bytes.Buffer
				if _, err := gen.Long(&text, o); err != nil {
					t.Fatal(err)
				}
				h, err := forms.Read(&text, "h", jepsen.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ops, err := models.Spec{Name: "etcd"}.Read(h)
				if err != nil {
					t.Fatal(err)
				}
				path, _ := families.Of(ops.Model)
				switch d := path.Decide(t.Context(), &ops.Columns, fastpath.WantVerdict); {
				case d.Verdict == jepsen.Unknown:
				case (d.Verdict == jepsen.Valid) != (kind == gen.Linearizable):
					t.Fatalf("seed %d, %+v: %s", seed, x, d.Verdict)
				default:
					decided++
				}
			}
			t.Logf("%+v, %s: %d of %d", x, kind, decided, seeds)
			if 100*decided < x.least*seeds {
				t.Errorf("%+v, %s: %d of %d are decided", x, kind, decided, seeds)
			}
		}
	}
}

// Answers that no state gives are failures, which any engine finds, and so does the check of the evidence.
func TestAnswersOfEtcdThatNoStateGives(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a compaction in a revision that was not yet, or not any more": `
0 :invoke :compact {:revision 1}
0 :ok :compact {:revision 0}
`,
		"a stale read that tells no revision": `
0 :invoke :put {:key "a", :value 1}
0 :ok :put {:revision 2}
0 :invoke :range {:key "a", :serializable true}
0 :ok :range {:kvs [{:key "a", :value 2}], :count 1}
`,
	} {
		for _, algorithm := range []string{"fast", "frontier"} {
			if r := ofEtcd(t, text, algorithm); r.Verdict != jepsen.Invalid || !r.Verified {
				t.Errorf("%s: %s says %v", name, algorithm, r)
			}
		}
	}
}

// A read of a position shows that what crashed had made it. So the core has that read.
func TestACoreHasWhatShowsWhoMadeAPosition(t *testing.T) {
	t.Parallel()
	const text = `
{:process 1, :type :invoke, :f :put, :key "x", :value 1}
{:process 0, :type :invoke, :f :get, :key "x", :value nil}
{:process 2, :type :invoke, :f :get, :key "x", :value nil}
{:process 2, :type :ok, :f :get, :key "x", :value 1, :revision 1}
{:process 0, :type :ok, :f :get, :key "x", :value 1, :revision 0}
`
	h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Spec{Name: "kv", Position: "revision"}, clew.Options{})
	if err != nil || r.Verdict != jepsen.Invalid || !r.Verified || len(r.Core) != 3 {
		t.Errorf("%v, %v, core %v", r, err, r.Core)
	}
}

// Without revisions, updates may have another order than the one that was found. So a stale read that tells none, either,
// may be of a state of that one.
func TestAStaleReadWithoutARevisionMayBeOfAnotherOrder(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a", "b"} {
		r := ofEtcd(t, `
0 :invoke :put {:key "a", :value 1}
1 :invoke :put {:key "b", :value 1}
0 :ok :put nil
1 :ok :put nil
0 :invoke :range {:key "a", :end "c", :serializable true}
0 :ok :range {:kvs [{:key "`+key+`", :value 1}], :count 1}
`, "auto")
		if r.Verdict != jepsen.Valid {
			t.Errorf("%s: %v", key, r)
		}
	}
}

// ofEtcd checks a history of etcd.
func ofEtcd(t *testing.T, text, algorithm string) *report.Result {
	t.Helper()
	h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Spec{Name: "etcd"}, clew.Options{Algorithm: algorithm})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
