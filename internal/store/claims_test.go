package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/edn"
	"clew/jepsen"
)

// said returns claims as text.
func said(claims []jepsen.Claim) string {
	var b strings.Builder
	for _, c := range claims {
		fmt.Fprintf(&b, "%s %s %s %s %d %t %s\n", c.Checker, c.Key, c.Verdict, c.Model, c.OpIndex, c.HasOp, c.Analyzer)
	}
	return b.String()
}

func TestATestFileMakesTheClaimsOfItsResults(t *testing.T) {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	files, _ := filepath.Glob(filepath.Join(root, "*", "*", "*", "test.jepsen"))
	some := 0
	for _, file := range files {
		results, err := os.Open(filepath.Join(filepath.Dir(file), "results.edn"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the test was killed, or its check ran out of memory
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := ReadClaims(results, "results.edn", edn.NewValues())
		if err != nil {
			t.Fatal(err)
		}
		results.Close()
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadTestClaims(context.Background(), f, file, 0, edn.NewValues())
		f.Close()
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d claims, want %d, %v", file, len(got), len(want), err)
		}
		// The order of the claims is that of the maps.
		for _, c := range want {
			if !strings.Contains(said(got), said([]jepsen.Claim{c})) {
				t.Errorf("%s: %s is not among\n%s", file, said([]jepsen.Claim{c}), said(got))
			}
		}
		some += len(got)
	}
	if some < 7 {
		t.Errorf("only %d claims", some)
	}
}

func TestTheResultsOfATestFileMakeClaims(t *testing.T) {
	for name, want := range map[string]string{"chunks": ":linear nil linearizable register 0 false linear\n", "killed": ""} {
		f, err := os.Open(filepath.Join("..", "testfile", "testdata", name+".jepsen"))
		if err != nil {
			t.Fatal(err)
		}
		claims, err := ReadTestClaims(context.Background(), f, name, 0, edn.NewValues())
		if f.Close(); err != nil || said(claims) != want {
			t.Errorf("%s: %v\n%swant\n%s", name, err, said(claims), want)
		}
	}
}

func TestAFileThatIsNoTestMakesNoClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.jepsen")
	for _, text := range []string{"", "{}", "JEPSEN is a name"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if claims, err := ReadTestClaims(context.Background(), f, path, 0, edn.NewValues()); len(claims) != 0 || err != nil {
			t.Errorf("%q: %v, %v", text, claims, err)
		}
		f.Close()
	}
}

func TestMillisecondsOfATableAreFinite(t *testing.T) {
	for _, ms := range []string{"Inf", "-inf", "NaN", "1e999", "soon"} {
		_, err := ReadTable(strings.NewReader("file\tverdict\tms\nh\ttrue\t"+ms+"\n"), "t")
		if want := "t:2:1: expected milliseconds, found \"" + ms + "\""; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", ms, err, want)
		}
	}
	rows, err := ReadTable(strings.NewReader("file\tverdict\tms\nh\ttrue\t12.5\n"), "t")
	if err != nil || len(rows) != 1 || rows[0].Ms != 12.5 {
		t.Errorf("%v, %v", rows, err)
	}
}

// TestResultsMakeClaims checks what counts as a claim in a results.edn, and what the claim says.
func TestResultsMakeClaims(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat("{:a ", n) + "{:valid? true :configs ()}" + strings.Repeat("}", n)
	}
	for _, c := range []struct{ name, results, want string }{
		{"a verdict alone is no claim", `{:valid? true :stats {:valid? true :count 3}}`, ""},
		{"configurations make it one", `{:valid? true, :linear {:valid? true, :configs ()}}`, ":linear nil linearizable  0 false \n"},
		{"so do final paths", `{:linear {:valid? :unknown, :final-paths ()}}`, ":linear nil undecided  0 false \n"},
		{"and an analyzer that is known", `{:a {:valid? true :analyzer :linear} :b {:valid? true :analyzer :wgl} :c {:valid? true :analyzer :competition} :d {:valid? true :analyzer :elle}}`,
			":a nil linearizable  0 false linear\n:b nil linearizable  0 false wgl\n:c nil linearizable  0 false competition\n"},
		{"but not without a verdict", `{:linear {:configs () :analyzer :linear}}`, ""},
		{"not below another claim", `{:linear {:valid? true :configs () :inner {:valid? false :configs ()}}}`, ":linear nil linearizable  0 false \n"},
		{"the failing operation", `{:l {:valid? false :analyzer :wgl :op {:index 7 :f :read}} :m {:valid? false :configs () :op #jepsen.history.Op{:index 8}}}`,
			":l nil not linearizable  7 true wgl\n:m nil not linearizable  8 true \n"},
		{"one without an index, or that is not a map", `{:l {:valid? false :configs () :op {:f :read}} :m {:valid? false :configs () :op 5}}`, ":l nil not linearizable  0 false \n:m nil not linearizable  0 false \n"},
		{"only of what is invalid", `{:l {:valid? true :configs () :op {:index 7}}}`, ":l nil linearizable  0 false \n"},
		{"an analyzer of nil", `{:l {:valid? true :configs () :analyzer nil}}`, ":l nil linearizable  0 false \n"},
		{"a model by its first known record", `{:l {:valid? true :configs ({:model #knossos.model.Other{:x #knossos.model.Register {:value 1}}})}}`, ":l nil linearizable register 0 false \n"},
		{"a model that is not known", `{:l {:valid? true :configs ({:model #Queue{:value 1}})}}`, ":l nil linearizable  0 false \n"},
		{"independent keys", `{:indep {:valid? false :results {1 {:linear {:valid? true :configs ()}} [2] {:linear {:valid? false :configs () :op {:index 3}}}} :failures [[2]]}}`,
			":indep :linear 1 linearizable  0 false \n:indep :linear [2] not linearizable  3 true \n"},
		{"keys without failures are names", `{:indep {:results {1 {:valid? true :configs ()}}}}`, ":indep :results 1 nil linearizable  0 false \n"},
		{"failures without results too", `{:indep {:failures [] :l {:valid? true :configs ()}}}`, ":indep :l nil linearizable  0 false \n"},
		{"results that are not a map", `{:indep {:results 5 :failures [] :l {:valid? true :configs ()}}}`, ":indep :l nil linearizable  0 false \n"},
		{"keys of keys are names", `{:results {1 {:results {2 {:valid? true :configs ()}} :failures []}} :failures []}`, ":results 2 1 linearizable  0 false \n"},
		{"a record of results", `{:l #my.Result{:valid? true :configs ()}}`, ":l nil linearizable  0 false \n"},
		{"twenty levels deep", deep(20), strings.TrimSuffix(strings.Repeat(":a ", 20), " ") + " nil linearizable  0 false \n"},
		{"but no deeper", deep(21), ""},
		{"Elle's anomalies", `{:workload {:valid? false :anomaly-types (:G1c)}}`, ":workload nil not linearizable  0 false \n"},
		{"a verdict alone, called as Elle's", `{:workload {:valid? true} :a {:elle {:valid? true} :b {:valid? true}}}`, ":workload nil linearizable  0 false \n:a :elle nil linearizable  0 false \n"},
		{"more than a verdict, called as Elle's", `{:workload {:valid? true :count 3}}`, ""},
		{"the whole", `{:valid? true :configs ()}`, " nil linearizable  0 false \n"},
	} {
		v := edn.NewValues()
		claims, err := ReadClaims(strings.NewReader(c.results), "results.edn", v)
		for i := range claims {
			if !claims[i].IsKey {
				claims[i].Key = v.Value(edn.Nil)
			}
		}
		if got := said(claims); got != c.want || err != nil {
			t.Errorf("%s: %v\n%swant\n%s", c.name, err, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"[1]":     "results.edn:1:1: expected a map of results, found something else",
		"{:a\n 1": "results.edn:",
	} {
		if _, err := ReadClaims(strings.NewReader(text), "results.edn", edn.NewValues()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadClaims(nil, "results.edn", edn.NewValues()); err == nil {
		t.Error("no reader is accepted")
	}
	if _, err := ReadClaims(strings.NewReader("{}"), "results.edn", nil); err == nil {
		t.Error("no table of values is accepted")
	}
}

func TestATableOfVerdicts(t *testing.T) {
	for _, c := range []struct{ table, want string }{
		{"a.edn\ttrue\nb.edn\tILLEGAL\r\n\n# no line\nc.edn\tunknown\n", "a.edn: linearizable 0 false|b.edn: not linearizable 0 false|c.edn: undecided 0 false"},
		{"verdict\tms\tfile\tmodel\tfail_index\talgo\nok\t1.5\ta.edn\tregister:0\t\twgl\ninvalid\t\tb.edn\tmutex\t12\n", "a.edn:wgl linearizable 0 false register=0 1.5|b.edn: not linearizable 12 true mutex="},
		{"file\tverdict\nfile\tvalid\n", "file: linearizable 0 false"},
		{"a.edn\tvalid\nfile\tverdict\n", `t:2:1: expected a verdict (true, false or unknown), found "verdict"`},
		{"file\tresult\n", `t:1:1: expected a verdict (true, false or unknown), found "result"`},
		{"\nverdict\tfile\n", `t:2:1: expected a verdict (true, false or unknown), found "file"`},
		{"file\tverdict\tms\na\ttrue\tx\n", `t:2:1: expected milliseconds, found "x"`},
		{"file\tverdict\tfail_index\na\tfalse\tx\n", `t:2:1: expected the index of the failing operation, found "x"`},
		{"# only this\n", "t:1:1: expected a table of verdicts, found none"},
	} {
		rows, err := ReadTable(strings.NewReader(c.table), "t")
		var all []string
		for _, r := range rows {
			s := fmt.Sprintf("%s:%s %s %d %t", r.File, r.Checker, r.Verdict, r.OpIndex, r.HasOp)
			if r.Model != "" {
				s += fmt.Sprintf(" %s=%s", r.Model, r.Init)
			}
			if r.Ms != 0 {
				s += fmt.Sprint(" ", r.Ms)
			}
			all = append(all, s)
		}
		got := strings.Join(all, "|")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s\nwant %s", c.table, got, c.want)
		}
	}
}
