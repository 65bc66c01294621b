package modelfile_test

import (
	"bytes"
	"testing"

	"clew/models/modelfile"
)

// An example's operations are events: one after another by processes of their own, unless
// it says otherwise, and concurrent if they are in a list.
func TestExamplesAreHistories(t *testing.T) {
	for _, c := range []struct{ ops, want string }{
		{`("put", 1), ("get", None, 1), ("put", 2, crashed)`, `
{:f :put, :index 0, :process 0, :type :invoke, :value 1}
{:f :put, :index 1, :process 0, :type :ok, :value 1}
{:f :get, :index 2, :process 1, :type :invoke, :value nil}
{:f :get, :index 3, :process 1, :type :ok, :value 1}
{:f :put, :index 4, :process 2, :type :invoke, :value 2}
{:f :put, :index 5, :process 2, :type :info, :value 2}
`},
		{`[("put", "a"), {"f": "get", "key": "x", "out": "a"}]`, `
{:f :put, :index 0, :process 0, :type :invoke, :value "a"}
{:f :get, :index 1, :key "x", :process 1, :type :invoke, :value nil}
{:f :put, :index 2, :process 0, :type :ok, :value "a"}
{:f :get, :index 3, :key "x", :process 1, :type :ok, :value "a"}
`},
		{`{"f": "put", "value": 1, "process": 7, "ok": False}, {"f": "get", "process": 7}`, `
{:f :put, :index 0, :process 7, :type :invoke, :value 1}
{:f :put, :index 1, :process 7, :type :info, :value 1}
{:f :get, :index 2, :process 7, :type :invoke, :value nil}
{:f :get, :index 3, :process 7, :type :ok, :value nil}
`},
	} {
		f, err := modelfile.Parse("m.star", []byte(`
init = 0
ops = {"put": lambda state, op: op.value, "get": lambda state, op: state}
examples = [{"ops": [`+c.ops+`], "valid": True}]
`))
		if err != nil {
			t.Fatal(err)
		}
		h, err := f.Examples()[0].History()
		if err != nil {
			t.Errorf("%s: %v", c.ops, err)
			continue
		}
		var got bytes.Buffer
		if err := h.WriteEDN(&got); err != nil || "\n"+got.String() != c.want {
			t.Errorf("%s: %v\n%swant%s", c.ops, err, got.String(), c.want)
		}
	}
}
