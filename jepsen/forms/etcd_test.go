package forms

import (
	"fmt"
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

// The file of one client lacks the revisions of others. They cannot be missing if operations are told that may have made them.
func TestAFileOfOneClientMayLackRevisions(t *testing.T) {
	put := `{"ClientID":7,"Input":{"Type":"txn","Txn":{"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"a","Value":{"Value":"b"}}}]}},"Call":%d,"Output":%s,"Return":%d}`
	ok := `{"Txn":{"Results":[{}]},"Revision":%d}`
	crashed := fmt.Sprintf(put, 15, `{"Error":"timeout"}`, 90)
	first, third := fmt.Sprintf(put, 10, fmt.Sprintf(ok, 2), 11), fmt.Sprintf(put, 20, fmt.Sprintf(ok, 4), 21)
	for text, warns := range map[string]bool{first: false, first + "\n" + third: true, first + "\n" + crashed + "\n" + third: false} {
		h, err := Read(strings.NewReader(text), "client-7/operations.json", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(h.Warnings, "\n"); warns != strings.Contains(said, "no operation can have made 1 revision of those up to 4") {
			t.Errorf("%q of\n%s", said, text)
		}
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
