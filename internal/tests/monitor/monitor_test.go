package monitor_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/pace"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// repeated returns the lines of the anomalies of a history by their definition: it is checked again and again without
// the completion that fails. If that changes nothing it is left out, else its answer is not known. It returns false if
// a check does not decide.
func repeated(t *testing.T, spec models.Spec, text string, o clew.Options) (lines []int, decided bool) {
	t.Helper()
	all := strings.Split(text, "\n")
	for {
		h, err := clew.Read(strings.NewReader(strings.Join(all, "\n")), "h", spec.Pairing())
		if err != nil && strings.Contains(err.Error(), "no operation of a client") {
			return lines, true // all were left out
		} else if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(all, "\n"))
		}
		if inferred, _, err := spec.Infer(h); err == nil && !o.Independent {
			spec.Answers = inferred.Answers // whichever operations are left
		}
		r, err := clew.Check(t.Context(), h, spec, o)
		if errors.Is(err, models.ErrNoPositions) && len(lines) > 0 { // only anomalies told any
			spec.Position = models.NoPosition
			continue
		}
		if errors.Is(err, jepsen.ErrNoTuples) {
			return lines, true
		} else if err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(all, "\n"))
		}
		if r.Verdict != jepsen.Invalid {
			return lines, r.Verdict == jepsen.Valid
		}
		failing := r.FirstFailing()
		own := failing.History
		part := own.OpOf[failing.FailEvent.OrNone()]
		op := own.WholeOperation(part)
		begin, end := h.Line(h.Invocation[op]), h.Line(h.Completion[op])
		lines = append(lines, end)
		ops, err := spec.Read(own)
		if err != nil {
			t.Fatal(err)
		}
		row := ops.Among([]jepsen.Operation{part})[0]
		if all[end-1] = brackets(all[end-1]); models.Changes(ops.Model, ops.Op(row)) {
			all[end-1] += fmt.Sprintf("{:process %s, :type :info, :f %s, :value nil}", h.Values.Text(h.Processes[h.Process[h.Invocation[op]]]), h.Values.Text(h.F[h.Invocation[op]]))
		} else {
			all[begin-1] = brackets(all[begin-1])
		}
	}
}

// brackets returns the bracket that opens a vector or list of op maps, if a line begins with one.
func brackets(line string) string {
	if strings.HasPrefix(line, "[") || strings.HasPrefix(line, "(") {
		return line[:1]
	}
	return ""
}

// monitored returns the lines of the anomalies that a monitor finds.
func monitored(t *testing.T, spec models.Spec, text string, stretch int, o clew.Options) (lines []int, totals clew.MonitorTotals, err error) {
	t.Helper()
	m, err := clew.NewMonitor(pace.Each(t.Context(), stretch), spec, o)
	if err != nil {
		t.Fatal(err)
	}
	m.Found = func(a clew.Anomaly) error { lines = append(lines, a.Operation.Line); return nil }
	var in io.Reader = strings.NewReader(text)
	if stretch%2 > 0 { // op maps of later pieces are read several at once
		in = &pieces{in, gen.Rand(uint64(len(text)))}
	}
	err = m.Read(in, "h", spec.Pairing())
	return lines, m.Totals(), err
}

// Monitors share nothing: several find side by side what each finds alone. The race detector sees what they write.
func TestMonitorsSideBySide(t *testing.T) {
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 700)
		texts, want := make([]string, 4), make([][]int, 4)
		for i := range texts {
			texts[i] = kit.Faulty(r, spec, 30, 4, 0.2, 0.1)
			want[i], _, _ = monitored(t, spec, texts[i], 3, kit.Soon())
		}
		var group sync.WaitGroup
		for i, text := range texts {
			group.Go(func() {
				if lines, _, _ := monitored(t, spec, text, 3, kit.Soon()); !slices.Equal(lines, want[i]) {
					t.Errorf("%s: beside others %v, alone %v:\n%s", campaign.Name(spec), lines, want[i], text)
				}
			})
		}
		group.Wait()
	}
}

// mostOfOne is the memory for each check. A bank of some thirty operations, most of which crashed, has millions of states.
const mostOfOne = 256 << 20

// The anomalies of a pass are those that one gets by checking again and again.
func TestAMonitorFindsWhatRepeatedChecksFind(t *testing.T) {
	kit.CollectLess(t)
	n := kit.Histories(3, 30, 20_000)
	compared, several, late := map[string]int{}, map[string]int{}, map[string]int{}
	for i, spec := range campaign.Configs() {
		r := gen.Rand(uint64(i) + 500)
		for range n {
			spec := campaign.WithParameters(r, spec)
			o := campaign.GenOptions(spec)
			o.Init = true
			if r.IntN(2) == 0 {
				o.Operations = 10 + r.IntN(25)
			}
			made := gen.New(r, o)
			spec.Init = made.Init
			if spec.Init == "" {
				spec = spec.FromDefault()
			}
			if _, _, err := campaign.ReadText(spec, made.Text); err != nil || strings.Count(made.Text, "\n") < 2 {
				continue
			}
			if h, _, err := campaign.ReadText(spec, made.Text); err == nil {
				if inferred, _, err := spec.Infer(h); err == nil {
					spec.Answers = inferred.Answers // a pass would see later what they are
				}
			}
			limited := kit.Unverified
			limited.Memory = clew.NewMemory(mostOfOne)
			want, decided := repeated(t, spec, made.Text, limited)
			if d, _ := spec.Definition(); !decided || d.LooksAhead && !slices.IsSorted(want) { // a later answer said who an earlier owner was
				continue
			}
			compared[spec.Name]++
			if len(want) > 1 {
				several[spec.Name]++
			}
			for _, stretch := range []int{0, 1, 1 + r.IntN(12)} {
				limited.Memory = clew.NewMemory(mostOfOne)
				got, _, err := monitored(t, spec, made.Text, stretch, limited)
				if isHard(err) {
					break
				}
				if err != nil && strings.Contains(err.Error(), "a monitor does not judge what watches") {
					break
				}
				if err != nil && strings.Contains(err.Error(), "were judged without one") {
					late[spec.Name]++
					break
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", campaign.Name(spec), stretch, got, err, want, kit.Numbered(made.Text))
					break
				}
			}
			if t.Failed() {
				break
			}
		}
	}
	t.Log(compared, several, late)
}

// A pass forgets what a model of one's own has decided, and finds what repeated checks find.
func TestAMonitorForgetsWhatOwnModelsDecided(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	own := map[string]*models.Definition{"cas-register": campaign.OwnRegister}
	for _, name := range kit.Twins {
		own[name+".star"] = kit.StarModel(t, name)
	}
	for name, d := range own {
		model := strings.TrimSuffix(name, ".star")
		r := gen.Rand(81)
		anomalies, forgot := 0, 0
		for range kit.Histories(15, 30, 20_000) {
			made := gen.New(r, gen.Options{Model: model, Init: true, Operations: 10 + r.IntN(25)})
			spec := models.Own(d)
			spec.Init = made.Init
			if _, _, err := campaign.ReadText(spec, made.Text); err != nil || strings.Count(made.Text, "\n") < 2 {
				continue
			}
			want, decided := repeated(t, spec, made.Text, kit.Unverified)
			if !decided {
				continue
			}
			anomalies += len(want)
			for _, stretch := range []int{1, 1 + r.IntN(12)} {
				got, totals, err := monitored(t, spec, made.Text, stretch, kit.Unverified)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s from %s, each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", name, spec.Init, stretch, got, err, want, kit.Numbered(made.Text))
				}
				if totals.Held < totals.Operations {
					forgot++
				}
			}
		}
		if anomalies == 0 || forgot == 0 {
			t.Errorf("%s: %d anomalies, %d passes forgot something", name, anomalies, forgot)
		}
		t.Logf("%s: %d anomalies, %d passes forgot something", name, anomalies, forgot)
	}
}

// A path of which the end was undone, and then the beginning does not matter, still leads to its state.
func TestAMonitorGoesOnFromALongPath(t *testing.T) {
	t.Parallel()
	const model = "init = ()\ndef set(s, op):\n  return (op.value,)\ndef push(s, op):\n  return s + (op.value,)\ndef pop(s, op):\n  return s[:-1]\n" +
		"def size(s, op):\n  return s if not op.ok or op.out == len(s) else inconsistent(\"%d\" % len(s))\nops = {\"set\": set, \"push\": push, \"pop\": pop, \"size\": size}\n"
	var b strings.Builder
	do := func(times int, f string, given, value any) {
		for range times {
			fmt.Fprintf(&b, "0 :invoke :%s %v\n0 :ok :%[1]s %[3]v\n", f, given, value)
		}
	}
	do(1, "push", 7, 7)
	do(1, "set", 5, 5)
	do(300, "push", 1, 1)
	do(350, "size", "nil", 301)
	do(200, "pop", "nil", "nil")
	do(1500, "size", "nil", 101)
	for _, stretch := range []int{302, 604, 1280} {
		if got, totals, err := monitored(t, kit.OwnFile(t, model), b.String(), stretch, kit.Unverified); err != nil || len(got) > 0 || totals.Held > 1000 {
			t.Errorf("each %d events: %v, %v, %d held", stretch, got, err, totals.Held)
		}
	}
}

// A model that fails, or that declares what does not hold, is an error, and no anomaly.
func TestAMonitorOfAFailingModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ model, history, want string }{
		"a failure": {"init = 0\ndef read(s, op):\n  if op.ok: fail(\"seven\")\n  return s\nops = {\"read\": read}\n",
			"0 :invoke :read nil\n0 :ok :read 7\n", "h: own.star:3:17: in read: seven, on :read 7 (index 1) in state 0"},
		"a read that changes": {"init = 0\ndef read(s, op):\n  return op.out\nops = {\"read\": read}\nreads = [\"read\"]\n",
			"0 :invoke :read nil\n0 :ok :read 7\n", "h: own.star:2:1: read is among its reads, but it may lead to 7, on :read 7 (index 1) in state 0"},
		"a crashed read that changes": {"init = 0\ndef add(s, op):\n  return s + op.value\ndef read(s, op):\n  return s if not op.ok or op.out == s else inconsistent(\"no\")\nops = {\"add\": add, \"read\": read}\nreads = [\"add\"]\n",
			"0 :invoke :add 1\n0 :info :add 1\n1 :invoke :read nil\n1 :ok :read 1\n", "h: own.star:2:1: add is among its reads, but it may lead to 1, on :add 1 (index 0) in state 0"},
	} {
		_, totals, err := monitored(t, kit.OwnFile(t, c.model), c.history, 0, kit.Unverified)
		if err == nil || !strings.Contains(err.Error(), c.want) || totals.Anomalies > 0 {
			t.Errorf("%s: %v, %d anomalies", name, err, totals.Anomalies)
		}
	}
}

// What a monitor forgets makes no difference, and it forgets.
func TestAMonitorForgetsWhatMakesNoDifference(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	for _, spec := range kit.Forgetful {
		model := spec.Name
		r := gen.Rand(77)
		anomalies, held, hard := 0, 0, uint64(0)
		n := kit.Histories(5, 40, 40_000)
		for range n {
			operations := 5 + r.IntN(60)
			text := kit.Faulty(r, spec, operations, 1+r.IntN(5), []float64{0, 0.1, 0.3}[r.IntN(3)], []float64{0.05, 0.2}[r.IntN(2)])
			spec := spec.FromDefault()
			want, decided := repeated(t, spec, text, kit.Soon())
			if !decided {
				hard++
				continue
			}
			anomalies += len(want)
			for _, stretch := range []int{0, 1, 1 + r.IntN(12)} {
				got, totals, err := monitored(t, spec, text, stretch, kit.Unverified)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s, each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", model, stretch, got, err, want, kit.Numbered(text))
				}
				if stretch == 1 {
					held = max(held, totals.Held)
				}
			}
		}
		if hard > 1+n/100 {
			t.Errorf("%s: %d of %d histories were too hard", model, hard, n)
		}
		t.Logf("%s: %d anomalies, at most %d operations held at the end", model, anomalies, held)
	}
}

// So it is in longer histories with many wrong answers.
func TestAMonitorForgetsWhatMakesNoDifferenceInLongHistories(t *testing.T) {
	t.Parallel()
	kit.CollectLess(t)
	most := 600
	if effort.Few() {
		most = 400
	} else if effort.Long() {
		most = 1000
	}
	for i, spec := range kit.Forgetful {
		if !effort.Takes(i) {
			continue
		}
		r := gen.Rand(84)
		anomalies, histories := 0, 0
		for range effort.Histories(1, 700) {
			operations := 200 + r.IntN(most-200)
			text := kit.Faulty(r, spec, operations, 1+r.IntN(5), []float64{0, 0.005}[r.IntN(2)], float64(r.IntN(100))/float64(operations))
			spec := spec.FromDefault()
			want, decided := repeated(t, spec, text, kit.Soon())
			if !decided || len(want) > 200 {
				continue
			}
			anomalies, histories = anomalies+len(want), histories+1
			for _, stretch := range []int{0, 1 + r.IntN(300)} {
				got, _, err := monitored(t, spec, text, stretch, kit.Unverified)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s, each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", spec.Name, stretch, got, err, want, kit.Numbered(text))
				}
			}
		}
		t.Logf("%s: %d anomalies in %d histories", spec.Name, anomalies, histories)
	}
}

// Ids that were returned long ago are known, however few operations are held and however many ids there were.
func TestAMonitorKnowsIDsFromLongAgo(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 300, 3000} {
		var b strings.Builder
		var want []int
		add := func(id int) {
			fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :generate}\n{:process 0, :type :ok, :f :generate, :value %d}\n", id)
		}
		for id := range n {
			add(id)
		}
		for i, id := range []int{n - 1, n - 2, 5 * n, 0, 5 * n, 7 * n} {
			if add(id); i != 2 && i != 5 {
				want = append(want, 2*(n+i+1))
			}
		}
		for _, stretch := range []int{0, 1, 7} {
			if got, _, err := monitored(t, models.Spec{Name: "id-generator"}, b.String(), stretch, clew.Options{}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d ids, each %d events: found %v (%v), want %v", n, stretch, got, err, want)
			}
		}
	}
}

// An operation that is open for too long counts as crashed, whatever it returns later.
func TestAMonitorDoesNotWaitForWhatIsStuck(t *testing.T) {
	t.Parallel()
	for _, spec := range kit.Forgetful {
		model := spec.Name
		r := gen.Rand(78)
		stuck := 0
		for range kit.Histories(10, 30, 20_000) {
			const most = 8
			text := kit.Faulty(r, spec, 5+r.IntN(60), 1+r.IntN(5), 0.1, 0.1)
			lines, open := strings.Split(text, "\n"), map[string]int{}
			for i, line := range lines {
				process, rest, _ := strings.Cut(line, ", ")
				if strings.HasPrefix(rest, ":type :invoke") {
					open[process] = i
				} else if begun := open[process]; i-begun > most && !strings.HasPrefix(rest, ":type :info") && rest != "" {
					before, _, _ := strings.Cut(line, ", :value")
					lines[i] = strings.NewReplacer(":ok", ":info", ":fail", ":info").Replace(before) + ", :value nil}"
				}
			}
			spec := spec.FromDefault()
			want, decided := repeated(t, spec, strings.Join(lines, "\n"), kit.Soon())
			if !decided {
				continue
			}
			m, err := clew.NewMonitor(pace.Each(t.Context(), r.IntN(12)), spec, clew.Options{Verify: clew.VerifyNever})
			if err != nil {
				t.Fatal(err)
			}
			m.StuckEvents = most
			var got []int
			m.Found = func(a clew.Anomaly) error { got = append(got, a.Operation.Line); return nil }
			if err := m.Read(strings.NewReader(text), "h", spec.Pairing()); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: the monitor finds %v (%v), repeated checks %v:\n%s", model, got, err, want, kit.Numbered(text))
			}
			stuck += m.Totals().Stuck
		}
		if stuck == 0 {
			t.Errorf("%s: nothing was stuck", model)
		}
	}
}

// A stale read is so many values behind as were written since, and breaks the guarantees that its client's own
// operations show.
func TestAMonitorSaysHowOldAValueWas(t *testing.T) {
	t.Parallel()
	r := gen.Rand(79)
	for range effort.Histories(30, 10_000) {
		writes := 2 + r.IntN(400)
		behind := 1 + r.IntN(writes-1)
		reader, saw := r.IntN(3), r.IntN(3) == 0 // process 0 writes; the others saw a newer value, or nothing
		last := 3 * r.IntN(2)                    // the process that writes the newest value
		var b strings.Builder
		do := func(process int, f string, value int) {
			fmt.Fprintf(&b, "{:process %d, :type :invoke, :f :%s, :value %d}\n{:process %d, :type :ok, :f :%s, :value %d}\n", process, f, value, process, f, value)
		}
		for i := 1; i < writes; i++ {
			do(0, "write", i)
		}
		do(last, "write", writes)
		if saw {
			do(reader, "read", writes)
		}
		do(reader, "read", writes-behind)
		want := clew.Session("")
		switch {
		case reader == 0 && (last == 0 || behind > 1):
			want = clew.ReadYourWrites
		case saw && last == 0 && reader != 0:
			want = clew.MonotonicWrites
		case saw:
			want = clew.MonotonicReads
		}
		if writes == behind {
			continue
		}
		m, err := clew.NewMonitor(pace.Each(t.Context(), 1+r.IntN(100)), models.Spec{Name: "register", Init: "0"}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var found []clew.Anomaly
		m.Found = func(a clew.Anomaly) error { found = append(found, a); return nil }
		if err := m.Read(strings.NewReader(b.String()), "h", jepsen.Options{}); err != nil || len(found) != 1 {
			t.Fatal(err, found)
		}
		if a := found[0]; a.Kind != models.StaleRead || a.Behind != behind || a.Session != want {
			t.Errorf("%d of %d behind, process %d: %+v; want %q", behind, writes, reader, a, want)
		}
	}
}

// Each anomaly of transactions has its own kind, and names the transactions, whatever was found before it.
func TestAMonitorTellsEachCycleOfTransactions(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, txn := range []string{"[:append 1 1]", "[:append 1 2]", "[:r 1 [2 1]]", "[:r 1 [1]]", "[:r 1 nil]", "[:r 1 [1 2]]"} {
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :txn, :value [%s]}\n{:process 0, :type :ok, :f :txn, :value [%[1]s]}\n", txn)
	}
	m, err := clew.NewMonitor(t.Context(), models.Spec{Name: "list-append"}, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	m.Found = func(a clew.Anomaly) error {
		said, _, _ := strings.Cut(a.Explanation, ",")
		found = append(found, fmt.Sprintf("%s: %s", a.Kind, said))
		return nil
	}
	want := []string{": T1 appended to 1 before T2's append of 1", "stale-read: T1 read 1 before T2's append of 2", "stale-read: T1 read 1 before T2's append of 1"}
	if err := m.Read(strings.NewReader(b.String()), "h", jepsen.Options{}); err != nil || !slices.Equal(found, want) {
		t.Errorf("%v, %q; want %q", err, found, want)
	}
}

// Each key is judged by itself, whenever it begins.
func TestAMonitorJudgesKeysByThemselves(t *testing.T) {
	o := kit.Unverified
	o.Independent = true
	for _, spec := range kit.Forgetful {
		r := gen.Rand(80)
		if spec = spec.FromDefault(); spec.Name == "kv" {
			continue // its values are pairs already
		}
		anomalies := 0
		for range kit.Histories(6, 30, 20_000) {
			text := kit.OfKeys(r, spec)
			limited := o
			limited.Memory = kit.Soon().Memory
			want, decided := repeated(t, spec, text, limited)
			if !decided {
				continue
			}
			anomalies += len(want)
			for _, stretch := range []int{0, 1, 1 + r.IntN(12)} {
				got, _, err := monitored(t, spec, text, stretch, o)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s, each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", spec.Name, stretch, got, err, want, kit.Numbered(text))
				}
			}
		}
		t.Logf("%s: %d anomalies", spec.Name, anomalies)
	}
}

// An element that seems to go in again may not: the enqueue fails later. What is over by then is needed until that is known.
func TestAMonitorDoesNotTakeAnOpenEnqueueForOneThatHappened(t *testing.T) {
	t.Parallel()
	const text = `{:process 1 :type :invoke :f :dequeue :value nil}
{:process 2 :type :invoke :f :enqueue :value 1}
{:process 1 :type :ok :f :dequeue :value 1}
{:process 0 :type :invoke :f :peek :value nil}
{:process 1 :type :invoke :f :enqueue :value 2}
{:process 2 :type :ok :f :enqueue :value 1}
{:process 2 :type :invoke :f :enqueue :value 1}
{:process 2 :type :fail :f :enqueue :value 1}
{:process 0 :type :ok :f :peek :value 1}
{:process 1 :type :ok :f :enqueue :value 2}
`
	for stretch := range 8 {
		got, _, err := monitored(t, models.Spec{Name: "fifo-queue", Init: "[]"}, text, stretch, kit.Unverified)
		if err != nil || !slices.Equal(got, []int{9}) {
			t.Errorf("each %d events: %v, %v", stretch, got, err)
		}
	}
}

// A longer history takes no more memory, however it ends, if values are used once, or for a register if few clients use few.
func TestAMonitorHoldsNoMoreOfALongerHistory(t *testing.T) {
	t.Parallel()
	for i, spec := range append(slices.Clone(kit.Forgetful), models.Spec{Name: "cas-register"}) {
		spec = spec.FromDefault()
		held, values := [2]int{}, 0
		if i == len(kit.Forgetful) {
			values = 5
		}
		for i, operations := range []int{1000, 8000} {
			if spec.Name == "set" {
				operations /= 4 // each read has all elements
			}
			var text bytes.Buffer
			o := gen.LongOptions{Model: spec.Name, Operations: operations, Processes: 10, Permits: spec.Permits, Values: values, Seed: 3}
			if spec.Name == "id-generator" || spec.Name == "counter" || spec.Name == "lookup-set" || spec.Name == "register" {
				o.Crashes = 0.002 // a crashed operation is held, but not what follows
			}
			if _, err := gen.Long(&text, o); err != nil {
				t.Fatal(spec.Name, err)
			}
			_, totals, err := monitored(t, spec, text.String(), 64, kit.Unverified)
			if err != nil || totals.Anomalies > 0 && !spec.GrowingIDs {
				t.Errorf("%s: %+v, %v", spec.Name, totals, err)
			}
			held[i] = totals.MostHeld
		}
		if held[1] > held[0]+100 {
			t.Errorf("%s: %d operations were held at most, and then %d of a history eight times as long", spec.Name, held[0], held[1])
		}
	}
}

// What no sweep decides is forgotten where it leads to one state.
func TestAMonitorForgetsWhatASearchDecides(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec  models.Spec
		round string
	}{
		"permits":  {models.Spec{Name: "semaphore", Permits: 3}, "0 :invoke :acquire 2\n1 :invoke :acquire 1\n1 :ok :acquire 1\n0 :ok :acquire 2\n0 :invoke :release 2\n0 :ok :release 2\n1 :invoke :release 1\n1 :ok :release 1\n"},
		"amounts":  {models.Spec{Name: "counter", Answers: models.AnswersEcho}, "0 :invoke :add 2\n1 :invoke :add 3\n0 :ok :add 2\n1 :ok :add 3\n0 :invoke :read nil\n0 :ok :read %d\n"},
		"values":   {models.Spec{Name: "cas-register"}, "0 :invoke :write 1\n1 :invoke :write 2\n0 :ok :write 1\n1 :ok :write 2\n0 :invoke :read nil\n1 :invoke :cas [2 3]\n1 :ok :cas [2 3]\n0 :ok :read 2\n"},
		"maps":     {models.Spec{Name: "kv"}, "0 :invoke :put [1 1]\n1 :invoke :put [2 1]\n0 :ok :put [1 1]\n1 :ok :put [2 1]\n0 :invoke :get [1 nil]\n1 :invoke :put [1 2]\n1 :ok :put [1 2]\n0 :ok :get [1 2]\n"},
		"epochs":   {models.Spec{Name: "lease"}, "0 :invoke :claim [1 %d]\n0 :ok :claim [1 %d]\n0 :invoke :release [1 %d]\n0 :ok :release [1 %d]\n"},
		"owners":   {models.Spec{Name: "reentrant-mutex", MaxHolds: 2}, "0 :invoke :acquire nil\n1 :invoke :acquire nil\n0 :ok :acquire nil\n0 :invoke :acquire nil\n0 :ok :acquire nil\n0 :invoke :release nil\n0 :ok :release nil\n0 :invoke :release nil\n0 :ok :release nil\n1 :ok :acquire nil\n1 :invoke :release nil\n1 :ok :release nil\n"},
		"fences":   {models.Spec{Name: "fenced-mutex"}, "0 :invoke :acquire nil\n0 :ok :acquire {:fence %d}\n0 :invoke :release nil\n0 :ok :release nil\n"},
		"others":   {models.Spec{Name: "java-queue"}, "0 :invoke :offer 1\n0 :ok :offer true\n0 :invoke :size nil\n0 :ok :size 1\n1 :invoke :poll nil\n1 :ok :poll 1\n"},
		"balances": {models.Spec{Name: "bank", Init: "{0 10, 1 0}"}, "0 :invoke :transfer {:from 0, :to 1, :amount 5}\n0 :ok :transfer {:from 0, :to 1, :amount 5}\n0 :invoke :transfer {:from 1, :to 0, :amount 5}\n0 :ok :transfer {:from 1, :to 0, :amount 5}\n0 :invoke :read nil\n0 :ok :read {0 10, 1 0}\n"},
		"elements": {models.Spec{Name: "stack"}, "0 :invoke :push 1\n1 :invoke :push 1\n0 :ok :push 1\n1 :ok :push 1\n0 :invoke :pop nil\n0 :ok :pop 1\n0 :invoke :pop nil\n0 :ok :pop 1\n"},
	} {
		held := func(rounds int) int {
			var text strings.Builder
			if name == "amounts" {
				text.WriteString("2 :invoke :add 4\n2 :info :add 4\n")
			}
			for round := range rounds {
				text.WriteString(strings.ReplaceAll(c.round, "%d", strconv.Itoa(5*(round+1))))
			}
			_, totals, err := monitored(t, c.spec.FromDefault(), text.String(), 16, kit.Unverified)
			if err != nil || totals.Anomalies > 0 {
				t.Errorf("%s: %+v, %v", name, totals, err)
			}
			return totals.MostHeld
		}
		// On a busy machine the text may be late. Then there is a look between two others, and those after it come at other
		// operations. What grows with the history grows each time.
		var few, many int
		for range 5 {
			if few, many = held(50), held(400); many <= few && many <= 40 {
				break
			}
		}
		if many > few || many > 40 {
			t.Errorf("%s: %d operations were held at most, and then %d of a history eight times as long", name, few, many)
		}
	}
}

// Whom a process has named counts for its operations, however long ago that was. If it names somebody too late, the pass ends.
func TestAMonitorKnowsWhoAProcessIs(t *testing.T) {
	t.Parallel()
	const named, unnamed, other = "0 :invoke :acquire nil\n0 :ok :acquire {:client \"a\"}\n0 :invoke :release nil\n0 :ok :release nil\n",
		"0 :invoke :acquire nil\n0 :ok :acquire nil\n0 :invoke :release nil\n0 :ok :release nil\n",
		"0 :invoke :acquire nil\n0 :ok :acquire nil\n1 :invoke :release nil\n1 :ok :release {:client \"a\"}\n"
	for _, stretch := range []int{0, 1, 16} {
		for text, late := range map[string]bool{
			named + strings.Repeat(unnamed, 200) + other:                                          false,
			strings.Repeat(unnamed, 200) + named + other:                                          true,
			strings.Repeat("0 :invoke :acquire nil\n0 :fail :acquire nil\n", 200) + named + other: false,
			named + "2 :invoke :acquire nil\n2 :info :acquire nil\n" + other:                      false,
		} {
			got, totals, err := monitored(t, models.Spec{Name: "owner-mutex"}, text, stretch, kit.Unverified)
			if late {
				if err == nil || err.Error() != "process 0's :acquire {:client \"a\"} (index 801) names a client, but earlier operations of its process were judged without one; use clew check, which reads a history as a whole" {
					t.Errorf("each %d events: %v", stretch, err)
				}
			} else if err != nil || len(got) > 0 || stretch == 1 && totals.Held > 4 {
				t.Errorf("each %d events: %v, %v, %d held", stretch, got, err, totals.Held)
			}
		}
	}
}

// Operations that are held go on being those of whom their process had named before.
func TestAMonitorKnowsWhoAProcessWas(t *testing.T) {
	t.Parallel()
	anomalies := 0
	r := gen.Rand(83)
	for range kit.Histories(40, 200, 20_000) {
		made := gen.New(r, gen.Options{Model: "owner-semaphore", Permits: 3, Threads: 2, Processes: 2 + r.IntN(3), Operations: 20 + r.IntN(40)})
		spec := models.Spec{Name: "owner-semaphore", Permits: 3, Threads: 2}
		if _, _, err := campaign.ReadText(spec, made.Text); err != nil {
			continue
		}
		want, decided := repeated(t, spec, made.Text, kit.Unverified)
		if !decided || !slices.IsSorted(want) {
			continue
		}
		for _, stretch := range []int{1, 1 + r.IntN(12)} {
			got, _, err := monitored(t, spec, made.Text, stretch, kit.Unverified)
			if err != nil && strings.Contains(err.Error(), "were judged without one") {
				break
			}
			if anomalies += len(got); err != nil || !slices.Equal(got, want) {
				t.Fatalf("each %d events: the monitor finds %v (%v), repeated checks %v:\n%s", stretch, got, err, want, kit.Numbered(made.Text))
			}
		}
	}
	if anomalies == 0 {
		t.Error("there was no anomaly")
	}
}

// An anomaly is explained from the value that is left of what was forgotten.
func TestAMonitorExplainsWhatFollowsWhatItForgot(t *testing.T) {
	t.Parallel()
	const round = "0 :invoke :write 1\n0 :ok :write 1\n0 :invoke :write 2\n1 :invoke :cas [7 8]\n1 :fail :cas [7 8]\n0 :ok :write 2\n"
	for read, want := range map[string][2]string{
		"1": {"stale-read", "value 1 was read by process 0 (index 2401), but it had been overwritten"},
		"7": {"", "process 0's :read 7 (index 2401) cannot happen: nothing that had begun by then makes it possible"}, // a failed cas has not seen it
		"3": {"", "process 0's :read 3 (index 2401) cannot happen: nothing that had begun by then makes it possible"}, // it may have been written long ago
	} {
		m, err := clew.NewMonitor(pace.Each(t.Context(), 16), models.Spec{Name: "cas-register", ObserveFailedCAS: true}.FromDefault(), kit.Unverified)
		if err != nil {
			t.Fatal(err)
		}
		m.Found = func(a clew.Anomaly) error {
			if string(a.Kind) != want[0] || a.Explanation != want[1] {
				t.Errorf("%q: %s", a.Kind, a.Explanation)
			}
			return nil
		}
		if err := m.Read(strings.NewReader(strings.Repeat(round, 400)+"0 :invoke :read nil\n0 :ok :read "+read+"\n"), "h", jepsen.Options{}); err != nil || m.Totals().Anomalies != 1 {
			t.Errorf("%v, %v", m.Totals(), err)
		}
	}
}

// So is one of other models, whose kinds are told as far as the state shows them.
func TestAMonitorExplainsWhatFollowsAState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec              models.Spec
		round, last       string
		kind, explanation string
	}{
		"lock": {models.Spec{Name: "owner-mutex"}, "0 :invoke :acquire nil\n0 :ok :acquire nil\n0 :invoke :release nil\n0 :ok :release nil\n1 :invoke :acquire nil\n1 :ok :acquire nil\n1 :invoke :release nil\n1 :ok :release nil\n",
			"0 :invoke :acquire nil\n0 :ok :acquire nil\n1 :invoke :release nil\n1 :ok :release nil\n", "foreign-release", "process 1's :release (index 2403) cannot happen after process 0's :acquire (index 2401): process 1 does not hold the lock"},
		"lease": {models.Spec{Name: "lease"}, "0 :invoke :claim [1 3]\n0 :ok :claim [1 3]\n0 :invoke :check nil\n0 :ok :check [1 3]\n0 :invoke :release [1 3]\n0 :ok :release [1 3]\n0 :invoke :check nil\n0 :ok :check nil\n",
			"0 :invoke :check nil\n0 :ok :check [1 3]\n", "", "process 0's :check [1 3] (index 2401) cannot happen: nothing that had begun by then makes it possible (the lease is free)"},
	} {
		if name == "lease" {
			c.round = strings.ReplaceAll(c.round, "3]", "%d]")
		}
		m, err := clew.NewMonitor(pace.Each(t.Context(), 16), c.spec.FromDefault(), kit.Unverified)
		if err != nil {
			t.Fatal(err)
		}
		m.Found = func(a clew.Anomaly) error {
			if string(a.Kind) != c.kind || a.Explanation != c.explanation {
				t.Errorf("%s: %q: %s", name, a.Kind, a.Explanation)
			}
			return nil
		}
		var text strings.Builder
		for round := range 300 {
			text.WriteString(strings.ReplaceAll(c.round, "%d", strconv.Itoa(round+1)))
		}
		if err := m.Read(strings.NewReader(text.String()+c.last), "h", jepsen.Options{}); err != nil || m.Totals().Anomalies != 1 {
			t.Errorf("%s: %v, %v", name, m.Totals(), err)
		}
	}
}

// What a wrong dequeue has certainly taken instead is forgotten with it: more anomalies take no more memory.
func TestAMonitorForgetsWhatWrongDequeuesTook(t *testing.T) {
	t.Parallel()
	held := [2]int{}
	for i, rounds := range []int{50, 400} {
		var b strings.Builder
		do := func(f string, given, value int) {
			fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :%s, :value %d}\n{:process 0, :type :ok, :f :%s, :value %d}\n", f, given, f, value)
		}
		for r := range rounds {
			low, high := 2*r, 2*r+1
			do("insert", low, low)
			do("insert", high, high)
			do("poll", 0, low) // instead of the higher one, so that is what it has taken by
			do("poll", 0, low)
		}
		text := strings.ReplaceAll(b.String(), ":type :invoke, :f :poll, :value 0", ":type :invoke, :f :poll, :value nil")
		got, totals, err := monitored(t, models.Spec{Name: "priority-queue", Init: "[]"}, text, 16, kit.Unverified)
		if err != nil || len(got) != rounds {
			t.Fatalf("%d rounds: %d anomalies, %v", rounds, len(got), err)
		}
		held[i] = totals.MostHeld
	}
	if held[1] > held[0] {
		t.Errorf("at most %d operations were held, and then %d with eight times as many anomalies", held[0], held[1])
	}
}

// A value or a key that was forgotten may come again in another spelling. It is not said to be new then.
func TestAMonitorDoesNotKnowSpellingsFromLongAgo(t *testing.T) {
	t.Parallel()
	r := gen.Rand(9)
	for _, test := range []struct {
		independent bool
		spellings   []string
	}{{true, []string{"[0.0 %d]", "[0.00 %d]"}}, {true, []string{"[(1) %d]", "[[1] %d]"}}, {false, []string{"[%d]", "(%[1]d)"}}, {false, []string{"%d.0", "%d.00"}}} {
		for range 20 {
			var all strings.Builder
			event := func(process int, typ, f string, value int) {
				spelled := fmt.Sprintf(test.spellings[r.IntN(2)], value)
				fmt.Fprintf(&all, "{:process %d, :type :%s, :f :%s, :value %s}\n", process, typ, f, spelled)
			}
			for i := range 300 {
				event(0, "invoke", "write", i)
				event(0, "ok", "write", i)
			}
			event(1, "invoke", "read", 1)
			event(1, "ok", "read", 1)
			m, err := clew.NewMonitor(pace.Each(t.Context(), 100), models.Spec{Name: "register", Init: "nil"}, clew.Options{Independent: test.independent})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Read(strings.NewReader(all.String()), "h", jepsen.Options{}); err != nil {
				t.Fatal(err)
			}
			if kinds := m.Totals().Kinds; kinds[""] != 1 || len(kinds) != 1 {
				t.Fatalf("%v: %v", test.spellings, kinds)
			}
		}
	}
}
