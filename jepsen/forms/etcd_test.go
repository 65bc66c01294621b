package forms

import (
	"slices"
	"testing"
)

// An operation that crashed ends once, also if none returned.
func TestAReportOfEtcdMayHaveCrashedOperationsAlone(t *testing.T) {
	text := `{"ClientId":3,"Input":{"Type":"range","Range":{"Start":"a"}},"Call":5,"Output":{"Error":"timeout"},"Return":9}`
	got := events(t, text, false)
	if want := []string{`3 :invoke :range {:key "a"}`, `3 :info :range {:key "a"}`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
