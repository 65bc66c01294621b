package fastpath

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clew/models"
)

// parse reads a history: operations separated by ";", each with its events, as
// in "write 1 [0,3]; cas 1 2 [1,5]; write 3 [4,-]", where "-" is a crash.
func parse(t *testing.T, text string) *models.Columns {
	t.Helper()
	c := &models.Columns{}
	for _, s := range strings.Split(text, ";") {
		var name, end string
		var op models.Op
		var inv, res int32
		s = strings.NewReplacer("[", " ", "]", " ", ",", " ").Replace(s)
		_, err := fmt.Sscan(s, &name, &op.A, &inv, &end)
		if name == "cas" {
			_, err = fmt.Sscan(s, &name, &op.A, &op.B, &inv, &end)
		}
		op.Kind = models.Kind(slices.Index([]string{"read", "write", "cas", "failed-cas"}, name))
		if res = models.Open; err == nil && end != "-" {
			_, err = fmt.Sscan(end, &res)
			c.Events = max(c.Events, res+1)
		}
		if err != nil {
			t.Fatal(s, err)
		}
		c.Events = max(c.Events, inv+1)
		c.Append(inv, res, op)
	}
	return c
}

// The initial value is 0 in all cases; operations are numbered from 0.
var cases = []struct {
	name, history string
	want          Decision
}{
	{"a read returns what was written before",
		"write 1 [0,1]; read 1 [2,3]",
		Decision{Verdict: Valid, Witness: []int32{0, 1}, Fail: -1, Bound: -1}},
	{"a read returns the initial value, before a write",
		"write 1 [0,3]; read 0 [1,2]",
		Decision{Verdict: Valid, Witness: []int32{1, 0}, Fail: -1, Bound: -1}},
	{"a write that crashed is left out when nobody saw it",
		"write 1 [0,-]; read 0 [1,2]",
		Decision{Verdict: Valid, Witness: []int32{1}, Fail: -1, Bound: -1}},
	{"a write that crashed takes effect late",
		"write 1 [0,-]; read 0 [1,2]; write 2 [3,4]; read 2 [5,6]; read 1 [7,8]",
		Decision{Verdict: Valid, Witness: []int32{1, 2, 3, 0, 4}, Fail: -1, Bound: -1}},
	{"a write that crashed takes effect once",
		"write 1 [0,-]; read 1 [1,2]; write 2 [3,4]; read 2 [5,6]; read 1 [7,8]",
		Decision{Verdict: Invalid, Fail: 8, Bound: 8, Core: []int32{0, 1, 2, 4},
			Why: Explanation{Interleaved, []int32{1, 2, 2, 4}}}},
	{"a value that nobody wrote",
		"write 1 [0,1]; read 2 [2,3]; read 1 [4,5]",
		Decision{Verdict: Invalid, Fail: 3, Bound: 3, Core: []int32{1}, Why: Explanation{NeverWritten, []int32{1}}}},
	{"a value from the future",
		"read 1 [0,1]; write 1 [2,3]",
		Decision{Verdict: Invalid, Fail: 1, Bound: 1, Core: []int32{0}, Why: Explanation{NeverWritten, []int32{0, 1}}}},
	{"the initial value after a write",
		"write 1 [0,1]; read 0 [2,3]",
		Decision{Verdict: Invalid, Fail: 3, Bound: 3, Core: []int32{0, 1}, Why: Explanation{InitialLate, []int32{0, 1}}}},
	{"a stale read among much that is fine",
		"write 1 [0,1]; read 1 [2,3]; write 2 [4,7]; read 2 [5,6]; read 2 [8,9]; read 1 [10,11]; write 3 [12,13]; read 3 [14,15]",
		Decision{Verdict: Invalid, Fail: 11, Bound: 11, Core: []int32{0, 2, 5},
			Why: Explanation{Interleaved, []int32{0, 2, 2, 5}}}},
	{"repeated writes that nobody saw do no harm",
		"write 1 [0,1]; write 1 [2,3]; write 2 [4,5]; read 2 [6,7]",
		Decision{Verdict: Valid, Witness: []int32{0, 1, 2, 3}, Fail: -1, Bound: -1}},
	{"two writes of what a read saw",
		"write 3 [0,2]; write 3 [1,3]; read 3 [4,5]",
		Decision{Verdict: Ambiguous, Reason: Ambiguity{Repeated, 2, 3, [2]int32{0, 1}}, Fail: -1, Bound: -1}},
	{"a write of the initial value, when it may still be there",
		"write 0 [0,2]; read 0 [1,3]",
		Decision{Verdict: Ambiguous, Reason: Ambiguity{Repeated, 1, 0, [2]int32{Initial, 0}}, Fail: -1, Bound: -1}},
	{"two writes of one value, one of them replaced in time",
		"write 3 [0,1]; write 4 [2,3]; write 3 [4,5]; read 3 [6,7]",
		Decision{Verdict: Valid, Witness: []int32{0, 1, 2, 3}, Fail: -1, Bound: -1}},
	{"wrong in spite of an ambiguity, though not clear since when",
		"write 3 [0,2]; write 3 [1,3]; read 3 [4,5]; read 7 [6,7]",
		Decision{Verdict: Invalid, Reason: Ambiguity{Repeated, 2, 3, [2]int32{0, 1}}, Fail: -1, Bound: 7}},
	{"wrong before anything is ambiguous",
		"read 7 [0,1]; write 3 [2,4]; write 3 [3,5]; read 3 [6,7]",
		Decision{Verdict: Invalid, Fail: 1, Bound: 1, Core: []int32{0}, Why: Explanation{NeverWritten, []int32{0}}}},
}

var casCases = []struct {
	name, history string
	want          Decision
}{
	{"a chain",
		"cas 0 1 [0,5]; cas 1 2 [1,4]; read 2 [2,3]; read 1 [6,-]",
		Decision{Verdict: Valid, Witness: []int32{0, 1, 2}, Fail: -1, Bound: -1}},
	{"a cas that crashed happened, since its value was seen",
		"cas 0 1 [0,-]; write 2 [1,-]; read 1 [2,3]; read 0 [4,5]",
		Decision{Verdict: Invalid, Fail: 5, Bound: 5, Core: []int32{0, 2, 3}, Why: Explanation{Backwards, []int32{2, 3}}}},
	{"a cas of a value to itself is a read",
		"write 1 [0,1]; cas 1 1 [2,3]; read 1 [4,5]",
		Decision{Verdict: Valid, Witness: []int32{0, 1, 2}, Fail: -1, Bound: -1}},
	{"a value replaced twice",
		"write 1 [0,1]; cas 1 2 [2,4]; cas 1 3 [3,5]",
		Decision{Verdict: Invalid, Fail: 5, Bound: 5, Core: []int32{0, 1, 2},
			Why: Explanation{ReplacedTwice, []int32{1, 2, 0}}}},
	{"a circle without a beginning",
		"cas 1 2 [0,2]; cas 2 1 [1,3]",
		Decision{Verdict: Invalid, Fail: 2, Bound: 2, Core: []int32{0, 1}, Why: Explanation{Circle, []int32{1, 0}}}},
	{"a cas saw a value that had been replaced twice over",
		"write 1 [0,1]; write 2 [2,3]; write 1 [4,5]; write 3 [6,7]; cas 1 4 [8,9]",
		Decision{Verdict: Invalid, Fail: 9, Bound: 9, Core: []int32{2, 3, 4},
			Why: Explanation{Interleaved, []int32{2, 3, 3, 4}}}},
	{"a failed cas is not supported",
		"write 1 [0,1]; failed-cas 1 [2,3]",
		Decision{Verdict: Ambiguous, Reason: Ambiguity{Unsupported, 1, 1, [2]int32{}}, Fail: -1, Bound: -1}},
}

func TestRegisterCases(t *testing.T) {
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			expect(t, Register, test.history, test.want)
			expect(t, CASRegister, test.history, test.want)
		})
	}
}

func TestCASRegisterCases(t *testing.T) {
	for _, test := range casCases {
		t.Run(test.name, func(t *testing.T) {
			expect(t, CASRegister, test.history, test.want)
		})
	}
}

func expect(t *testing.T, decide decider, history string, want Decision) {
	t.Helper()
	c := parse(t, history)
	if got := decide(c, 0, WantWitness|WantFailure); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v\n%s", got, want, show(c, 0))
	}
	plain := decide(c, 0, WantVerdict)
	if plain.Verdict != want.Verdict || plain.Witness != nil || plain.Core != nil {
		t.Errorf("without evidence: %+v", plain)
	}
}

func TestARegisterHasNoCAS(t *testing.T) {
	d := Register(parse(t, "write 1 [0,1]; cas 1 2 [2,3]"), 0, WantWitness|WantFailure)
	if d.Verdict != Ambiguous || d.Reason.Cause != Unsupported || d.Reason.Reader != 1 {
		t.Errorf("%+v", d)
	}
}

func TestAnEmptyHistoryIsValid(t *testing.T) {
	for _, decide := range []decider{Register, CASRegister} {
		if d := decide(&models.Columns{}, 0, WantWitness|WantFailure); d.Verdict != Valid || len(d.Witness) != 0 {
			t.Errorf("%+v", d)
		}
	}
}

func TestAnInitialValueThatNoOperationHas(t *testing.T) {
	c := parse(t, "write 1 [0,1]; read 1 [2,3]; read 5 [4,5]")
	for _, init := range []int32{-1, 99, 1_000_000_000} {
		if d := CASRegister(c, init, WantFailure); d.Fail != 5 {
			t.Errorf("%+v", d)
		}
		if d := Register(c, init, WantFailure); d.Fail != 5 {
			t.Errorf("%+v", d)
		}
	}
}
