package main

import (
	"strings"
	"testing"
)

func TestAFlagHasOneOfItsOwnTwoValues(t *testing.T) {
	if every, err := either("keyless", "every", "error", "every"); !every || err != nil {
		t.Error(every, err)
	}
	if _, err := either("keyless", "all", "error", "every"); err == nil || err.Error() != `--keyless must be error or every, not "all"` {
		t.Error(err)
	}
}

func TestAJobWithoutCountsIsNoVerdict(t *testing.T) {
	for _, c := range []struct {
		count map[string]int64
		want  int
	}{
		{nil, 2},
		{map[string]int64{"valid": 3}, 0},
		{map[string]int64{"valid": 3, "unknown": 1}, 2},
		{map[string]int64{"valid": 3, "unknown": 1, "invalid": 1}, 1},
	} {
		var out strings.Builder
		if got := report(c.count, &out); got != c.want || out.Len() == 0 {
			t.Errorf("%v: status %d, %q", c.count, got, &out)
		}
	}
}
