package testkit

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

// Ops returns operations of the given kinds with each of the given values.
func Ops(kinds []models.Kind, values ...int32) []models.Op {
	var list []models.Op
	for _, kind := range kinds {
		for _, v := range values {
			list = append(list, models.Op{Kind: kind, A: v})
		}
	}
	return list
}

// Row is an operation for cases: kind, A, B, invocation and return.
type Row struct {
	Kind     models.Kind
	A, B     int32
	Inv, Res int32
}

// At returns a row.
func At(kind models.Kind, a, b, inv, res int32) Row { return Row{kind, a, b, inv, res} }

// Columns returns the rows as columns.
func Columns(rows ...Row) *models.Columns {
	c := &models.Columns{}
	for _, r := range rows {
		c.Append(r.Inv, r.Res, models.Op{Kind: r.Kind, A: r.A, B: r.B})
		c.Events = max(c.Events, r.Inv+1)
		if r.Res != models.Open {
			c.Events = max(c.Events, r.Res+1)
		}
	}
	return c
}

// Expect compares a decision with a case. why may be nil.
func Expect(t *testing.T, d fastpath.Decision, verdict jepsen.Verdict, fail int32, core []int32, why *fastpath.Finding) {
	t.Helper()
	if d.Verdict != verdict || d.FailEvent != fail || !slices.Equal(d.Core, core) || !reflect.DeepEqual(d.Why, why) {
		t.Errorf("%+v: %T%+v", d, d.Why, d.Why)
	}
	if verdict == jepsen.Unknown && d.Reason == nil {
		t.Error("no reason")
	}
}

// Show prints a history for people; kinds are the names of kinds, where known.
func Show(c *models.Columns, kinds ...string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d events\n", c.Events)
	for i := range c.Len() {
		kind, res := fmt.Sprintf("kind %d,", c.Kind[i]), fmt.Sprint(c.Res[i])
		if int(c.Kind[i]) < len(kinds) {
			kind = kinds[c.Kind[i]]
		}
		if c.Res[i] == models.Open {
			res = "crashed"
		}
		fmt.Fprintf(&s, "%3d: %s %d %d [%d, %s]\n", i, kind, c.A[i], c.B[i], c.Inv[i], res)
	}
	return s.String()
}
