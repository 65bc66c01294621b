package reading_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew"
	"clew/internal/archive"
	"clew/internal/countdown"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/second"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// TestAnInitialValueThatRealHistoriesShow has histories that are linearizable from a value that they show. The read of the
// set is the last operation, so that it might as well have seen what nobody added.
func TestAnInitialValueThatRealHistoriesShow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, model, init, hint string }{
		{"bank_only_transfers_without_init_is_INVALID", "bank", "{1 16, 2 16}", ""},
		{"bank_60_operations_valid_by_construction_without_init_INVALID", "bank", "{0 20, 1 20, 2 20}", ""},
		{"counter_first_read_after_add_INVALID_but_docs_say_initial_value", "counter", "10", ""},
		{"set_first_read_after_add_INVALID_but_initial_3_explains_it", "set", "", "valid if #{3} was there at first: Spec.Init '#{3}'"},
	} {
		text, err := os.ReadFile(filepath.Join(archive.Path(t, "turn4", "reading"), c.file+".edn"))
		if err != nil {
			t.Fatal(err)
		}
		r := kit.CheckedText(t, string(text), models.Spec{Name: c.model}, clew.Options{})
		switch {
		case c.hint != "":
			if r.Verdict != jepsen.Invalid || r.Hint != c.hint || r.InitHint == nil || r.InitHint.Value != "#{3}" {
				t.Errorf("%s: %v, %q; expected invalid, %q", c.file, r.Verdict, r.Hint, c.hint)
			}
		case r.Verdict != jepsen.Unknown || r.Cause != jepsen.InitialValue || r.LikelyInit != c.init:
			t.Errorf("%s: %v %s, %s; expected unknown initial-value, %s", c.file, r.Verdict, r.Cause, r.LikelyInit, c.init)
		}
	}
}

// generated are the models of package gen.
func generated() (names []string) {
	for _, d := range models.All() {
		if len(gen.KindsOf(d.Name)) > 0 {
			names = append(names, d.Name)
		}
	}
	return names
}

// verdictsOfLong counts the verdicts about generated histories that are not told their initial value.
func verdictsOfLong(t *testing.T, model string, kind gen.LongKind, seeds uint64) (invalid, unknown int) {
	t.Helper()
	for seed := range seeds {
		h, spec, _ := kit.LongHistory(t, gen.LongOptions{Model: model, Kind: kind, Operations: 60, Seed: seed + 1})
		spec.Init = ""
		r, err := clew.Check(context.Background(), h, spec, clew.Options{})
		switch {
		case err != nil:
			t.Fatalf("%s %d: %v", model, seed+1, err)
		case r.Verdict == jepsen.Invalid:
			invalid++
		case r.Verdict == jepsen.Unknown:
			unknown++
		}
	}
	return invalid, unknown
}

// TestWhatIsValidByConstructionIsNotInvalidWithoutItsInitialValue has long histories of every model.
func TestWhatIsValidByConstructionIsNotInvalidWithoutItsInitialValue(t *testing.T) {
	t.Parallel()
	for _, model := range generated() {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			seeds := effort.Histories(300, 1000)
			invalid, unknown := verdictsOfLong(t, model, gen.Linearizable, seeds)
			t.Logf("%d histories: %d invalid, %d unknown", seeds, invalid, unknown)
			if invalid > 0 {
				t.Errorf("%d of %d histories are invalid", invalid, seeds)
			}
		})
	}
}

// showAll are the models whose operations show everything that matters of their initial value, unless they crash or fail. A
// register's is not shown if a write of the same value was called before the first read of it.
var showAll = []string{"counter", "bank"}

// TestSmallHistoriesAreNotInvalidWithoutTheirInitialValue has histories that begin with a value of their own. Without
// operations that crashed or failed, which may have written what was read, they are not invalid; but if nothing shows what was
// in a set before the adds, a hint says so.
func TestSmallHistoriesAreNotInvalidWithoutTheirInitialValue(t *testing.T) {
	t.Parallel()
	for _, model := range generated() {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			random, counts := gen.Rand(8), map[jepsen.Verdict]int{}
			for range effort.Histories(5000, 50000) {
				made := gen.New(random, gen.Options{Model: model, Init: true})
				if made.Init == "" || made.Way != gen.Run || strings.Contains(made.Text, ":info") || strings.Contains(made.Text, ":fail") {
					continue
				}
				h, err := clew.Read(strings.NewReader(made.Text), "", jepsen.Options{})
				if err != nil {
					continue // no operations
				}
				r, err := clew.Check(context.Background(), h, models.Spec{Name: model}, clew.Options{})
				if err != nil {
					t.Fatal(err)
				}
				counts[r.Verdict]++
				sets := model == "set" && !strings.Contains(r.Hint, "was there at first")
				if r.Verdict == jepsen.Invalid && (slices.Contains(showAll, model) || sets) {
					t.Errorf("%s, %s from %s\n%s", r.Explanation, r.Hint, made.Init, made.Text)
				}
			}
			t.Logf("%v", counts)
		})
	}
}

// A counter that may have begun with another number is invalid only if adds that failed, had they happened, would explain
// from 0 what it fails at.
func TestACounterIsInvalidOnlyIfFailedAddsExplainIt(t *testing.T) {
	t.Parallel()
	random, counts := gen.Rand(9), map[jepsen.Verdict]int{}
	for range effort.Histories(30000, 100000) {
		made := gen.New(random, gen.Options{Model: "counter", Init: true})
		if made.Way != gen.Run || !strings.Contains(made.Text, ":fail") || strings.Contains(made.Text, "add-and-get") {
			continue // what a concurrent update answers is not looked at
		}
		h, err := clew.Read(strings.NewReader(made.Text), "", jepsen.Options{})
		if err != nil {
			continue // no operations
		}
		r, err := clew.Check(context.Background(), h, models.Spec{Name: "counter"}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if counts[r.Verdict]++; r.Verdict != jepsen.Invalid {
			continue
		}
		happened := kit.CheckedText(t, strings.ReplaceAll(made.Text, ":fail", ":info"), models.Spec{Name: "counter", Init: "0"}, clew.Options{})
		if happened.Verdict != jepsen.Valid && happened.FailingIndex() <= r.FailingIndex() {
			t.Errorf("%s, %s from %s\n%s", r.Explanation, r.Hint, made.Init, made.Text)
		}
	}
	t.Log(counts)
}

// TestAValueFromNowhereStaysInvalid plants one in histories whose initial value is not given.
func TestAValueFromNowhereStaysInvalid(t *testing.T) {
	t.Parallel()
	for i, model := range gen.ModelsOf(gen.ImpossibleRead) {
		if !effort.Takes(i) {
			continue
		}
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			seeds := effort.Histories(300, 1000)
			invalid, unknown := verdictsOfLong(t, model, gen.ImpossibleRead, seeds)
			t.Logf("%d histories: %d invalid, %d unknown", seeds, invalid, unknown)
			if uint64(invalid)*100 < seeds*99 {
				t.Errorf("%d of %d histories are invalid, expected 99 of 100", invalid, seeds)
			}
		})
	}
}

// TestAReadOfAValueFromNowhereIsInvalidAnywhere changes any one read of a history that is valid by construction.
func TestAReadOfAValueFromNowhereIsInvalidAnywhere(t *testing.T) {
	t.Parallel()
	for model, plant := range map[string]func(read string) string{
		"counter": func(read string) string { return strings.Replace(read, ":value ", ":value 77", 1) },
		"set":     func(read string) string { return strings.Replace(read, "#{", "#{777777 ", 1) },
		"bank":    func(read string) string { return strings.Replace(read, "{0 ", "{0 77", 1) },
	} {
		random, invalid, planted := gen.Rand(3), 0, 0
		for seed := range effort.Histories(500, 5000) {
			var b strings.Builder
			if _, err := gen.Long(&b, gen.LongOptions{Model: model, Operations: 60, Seed: seed}); err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(b.String(), "\n")
			var reads []int
			for i, line := range lines {
				if strings.Contains(line, ":type :ok") && strings.Contains(line, ":f :read") {
					reads = append(reads, i)
				}
			}
			if len(reads) == 0 {
				continue
			}
			at := reads[random.IntN(len(reads))]
			lines[at] = plant(lines[at])
			planted++
			if r := kit.CheckedText(t, strings.Join(lines, ""), models.Spec{Name: model}, clew.Options{}); r.Verdict == jepsen.Invalid {
				invalid++
			}
		}
		if t.Logf("%s: %d of %d are invalid", model, invalid, planted); invalid*100 < planted*99 {
			t.Errorf("%s: %d of %d are invalid, expected 99 of 100", model, invalid, planted)
		}
	}
}

// TestTheLastReadOfWhatNobodyAddedIsInvalid has the histories of most tests of sets: adds by several clients, then one read.
func TestTheLastReadOfWhatNobodyAddedIsInvalid(t *testing.T) {
	t.Parallel()
	random := gen.Rand(5)
	for range 50 {
		var text, all strings.Builder
		for n := range 1 + random.IntN(20) {
			for _, typ := range []string{"invoke", []string{"ok", "ok", "info", "fail"}[random.IntN(4)]} {
				fmt.Fprintf(&text, "{:process %d, :type :%s, :f :add, :value %d}\n", n, typ, n)
				if typ == "ok" {
					fmt.Fprintf(&all, " %d", n)
				}
			}
		}
		fmt.Fprintf(&text, "{:process 99, :type :invoke, :f :read, :value nil}\n{:process 99, :type :ok, :f :read, :value #{77%s}}\n", all.String())
		r := kit.CheckedText(t, text.String(), models.Spec{Name: "set"}, clew.Options{})
		if r.Verdict != jepsen.Invalid || !strings.HasPrefix(r.Hint, "valid if #{77} was there at first: ") {
			t.Fatalf("%v %s, %q\n%s", r.Verdict, r.Cause, r.Hint, text.String())
		}
	}
}

// TestAnyInitialValueIsDecided: however many numbers of a counter or balances of a bank the first reads leave open, a history
// is undecided exactly if one of them explains it. Each transfer moves an amount of its own.
func TestAnyInitialValueIsDecided(t *testing.T) {
	t.Parallel()
	counter := func(amount, last int) string {
		return fmt.Sprintf("0 invoke add %d\n1 invoke read nil\n1 ok read 20\n1 invoke read nil\n1 ok read %d\n0 ok add %[1]d\n", amount, last)
	}
	adds := func(open int, reads ...int) string {
		var b strings.Builder
		for p := range open {
			fmt.Fprintf(&b, "%d invoke add %d\n", p, 100+37*p)
		}
		for _, read := range reads {
			fmt.Fprintf(&b, "99 invoke read nil\n99 ok read %d\n", read)
		}
		return b.String()
	}
	bank := func(besides int, amount func(p int) int, last string) string {
		var b strings.Builder
		b.WriteString("99 invoke read nil\n")
		for _, typ := range []string{"invoke", "ok"} {
			for p := range besides {
				fmt.Fprintf(&b, "%d %s transfer {:from 0 :to 1 :amount %d}\n", p, typ, amount(p))
			}
			if typ == "invoke" {
				b.WriteString("99 ok read {0 500 1 500}\n")
			}
		}
		return b.String() + "99 invoke read nil\n99 ok read " + last + "\n"
	}
	two, even := func(int) int { return 2 }, func(p int) int { return 2 * (p + 1) }
	for _, c := range []struct {
		name, model, log string
		verdict          jepsen.Verdict
	}{
		{"64 numbers and 0", "counter", counter(65, 21), jepsen.Invalid},
		{"65 numbers and 0", "counter", counter(66, 21), jepsen.Invalid},
		{"a million numbers", "counter", counter(1_000_000, 21), jepsen.Invalid},
		{"a million numbers, one of which fits", "counter", counter(1_000_000, 1_000_020), jepsen.Unknown},
		{"a counter that falls", "counter", adds(7, 1000, 999), jepsen.Invalid},
		{"a counter that grows by what no adds are", "counter", adds(7, 1000, 1001), jepsen.Invalid},
		{"a counter that grows by one add", "counter", adds(7, 1000, 1137), jepsen.Unknown},
		{"a counter that grows by the same add twice", "counter", adds(7, 1000, 1137, 1274), jepsen.Invalid},
		{"12 transfers beside the first read", "bank", bank(12, two, "{0 477 1 523}"), jepsen.Invalid},
		{"14 transfers that move even amounts", "bank", bank(14, two, "{0 475 1 525}"), jepsen.Invalid},
		{"14 transfers that move other amounts", "bank", bank(14, even, "{0 475 1 525}"), jepsen.Invalid},
		{"14 transfers, some of which came before", "bank", bank(14, even, "{0 476 1 524}"), jepsen.Unknown},
		{"14 transfers back", "bank", bank(14, even, "{0 502 1 498}"), jepsen.Invalid},
		{"14 transfers and another sum", "bank", bank(14, even, "{0 476 1 525}"), jepsen.Invalid},
		{"14 transfers and an account that nothing named", "bank", bank(14, even, "{0 476 1 523 2 1}"), jepsen.Invalid},
	} {
		var text strings.Builder
		for line := range strings.Lines(c.log) {
			x := strings.SplitN(strings.TrimSpace(line), " ", 4)
			fmt.Fprintf(&text, "{:process %s :type :%s :f :%s :value %s}\n", x[0], x[1], x[2], x[3])
		}
		r := kit.CheckedText(t, text.String(), models.Spec{Name: c.model}, clew.Options{})
		if r.Verdict != c.verdict || (r.Cause == jepsen.InitialValue) != (c.verdict == jepsen.Unknown) {
			t.Errorf("%s: %v %s %s; expected %v", c.name, r.Verdict, r.Cause, r.Explanation, c.verdict)
		}
		if r.Verdict != jepsen.Unknown {
			continue
		}
		if from := kit.CheckedText(t, text.String(), models.Spec{Name: c.model, Init: r.LikelyInit}, clew.Options{}); from.Verdict != jepsen.Valid {
			t.Errorf("%s: from %s: %v", c.name, r.LikelyInit, from.Verdict)
		}
	}
}

// TestTooManyInitialValuesAreNotTried: whether some of 60 transfers, that each double the last one, came before the first read
// is too hard if nothing else shows it.
func TestTooManyInitialValuesAreNotTried(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	line := func(p int, typ, f, value string) {
		fmt.Fprintf(&text, "{:process %d :type :%s :f :%s :value %s}\n", p, typ, f, value)
	}
	for p := range 28 {
		line(p, "invoke", "transfer", fmt.Sprintf("{:from 0 :to 1 :amount %d}", 2<<p))
	}
	line(99, "invoke", "transfer", "{:from 0 :to 1 :amount 3}")
	line(99, "ok", "transfer", "{:from 0 :to 1 :amount 3}")
	for _, read := range []string{"{0 1000000000 1 1000000000}", "{0 999999999 1 1000000001}"} {
		line(99, "invoke", "read", "nil")
		line(99, "ok", "read", read)
	}
	r := kit.CheckedText(t, text.String(), models.Spec{Name: "bank"}, clew.Options{})
	if want := "and too many others would have to be tried: Spec.Init "; r.Cause != jepsen.InitialValue || !strings.Contains(r.Explanation, want) {
		t.Errorf("%v: %s", r.Verdict, r.Explanation)
	}
}

// So it is if more than a few crashed or late updates need values: one of those that are not tried may have been there.
func TestTooManyValuesThatUpdatesNeedAreNotTried(t *testing.T) {
	t.Parallel()
	of := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	var crashed, keys []string
	for i := range 9 {
		crashed = append(crashed, fmt.Sprintf("{:process %d, :type :invoke, :f :cas, :value [%[1]d 100]}\n{:process %[1]d, :type :info, :f :cas, :value [%[1]d 100]}", i+1))
		keys = append(keys, fmt.Sprintf("{:process %d, :type :invoke, :f :cas, :key %d, :value [0 1]}\n{:process %[1]d, :type :info, :f :cas, :key %[2]d, :value [0 1]}", 100+i, i),
			fmt.Sprintf("{:process 0, :type :invoke, :f :get, :key %d}\n{:process 0, :type :ok, :f :get, :key %[1]d, :value 1}", i))
	}
	for _, c := range []struct{ model, text, valid string }{
		{"cas-register", of(append(crashed,
			"{:process 99, :type :invoke, :f :cas, :value [0 100]}",
			"{:process 98, :type :invoke, :f :read}",
			"{:process 98, :type :ok, :f :read, :value 100}",
			"{:process 97, :type :invoke, :f :write, :value 0}",
			"{:process 97, :type :fail, :f :write, :value 0}",
			"{:process 99, :type :ok, :f :cas, :value [0 100]}")...), "0"},
		{"kv", of(keys...), "{:default 0}"},
	} {
		for init, want := range map[string]jepsen.Verdict{"": jepsen.Unknown, c.valid: jepsen.Valid} {
			if r := kit.CheckedText(t, c.text, models.Spec{Name: c.model, Init: init}, clew.Options{}); r.Verdict != want {
				t.Errorf("%s from %q: %s", c.model, init, r.Text())
			}
		}
	}
}

// A limit that comes before all initial values have been looked for leaves the verdict open, whenever it comes.
func TestALimitBeforeOtherInitialValuesAreTriedLeavesTheVerdictOpen(t *testing.T) {
	t.Parallel()
	ops := func(n int, f, value, answer string) string {
		return strings.Repeat(fmt.Sprintf("{:process 0, :type :invoke, :f :%s, :value %s}\n{:process 0, :type :ok, :f :%[1]s, :value %[3]s}\n", f, value, answer), n)
	}
	for model, text := range map[string]string{
		"counter":    ops(900, "add", "1", "1") + ops(1, "read", "nil", "910"),
		"lookup-set": ops(1, "contains", "-1", "[-1 true]") + ops(900, "contains", "1", "[1 false]"),
		"cas-register": "{:process 1, :type :invoke, :f :cas, :value [0 1]}\n{:process 1, :type :info, :f :cas, :value [0 1]}\n" +
			ops(900, "read", "nil", "nil") + ops(1, "read", "nil", "1"),
		"list-append": ops(1, "txn", "[[:r :x nil]]", "[[:r :x [7]]]") + ops(900, "txn", "[[:r :y nil]]", "[[:r :y []]]"),
	} {
		if r := kit.CheckedText(t, text, models.Spec{Name: model}, clew.Options{}); r.Cause != jepsen.InitialValue {
			t.Fatalf("%s: %s", model, r.Text())
		}
		for looks := 0; ; looks += 1 + looks/20 {
			h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			ctx := &countdown.Context{Context: t.Context(), Looks: looks}
			for _, level := range []models.Level{"", models.ReadUncommitted} {
				if level != "" && model != "list-append" {
					continue
				}
				if r, err := clew.Check(ctx, h, models.Spec{Name: model}, clew.Options{Consistency: level}); err == nil && r.Verdict == jepsen.Invalid {
					t.Errorf("%s, %s after %d looks: %s", model, level, looks, r.Text())
				}
			}
			if ctx.After == 0 {
				break
			}
		}
	}
}

// TestAnyInitialValueAgainstAllOfThem has random histories of counters and banks that begin with something, of up to a dozen
// operations, some of which crash and some of which answer wrongly. A verdict is that of all initial values one by one, and
// one that is invalid fails where the last of them does.
func TestAnyInitialValueAgainstAllOfThem(t *testing.T) {
	t.Parallel()
	random, counts := gen.Rand(17), map[string]int{}
	for range kit.Histories(150, 4000, 40000) {
		model := []string{"counter", "bank"}[random.IntN(2)]
		text, inits := someCounter(random), []string(nil)
		if model == "bank" {
			text, inits = someBank(random)
		} else {
			for n := range 161 {
				inits = append(inits, strconv.Itoa(n-80))
			}
		}
		h, err := clew.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check := func(init string) (jepsen.Verdict, jepsen.Event) {
			r, err := clew.Check(context.Background(), h, models.Spec{Name: model, Init: init}, clew.Options{Verify: clew.VerifyNever})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if init == "" && r.Verdict == jepsen.Unknown {
				if r.Cause != jepsen.InitialValue || !slices.Contains(inits, r.LikelyInit) && model == "counter" {
					t.Fatalf("%s: %s, from %s\n%s", r.Cause, r.Explanation, r.LikelyInit, text)
				}
				if from := kit.CheckedText(t, text, models.Spec{Name: model, Init: r.LikelyInit}, clew.Options{}); from.Verdict != jepsen.Valid {
					t.Fatalf("from %s: %v\n%s", r.LikelyInit, from.Verdict, text)
				}
			}
			if r.Verdict != jepsen.Invalid {
				return r.Verdict, -1
			}
			return r.Verdict, r.FailEvent.OrNone()
		}
		usual := models.Spec{Name: model}.FromDefault().Init
		want, first := check(usual)
		last := first
		for _, init := range inits {
			if want != jepsen.Invalid {
				break
			}
			if verdict, at := check(init); verdict == jepsen.Valid {
				want = jepsen.Unknown
			} else {
				last = max(last, at)
			}
		}
		got, at := check("")
		if got != want || at > last || want == jepsen.Invalid && at != last && at != first && model == "bank" { // a few numbers of a counter are tried one by one
			t.Fatalf("%s: %v at %d, expected %v at %d\n%s", model, got, at, want, last, text)
		}
		counts[fmt.Sprint(model, " ", want)]++
		if at == last && last != first {
			counts[model+" fails later than from the default"]++
		}
	}
	if t.Log(counts); len(counts) < 8 {
		t.Errorf("expected more: %v", counts)
	}
}

// someCounter returns a history of a counter that begins with a number from -20 to 20.
func someCounter(r *rand.Rand) string {
	now := r.IntN(41) - 20
	return sideBySide(r, func() (f, given string, apply func() string) {
		if r.IntN(2) == 0 {
			return "read", "nil", func() string {
				if r.IntN(8) == 0 {
					return strconv.Itoa(now + r.IntN(9) - 4)
				}
				return strconv.Itoa(now)
			}
		}
		n := r.IntN(13) - 4
		return "add", strconv.Itoa(n), func() string { now += n; return strconv.Itoa(n) }
	})
}

// someBank returns a history of a bank with two accounts that begin with up to 9 each, and all that may have been there at
// first if the first read is right.
func someBank(r *rand.Rand) (text string, inits []string) {
	now := [2]int{r.IntN(10), r.IntN(10)}
	for n := range now[0] + now[1] + 1 {
		inits = append(inits, fmt.Sprintf("{0 %d, 1 %d}", n, now[0]+now[1]-n))
	}
	rich := 0 // what is enough for all transfers
	text = sideBySide(r, func() (f, given string, apply func() string) {
		if r.IntN(2) == 0 {
			return "read", "nil", func() string {
				x := now
				if r.IntN(8) == 0 {
					n := r.IntN(5) - 2
					x = [2]int{x[0] - n, x[1] + n}
				}
				return fmt.Sprintf("{0 %d 1 %d}", x[0], x[1])
			}
		}
		from, n := r.IntN(2), r.IntN(6)
		rich += n
		given = fmt.Sprintf("{:from %d :to %d :amount %d}", from, 1-from, n)
		return "transfer", given, func() string {
			if now[from] < n {
				return ""
			}
			now[from], now[1-from] = now[from]-n, now[1-from]+n
			return given
		}
	})
	return text, append(inits, fmt.Sprintf("{0 %d, 1 %[1]d}", rich))
}

// sideBySide returns a history of clients side by side on an object, of which begin returns operations. apply returns what an
// operation answers, "" if it fails. Some crash.
func sideBySide(r *rand.Rand, begin func() (f, given string, apply func() string)) string {
	type running struct {
		process  int
		f, given string
		apply    func() string
		answer   string
		has      bool
	}
	var b strings.Builder
	var open []*running
	for begun, most := 0, 3+r.IntN(10); begun < most || len(open) > 0; {
		if begun < most && (len(open) == 0 || len(open) < 4 && r.IntN(2) == 0) {
			x := &running{process: begun}
			x.f, x.given, x.apply = begin()
			begun++
			open = append(open, x)
			fmt.Fprintf(&b, "{:process %d, :type :invoke, :f :%s, :value %s}\n", x.process, x.f, x.given)
			continue
		}
		i := r.IntN(len(open))
		x := open[i]
		if !x.has {
			x.answer, x.has = x.apply(), true
			continue
		}
		typ, value := "ok", x.answer
		if value == "" {
			typ, value = "fail", x.given
		} else if r.IntN(8) == 0 {
			typ, value = "info", x.given
		}
		open = slices.Delete(open, i, i+1)
		fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %s}\n", x.process, typ, x.f, value)
	}
	return b.String()
}

// A tiny operation of the histories below: what it is, how it ends, and what it returns.
type tiny struct{ f, given, end, answer string }

// tinyHistory is some operations and the order of their events. Each event is a number of an operation: first its
// invocation, then its completion.
type tinyHistory struct {
	ops    []tiny
	events []int
}

func (h tinyHistory) text() string {
	var b strings.Builder
	begun := map[int]bool{}
	for _, i := range h.events {
		typ, value := "invoke", h.ops[i].given
		if begun[i] {
			if typ = h.ops[i].end; typ == "ok" {
				value = h.ops[i].answer
			}
		}
		begun[i] = true
		fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %s}\n", i, typ, h.ops[i].f, value)
	}
	return b.String()
}

// called and returned are the places of an operation's events.
func (h tinyHistory) called(i int) int { return slices.Index(h.events, i) }
func (h tinyHistory) returned(i int) int {
	return h.called(i) + 1 + slices.Index(h.events[h.called(i)+1:], i)
}

// tinyHistories calls check for every history of two or three of some operations, or for a share of them.
func tinyHistories(all []tiny, check func(h tinyHistory)) {
	var orders func(n int, events []int, next int)
	var ops []tiny
	count := 0
	share := int(max(1, 600/effort.Histories(600, 600)))
	orders = func(n int, events []int, next int) {
		if len(events) == 2*n {
			if count++; count%share == 0 {
				check(tinyHistory{ops, slices.Clone(events)})
			}
			return
		}
		if next < n {
			orders(n, append(events, next), next+1)
		}
		for i := range next {
			if once := slices.Index(events, i); !slices.Contains(events[once+1:], i) {
				orders(n, append(events, i), next)
			}
		}
	}
	var choose func(n int)
	choose = func(n int) {
		if len(ops) == n {
			orders(n, nil, 0)
			return
		}
		for _, op := range all {
			ops = append(ops, op)
			choose(n)
			ops = ops[:len(ops)-1]
		}
	}
	choose(2)
	choose(3)
}

func ok(f, given, answer string) tiny { return tiny{f, given, "ok", answer} }

// changes returns an operation that changes something, as it ends in each way.
func changes(f, given string) []tiny {
	return []tiny{{f, given, "ok", given}, {f, given, "info", given}, {f, given, "fail", given}}
}

// TestInitialValuesThatExistAgainstEnumeration states the rule of each model once more, by trying all values.
func TestInitialValuesThatExistAgainstEnumeration(t *testing.T) {
	t.Parallel()
	var numbers, tens, banks []string
	for n := range 21 {
		numbers, tens = append(numbers, strconv.Itoa(n-10)), append(tens, strconv.Itoa(100*(n-10)))
	}
	for n := range 25 {
		banks = append(banks, fmt.Sprintf("{0 %d, 1 %d}", n/5, n%5))
	}
	for _, c := range []struct {
		model, usual string
		ops          []tiny
		inits        []string
		// counts reports whether the history shows that an initial value, from which it is linearizable, was there.
		counts func(h tinyHistory, init string) bool
	}{
		{"counter", "0", slices.Concat(changes("add", "1"), []tiny{ok("add", "-2", "-2"), ok("read", "nil", "0"), ok("read", "nil", "1"), ok("read", "nil", "3"), ok("incr", "nil", "2")}),
			numbers, func(h tinyHistory, _ string) bool { return !dirtyTotals(h) }},
		// The same for numbers of which there are too many to be tried.
		{"counter", "0", slices.Concat(changes("add", "100"), []tiny{ok("add", "-200", "-200"), ok("read", "nil", "0"), ok("read", "nil", "100"), ok("read", "nil", "300"), ok("add-and-get", "100", "[100 200]")}),
			tens, func(h tinyHistory, _ string) bool { return !dirtyTotals(h) }},
		{"bank", "{}", slices.Concat(changes("transfer", "{:from 0 :to 1 :amount 1}"), []tiny{
			ok("transfer", "{:from 1 :to 0 :amount 2}", "{:from 1 :to 0 :amount 2}"),
			ok("read", "nil", "{0 1 1 1}"), ok("read", "nil", "{0 0 1 2}"), ok("read", "nil", "{0 3}")}),
			append(banks, "{0 6, 1 6}"), func(tinyHistory, string) bool { return true }},
		{"set", "#{}", slices.Concat(changes("add", "1"), []tiny{ok("add", "2", "2"), ok("read", "nil", "#{}"), ok("read", "nil", "#{1}"), ok("read", "nil", "#{2}"), ok("read", "nil", "#{1 2}")}),
			[]string{"#{1}", "#{2}", "#{1 2}"}, elementsCount},
		{"lookup-set", "#{}", []tiny{ok("insert", "1", "[1 true]"), ok("insert", "1", "[1 false]"), {"insert", "1", "info", ""}, {"insert", "1", "fail", ""},
			ok("remove", "1", "[1 true]"), ok("remove", "1", "[1 false]"), {"remove", "1", "info", ""}, ok("contains", "1", "[1 true]"), ok("contains", "1", "[1 false]"),
			ok("insert", "2", "[2 true]"), ok("contains", "2", "[2 true]")},
			[]string{"#{1}", "#{2}", "#{1 2}"}, elementsCount},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			counts := map[jepsen.Verdict]int{}
			tinyHistories(c.ops, func(history tinyHistory) {
				text := history.text()
				holds := func(init string) bool {
					holds, err := second.Decide(text, second.Options{Model: c.model, Init: init})
					if err != nil {
						t.Fatalf("%v\n%s", err, text)
					}
					return holds
				}
				want := jepsen.Invalid
				if holds(c.usual) {
					want = jepsen.Valid
				} else if slices.ContainsFunc(c.inits, func(init string) bool { return holds(init) && c.counts(history, init) }) {
					want = jepsen.Unknown
				}
				counts[want]++
				r := kit.CheckedText(t, text, models.Spec{Name: c.model}, clew.Options{})
				if r.Verdict != want || (r.Cause == jepsen.InitialValue) != (want == jepsen.Unknown) {
					t.Fatalf("%v %s %s; expected %v of\n%s", r.Verdict, r.Cause, r.Explanation, want, text)
				}
				if want == jepsen.Unknown && !holds(r.LikelyInit) {
					t.Fatalf("not linearizable from %s:\n%s", r.LikelyInit, text)
				}
			})
			if t.Logf("%v", counts); len(counts) < 3 || counts[jepsen.Unknown] < 50 {
				t.Errorf("expected more: %v", counts)
			}
		})
	}
}

// dirtyTotals reports whether the totals exclude 0, but not if adds that failed have happened.
func dirtyTotals(h tinyHistory) bool {
	possible := func(c int, alsoFailed bool) bool {
		for i, op := range h.ops {
			if op.end != "ok" || op.f == "add" {
				continue
			}
			saw, _ := strconv.Atoi(op.answer)
			if op.f == "incr" {
				saw--
			} else if op.f == "add-and-get" {
				saw = 100
			}
			least, most := c, c
			for j, other := range h.ops {
				n, err := strconv.Atoi(other.given)
				if other.f == "incr" {
					n, err = 1, nil
				}
				switch {
				case j == i || err != nil || h.called(j) > h.returned(i) || other.end == "fail" && !alsoFailed:
				case other.end == "ok" && h.returned(j) < h.called(i):
					least, most = least+n, most+n
				default:
					least, most = least+min(n, 0), most+max(n, 0)
				}
			}
			if saw < least || saw > most {
				return false
			}
		}
		return true
	}
	return !possible(0, false) && possible(0, true)
}

// elementsCount reports whether each of some elements was there at first: what returned before another operation could
// have added or removed it shows it, and something of that returned before the last add was called.
func elementsCount(h tinyHistory, init string) bool {
	lastAdd := len(h.events)
	for i, op := range h.ops {
		if isAdd(op) {
			lastAdd = h.called(i) // operations are in the order of their calls
		}
	}
	for _, x := range strings.Fields(strings.Trim(init, "#{}")) {
		shown := false
		for i, op := range h.ops {
			is, about := tells(op, x)
			if !about {
				continue
			}
			touched := false
			for j, other := range h.ops {
				touched = touched || j != i && other.given == x && mayChange(other) && h.called(j) < h.returned(i)
			}
			switch {
			case touched:
			case !is:
				return false
			case h.returned(i) < lastAdd:
				shown = true
			}
		}
		if !shown {
			return false
		}
	}
	return true
}

func isAdd(op tiny) bool { return op.f == "add" || op.f == "insert" }

// mayChange reports whether an operation adds or removes its element, as far as it says so.
func mayChange(op tiny) bool {
	return op.f != "contains" && !(op.end == "ok" && strings.Contains(op.answer, "false"))
}

// tells returns whether an element was there before an operation, if the operation says so.
func tells(op tiny, x string) (is, about bool) {
	switch {
	case op.end != "ok" || op.f == "add":
		return false, false
	case op.f == "read":
		return strings.Contains(op.answer, x), true
	}
	return strings.Contains(op.answer, "true") != (op.f == "insert"), op.given == x
}
