package limits_test

import (
	"fmt"
	"strings"
	"testing"

	"clew"
	"clew/internal/enginetest"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// oneAfterTheOther returns a history of a process that writes and reads n times.
func oneAfterTheOther(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{:process 0 :type :invoke :f :write :value %d}{:process 0 :type :ok :f :write :value %d}\n", i, i)
		fmt.Fprintf(&b, "{:process 0 :type :invoke :f :read :value nil}{:process 0 :type :ok :f :read :value %d}\n", i)
	}
	return b.String()
}

// The self-check catches a wrong engine, with or without Verify, and keeps what it found.
func TestAWrongEngineFailsTheSelfCheck(t *testing.T) {
	t.Parallel()
	keys := strings.NewReplacer(":value nil", ":value [1 nil]", ":value 0", ":value [1 0]", ":value 1", ":value [1 1]", ":value 2", ":value [1 2]")
	for name, engine := range enginetest.Wrong {
		for _, o := range []clew.Options{{}, {Verify: clew.VerifyAlways}, {Independent: true}} {
			t.Run(fmt.Sprint(name, o.Verify, o.Independent), func(t *testing.T) {
				text := oneAfterTheOther(3)
				if o.Engine = engine; o.Independent {
					text = keys.Replace(text)
				}
				r := kit.CheckedText(t, text, models.Spec{Name: "register"}, o)
				failed := r.SelfCheckFailure()
				if r.Verdict != jepsen.Unknown || r.Cause != jepsen.SelfCheckFailed || r.Verified || failed == nil {
					t.Fatalf("%s, %s, verified %v; want a failed self-check", r.Verdict, r.Cause, r.Verified)
				}
				if failed.Error == "" || failed.Refuted == nil || failed.Refuted.Verdict == jepsen.Unknown || failed.Refuted.Witness == nil && failed.Refuted.Core == nil {
					t.Errorf("%q, of the result %v; want what is wrong, and with what", failed.Error, failed.Refuted)
				}
				if text := r.EDN(); !strings.Contains(text, ":cause :self-check-failed") || strings.Contains(text, ":verified?") {
					t.Error(text)
				}
			})
		}
	}
	if r := kit.CheckedText(t, oneAfterTheOther(3), models.Spec{Name: "register"}, clew.Options{Algorithm: "frontier"}); r.Verdict != jepsen.Valid || !r.Verified {
		t.Errorf("%s by the right engine, verified %v", r.Verdict, r.Verified)
	}
}

// Whether a core is decided again depends on the history. A long core, such as that of many permits, is decided again only if
// the user asks for that.
func TestALongCoreIsDecidedAgainOnlyIfThatIsAskedFor(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	acquires := func(n int) string {
		b.Reset()
		for range n {
			b.WriteString("{:process 0 :type :invoke :f :acquire}{:process 0 :type :ok :f :acquire}\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		n    int
		o    clew.Options
		want bool
	}{
		{5, clew.Options{}, true},
		{5, clew.Options{Verify: clew.VerifyNever}, false},
		{3000, clew.Options{}, false},
		{3000, clew.Options{Verify: clew.VerifyAlways}, true},
	} {
		r := kit.CheckedText(t, acquires(c.n+1), models.Spec{Name: "semaphore", Permits: c.n}, c.o)
		if r.Verdict != jepsen.Invalid || r.Verified != c.want {
			t.Errorf("%d permits: %s, verified %v, want %v", c.n, r.Verdict, r.Verified, c.want)
		}
		why := "\n  not verified: its core has 3001 operations, and clew rechecks at most 2000 by default; Options.Verify rechecks it"
		if text := r.Text(); strings.Contains(text, "\n  not verified") != (c.n == 3000 && !c.want) || c.n == 3000 && !c.want && !strings.Contains(text, why) {
			t.Errorf("%d permits: %s", c.n, text)
		}
	}
	b.Reset()
	for key := range 1001 {
		fmt.Fprintf(&b, "{:process 0 :type :invoke :f :read :value [%d nil]}{:process 0 :type :ok :f :read :value [%[1]d 1]}\n", key)
	}
	keyed := kit.CheckedText(t, b.String(), models.Spec{Name: "register", Init: "nil"}, clew.Options{Independent: true})
	for row, want := range map[int]bool{0: true, 999: true, 1000: false} {
		if want := "\n  not verified: key 1000: clew rechecks the cores of at most 1000 keys by default"; !strings.Contains(keyed.Text(), want) {
			t.Errorf("%.300s; expected %s", keyed.Text(), want)
		}
		if r := keyed.Keys[row].Result(); r.Verified != want || keyed.Verified {
			t.Errorf("key %d of many that fail: verified %v, want %v; all of them %v, want false", row, r.Verified, want, keyed.Verified)
		}
	}
	if r := kit.CheckedText(t, oneAfterTheOther(3), models.Spec{Name: "register"}, clew.Options{Verify: clew.VerifyNever}); r.Verified {
		t.Error("the witness is said to be verified, and nobody asked")
	}
}

// crowd returns a history of a counter. n processes add to it at once, and a read returns more than all of them
// together have added.
func crowd(n int) string {
	var b strings.Builder
	for p := range n {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :add :value %d}\n", p, 1<<p)
	}
	for p := range n {
		fmt.Fprintf(&b, "{:process %d :type :ok :f :add :value %d}\n", p, 1<<p)
	}
	fmt.Fprintf(&b, "{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read :value %d}\n", 1<<n)
	return b.String()
}

// Which engine found a failure may depend on how busy the machine is, if several ran in parallel. Whether it is
// verified must not.
func TestWhetherACoreIsVerifiedDoesNotDependOnItsFinder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 6, 8, 9, 10, 11, 12} {
		said := map[bool][]string{}
		for _, algorithm := range []string{"window", "frontier", "porcupine", "competition", "auto"} {
			r := kit.CheckedText(t, crowd(n), models.Spec{Name: "counter", Init: "0"}, clew.Options{Algorithm: algorithm})
			if r.Verdict != jepsen.Invalid {
				t.Fatalf("%s: %s", algorithm, r.Verdict)
			}
			said[r.Verified] = append(said[r.Verified], algorithm+" ("+r.Analyzer+")")
		}
		if len(said) > 1 {
			t.Errorf("%d at once: verified if found by %q, and not if found by %q", n, said[true], said[false])
		}
	}
}

// TestAKeyWithoutAVerdictLeavesTheOthersVerified: it has no evidence to check.
func TestAKeyWithoutAVerdictLeavesTheOthersVerified(t *testing.T) {
	t.Parallel()
	const undecided = "{:process 0 :type :invoke :f :read :value [1 nil]}{:process 0 :type :ok :f :read :value [1 2]}\n"
	const failing = "{:process 0 :type :invoke :f :write :value [2 1]}{:process 0 :type :ok :f :write :value [2 1]}\n" +
		"{:process 0 :type :invoke :f :read :value [2 nil]}{:process 0 :type :ok :f :read :value [2 7]}\n"
	for text, want := range map[string]bool{undecided + failing: true, undecided: false} {
		r := kit.CheckedText(t, text, models.Spec{Name: "register"}, clew.Options{Independent: true})
		if r.Verified != want || (r.Verdict == jepsen.Invalid) != want || strings.Contains(r.Text(), "not verified") {
			t.Errorf("verified %v, expected %v: %s", r.Verified, want, r.Text())
		}
	}
}
