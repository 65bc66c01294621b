package reading_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/store"
	"clew/internal/tests/kit"
	"clew/models"
	"clew/report"
)

// Keys may begin with different values, and all with the same one. The verdicts are worked out on paper.
func TestKeysBeginWithTheirOwnValues(t *testing.T) {
	t.Parallel()
	const independent = "read [:a nil] -> [:a 1]; read [:b nil] -> [:b 2]; read [:c nil] -> [:c 3]"
	const registers = "txn [[:read :a nil] [:read :b nil]] -> [[:read :a 1] [:read :b 2]]"
	const maps = "get [:a nil] -> [:a 1]; get [:b nil] -> [:b 2]"
	for _, c := range []struct {
		model, ops, init string
		independent      bool
		want             string
	}{
		{"register", independent, "1", true, "false"},
		{"register", independent, "{:each {:a 1 :b 2 :c 3}}", true, "true"},
		{"register", independent, "{:each {:a 1 :b 2} :default 3}", true, "true"},
		{"register", independent, "{:each {:a 1 :b 2} :default 4}", true, "false"},
		{"register", independent, "{:default 1}", true, "false"},
		{"register", "read [:a nil] -> [:a 1]; read [:b nil] -> [:b 1]", "{:default 1}", true, "true"},
		{"register", "read [1 nil] -> [1 1]; read [\"1\" nil] -> [\"1\" 2]", `{:each {1 1 "1" 2}}`, true, "true"},
		{"register", "read -> {:default 1}", "{:default 1}", false, "true"}, // a value that is a map
		{"register", "read [:a nil] -> [:a {:default 1}]", "{:default {:default 1}}", true, "true"},
		{"counter", "read [:a nil] -> [:a 1]; read [:b nil] -> [:b 0]", "{:each {:a 1}}", true, "true"},
		{"counter", "read [:a nil] -> [:a 1]; read [:b nil] -> [:b 0]", "{:each {:a 1 :b 1}}", true, "false"},
		{"multi-register", registers, "{:a 1 :b 2}", false, "true"},
		{"multi-register", registers, "{:each {:a 1 :b 2}}", false, "true"},
		{"multi-register", registers, "{:each {:a 1} :default 2}", false, "true"},
		{"multi-register", registers, "{:default 1}", false, "false"},
		{"multi-register", "txn [[:read :a nil] [:read :b nil]] -> [[:read :a 1] [:read :b 1]]", "{:default 1}", false, "true"},
		{"multi-register", "txn [[:r :a nil]] -> [[:r :a nil]]", "{:default 1}", false, "false"},
		{"multi-register", "txn [[:read :default nil]] -> [[:read :default 1]]", "{:each {:default 1}}", false, "true"},
		{"multi-register", "txn [[:read :each nil] [:read :b nil]] -> [[:read :each 1] [:read :b 2]]", "{:each 1 :b 2}", false, "true"},
		{"kv", maps, "{:a 1 :b 2}", false, "true"},
		{"kv", maps, "{:each {:a 1} :default 2}", false, "true"},
		{"kv", maps, "{:default 1}", false, "false"},
		{"kv", "get [:a nil] -> [:a 1]; put [:b 3]; get [:b nil] -> [:b 3]; get [:c nil] -> [:c 1]", "{:default 1}", false, "true"},
		{"kv", `append [:a "y"]; get [:a nil] -> [:a "xy"]; get [:b nil] -> [:b "x"]`, `{:default "x"}`, false, "true"},
	} {
		spec := models.Spec{Name: c.model}
		if err := spec.Set(models.ParamInit, c.init); err != nil {
			t.Fatal(err)
		}
		r, err := kit.CheckLog(kit.Sequential(c.ops), spec, clew.Options{Independent: c.independent})
		if err != nil || kit.VerdictText(r) != c.want {
			t.Errorf("%s from %s: %s: %v %v, expected %s", c.model, c.init, c.ops, r, err, c.want)
		}
		if _, err := store.NewReading(store.Settings{"model": c.model, "init": c.init, "independent": map[bool]string{true: "true", false: "false"}[c.independent]}); err != nil {
			t.Errorf("%s from %s: %v", c.model, c.init, err)
		}
	}
	for init, want := range map[string]string{
		"{:each {:a 1 :b :c}}": "must be",
		"{:default :c}":        "must be",
	} {
		if _, err := store.NewReading(store.Settings{"model": "counter", "init": init, "independent": "true"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", init, err)
		}
	}
}

// A register may hold {:default 0}, but then the history shows it. Otherwise keys were meant, and there are none.
func TestInitialValuesOfKeysNeedKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, ops, init, want string }{
		{"register", "read -> 0; write 1", "{:default 0}", "give Spec.Init 0, or Options.Independent"},
		{"register", "read -> 0; write 1", "{:each {:a 0}}", "give an initial value, or Options.Independent"},
		{"register", "read -> 0; write 1", "{:each {:a 1}, :default 0}", "give Spec.Init 0, or Options.Independent"},
		{"cas-register", "read -> 0; cas [0 1]", "{:default 0}", "give Spec.Init 0, or Options.Independent"},
		{"cas-register", "cas [{:default 0} 1]", "{:default 0}", ""},
		{"register", "write 1; read -> {:default 0N}", "{:default 0}", ""},
		{"register", "read -> 0", "{:default 0, :a 1}", ""}, // some value
		{"", "read -> 0; write 1", "{:default 0}", "give Spec.Init 0"},
	} {
		r, err := kit.CheckLog(kit.Sequential(c.ops), models.Spec{Name: c.model, Init: c.init}, clew.Options{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s from %s: %s: %v, %v; expected %q", c.model, c.init, c.ops, r, err, c.want)
		}
	}
}

// An initial value that is too long for a command line may be in a file.
func TestAnInitialValueMayBeInAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "init.edn")
	if err := os.WriteFile(file, []byte(" {0 1}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	how, err := store.NewReading(store.Settings{"model": "multi-register", "init": "@" + file})
	if err != nil || how.Spec.Init != "{0 1}" || how.Settings["init"] != "{0 1}" {
		t.Errorf("%+v, %v", how, err)
	}
	if _, err := store.NewReading(store.Settings{"init": "@" + file + ".not"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}
}

// What is suggested, given as it stands, decides the history.
func TestASuggestedInitialValueDecides(t *testing.T) {
	t.Parallel()
	different := "read [:a nil] -> [:a 1]; write [:b 5]; read [:b nil] -> [:b 5]; read [:c nil] -> [:c 3]"
	long := ""
	for i := range 40 {
		long += "read [" + strings.Repeat("1", i+1) + " nil] -> [" + strings.Repeat("1", i+1) + " " + strings.Repeat("2", i+1) + "]; "
	}
	for name, c := range map[string]struct {
		ops         string
		spec        models.Spec
		independent bool
		says        string
	}{
		"different":   {different, models.Spec{Name: "register"}, true, "Spec.Init '{:each {:a 1, :c 3}}' decides all keys"},
		"the same":    {"read [:a nil] -> [:a 1]; read [:b nil] -> [:b 1]", models.Spec{Name: "register"}, true, "Spec.Init 1 or Spec.Init nil says which"},
		"long":        {strings.TrimSuffix(long, "; "), models.Spec{Name: "register"}, true, "@FILE, a file with what results as EDN and JSON call likely-init, decides all keys"},
		"long map":    {strings.ReplaceAll(strings.TrimSuffix(long, "; "), "read [", "get ["), models.Spec{Name: "kv"}, false, "@FILE, a file with what results as EDN and JSON call likely-init, or Spec.Init '{}' says which"},
		"one for all": {"get [:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa nil] -> [:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 7]; get [:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb nil] -> [:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 7]", models.Spec{Name: "kv"}, false, "Spec.Init '{:default 7}' or Spec.Init '{}' says which"},
	} {
		r, err := kit.CheckLog(kit.Sequential(c.ops), c.spec, clew.Options{Independent: c.independent})
		if err != nil {
			t.Fatal(err)
		}
		if kit.VerdictText(r) != "unknown" || !strings.Contains(r.Text(), c.says) || strings.Contains(r.Text(), "Init '{1 ") {
			t.Errorf("%s: %s", name, r.Text())
		}
		likely := r.LikelyInit
		if likely == "" {
			continue
		}
		if long := r.Keys != nil || len(likely) > report.MaxInit; long && (!strings.Contains(r.EDN(), ":likely-init "+likely) || r.Line().LikelyInit != likely) {
			t.Errorf("%s: %s does not have all of %s", name, r.EDN(), likely)
		}
		for _, c.spec.Init = range []string{likely, models.ShortInit(likely, 80)} {
			if r, err = kit.CheckLog(kit.Sequential(c.ops), c.spec, clew.Options{Independent: c.independent}); err != nil || kit.VerdictText(r) != "true" {
				t.Errorf("%s from %s: %v %v", name, c.spec.Init, r, err)
			}
		}
	}
}

func TestSuggestionsForRealHistoriesDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, says  string
		independent bool
	}{
		{"multi_register_every_key_begins_at_0_init_cut_off.edn", "{:default 0}", false},
		{"independent_keys_begin_with_different_values_unknown_for_ever.edn", `{:each {"k1" "v95", "k4" "v98"}}`, true},
	} {
		path := archive.Path(t, "turn4", "reading", c.file)
		r := checkedFolder(t, clew.StoreOptions{Options: clew.Options{Independent: c.independent}}, path)
		if kit.VerdictText(r) != "unknown" || !strings.Contains(r.Text(), "Spec.Init '"+c.says+"'") {
			t.Errorf("%s", r.Text())
		}
		r = checkedFolder(t, clew.StoreOptions{Spec: models.Spec{Init: c.says}, Options: clew.Options{Independent: c.independent}}, path)
		if kit.VerdictText(r) != "true" {
			t.Errorf("%s: %s", c.says, r.Text())
		}
	}
}
