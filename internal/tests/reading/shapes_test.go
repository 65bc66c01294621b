package reading_test

import (
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
)

// history returns completed operations, one after the other: "f value", or "f value -> value".
func history(t *testing.T, ops ...string) *jepsen.History {
	t.Helper()
	var b strings.Builder
	for _, op := range ops {
		f, value, _ := strings.Cut(op, " ")
		given, returned, is := strings.Cut(value, " -> ")
		if !is {
			returned = given
		}
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :%s, :value %s}\n{:process 0, :type :ok, :f :%[1]s, :value %[3]s}\n", f, given, returned)
	}
	h, err := clew.Read(strings.NewReader(b.String()), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A write that is called with [nil value] and returns [version value] tells a version, with a key or without.
func TestAVersionedRegisterIsInferred(t *testing.T) {
	t.Parallel()
	for ops, want := range map[string]string{
		"write [nil 1] -> [1 1]; read [nil nil] -> [1 1]":                          "versioned-register",
		"write [:x [nil 1]] -> [:x [1 1]]; cas [:x [nil [1 2]]] -> [:x [2 [1 2]]]": "versioned-register",
		"write [nil 1] -> [nil 1]; read nil -> [nil 1]":                            "register",
		"write [:x [nil 1]] -> [:x [2 2]]; read nil -> [nil 1]":                    "register",
		"write [nil 1] -> [:one 1]; read nil -> [nil 1]":                           "register",
	} {
		if got, err := models.Infer(history(t, strings.Split(ops, "; ")...)); err != nil || got != want {
			t.Errorf("%s: %s, %v; expected %s", ops, got, err, want)
		}
	}
}

// The same :f's are of a register or of something else, by what the values look like.
func TestAModelIsInferredByTheShapesOfValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ops  string
		want string // the model, or a part of the error
	}{
		{"write 1; read nil -> 1", "register"},
		{"write [1 2]; read nil -> [1 2]", "register"},
		{"write [1 2]; write 3; read nil -> 3", "register"},
		{"write 1; read nil -> 1; cas [1 2]", "cas-register"},
		{"write 1; read nil", "register"},
		{"read nil -> 0", "register"},
		{"write 1; write 2; read nil -> [1 2]", "written one by one"},
		{"write 1; read 1 -> [1 [2]]", "written one by one"},
		{"write 1; read nil -> {:a 1}", "written one by one"},
		{"write 1; cas [1 2]; read nil -> #{1 2}", "written one by one"},
		{"write [:k 1]; read nil -> 1", "collections are written"},
		{"write [[:w 0 1]]; read [[:r 0 nil]] -> [[:r 0 1]]", "multi-register"},
		{"read [[:r 0 nil] [:r 1 nil]]", "multi-register"},
		{"read nil -> [1]; read nil -> [1 2]", "set or log"},
		{"read nil -> #{1}", "only set fits"},
		{"read nil -> {0 10, 1 0}", "only bank fits"},
		{"generate nil -> 1; generate nil -> 2", "id-generator"},
	} {
		for _, renamed := range []func(string) string{
			func(s string) string { return s },
			strings.NewReplacer("1", ":one", "2", `"two"`, "3", "3.5").Replace,
			strings.NewReplacer("[1 2]", "(1 2)", "[1]", "(1)").Replace,
		} {
			ops := renamed(c.ops)
			got, err := models.Infer(history(t, strings.Split(ops, "; ")...))
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
				t.Errorf("%s: got %s, want %s", ops, got, c.want)
			}
		}
	}
}
