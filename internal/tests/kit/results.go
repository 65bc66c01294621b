package kit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/gen"
	"clew/internal/oracle"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// CheckLog checks a history in the .log form.
func CheckLog(text string, spec models.Spec, o clew.Options) (*report.Result, error) {
	h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		return nil, err
	}
	return clew.Check(context.Background(), h, spec, o)
}

// Sequential returns operations such as "incr 1 -> 2; read nil -> 2", one after another, in the .log form. "!"
// precedes those that crash, "~" those that fail.
func Sequential(ops string) string {
	var b strings.Builder
	for op := range strings.SplitSeq(ops, "; ") {
		ends := "ok"
		if rest, is := strings.CutPrefix(op, "!"); is {
			op, ends = rest, "info"
		} else if rest, is := strings.CutPrefix(op, "~"); is {
			op, ends = rest, "fail"
		}
		call, answer, told := strings.Cut(op, " -> ")
		f, given, _ := strings.Cut(call, " ")
		if !told {
			answer = given
		}
		fmt.Fprintf(&b, "0\t:invoke\t:%s\t%s\n0\t:%s\t:%s\t%s\n", f, given, ends, f, answer)
	}
	return b.String()
}

func CheckedText(t *testing.T, text string, spec models.Spec, o clew.Options) *report.Result {
	t.Helper()
	h, err := clew.Read(strings.NewReader(text), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// SpecOfLong returns how to read a long history.
func SpecOfLong(t *testing.T, o gen.LongOptions) (spec models.Spec, independent bool) {
	t.Helper()
	flags := o.Flags()
	for len(flags) > 1 {
		if err := spec.Set(models.Param(flags[0][2:]), flags[1]); err != nil {
			t.Fatal(err)
		}
		flags = flags[2:]
	}
	return spec, len(flags) > 0
}

// LongHistory makes a long history, and says how to read it.
func LongHistory(t *testing.T, o gen.LongOptions) (h *jepsen.History, spec models.Spec, independent bool) {
	t.Helper()
	var b strings.Builder
	if _, err := gen.Long(&b, o); err != nil {
		t.Fatal(err)
	}
	h, err := clew.Read(strings.NewReader(b.String()), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec, independent = SpecOfLong(t, o)
	return h, spec, independent
}

// Judged returns a result that the oracle agrees with.
func Judged(t *testing.T, spec models.Spec, text, algorithm string) *report.Result {
	t.Helper()
	h, ops, err := campaign.ReadText(spec, text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := campaign.Checked(h, spec, algorithm)
	if err == nil {
		err = oracle.Examine(r, ops, oracle.Decide(ops, oracle.Options{}), oracle.Options{})
	}
	if err != nil {
		t.Fatalf("%s, %s: %v of\n%s", spec.Name, algorithm, err, text)
	}
	return r
}
