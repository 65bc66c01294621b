package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// A comparison shows what others said beside what we say: in words and in JSON.
func TestComparisonsAreShown(t *testing.T) {
	register := models.Spec{Name: "register"}
	valid := check(t, register, clew.Options{}, "0 invoke write 1", "0 ok write 1")
	invalid := check(t, register, clew.Options{}, "0 invoke write 1", "0 ok write 1", "0 invoke read", "0 ok read 2")
	verified := *valid
	verified.Verified = true
	valid.Ms, invalid.Ms = 0.25, 0.25
	unknown := &report.Result{Verdict: jepsen.Unknown, Cause: "timeout"}
	key := edn.NewValues().Value(edn.Nil)
	for _, c := range []struct {
		name       string
		c          report.Comparison
		text, json string
	}{
		{"nothing to compare", report.Comparison{File: "a.edn", Why: "it has no results"},
			"not comparable   a.edn  it has no results\n",
			`{"file":"a.edn","checker":"","key":null,"agreement":"not comparable","why":"it has no results","knossos":null,"clew":null}`},
		{"a checker of a key, which agrees", report.Comparison{File: "a.edn", Agreement: report.Agree, Result: valid,
			Claim: jepsen.Claim{Checker: "linear", IsKey: true, Key: key, Verdict: jepsen.Valid}},
			"agree            a.edn  linear  key nil  valid\n",
			`{"file":"a.edn","checker":"linear","key":"nil","agreement":"agree","why":"","knossos":{"valid":true,"op-index":null,"ms":null},"clew":CLEW}`},
		{"a known difference, and how long it took", report.Comparison{File: "a.edn", Agreement: report.Agree, Result: invalid, Why: "as it is known",
			Claim: jepsen.Claim{Verdict: jepsen.Invalid, HasOp: true, OpIndex: 3, Ms: 1500}},
			"agree            a.edn  INVALID at index 3  (knossos 1500 ms, clew 0.2 ms)  as it is known\n",
			`{"file":"a.edn","checker":"","key":null,"agreement":"agree","why":"as it is known","knossos":{"valid":false,"op-index":3,"ms":1500},"clew":CLEW}`},
		{"an invalid one without its operation", report.Comparison{File: "a.edn", Agreement: report.Agree, Result: invalid, Claim: jepsen.Claim{Verdict: jepsen.Invalid}},
			"agree            a.edn  INVALID\n", `{"file":"a.edn","checker":"","key":null,"agreement":"agree","why":"","knossos":{"valid":false,"op-index":null,"ms":null},"clew":CLEW}`},
		{"who does not know", report.Comparison{File: "a.edn", Agreement: report.KnossosUnknown, Result: invalid, Claim: jepsen.Claim{Verdict: jepsen.Unknown}},
			"knossos unknown  a.edn  clew says INVALID at index 3\n", `{"file":"a.edn","checker":"","key":null,"agreement":"knossos unknown","why":"","knossos":{"valid":"unknown","op-index":null,"ms":null},"clew":CLEW}`},
		{"neither knows", report.Comparison{File: "a.edn", Agreement: report.KnossosUnknown, Result: unknown, Claim: jepsen.Claim{Verdict: jepsen.Unknown}},
			"knossos unknown  a.edn  clew says unknown: timeout\n", ""},
		{"a disagreement with its evidence", report.Comparison{File: "a.edn", Agreement: report.Disagree, Result: &verified, Why: "nobody knows why",
			Claim: jepsen.Claim{Verdict: jepsen.Invalid, HasOp: true, OpIndex: 1, OpText: "{:f :write}"}},
			"DISAGREE         a.edn\n    knossos says INVALID at index 1: {:f :write}\n    clew says valid, verified\n    nobody knows why\n" +
				"    a linearization of all 1 operations was found and replayed; Result.WriteWitness writes it\n", ""},
		{"a failure that was not seen", report.Comparison{File: "a.edn", Agreement: report.Disagree, Result: invalid, Claim: jepsen.Claim{Verdict: jepsen.Valid}},
			"DISAGREE         a.edn\n    knossos says valid\n    clew says INVALID at index 3, verified\n    register, 2 operations, ", ""},
	} {
		if got := c.c.Text(); got != c.text && !(c.c.Result == invalid && strings.HasPrefix(got, c.text) && c.c.Agreement == report.Disagree) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.text)
		}
		if c.json == "" {
			continue
		}
		clew, err := json.Marshal(c.c.Result)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(&c.c)
		if want := strings.Replace(c.json, "CLEW", string(clew), 1); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, want)
		}
	}
}
