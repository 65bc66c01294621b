package position_test

import (
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// Histories of which a decision or its evidence was once wrong.
func TestWhatWasOnceWrong(t *testing.T) {
	for name, x := range map[string]struct {
		spec  models.Spec
		text  string
		valid bool
	}{
		"a read of nil keeps its position": {models.Spec{Name: "register"}, `
{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1, :at 5}
{:process 0, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :read, :value nil, :at 3}`, false},
		"the first sparse position is free": {models.Spec{Name: "cas-register", Init: "nil", SparsePositions: true}, `
{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :info, :f :write, :value 1}
{:process 1, :type :invoke, :f :cas, :value [1 2]}
{:process 1, :type :info, :f :cas, :value [1 2]}
{:process 2, :type :invoke, :f :read, :value nil}
{:process 2, :type :ok, :f :read, :value 2, :at 0}`, true},
		"a sparse core holds the read that fails": {models.Spec{Name: "register", SparsePositions: true}, `
{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1, :at 10}
{:process 2, :type :invoke, :f :read, :value nil}
{:process 2, :type :ok, :f :read, :value 1, :at 15}
{:process 2, :type :invoke, :f :read, :value nil}
{:process 2, :type :ok, :f :read, :value 1, :at 14}`, false},
		"compactions at the same time come in either order": {models.Spec{Name: "etcd"}, `
{:process 0, :type :invoke, :f :put, :value {:key "a", :value 1}}
{:process 0, :type :ok, :f :put, :value {:revision 2}}
{:process 0, :type :invoke, :f :put, :value {:key "a", :value 2}}
{:process 0, :type :ok, :f :put, :value {:revision 3}}
{:process 0, :type :invoke, :f :compact, :value {:revision 3}}
{:process 1, :type :invoke, :f :compact, :value {:revision 2}}
{:process 0, :type :ok, :f :compact, :value {}}
{:process 1, :type :ok, :f :compact, :value {}}`, true},
		"a revoke that never returned moves nothing, and a put with its lease does nothing": {models.Spec{Name: "etcd"}, `
{:process 0, :type :invoke, :f :lease-grant, :value {:lease 1}}
{:process 0, :type :ok, :f :lease-grant, :value {:revision 1}}
{:process 1, :type :invoke, :f :lease-revoke, :value {:lease 1}}
{:process 1, :type :info, :f :lease-revoke, :value {:lease 1}}
{:process 0, :type :invoke, :f :txn, :value {:if [], :then [{:f :put, :key "a", :value 1, :lease 1} {:f :put, :key "b", :value 2}], :else []}}
{:process 0, :type :ok, :f :txn, :value {:revision 2, :succeeded true, :results [{} {}]}}
{:process 0, :type :invoke, :f :range, :value {:key "a"}}
{:process 0, :type :ok, :f :range, :value {:revision 2, :kvs [], :count 0}}`, true},
		"more places than operations show": {models.Spec{Name: "etcd"}, `
{:process 0 :type :invoke :f :txn :value {:if [{:key "c", :mod-revision 0}], :else [{:f :delete, :key "c"}], :then [{:f :put, :key "c", :value 1}]}}
{:process 1 :type :invoke :f :lease-grant :value {:lease 1}}
{:process 1 :type :ok :f :lease-grant :value {:revision 2}}
{:process 1, :type :invoke, :f :delete, :value {:key "a"}}
{:process 2, :type :invoke, :f :range, :value {:key "b", :end "c", :keys-only true}}
{:process 2, :type :ok, :f :range, :value {:revision 3, :kvs [], :count 0}}`, false},
	} {
		h, err := forms.Read(strings.NewReader(x.text), name, jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if x.spec.Name != "etcd" {
			x.spec.Position = "at"
		}
		ops, err := x.spec.Read(h)
		if err != nil {
			t.Fatal(err)
		}
		if want := oracle.Decide(ops, oracle.Options{}); want.Linearizable != x.valid {
			t.Errorf("%s: the oracle says %v", name, want.Linearizable)
		}
		path, _ := families.Of(ops.Model)
		d := path.Decide(t.Context(), &ops.Columns, fastpath.WantFailure)
		if d.Verdict != jepsen.Unknown && (d.Verdict == jepsen.Valid) != x.valid {
			t.Errorf("%s: the path says %v", name, d.Verdict)
		}
		if d.Verdict == jepsen.Invalid && ops.Res[d.Core[len(d.Core)-1]] != d.FailEvent {
			t.Errorf("%s: the core %v does not hold what fails at %d", name, d.Core, d.FailEvent)
		}
	}
}
