package forms

import (
	"slices"
	"strings"
	"testing"

	"clew/jepsen"
)

// An operation that crashed ends once, also if none returned.
func TestAReportOfEtcdMayHaveCrashedOperationsAlone(t *testing.T) {
	text := `{"ClientId":3,"Input":{"Type":"range","Range":{"Start":"a"}},"Call":5,"Output":{"Error":"timeout"},"Return":9}`
	got := events(t, text, false)
	if want := []string{`3 :invoke :range {:key "a"}`, `3 :info :range {:key "a"}`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// An operation that lacks a part is an error: without its call it would seem to begin first.
func TestAnOperationOfEtcdThatLacksAPartIsAnError(t *testing.T) {
	whole := `{"ClientID":7,"Input":{"Type":"range","Range":{"Start":"a"}},"Call":12,"Output":{"Range":{"KVs":[],"Count":0},"Revision":1},"Return":19}`
	if _, err := Read(strings.NewReader(whole), "whole", jepsen.Options{}); err != nil {
		t.Error(err)
	}
	for _, part := range []string{`"Call":12,`, `"Output":{"Range":{"KVs":[],"Count":0},"Revision":1},`, `,"Return":19`} {
		_, err := Read(strings.NewReader(strings.Replace(whole, part, "", 1)), "part", jepsen.Options{})
		if err == nil || !strings.Contains(err.Error(), "it lacks "+strings.Trim(part, `",`)[:4]) {
			t.Errorf("without %s: %v", part, err)
		}
	}
}
