package register

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/jepsen"
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

// The initial value is 0 in all cases. Operations are numbered from 0.
var cases = []struct {
	name, history string
	want          fastpath.Decision
}{
	{"a read returns what was written before",
		"write 1 [0,1]; read 1 [2,3]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{0, 1}, FailEvent: -1, BoundEvent: -1}},
	{"a read returns the initial value, before a write",
		"write 1 [0,3]; read 0 [1,2]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{1, 0}, FailEvent: -1, BoundEvent: -1}},
	{"a write that crashed is left out when nobody saw it",
		"write 1 [0,-]; read 0 [1,2]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{1}, FailEvent: -1, BoundEvent: -1}},
	{"a write that crashed takes effect late",
		"write 1 [0,-]; read 0 [1,2]; write 2 [3,4]; read 2 [5,6]; read 1 [7,8]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{1, 2, 3, 0, 4}, FailEvent: -1, BoundEvent: -1}},
	{"a write that crashed takes effect once",
		"write 1 [0,-]; read 1 [1,2]; write 2 [3,4]; read 2 [5,6]; read 1 [7,8]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 8, BoundEvent: 8, Core: []int32{0, 1, 2, 4},
			Why: Replaced.Of(1, 2, 2, 4)}},
	{"a value that nobody wrote",
		"write 1 [0,1]; read 2 [2,3]; read 1 [4,5]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 3, BoundEvent: 3, Core: []int32{1}, Why: NeverWritten.Of(1, fastpath.Missing)}},
	{"a value from the future",
		"read 1 [0,1]; write 1 [2,3]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 1, BoundEvent: 1, Core: []int32{0}, Why: NeverWritten.Of(0, 1)}},
	{"the initial value after a write",
		"write 1 [0,1]; read 0 [2,3]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 3, BoundEvent: 3, Core: []int32{0, 1}, Why: InitialLate.Of(0, 1)}},
	{"a stale read among much that is fine",
		"write 1 [0,1]; read 1 [2,3]; write 2 [4,7]; read 2 [5,6]; read 2 [8,9]; read 1 [10,11]; write 3 [12,13]; read 3 [14,15]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 11, BoundEvent: 11, Core: []int32{0, 2, 5},
			Why: Replaced.Of(0, 2, 2, 5)}},
	{"repeated writes that nobody saw do no harm",
		"write 1 [0,1]; write 1 [2,3]; write 2 [4,5]; read 2 [6,7]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{0, 1, 2, 3}, FailEvent: -1, BoundEvent: -1}},
	{"two writes of what a read saw",
		"write 3 [0,2]; write 3 [1,3]; read 3 [4,5]",
		fastpath.Decision{Verdict: jepsen.Unknown, Reason: fastpath.Repeated.Of(2, 0, 1), FailEvent: -1, BoundEvent: -1}},
	{"a write of the initial value, when it may still be there",
		"write 0 [0,2]; read 0 [1,3]",
		fastpath.Decision{Verdict: jepsen.Unknown, Reason: fastpath.Repeated.Of(1, fastpath.Initial, 0), FailEvent: -1, BoundEvent: -1}},
	{"two writes of one value, one of them replaced in time",
		"write 3 [0,1]; write 4 [2,3]; write 3 [4,5]; read 3 [6,7]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{0, 1, 2, 3}, FailEvent: -1, BoundEvent: -1}},
	{"wrong in spite of an ambiguity, though not clear since when",
		"write 3 [0,2]; write 3 [1,3]; read 3 [4,5]; read 7 [6,7]",
		fastpath.Decision{Verdict: jepsen.Invalid, Reason: fastpath.Repeated.Of(2, 0, 1), FailEvent: -1, BoundEvent: 7}},
	{"wrong before anything is ambiguous",
		"read 7 [0,1]; write 3 [2,4]; write 3 [3,5]; read 3 [6,7]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 1, BoundEvent: 1, Core: []int32{0}, Why: NeverWritten.Of(0, fastpath.Missing)}},
}

var casCases = []struct {
	name, history string
	want          fastpath.Decision
}{
	{"a chain",
		"cas 0 1 [0,5]; cas 1 2 [1,4]; read 2 [2,3]; read 1 [6,-]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{0, 1, 2}, FailEvent: -1, BoundEvent: -1}},
	{"a cas that crashed happened, since its value was seen",
		"cas 0 1 [0,-]; write 2 [1,-]; read 1 [2,3]; read 0 [4,5]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, BoundEvent: 5, Core: []int32{0, 2, 3}, Why: Backwards.Of(2, 3)}},
	{"a cas of a value to itself is a read",
		"write 1 [0,1]; cas 1 1 [2,3]; read 1 [4,5]",
		fastpath.Decision{Verdict: jepsen.Valid, Witness: []int32{0, 1, 2}, FailEvent: -1, BoundEvent: -1}},
	{"a value replaced twice",
		"write 1 [0,1]; cas 1 2 [2,4]; cas 1 3 [3,5]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, BoundEvent: 5, Core: []int32{0, 1, 2},
			Why: ReplacedTwice.Of(1, 2, 0)}},
	{"a circle without a beginning",
		"cas 1 2 [0,2]; cas 2 1 [1,3]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 2, BoundEvent: 2, Core: []int32{0, 1}, Why: Circle.Of(1, 0)}},
	{"a cas saw a value that had been replaced twice over",
		"write 1 [0,1]; write 2 [2,3]; write 1 [4,5]; write 3 [6,7]; cas 1 4 [8,9]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 9, BoundEvent: 9, Core: []int32{2, 3, 4},
			Why: Replaced.Of(2, 3, 3, 4)}},
	{"a failed cas is not supported",
		"write 1 [0,1]; failed-cas 1 [2,3]",
		fastpath.Decision{Verdict: jepsen.Unknown, Reason: fastpath.Unsupported.Of(1), FailEvent: -1, BoundEvent: -1}},
}

func TestRegisterCases(t *testing.T) {
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			expect(t, decideAsRegister, test.history, test.want)
			expect(t, decideAsCASRegister, test.history, test.want)
		})
	}
}

func TestCASRegisterCases(t *testing.T) {
	for _, test := range casCases {
		t.Run(test.name, func(t *testing.T) {
			expect(t, decideAsCASRegister, test.history, test.want)
		})
	}
}

func expect(t *testing.T, decide decider, history string, want fastpath.Decision) {
	t.Helper()
	c := parse(t, history)
	got := decide(c, 0, fastpath.WantWitness|fastpath.WantFailure)
	if got.FailEvent >= 0 {
		if err := asCASRegister.History(c).Shows(got.Before, got.FailEvent); err != nil {
			t.Errorf("witness %v of what was before the failure: %v", got.Before, err)
		}
		got.Before = nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v\n%s", got, want, asCASRegister.Show(c))
	}
	plain := decide(c, 0, fastpath.WantVerdict)
	if plain.Verdict != want.Verdict || plain.Witness != nil || plain.Core != nil {
		t.Errorf("without evidence: %+v", plain)
	}
}

func TestARegisterHasNoCAS(t *testing.T) {
	d := decideAsRegister(parse(t, "write 1 [0,1]; cas 1 2 [2,3]"), 0, fastpath.WantWitness|fastpath.WantFailure)
	if d.Verdict != jepsen.Unknown || !reflect.DeepEqual(d.Reason, fastpath.Unsupported.Of(1)) {
		t.Errorf("%+v", d)
	}
}

func TestAnEmptyHistoryIsValid(t *testing.T) {
	for _, decide := range []decider{decideAsRegister, decideAsCASRegister} {
		if d := decide(&models.Columns{}, 0, fastpath.WantWitness|fastpath.WantFailure); d.Verdict != jepsen.Valid || len(d.Witness) != 0 {
			t.Errorf("%+v", d)
		}
	}
}

func TestAnInitialValueThatNoOperationHas(t *testing.T) {
	c := parse(t, "write 1 [0,1]; read 1 [2,3]; read 5 [4,5]")
	for _, init := range []int32{-1, 99, 1_000_000_000} {
		if d := decideAsCASRegister(c, init, fastpath.WantFailure); d.FailEvent != 5 {
			t.Errorf("%+v", d)
		}
		if d := decideAsRegister(c, init, fastpath.WantFailure); d.FailEvent != 5 {
			t.Errorf("%+v", d)
		}
	}
}
