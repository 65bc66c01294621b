package container

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/jepsen"
	"clew/models"
)

// parseContainer reads a history: operations separated by ";", each with its
// events, as in "add 1 [0,3]; remove 1 [1,5]; empty [6,7]; any [8,-]", where "-"
// is a crash. The priority of a value is the value.
func parseContainer(t *testing.T, text string) *models.Columns {
	t.Helper()
	type row struct {
		op       models.Op
		inv, res int32
	}
	c := &models.Columns{}
	var rows []row
	for _, s := range strings.Split(text, ";") {
		r := row{res: models.Open}
		fields := strings.Fields(strings.NewReplacer("[", " ", "]", " ", ",", " ").Replace(s))
		r.op.Kind = models.Kind(slices.Index(queueKind.Kinds, fields[0]))
		var err error
		if fields = fields[1:]; len(fields) == 3 {
			_, err = fmt.Sscan(fields[0], &r.op.A)
			r.op.B = r.op.A
			fields = fields[1:]
		}
		if err == nil {
			_, err = fmt.Sscan(fields[0], &r.inv)
		}
		if err == nil && fields[1] != "-" {
			_, err = fmt.Sscan(fields[1], &r.res)
			c.Events = max(c.Events, r.res+1)
		}
		if err != nil || r.op.Kind > models.DrainAny {
			t.Fatal(s, err)
		}
		c.Events = max(c.Events, r.inv+1)
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return int(a.inv - b.inv) })
	for _, r := range rows {
		c.Append(r.inv, r.res, r.op)
	}
	return c
}

// The expected results agree with the oracle.
var containerCases = []struct {
	name    string
	k       *testkit.Type
	history string
	want    fastpath.Decision // without Bound, which is Fail; Witness and Before are replayed instead
}{
	{"the second of two concurrent enqueues is dequeued", queueKind,
		"add 1 [0,2]; add 2 [1,3]; remove 2 [4,5]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"the second of two enqueues in a row is dequeued", queueKind,
		"add 1 [0,1]; add 2 [2,3]; remove 2 [4,5]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: OutOfOrder.Of(0, 1, 2, fastpath.Missing)}},
	{"dequeued in the wrong order", queueKind,
		"add 1 [0,1]; add 2 [2,3]; remove 2 [4,5]; remove 1 [6,7]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: OutOfOrder.Of(0, 1, 2, fastpath.Missing)}},
	{"an open dequeue keeps its value", queueKind,
		"add 1 [0,1]; add 2 [2,3]; remove 1 [4,7]; remove 2 [5,6]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},

	// Answers of published tools.
	{"an empty answer comes last", queueKind,
		"add 1 [1,2]; empty [10,11]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 11, Core: []int32{0, 1}, Why: NotEmpty.Of(0, 1)}},
	{"an empty answer comes last (stack)", stackKind,
		"add 1 [1,2]; empty [10,11]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 11, Core: []int32{0, 1}, Why: NotEmpty.Of(0, 1)}},
	{"an empty answer comes last (priority queue)", heapKind,
		"add 1 [1,2]; empty [10,11]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 11, Core: []int32{0, 1}, Why: NotEmpty.Of(0, 1)}},
	{"a queue with a peek, which is fine", queueKind,
		"add 0 [1,3]; remove 0 [2,4]; add 1 [5,7]; add 2 [0,8]; peek 1 [6,9]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"a stack with peeks, which is not", stackKind,
		"add 0 [0,7]; add 1 [1,13]; peek 0 [2,4]; add 2 [3,6]; peek 0 [10,12]; remove 2 [9,11]; add 3 [5,8]",
		fastpath.Decision{Verdict: jepsen.Invalid}},
	{"empty answers only", queueKind, "empty [0,1]; empty [2,3]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"empty answers only (stack)", stackKind, "empty [0,1]; empty [2,3]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"empty answers only (priority queue)", heapKind, "empty [0,1]; empty [2,3]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"peeks of the same value again and again", queueKind,
		"add 1 [0,1]; peek 1 [2,4]; peek 1 [3,5]; peek 1 [6,7]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},

	// What goes wrong without tuning and narrowing.
	{"a poll that was invoked before its insert", heapKind,
		"add 7 [0,2]; remove 5 [1,4]; add 5 [3,7]; remove 7 [5,6]",
		fastpath.Decision{Verdict: jepsen.Invalid}},
	{"a circle of three, and none of two", queueKind,
		"add 0 [0,4]; add 1 [1,2]; add 2 [3,7]; peek 0 [6,8]; remove 1 [9,14]; remove 2 [5,12]; remove 0 [13,16]",
		fastpath.Decision{Verdict: jepsen.Invalid}},
	{"equal priorities overtake each other", heapKind,
		"add 1 [0,1]; add 2 [2,3]; remove 1 [4,5]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: Overtaken.Of(1, 2)}},

	{"a stack is no queue", stackKind,
		"add 1 [0,1]; add 2 [2,3]; remove 1 [4,5]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: Buried.Of(0, 1, 2, fastpath.Missing)}},
	{"removed twice", stackKind,
		"add 1 [0,1]; remove 1 [2,3]; remove 1 [4,5]; add 2 [6,7]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: RemovedTwice.Of(1, 2, 0)}},
	{"never added", heapKind,
		"remove 1 [0,1]; add 1 [2,3]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 1, Core: []int32{0}, Why: fastpath.NeverAdded.Of(0, 1)}},
	{"seen after it was removed", queueKind,
		"add 1 [0,1]; remove 1 [2,3]; peek 1 [4,5]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: SeenAfterRemoved.Of(1, 2)}},
	{"two values first at the same time", queueKind,
		"add 1 [0,2]; add 2 [1,3]; peek 1 [4,5]; peek 2 [6,7]; peek 1 [8,9]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 7, Core: []int32{0, 1, 2, 3}, Why: BothFirst.Of(2, fastpath.Missing, 3, fastpath.Missing)}},

	// Crashes.
	{"an unknown dequeue makes room", queueKind,
		"add 1 [0,1]; add 2 [2,3]; any [4,-]; remove 2 [5,6]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"an unknown dequeue comes too late", queueKind,
		"add 1 [0,1]; add 2 [2,3]; remove 2 [4,5]; any [6,-]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: OutOfOrder.Of(0, 1, 2, fastpath.Missing)}},
	{"one unknown dequeue for two values", queueKind,
		"add 1 [0,1]; add 2 [2,3]; add 3 [4,5]; any [6,-]; remove 3 [7,8]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 8, Core: []int32{0, 1, 2, 3, 4}}},
	{"an open dequeue comes too late for the first of two empty answers", queueKind,
		"add 0 [0,2]; any [1,-]; empty [4,6]; add 1 [5,9]; add 2 [7,8]; empty [10,15]; add 3 [12,13]; remove 0 [14,16]; empty [17,18]",
		fastpath.Decision{Verdict: jepsen.Invalid}},
	{"an unknown pop, and a peek", stackKind,
		"add 1 [0,1]; add 2 [2,3]; any [4,-]; peek 1 [5,6]; peek 1 [7,8]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"an unknown poll, and an empty answer", heapKind,
		"add 1 [0,1]; any [2,-]; empty [3,4]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"a crashed remove of a known value", stackKind,
		"add 1 [0,1]; add 2 [2,3]; remove 2 [4,-]; remove 1 [5,6]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"a crashed add that was seen", queueKind,
		"add 1 [0,-]; peek 1 [1,2]; empty [3,4]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 4, Core: []int32{0, 1, 2}, Why: NotEmpty.Of(0, 2)}},
	{"a crashed add that was not", queueKind,
		"add 1 [0,-]; empty [1,2]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},

	// Ambiguity.
	{"added twice", queueKind,
		"add 1 [0,1]; add 1 [2,3]; remove 1 [4,5]",
		fastpath.Decision{Verdict: jepsen.Unknown, FailEvent: -1, Reason: fastpath.Repeated.Of(2, 0, 1)}},
	{"added twice, once by a crash that nobody saw", queueKind,
		"add 1 [0,-]; add 1 [1,2]; add 2 [3,4]", fastpath.Decision{Verdict: jepsen.Valid, FailEvent: -1}},
	{"wrong in spite of an ambiguity, and clear since when", queueKind,
		"add 3 [0,1]; add 4 [2,3]; remove 4 [4,5]; add 1 [6,7]; add 1 [8,9]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: 5, Core: []int32{0, 1, 2}, Why: OutOfOrder.Of(0, 1, 2, fastpath.Missing)}},
	{"wrong in spite of an ambiguity, though not clear since when", queueKind,
		"add 1 [0,1]; add 1 [2,3]; add 3 [4,5]; add 4 [6,7]; remove 4 [8,9]",
		fastpath.Decision{Verdict: jepsen.Invalid, FailEvent: -1, BoundEvent: 9, Reason: fastpath.Repeated.Of(1, 0, 1)}},
	{"a drain is not supported", queueKind,
		"add 1 [0,1]; drain [2,3]", fastpath.Decision{Verdict: jepsen.Unknown, FailEvent: -1, Reason: fastpath.Unsupported.Of(1)}},
}

func TestContainerCases(t *testing.T) {
	for _, test := range containerCases {
		t.Run(test.name, func(t *testing.T) {
			c := parseContainer(t, test.history)
			got := test.k.Decide(c, fastpath.WantWitness|fastpath.WantFailure)
			if !got.Reason.Is(fastpath.Unsupported) {
				test.k.Compare(t, &testkit.Counts{}, c)
			}
			got.Witness, got.Before = nil, nil
			switch {
			case test.want.Verdict == jepsen.Invalid && test.want.FailEvent == 0: // whatever the evidence
				got = fastpath.Decision{Verdict: got.Verdict}
			case got.BoundEvent == got.FailEvent:
				got.BoundEvent = 0
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v\n%s", got, test.want, queueKind.Show(c))
			}
			plain := test.k.Decide(c, fastpath.WantVerdict)
			if plain.Verdict != test.want.Verdict || plain.Witness != nil || plain.Core != nil {
				t.Errorf("without evidence: %+v", plain)
			}
		})
	}
}

func TestAnEmptyContainerIsValid(t *testing.T) {
	for _, k := range allKinds {
		if d := k.Decide(&models.Columns{}, fastpath.WantWitness|fastpath.WantFailure); d.Verdict != jepsen.Valid || len(d.Witness) != 0 {
			t.Errorf("%+v", d)
		}
	}
}
