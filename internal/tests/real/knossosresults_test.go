package real_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/store"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// knossosForms are the forms in which a result of Knossos stands in a results.edn.
var knossosForms = map[string]func(result string) string{
	"as it is":              func(r string) string { return r },
	"beside other checkers": func(r string) string { return "{:perf {:valid? true}, :workload {:linear " + r + "}, :valid? true}" },
	"without tags":          func(r string) string { return recordTag.ReplaceAllString(r, "{") },
	"as maps with tags":     asTaggedMaps,
	"with records of operations": func(r string) string {
		return strings.ReplaceAll(r, "{:process", "#jepsen.history.Op{:process")
	},
	"as Jepsen adds to it": func(r string) string {
		r = strings.TrimSuffix(strings.TrimSpace(r), "}")
		for _, key := range []string{"configs", "final-paths"} {
			if !strings.Contains(r, ":"+key) {
				r += ", :" + key + " ()"
			}
		}
		return "{:linear " + r + "}, :valid? false}"
	},
}

var recordTag = regexp.MustCompile(`#((?:knossos|clew)\.model\.\w+)\{`)

// asTaggedMaps writes records as a reader without them returns them.
func asTaggedMaps(result string) string {
	var b strings.Builder
	for {
		at := recordTag.FindStringSubmatchIndex(result)
		if at == nil {
			return b.String() + result
		}
		end := at[1] + strings.IndexByte(result[at[1]:], '}')
		fmt.Fprintf(&b, "%s{:tag %s, :value {%s}}", result[:at[0]], result[at[2]:at[3]], result[at[1]:end])
		result = result[end+1:]
	}
}

// Every result of Knossos can be compared in every form, and agrees.
func TestEveryResultOfKnossosIsCompared(t *testing.T) {
	t.Parallel()
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	results, _ := filepath.Glob(filepath.Join(root, "knossos-results", "*.edn"))
	if len(results) < 35 {
		t.Fatalf("only %d results", len(results))
	}
	for _, path := range results {
		name := filepath.Base(path)
		name, _, _ = strings.Cut(name, ".edn")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		history, spec := ofKnossos(t, root, name)
		for form, as := range knossosForms {
			t.Run(filepath.Base(path)+" "+form, func(t *testing.T) {
				claim := comparedAs(t, history, as(string(text)), spec)
				want := report.Agree
				if strings.Contains(string(text), ":valid? :unknown") {
					want = report.KnossosUnknown
				}
				if claim.Agreement != want || claim.Claim.Verdict == jepsen.Invalid && !claim.Claim.HasOp {
					t.Error(claim.Text())
				}
			})
		}
	}
}

// The results of our plugin can be compared in every form too. It says what it was asked for.
func TestEveryResultOfThePluginIsCompared(t *testing.T) {
	t.Parallel()
	paths, _ := filepath.Glob(kit.Path("testdata", "histories", "*.edn"))
	invalid := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h, err := clew.ReadFile(path, jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		spec, _, err := models.Spec{}.Infer(h)
		if err != nil {
			continue // its model must be given
		}
		r, err := clew.Check(context.Background(), h, spec, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == jepsen.Invalid {
			invalid++
		}
		result := strings.TrimSuffix(r.EDN(), "}") + ", :clew {:model " + spec.Name + "}}"
		for form, as := range knossosForms {
			c := comparedAs(t, string(text), as(result), models.Spec{})
			if c.Agreement != report.Agree || c.Claim.By != "clew's plugin" || c.Claim.Model != spec.Name || r.Verdict == jepsen.Invalid && !c.Claim.HasOp {
				t.Errorf("%s %s: %s", path, form, c.Text())
			}
		}
	}
	if invalid == 0 {
		t.Error("no history is invalid")
	}
}

// comparedAs compares a history with a results.edn that has one result.
func comparedAs(t *testing.T, history, results string, spec models.Spec) report.Comparison {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "history.edn")
	for file, text := range map[string]string{file: history, filepath.Join(dir, "results.edn"): results} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	h, err := clew.ReadFile(file, jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := store.ClaimsAbout(context.Background(), file, 0, h.Values)
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	all, err := clew.Compare(context.Background(), h, spec, clew.Options{}, claims)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// ofKnossos returns the history that a result of Knossos is about. Those called badN are N crashed writes before a
// read that no write explains.
func ofKnossos(t *testing.T, root, name string) (history string, spec models.Spec) {
	var n int
	if _, err := fmt.Sscanf(name, "bad%02d", &n); err == nil {
		for i := range n {
			history += fmt.Sprintf("{:process %d, :type :invoke, :f :write, :value %d}\n{:process %[1]d, :type :info, :f :write, :value %[2]d}\n", i, i+1)
		}
		history += "{:process 100, :type :invoke, :f :read, :value nil}\n{:process 100, :type :ok, :f :read, :value 99}\n"
		return history, models.Spec{Name: "register", Init: "0"}
	}
	paths, _ := filepath.Glob(filepath.Join(root, "knossos", "*", "*", name+".edn"))
	if len(paths) == 0 {
		paths, _ = filepath.Glob(filepath.Join(root, "knossos", "*", name+".edn"))
	}
	if len(paths) != 1 {
		t.Fatalf("%s: %d histories", name, len(paths))
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	switch name {
	case "etcd":
		return string(text), models.Spec{Name: "mutex"}
	case "multi-register":
		return string(text), models.Spec{Name: "multi-register", Init: "{:x 0, :y 0}"}
	}
	return string(text), models.Spec{Name: "cas-register", Init: "0"}
}

// Configurations and final paths are those of Knossos's linear search, up to ten, and as many as Knossos has if those
// are fewer. Only operations that may have any answer are left out: crashed reads.
func TestConfigurationsAndFinalPathsAreThoseOfKnossos(t *testing.T) {
	t.Parallel()
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	results, _ := filepath.Glob(filepath.Join(root, "knossos-results", "*.linear.edn"))
	for _, path := range results {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "{:valid? false") {
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(path), ".edn")
		history, spec := ofKnossos(t, root, name)
		h, err := clew.Read(strings.NewReader(history), name, jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), h, spec, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := edn.NewValues()
		for _, key := range []string{"configs", "final-paths"} {
			theirs, ours := listed(t, v, key, string(text)), listed(t, v, key, r.EDN())
			shared := 0
			for one := range ours {
				if !theirs[one] {
					t.Errorf("%s: Knossos does not have this in :%s:\n%s", name, key, one)
				}
				shared++
			}
			if shared < min(10, len(theirs)) {
				t.Errorf("%s: %d of the %d in Knossos's :%s", name, shared, len(theirs), key)
			}
		}
	}
}

// listed returns what a result lists under a key, without crashed reads. Configurations list what is pending by process
// in Knossos.
func listed(t *testing.T, v *edn.Values, key, result string) map[string]bool {
	id, err := v.ParseLenient([]byte(result))
	if err != nil {
		t.Fatal(err)
	}
	get := func(m edn.ID, key string) edn.ID {
		value, _ := v.Get(m, v.InternKeyword(key))
		return value
	}
	crashedRead := func(op edn.ID) bool {
		return v.Text(get(op, "f")) == ":read" && get(op, "value") == edn.Nil
	}
	all := map[string]bool{}
	for _, one := range v.Items(get(id, key)) {
		var parts []string
		if key == "configs" {
			for _, op := range v.Items(get(one, "pending")) {
				if !crashedRead(op) {
					parts = append(parts, v.Text(op))
				}
			}
			slices.Sort(parts)
			parts = append(parts, v.Text(get(one, "model")), v.Text(get(one, "last-op")))
		} else {
			for _, step := range v.Items(one) {
				if !crashedRead(get(step, "op")) {
					parts = append(parts, v.Text(step))
				}
			}
		}
		all[strings.Join(parts, "\n")] = true
	}
	return all
}
