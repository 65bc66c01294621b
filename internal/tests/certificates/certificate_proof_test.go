package certificates_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"clew/internal/campaign"
	"clew/internal/certificate"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// newProved returns an empty collection for the program of proof/. It skips the test if CLEW_PROOF does not name it.
func newProved(t *testing.T) *certified {
	t.Helper()
	program := os.Getenv("CLEW_PROOF")
	if program == "" {
		t.Skip("CLEW_PROOF does not name clew-proof, which make proof builds")
	}
	prove := func(t testing.TB, pairs []string) string {
		t.Helper()
		var all strings.Builder
		for some := range slices.Chunk(pairs, 2*maxPairs) {
			command := exec.Command(program, some...)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			out, err := command.Output()
			if stderr.Len() > 0 {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			all.Write(out)
		}
		return all.String()
	}
	return &certified{t: t, prove: prove, dir: t.TempDir(), named: map[string]string{}}
}

// maxPairs bounds the pairs of one command.
const maxPairs = 500

// provedByModel counts answers by model and kind. A name begins with its model.
func provedByModel(t *testing.T, said map[string]string) (total map[string]int) {
	byModel := map[string]map[string]int{}
	total = map[string]int{}
	for name, what := range said {
		model, _, _ := strings.Cut(name, " ")
		kind, _, _ := strings.Cut(what, ":")
		if byModel[model] == nil {
			byModel[model] = map[string]int{}
		}
		byModel[model][kind]++
		total[kind]++
	}
	for _, model := range slices.Sorted(maps.Keys(byModel)) {
		n := byModel[model]
		t.Logf("%-24s %6d proved %6d rejected %6d not checked", model, n["proved"], n["rejected"], n["not checked"])
	}
	t.Logf("%-24s %6d proved %6d rejected %6d not checked", "all", total["proved"], total["rejected"], total["not checked"])
	return total
}

func TestTheProvedProgramOnRealHistories(t *testing.T) {
	t.Parallel()
	c := newProved(t)
	all := realHistories(t)
	for i, path := range slices.Sorted(maps.Keys(all)) {
		if !effort.Takes(i) {
			continue
		}
		r, file := c.real(path, all[path])
		if r == nil {
			continue
		}
		c.add(fmt.Sprintf("%s %s %s", r.Model, r.Verdict, path), file, r)
	}
	said := c.check()
	for name, what := range said {
		if strings.HasPrefix(what, "rejected") {
			t.Errorf("%s: %s", name, what)
		} else if !strings.HasPrefix(what, "proved") {
			t.Logf("%s: %s", name, what)
		}
	}
	if total := provedByModel(t, said); 10*total["proved"] < 8*len(said) {
		t.Errorf("%d of %d proved, expected most", total["proved"], len(said))
	}
}

func TestTheProvedProgramOnEveryModel(t *testing.T) {
	t.Parallel()
	c := newProved(t)
	c.everyModel()
	said := c.check()
	for name, what := range said {
		if strings.HasPrefix(what, "rejected") {
			t.Errorf("%s: %s", name, what)
		}
	}
	if total := provedByModel(t, said); 10*total["proved"] < 8*len(said) {
		t.Errorf("%d of %d proved, expected most", total["proved"], len(said))
	}
}

// altered returns a history with a small change: two events swapped, an event left out or moved, or another number.
func altered(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) < 3 {
		return text
	}
	i, j := r.IntN(len(lines)-1), r.IntN(len(lines)-1)
	switch r.IntN(4) {
	case 0:
		lines[i], lines[j] = lines[j], lines[i]
	case 1:
		lines = slices.Delete(lines, i, i+1)
	case 2:
		line := lines[i]
		lines = slices.Insert(slices.Delete(lines, i, i+1), min(j, len(lines)-1), line)
	default:
		at := strings.Index(lines[i], ":value")
		if at >= 0 {
			from, to := fmt.Sprint(r.IntN(4)), fmt.Sprint(r.IntN(4))
			lines[i] = lines[i][:at] + strings.Replace(lines[i][at:], from, to, 1)
		}
	}
	return strings.Join(lines, "")
}

// On random histories of all ways to read each model, no certificate of clew is rejected, no forged one is proved, and
// on a history that was changed only what clew itself finds.
func TestTheProvedProgramOnSmallHistories(t *testing.T) {
	t.Parallel()
	c, python := newProved(t), newCertified(t)
	n := int(effort.Histories(10, 420))
	want, texts := map[string]string{}, map[string]string{}
	forgeries, changes := 0, 0
	for i, spec := range campaign.Configs() {
		if spec.Name == "java-queue" {
			continue
		}
		r := gen.Rand(uint64(450_000 + i))
		for range n {
			spec, history, result := certifiedHistory(t, r, spec)
			name := func(how string) string {
				return fmt.Sprintf("%s %s %s %d", spec.Name, campaign.Name(spec), how, len(c.pairs))
			}
			file := c.text(history)
			own := name("as it was")
			texts[own] = history + c.add(own, file, result)
			want[own] = "proved: "
			if result.Verdict == jepsen.Unknown {
				continue
			}
			var b bytes.Buffer
			if err := certificate.Write(context.Background(), &b, result, certificate.Options{}); err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(b.String(), "\n")
			var says struct{ Parameters map[models.Param]string }
			if err := json.Unmarshal([]byte(head), &says); err != nil {
				t.Fatal(err)
			}
			read := spec // as the certificate says, whatever clew would infer
			for name, value := range says.Parameters {
				if err := read.Set(name, value); err != nil {
					t.Fatal(err)
				}
			}
			const level = `,"consistency":"strict-serializable"`
			ofLevel := strings.Contains(head, level)
			sections := forged(r, result)
			r.Shuffle(len(sections), func(i, j int) { sections[i], sections[j] = sections[j], sections[i] })
			sections = sections[:min(len(sections), 6)]
			if n := result.History.Operations(); spec.Name == "list-append" && result.Verdict == jepsen.Valid && n > 0 {
				for range 3 {
					x, y := r.IntN(n), r.IntN(n)
					sections = append(sections, fmt.Sprintf(`{"key":null,"valid":false,"anomaly":"G1c","cycle":[{"type":"wr","from":[%d,0],"to":[%d,0]},{"type":"wr","from":[%d,0],"to":[%d,0]}]}`, x, y, y, x),
						fmt.Sprintf(`{"key":null,"valid":false,"anomaly":"G1a","at":[[%d,0],[%d,0]]}`, x, y))
				}
			}
			for _, section := range sections {
				valid := strings.Contains(section, `"valid":true`)
				head := strings.Replace(head, level, "", 1)
				if strings.Contains(section, `"anomaly"`) {
					head = strings.TrimSuffix(head, "}") + level + "}"
				}
				head = strings.Replace(strings.Replace(head, `"valid":true`, `"valid":?`, 1), `"valid":false`, `"valid":?`, 1)
				text := strings.Replace(head, "?", fmt.Sprint(valid), 1) + "\n" + section + "\n"
				forgery := name("forged")
				c.put(forgery, file, text)
				texts[forgery], want[forgery] = history+text, "nothing"
				forgeries++
			}
			for range 4 {
				other := altered(r, history)
				change := name("changed")
				c.put(change, c.text(other), b.String())
				texts[change], want[change] = other+b.String(), "nothing"
				changes++
				h, _, err := campaign.ReadText(read, other)
				var again *report.Result
				if err == nil {
					again, err = campaign.Checked(h, read, "auto")
				}
				switch {
				case err != nil && ofLevel: // the other program compares the anomaly, which says nothing to this one
					want[change] = "proved: not linearizable "
				case err != nil: // some readers may be more lenient, but all in the same way
					python.put(change, c.pairs[len(c.pairs)-2], b.String())
				case again.Verdict == jepsen.Valid:
					want[change] = "proved: linearizable "
				case again.Verdict == jepsen.Invalid && (ofLevel || strings.Contains(b.String(), fmt.Sprintf(`"fails":%d,`, again.History.OpOf[again.FailEvent.OrNone()]))):
					want[change] = "proved: not linearizable "
				}
			}
		}
	}
	said := c.check()
	for name, what := range python.check() {
		if want[name], _, _ = strings.Cut(what, " as "); strings.HasSuffix(what, "an operation that is named is another one") {
			want[name] = "proved: " // what is named is for people
		}
	}
	own, wrong := map[string]string{}, 0
	for name, what := range said {
		asItWas := strings.Contains(name, " as it was ")
		if asItWas {
			own[name] = what
		}
		if strings.HasPrefix(what, "proved: ") && !strings.HasPrefix(what, want[name]) || asItWas && strings.HasPrefix(what, "rejected") {
			if wrong++; wrong <= 6 {
				t.Errorf("%s: %s; expected %s\n%s", name, what, want[name], texts[name])
			}
		}
	}
	if total := provedByModel(t, own); 10*total["proved"] < 8*len(own) {
		t.Errorf("%d of %d proved, expected most", total["proved"], len(own))
	}
	t.Logf("%d certificates, %d forgeries, %d changed histories; %d wrong", len(own), forgeries, changes, wrong)
}

// A lie about each thing that is checked: an order, the first failure, and what a core leaves out.
func TestTheProvedProgramRejectsALieForEachLemma(t *testing.T) {
	t.Parallel()
	c := newProved(t)
	event := func(process int, kind, f, value string) string {
		return fmt.Sprintf("{:process %d, :type :%s, :f :%s, :value %s}\n", process, kind, f, value)
	}
	op := func(process int, f, given, value string) string {
		return event(process, "invoke", f, given) + event(process, "ok", f, value)
	}
	write := func(v string) string { return op(0, "write", v, v) }
	read := func(v string) string { return op(1, "read", "nil", v) }
	add := func(f, v string) string { return op(0, f, v, v) }
	enqueue := func(values ...string) (all string) {
		for _, v := range values {
			all += add("enqueue", v)
		}
		return all
	}
	dequeue := func(v string) string { return op(1, "dequeue", "nil", v) }
	lost := func(f, given string) string { return event(7, "invoke", f, given) }
	drain := lost("drain", "nil")
	const valid, invalid = `"key":null,"valid":true,"order":`, `"key":null,"valid":false,"fails":`
	const linearizable = "rejected: the core has a linearization"
	// Transactions at the same time.
	txn := func(values ...string) string {
		var called, returned string
		for i, v := range values {
			called += event(i, "invoke", "txn", "nil")
			returned += event(i, "ok", "txn", v)
		}
		return called + returned
	}
	// Steps such as "wr 0 1", from one transaction to another.
	cycle := func(steps ...string) string {
		for i, s := range steps {
			x := strings.Fields(s)
			steps[i] = fmt.Sprintf(`{"type":"%s","from":[%s,0],"to":[%s,0]}`, x[0], x[1], x[2])
		}
		return `"key":null,"valid":false,"anomaly":"G","cycle":[` + strings.Join(steps, ",") + "]"
	}
	at := func(anomaly string, operations ...string) string {
		return fmt.Sprintf(`"key":null,"valid":false,"anomaly":"%s","at":[[%s,0]]`, anomaly, strings.Join(operations, ",0],["))
	}
	const cyclic, notCyclic = "proved: not linearizable (list_cycle_sound)", "rejected: nothing shows that an operation comes before the next one of its cycle (operation "
	const impossible = "rejected: nothing shows that an operation of the anomaly cannot occur (operation "
	want := map[string]string{}
	for i, x := range []struct{ model, history, line, says string }{
		{"register", write("1") + write("2") + read("2"), valid + "[0,1,2]", "proved: linearizable"},
		{"register", write("1") + write("2") + read("2"), valid + "[1,0,2]", "rejected: an operation had returned before one began that stands before it"},
		{"register", write("1") + write("2") + read("2"), valid + "[0,1]", "rejected: an operation that returned is not in the order"},
		{"register", write("1") + write("2") + read("2"), valid + "[0,1,1,2]", "rejected: an operation stands in the order twice"},
		{"register", write("1") + write("2") + read("2"), valid + "[0,1,2,3]", "rejected: operation 3 is not in this part of the history"},
		{"register", write("1") + write("2") + read("1"), valid + "[0,1,2]", "rejected: an operation cannot happen where it stands in the order"},
		{"register", write("1") + write("2") + read("1"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable"},
		{"register", write("1") + write("2") + read("1"), invalid + `2,"before":[0,1],"core":[0,1,1,2]`, "rejected: the core names operation 1 twice"},
		{"register", write("1") + write("2") + read("1"), invalid + `2,"before":[0],"core":[0,1,2]`, "rejected: an operation that returned is not in the order"},
		{"register", write("1") + write("2") + read("1"), invalid + `2,"before":[0,1,2],"core":[0,1,2]`, "rejected: an operation cannot happen where it stands in the order"},
		{"register", write("1") + write("2") + read("1") + read("1"), invalid + `3,"before":[0,1,2],"core":[0,1,3]`, "rejected: an operation cannot happen where it stands in the order"},
		{"register", write("1") + write("2") + read("2"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "rejected: the core has a linearization"},
		{"register", write("1") + write("2") + read("2"), invalid + `2,"before":[0,1],"core":[0,2]`, "rejected: an operation outside of the core may matter to it"},
		{"register", write(`\u0041`) + read(`\A`) + write(`\u000A`) + read(`\newline`), valid + "[0,1,2,3]", "proved: linearizable"},
		{"register", write(`\u0041`) + read(`\B`), valid + "[0,1]", "rejected: an operation cannot happen where it stands in the order"},
		{"register", write(`\ud83d`) + read(`\ud83d`), valid + "[0,1]", "not checked: "},
		{"register", write(`"\u0041\u00e9"`) + read(`"Aé"`), valid + "[0,1]", "proved: linearizable"},
		{"register", write(`"\u0041"`) + read(`"B"`), valid + "[0,1]", "rejected: an operation cannot happen where it stands in the order"},
		{"cas-register", write("1") + op(0, "cas", "[1 2]", "[1 2]") + read("2"), invalid + `2,"before":[0,1],"core":[0,2]`, "rejected: an operation outside of the core may matter to it"},
		{"multi-register", op(0, "txn", "[[:w 1 1]]", "[[:w 1 1]]") + op(0, "txn", "[[:r 1 nil]]", "[[:r 1 1]]"), invalid + `1,"before":[0],"core":[1]`, "rejected: an operation outside of the core may matter to it"},
		{"lookup-set", op(0, "insert", "1", "[1 true]") + op(0, "contains", "1", "[1 true]"), invalid + `1,"before":[0],"core":[1]`, "rejected: an operation outside of the core may matter to it"},
		{"fifo-queue", add("enqueue", "1") + op(0, "dequeue", "nil", "1"), invalid + `1,"before":[0],"core":[1]`, "rejected: an operation outside of the core may matter to it"},
		{"stack", add("push", "1") + op(0, "pop", "nil", "1"), invalid + `1,"before":[0],"core":[1]`, "rejected: an operation outside of the core may matter to it"},
		{"priority-queue", add("insert", "1") + op(0, "poll", "nil", "1"), invalid + `1,"before":[0],"core":[1]`, "rejected: an operation outside of the core may matter to it"},
		{"unordered-queue", add("enqueue", "1") + op(0, "dequeue", "nil", "1"), invalid + `1,"before":[0],"core":[1]`, "rejected: an operation outside of the core may matter to it"},
		{"unordered-queue", add("enqueue", "1") + event(2, "invoke", "dequeue", "nil") + op(0, "dequeue", "nil", "nil"), invalid + `2,"before":[0],"core":[0,2]`, "rejected: an operation outside of the core may matter to it"},
		// a drain that never returned
		{"fifo-queue", enqueue("1", "2", "3") + drain + dequeue("3"), valid + "[0,1,2,3,4]", "proved: linearizable"},
		{"fifo-queue", enqueue("1", "2", "3") + drain + dequeue("3"), valid + "[0,1,2,4]", "rejected: an operation cannot happen where it stands in the order"},
		{"fifo-queue", enqueue("1", "2", "3") + drain + dequeue("3"), invalid + `4,"before":[0,1,2],"core":[0,1,2,4]`, "rejected: an operation outside of the core may matter to it"},
		{"fifo-queue", enqueue("1", "2", "3") + drain + dequeue("3"), invalid + `4,"before":[0,1,2],"core":[0,1,2,3,4]`, "rejected: the core has a linearization"},
		{"fifo-queue", enqueue("1", "2", "3") + drain + dequeue("3") + dequeue("1"), invalid + `5,"before":[0,1,2,3,4],"core":[0,2,3,4,5]`, "proved: not linearizable"},
		{"fifo-queue", enqueue("1", "2", "3") + drain + dequeue("3") + dequeue("1"), invalid + `5,"before":[0,1,2,3,4],"core":[0,2,4,5]`, "rejected: an operation outside of the core may matter to it"},
		{"fifo-queue", enqueue("1", "2") + lost("drain", "[2]") + dequeue("1") + dequeue("nil"), valid + "[0,1,3,2,4]", "proved: linearizable"},
		{"fifo-queue", enqueue("1", "2") + lost("drain", "[2]") + dequeue("2"), valid + "[0,1,2,3]", "rejected: an operation cannot happen where it stands in the order"},
		{"unordered-queue", enqueue("1", "1", "2") + drain + dequeue("1") + dequeue("nil"), valid + "[0,1,2,3,4,5]", "proved: linearizable"},
		{"unordered-queue", enqueue("1", "1", "2") + drain + dequeue("1") + dequeue("nil"), valid + "[0,1,2,4,5]", "rejected: an operation cannot happen where it stands in the order"},
		{"unordered-queue", enqueue("1", "2") + drain + dequeue("nil") + dequeue("1"), invalid + `4,"before":[0,1,2,3],"core":[0,2,3,4]`, "proved: not linearizable"},
		{"unordered-queue", enqueue("1", "2") + drain + dequeue("nil") + dequeue("1"), invalid + `4,"before":[0,1,2,3],"core":[0,3,4]`, "rejected: an operation outside of the core may matter to it"},
		{"unordered-queue", enqueue("1", "2") + drain + dequeue("3"), invalid + `3,"before":[0,1],"core":[3]`, "proved: not linearizable"},
		{"unordered-queue", enqueue("1", "2", "3", "4", "5", "6", "7", "8", "9", "10") + drain + dequeue("nil"), valid + "[0,1,2,3,4,5,6,7,8,9,10,11]", "not checked: it does not read a drain that never returned, and may leave more than 1000 states"},
		// values that clew refuses, too, and reads of what is not a set
		{"fifo-queue", op(0, "drain", "nil", "nil"), valid + "[0]", "not checked: it does not read what is not a list"},
		{"fifo-queue", lost("drain", ":empty"), valid + "[]", "not checked: it does not read what is not a list"},
		{`set "semantics":"knossos"`, op(0, "read", "nil", "7"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable"},
		{`set "semantics":"knossos"`, op(0, "read", "nil", "[]"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable"},
		{`set "semantics":"knossos"`, op(0, "read", "nil", "[]"), valid + "[0]", "rejected: an operation cannot happen where it stands in the order"},
		{"set", op(0, "read", "nil", "7"), invalid + `0,"before":[],"core":[0]`, "not checked: it does not read what was read of a set, and is not one"},
		{"log", lost("append", "nil"), valid + "[]", "not checked: it does not read an append of nothing"},
		{"log", op(0, "append", "{:match-seq-num 0, :msg nil, :value 5}", "0"), valid + "[0]", "not checked: it does not read an append of nothing"},
		{"log", lost("append", "{:match-seq-num -1, :value 5}"), valid + "[]", "not checked: it does not read what is not an offset"},
		{"log", op(0, "read-at", "-1", "nil"), valid + "[0]", "not checked: it does not read what is not an offset"},
		{"log", op(0, "tail", "nil", "1073741824"), invalid + `0,"before":[],"core":[0]`, "not checked: it does not read what is not an offset"},
		{"counter", lost("add", "2147483648"), valid + "[]", "not checked: it does not read an amount of this size"},
		{"counter", lost("decr", "-2147483648"), valid + "[]", "not checked: it does not read an amount of this size"},
		{"counter", lost("decr", "-2147483647"), valid + "[0]", "proved: linearizable"},
		{"counter", op(0, "add-and-get", "nil", "[nil 1]"), valid + "[0]", "not checked: it does not read what is not an integer"},
		{`counter "init":"36028797018963968"`, op(0, "read", "nil", "36028797018963968"), valid + "[0]", "not checked: it does not read a number of this size"},
		{"lease", op(0, "claim", "true", "[5 1]"), valid + "[0]", "not checked: it does not read an update of no owner"},
		{"lease", op(0, "claim", "nil", "[true 1]"), valid + "[0]", "not checked: it does not read an update of no owner"},
		{"lease", op(0, "claim", "1", "{:foo 3}"), valid + "[0]", "not checked: it does not read what is not a term"},
		{"lease", op(0, "check", "nil", "{}"), valid + "[0]", "not checked: it does not read what is not a term"},
		{"lease", op(0, "check", "nil", "[nil -1]"), valid + "[0]", "not checked: it does not read what is not an epoch"},
		{`lease "init":"(nil nil)"`, op(0, "check", "nil", "nil"), valid + "[0]", "rejected: a lease that cannot begin with such a value"},
		{`list-append "init":"{1 [1 1N]}"`, lost("txn", "[[:append 2 1]]"), valid + "[]", "rejected: lists that cannot begin with such a value"},
		{"versioned-register", lost("read", "true"), valid + "[]", "not checked: it does not read what is not a list"},
		{`semaphore "permits":"2"`, lost("acquire", "1073741825"), valid + "[]", "not checked: it does not read a number of permits or none"},
		{`kv "kv-keys":"pairs"`, lost("get", "[1 2]"), valid + "[]", "not checked: it does not read a get of several keys"},
		{`kv "kv-keys":"none"`, lost("delete", "{:value 5}"), valid + "[]", "rejected: an operation that may have been called with a key"},
		{"kv", add("append", "{:key 1, :value nil}"), valid + "[0]", "not checked: it does not read an append of something other than a string"},
		{"set", add("add", "1") + op(0, "read", "nil", "[1]"), invalid + `1,"before":[0],"core":[1]`, "rejected: the core has a linearization"},
		{"id-generator", op(0, "generate", "nil", "1") + op(0, "generate", "nil", "2"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		{"counter", add("add", "1") + op(0, "read", "nil", "1"), invalid + `1,"before":[0],"core":[1]`, "rejected: an operation outside of the core may matter to it"},
		{"mutex", add("acquire", "nil") + add("release", "nil") + add("acquire", "nil"), invalid + `2,"before":[0,1],"core":[0,2]`, "rejected: an operation outside of the core may matter to it"},
		{"mutex", add("acquire", "nil") + add("release", "nil"), invalid + `1,"before":[0],"core":[0]`, "rejected: the core lacks the operation that fails"},
		// a stale read: of a value that was replaced, of the first one, and of one of two writes at the same time that other reads have put in order
		{"register", write("1") + write("2") + read("1"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (stale_read_sound)"},
		{"register", lost("write", "1") + write("2") + read("1"), invalid + `2,"before":[1],"core":[0,1,2]`, linearizable},
		{"register", write("1") + write("2") + lost("write", "1") + read("1"), invalid + `3,"before":[0,1],"core":[0,1,2,3]`, linearizable},
		{`register "nil-reads":"exact"`, write("1") + read("nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (stale_read_sound)"},
		{`register "nil-reads":"exact"`, write("1") + lost("write", "nil") + read("nil"), invalid + `2,"before":[0],"core":[0,1,2]`, linearizable},
		{"register", lost("write", "1") + event(8, "invoke", "write", "2") + read("1") + read("2") + read("1"), invalid + `4,"before":[0,2,1,3],"core":[0,1,2,3,4]`, "proved: not linearizable (stale_read_sound)"},
		{"register", lost("write", "1") + event(8, "invoke", "write", "1") + write("2") + read("1") + read("2") + read("1"), invalid + `5,"before":[2,0,3],"core":[0,1,2,3,4,5]`, "rejected: an operation that returned is not in the order"},
		{"register", event(1, "invoke", "read", "nil") + write("2") + lost("write", "1") + event(1, "ok", "read", "1") + read("2"), invalid + `3,"before":[1,2,0],"core":[0,1,2,3]`, "proved: not linearizable (stale_read_sound)"},
		{"kv", add("put", "{:key 1 :value 5}") + add("put", "{:key 1 :value 6}") + op(0, "get", "{:key 1}", "{:key 1 :value 5}"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (stale_read_sound)"},
		{"kv", add("put", "{:key 1 :value 5}") + add("put", "{:key 2 :value 6}") + op(0, "get", "{:key 1}", "{:key 1 :value 5}"), invalid + `2,"before":[0,1],"core":[0,1,2]`, linearizable},
		{"kv", add("put", `{:key 1 :value "a"}`) + add("append", `{:key 1 :value "b"}`) + op(0, "get", "{:key 1}", `{:key 1 :value "a"}`), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (check_invalid_sound)"},
		{"multi-register", op(0, "txn", "[[:w 1 1] [:w 2 1]]", "[[:w 1 1] [:w 2 1]]") + op(0, "txn", "[[:w 1 2]]", "[[:w 1 2]]") + op(0, "txn", "[[:r 1 nil] [:r 2 nil]]", "[[:r 1 1] [:r 2 1]]"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (stale_read_sound)"},
		// a value that nothing can have put there since another one was seen, or from the start
		{"cas-register", write("1") + write("2") + write("1") + write("3") + read("1"), invalid + `4,"before":[0,1,2,3],"core":[2,3,4]`, "proved: not linearizable (overwritten_sound)"},
		{"cas-register", write("1") + write("2") + lost("write", "1") + write("3") + read("1"), invalid + `4,"before":[0,1,3],"core":[0,1,2,3,4]`, linearizable},
		{"cas-register", write("1") + op(0, "cas", "[1 2]", "[1 2]") + lost("cas", "[7 1]") + read("1"), invalid + `3,"before":[0,1],"core":[0,1,2,3]`, "proved: not linearizable (check_invalid_sound)"},
		{"lookup-set", op(0, "insert", "1", "[1 true]") + op(0, "delete", "1", "[1 true]") + op(0, "contains", "1", "[1 true]"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (overwritten_sound)"},
		{"lookup-set", op(0, "insert", "1", "[1 true]") + lost("insert", "1") + op(0, "delete", "1", "[1 true]") + op(0, "contains", "1", "[1 true]"), invalid + `3,"before":[0,2],"core":[0,1,2,3]`, linearizable},
		{"register", write("1") + read("2"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (overwritten_sound)"},
		// The line must show the parameters of which it tells.
		{`register "init":"\"a\tb\""`, read(`"a b"`), invalid + `0,"before":[],"core":[0]`, "not checked: it does not read a key or a parameter with a character that is not seen"},
		{"multi-register", op(0, "txn", "["+strings.Repeat("[:w 1 1] ", 60)+"]", "["+strings.Repeat("[:w 1 1] ", 60)+"]") + op(0, "txn", "[[:r 1 nil]]", "[[:r 1 2]]"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (overwritten_sound)"},
		{"register", lost("write", "2") + write("1") + read("2"), invalid + `2,"before":[1],"core":[0,1,2]`, linearizable},
		{`register "init":"1"`, read("2") + write("2"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable (overwritten_sound)"},
		{`register "init":"2"`, read("2"), invalid + `0,"before":[],"core":[0]`, linearizable},
		{"kv", lost("append", `{:key 1 :value "b"}`) + add("put", `{:key 1 :value "a"}`) + op(0, "get", "{:key 1}", `{:key 1 :value "b"}`), invalid + `2,"before":[1],"core":[0,1,2]`, "proved: not linearizable (check_invalid_sound)"},
		// an element that is taken twice, or seen after it was taken, unless it may have been put in twice
		{"fifo-queue", enqueue("1") + dequeue("1") + dequeue("1"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (duplicate_sound)"},
		{"fifo-queue", enqueue("1") + dequeue("1") + dequeue("1"), invalid + `2,"before":[0],"core":[0,1,2]`, "rejected: an operation that returned is not in the order"},
		{"fifo-queue", enqueue("1") + lost("enqueue", "1") + dequeue("1") + dequeue("1"), invalid + `3,"before":[0,2],"core":[0,1,2,3]`, linearizable},
		{`fifo-queue "init":"[1]"`, enqueue("1") + dequeue("1") + dequeue("1"), invalid + `2,"before":[0,1],"core":[0,1,2]`, linearizable},
		{"unordered-queue", enqueue("1", "2") + op(1, "drain", "nil", "[2 1]") + dequeue("1"), invalid + `3,"before":[0,1,2],"core":[0,2,3]`, "proved: not linearizable (duplicate_sound)"},
		{"stack", add("push", "1") + op(1, "pop", "nil", "1") + op(0, "peek", "nil", "1"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (duplicate_sound)"},
		{"stack", add("push", "1") + event(1, "invoke", "pop", "nil") + op(0, "peek", "nil", "1") + event(1, "ok", "pop", "1"), invalid + `2,"before":[0],"core":[0,1,2]`, linearizable},
		{"priority-queue", op(0, "poll", "nil", "1") + add("insert", "1"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable (duplicate_sound)"},
		// an element that an operation should have found, unless it may have been taken
		{"unordered-queue", enqueue("1") + dequeue("nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (lost_element_sound)"},
		{"unordered-queue", lost("dequeue", "nil") + enqueue("1") + dequeue("nil"), invalid + `2,"before":[1],"core":[0,1,2]`, linearizable},
		{"unordered-queue", lost("dequeue", "nil") + enqueue("1", "2") + dequeue("nil"), invalid + `3,"before":[1,2],"core":[0,1,2,3]`, "proved: not linearizable (lost_element_sound)"},
		{"unordered-queue", drain + enqueue("1", "2") + dequeue("nil"), invalid + `3,"before":[1,2],"core":[0,1,2,3]`, linearizable},
		{"stack", add("push", "1") + event(2, "invoke", "pop", "nil") + op(0, "pop", "nil", "nil") + event(2, "ok", "pop", "1"), invalid + `2,"before":[0],"core":[0,1,2]`, linearizable},
		{"stack", event(2, "invoke", "push", "1") + op(0, "pop", "nil", "nil") + event(2, "ok", "push", "1"), invalid + `1,"before":[],"core":[0,1]`, linearizable},
		{"priority-queue", add("insert", "1") + add("insert", "2") + op(0, "poll", "nil", "1"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (lost_element_sound)"},
		{"priority-queue", add("insert", "1") + add("insert", "2") + op(0, "peek", "nil", "2"), invalid + `2,"before":[0,1],"core":[0,1,2]`, linearizable},
		{`priority-queue "priority":"min"`, add("insert", "1") + add("insert", "2") + op(0, "peek", "nil", "2"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (lost_element_sound)"},
		// an element that overtakes another one, unless that may have been taken, or came later
		{"fifo-queue", enqueue("1", "2") + dequeue("2"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (fifo_inversion_sound)"},
		{"fifo-queue", enqueue("1", "2") + lost("dequeue", "nil") + dequeue("2"), invalid + `3,"before":[0,1],"core":[0,1,2,3]`, linearizable},
		{"fifo-queue", enqueue("1", "2", "3") + lost("dequeue", "nil") + dequeue("3"), invalid + `4,"before":[0,1,2],"core":[0,1,2,3,4]`, "proved: not linearizable (fifo_inversion_sound)"},
		{"fifo-queue", event(2, "invoke", "enqueue", "2") + enqueue("1") + event(2, "ok", "enqueue", "2") + dequeue("2"), invalid + `2,"before":[1,0],"core":[0,1,2]`, linearizable},
		{"fifo-queue", lost("enqueue", "2") + enqueue("1", "2") + dequeue("2"), invalid + `3,"before":[1,2],"core":[0,1,2,3]`, linearizable},
		{`fifo-queue "init":"[2]"`, enqueue("1", "2") + dequeue("2"), invalid + `2,"before":[0,1],"core":[0,1,2]`, linearizable},
		{`fifo-queue "init":"[1]"`, enqueue("2") + op(0, "peek", "nil", "2"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (fifo_inversion_sound)"},
		{"fifo-queue", enqueue("1", "2") + event(2, "invoke", "dequeue", "nil") + dequeue("2") + event(2, "ok", "dequeue", "1"), invalid + `3,"before":[0,1],"core":[0,1,2,3]`, linearizable},
		{"stack", add("push", "1") + add("push", "2") + op(1, "pop", "nil", "1"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (stack_inversion_sound)"},
		{"stack", lost("pop", "nil") + add("push", "1") + add("push", "2") + op(1, "pop", "nil", "1"), invalid + `3,"before":[1,2],"core":[0,1,2,3]`, linearizable},
		{"stack", add("push", "1") + add("push", "2") + lost("push", "1") + op(1, "pop", "nil", "1"), invalid + `3,"before":[0,1],"core":[0,1,2,3]`, linearizable},
		{`stack "init":"[2]"`, add("push", "1") + op(1, "peek", "nil", "2"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (check_invalid_sound)"},
		// more is held than may be, or what is released was not held, unless an operation may have come between
		{"mutex", add("acquire", "nil") + op(1, "acquire", "nil", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (two_holders_sound)"},
		{"mutex", event(0, "invoke", "acquire", "nil") + event(1, "invoke", "acquire", "nil") + event(0, "ok", "acquire", "nil") + event(1, "ok", "acquire", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (two_holders_sound)"},
		{"mutex", add("acquire", "nil") + lost("release", "nil") + op(1, "acquire", "nil", "nil"), invalid + `2,"before":[0],"core":[0,1,2]`, linearizable},
		{"mutex", lost("acquire", "nil") + add("acquire", "nil") + add("release", "nil") + op(1, "release", "nil", "nil"), invalid + `3,"before":[1,2],"core":[0,1,2,3]`, linearizable},
		{"mutex", lost("acquire", "nil") + add("release", "nil") + add("acquire", "nil") + op(1, "acquire", "nil", "nil"), invalid + `3,"before":[0,1,2],"core":[0,1,2,3]`, "proved: not linearizable (two_holders_sound)"},
		{"mutex", add("release", "nil"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable (two_holders_sound)"},
		{"counting-semaphore", op(0, "decr", "1", "true"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable (check_invalid_sound)"},
		{"counting-semaphore", op(0, "decr", "1", "true"), valid + "[0]", "rejected: an operation cannot happen where it stands in the order"},
		{`semaphore "permits":"3"`, add("acquire", "2") + op(1, "acquire", "2", "2"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (two_holders_sound)"},
		{`semaphore "permits":"4"`, add("acquire", "2") + op(1, "acquire", "2", "2"), invalid + `1,"before":[0],"core":[0,1]`, linearizable},
		{"owner-mutex", add("acquire", "nil") + op(1, "acquire", "nil", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (owned_holders_sound)"},
		{"owner-mutex", add("acquire", "nil") + event(0, "invoke", "release", "nil") + op(1, "acquire", "nil", "nil"), invalid + `2,"before":[0],"core":[0,1,2]`, linearizable},
		{"owner-mutex", add("acquire", "nil") + op(1, "release", "nil", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (owned_holders_sound)"},
		{"owner-mutex", event(0, "invoke", "acquire", "nil") + event(1, "invoke", "acquire", "nil") + event(0, "ok", "acquire", "nil") + event(1, "ok", "acquire", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (owned_holders_sound)"},
		{"reentrant-mutex", add("acquire", "nil") + add("acquire", "nil"), invalid + `1,"before":[0],"core":[0,1]`, linearizable},
		{"reentrant-mutex", add("acquire", "nil") + op(1, "acquire", "nil", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (owned_holders_sound)"},
		{"reentrant-mutex", add("acquire", "nil") + lost("release", "nil") + op(1, "acquire", "nil", "nil"), invalid + `2,"before":[0],"core":[0,1,2]`, "proved: not linearizable (owned_holders_sound)"},
		{`owner-semaphore "permits":"2"`, add("acquire", "1") + op(1, "acquire", "1", "1"), invalid + `1,"before":[0],"core":[0,1]`, linearizable},
		{`owner-semaphore "permits":"2"`, add("acquire", "1") + op(1, "acquire", "2", "2"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (owned_holders_sound)"},
		{"fenced-mutex", add("acquire", "nil") + op(1, "acquire", "nil", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (fenced_holders_sound)"},
		{"fenced-mutex", add("acquire", "nil") + event(0, "invoke", "release", "nil") + op(1, "acquire", "nil", "nil"), invalid + `2,"before":[0],"core":[0,1,2]`, linearizable},
		{"reentrant-fenced-mutex", add("acquire", "nil") + add("release", "nil") + add("release", "nil"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (fenced_holders_sound)"},
		{"log", op(0, "append", "5", "0") + op(1, "tail", "nil", "0"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{"log", op(0, "append", "5", "0") + op(1, "tail", "nil", "1"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		{"log", op(0, "append", "5", "0") + op(1, "tail", "nil", "0"), invalid + `1,"before":[],"core":[0,1]`, "rejected: an operation that returned is not in the order"},
		{"log", event(0, "invoke", "append", "5") + op(1, "tail", "nil", "0") + event(0, "ok", "append", "0"), invalid + `1,"before":[],"core":[0,1]`, "rejected: the core has a linearization"},
		{"log", op(0, "append", "5", "0") + op(1, "append", "6", "0"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{"log", op(0, "append", "5", "0") + op(1, "append", "6", "1"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		// what nothing made: not if a crashed operation may have made it, or one that is open, or it was there from the start
		{"log", op(0, "append", "5", "0") + op(1, "read-at", "0", "{:offset 0 :msg 7}"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{"log", op(0, "append", "5", "0") + op(1, "read-at", "1", "{:offset 1 :msg 7}"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{"log", op(0, "append", "7", "0") + op(1, "read-at", "1", "{:offset 1 :msg 7}"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{"log", op(0, "append", "5", "0") + event(7, "invoke", "append", "7") + op(1, "read-at", "1", "{:offset 1 :msg 7}"), invalid + `2,"before":[0],"core":[0,1,2]`, "rejected: the core has a linearization"},
		{"log", op(0, "append", "5", "0") + event(7, "invoke", "append", "7") + op(1, "read-at", "1", "{:offset 1 :msg 7}") + event(7, "ok", "append", "1"), invalid + `2,"before":[0],"core":[0,1,2]`, "rejected: the core has a linearization"},
		{"log", op(0, "append", "5", "0") + event(7, "invoke", "append", "7") + op(1, "read-at", "1", "{:offset 1 :msg 7}") + event(7, "ok", "append", "2"), invalid + `2,"before":[0],"core":[0,1,2]`, "proved: not linearizable (log_pattern_sound)"},
		{"log", op(0, "append", "5", "0") + op(1, "read-at", "1", "{:offset 1 :msg 7}") + op(0, "append", "7", "1"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{`log "init":"[7]"`, op(0, "append", "5", "1") + op(1, "read-at", "0", "{:offset 0 :msg 7}"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		{`log "init":"[7]"`, op(0, "append", "5", "1") + op(1, "read-at", "1", "{:offset 1 :msg 7}"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{`log "init":"[7]"`, op(0, "append", "5", "1") + op(1, "read-at", "0", "{:offset 0 :msg 5}"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (log_pattern_sound)"},
		{`log "init":"[7]"`, op(1, "tail", "nil", "0"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable (log_pattern_sound)"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + op(1, "check", "nil", "[7 1]"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (lease_pattern_sound)"},
		{"lease", op(0, "claim", "[7 1]", "[7 1]") + op(1, "check", "nil", "[7 2]"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (lease_pattern_sound)"},
		{"lease", op(0, "claim", "[7 1]", "[7 1]") + op(1, "check", "nil", "[7 1]"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + event(7, "invoke", "claim", "7") + op(1, "check", "nil", "[7 1]"), invalid + `2,"before":[0],"core":[0,1,2]`, "proved: not linearizable (lease_pattern_sound)"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + op(0, "release", "[6 1]", "[6 1]") + op(1, "check", "nil", "[6 1]"), invalid + `2,"before":[0,1],"core":[0,1,2]`, "proved: not linearizable (lease_pattern_sound)"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + op(0, "release", "[6 1]", "[6 1]") + event(7, "invoke", "claim", "6") + op(1, "check", "nil", "[6 2]"), invalid + `3,"before":[0,1],"core":[0,1,2,3]`, "rejected: the core has a linearization"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + event(7, "invoke", "claim", "7") + op(1, "check", "nil", "[7 2]"), invalid + `2,"before":[0],"core":[0,1,2]`, "rejected: the core has a linearization"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + event(7, "invoke", "claim", "7") + op(1, "check", "nil", "[7 2]") + event(7, "ok", "claim", "[7 2]"), invalid + `2,"before":[0],"core":[0,1,2]`, "rejected: the core has a linearization"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + event(7, "invoke", "claim", "7") + op(1, "release", "[7 2]", "[7 2]") + event(7, "ok", "claim", "[7 3]"), invalid + `2,"before":[0],"core":[0,1,2]`, "proved: not linearizable (lease_pattern_sound)"},
		{`lease "init":"[7 1]"`, op(0, "claim", "[6 2]", "[6 2]") + op(1, "check", "nil", "[7 2]"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (lease_pattern_sound)"},
		{`lease "init":"[7 1]"`, op(0, "check", "nil", "[7 1]") + op(1, "check", "nil", "7"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + op(1, "claim", "[7 1]", "[7 1]"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (lease_pattern_sound)"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + op(1, "claim", "[7 2]", "[7 2]"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		{"lease", event(0, "invoke", "claim", "[6 2]") + op(1, "check", "nil", "[7 1]") + event(0, "ok", "claim", "[6 2]"), invalid + `1,"before":[],"core":[0,1]`, "proved: not linearizable (lease_pattern_sound)"},
		{"lease", op(0, "claim", "[6 1]", "[6 1]") + op(1, "check", "nil", "[nil 1]"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (check_invalid_sound)"},
		// rw and realtime
		{"list-append", txn("[[:append 1 2]]") + txn("[[:r 1 []]]"), cycle("rw 1 0", "realtime 0 1"), cyclic},
		{"list-append", txn("[[:append 1 2]]") + txn("[[:r 1 [2]]]"), cycle("rw 1 0", "realtime 0 1"), notCyclic + "1, "},
		{"list-append", txn("[[:append 1 2]]", "[[:r 1 []]]"), cycle("rw 1 0", "realtime 0 1"), notCyclic + "0, "},
		{"list-append", txn("[[:append 1 2]]") + txn("[[:r 1 []]]"), cycle("rw 1 0", "realtime 0 1", "rw 1 0"), "rejected: the steps are not a cycle"},
		{"list-append", txn("[[:append 1 2]]") + txn("[[:r 1 []]]"), cycle("rw 1 0", "first 0 1"), "rejected: a step of the cycle has another type"},
		{"list-append", txn("[[:append 1 2]]") + txn("[[:r 1 []]]"), cycle("rw 1 0", "realtime 0 2"), "rejected: operation 2 is not in this part of the history"},
		{"list-append", txn("[[:append 1 2]]") + txn("[[:r 1 []]]"), "\"key\":null,\"valid\":false,\"anomaly\":\"G1c\"", "rejected: a certificate of another form: neither \"cycle\" nor \"at\" has operations, or both do"},
		// wr: a second append of the same makes it uncertain
		{"list-append", txn("[[:append 1 1] [:r 2 [2]]]", "[[:append 2 2] [:r 1 [1]]]"), cycle("wr 0 1", "wr 1 0"), cyclic},
		{"list-append", txn("[[:append 1 1] [:r 2 []]]", "[[:append 2 2] [:r 1 [1]]]"), cycle("wr 0 1", "wr 1 0"), notCyclic + "1, "},
		{"list-append", txn("[[:append 1 1] [:r 2 [2]]]", "[[:append 2 2] [:r 1 [1]]]", "[[:append 2 2]]"), cycle("wr 0 1", "wr 1 0"), notCyclic + "1, "},
		{`list-append "init":"{2 [2]}"`, txn("[[:append 1 1] [:r 2 [2]]]", "[[:append 2 2] [:r 1 [1]]]"), cycle("wr 0 1", "wr 1 0"), notCyclic + "1, "},
		// ww, by a read of both, and by one that lacks the latter
		{"list-append", txn("[[:append 1 1] [:append 2 1]]", "[[:append 1 2] [:append 2 2]]", "[[:r 1 [1 2]]]", "[[:r 2 [2 1]]]"), cycle("ww 0 1", "ww 1 0"), cyclic},
		{"list-append", txn("[[:append 1 1] [:append 2 1]]", "[[:append 1 2] [:append 2 2]]", "[[:r 1 [1 2]]]", "[[:r 2 [1 2]]]"), cycle("ww 0 1", "ww 1 0"), notCyclic + "1, "},
		{"list-append", txn("[[:append 1 1] [:append 2 1]]", "[[:append 1 2] [:append 2 2]]", "[[:r 1 [1 2]]]", "[[:r 2 [2 1]]]", "[[:append 2 1]]"), cycle("ww 0 1", "ww 1 0"), notCyclic + "1, "},
		{`list-append "init":"{1 [1]}"`, txn("[[:append 1 1] [:append 2 1]]", "[[:append 1 2] [:append 2 2]]", "[[:r 1 [1 2]]]", "[[:r 2 [2 1]]]"), cycle("ww 0 1", "ww 1 0"), notCyclic + "0, "},
		{"list-append", txn("[[:append 1 2]]") + txn("[[:append 1 1]]") + txn("[[:r 1 [1]]]"), cycle("ww 1 0", "realtime 0 1"), cyclic},
		{"list-append", txn("[[:append 1 2]]", "[[:append 1 1]]", "[[:r 1 [1]]]"), cycle("ww 1 0", "realtime 0 1"), notCyclic + "0, "},
		{"list-append", txn("[[:append 1 2]]") + txn("[[:append 1 1]]") + txn("[[:r 1 []]]"), cycle("ww 1 0", "realtime 0 1"), notCyclic + "1, "},
		// a crashed transaction, which a read shows or does not
		{"list-append", event(7, "invoke", "txn", "[[:append 1 1] [:append 2 2]]") + txn("[[:r 1 [1]] [:r 2 []]]"), cycle("wr 0 1", "rw 1 0"), cyclic},
		{"list-append", event(7, "invoke", "txn", "[[:append 1 1] [:append 2 2]]") + txn("[[:r 1 []] [:r 2 []]]"), cycle("wr 0 1", "rw 1 0"), notCyclic},
		{"list-append", event(7, "invoke", "txn", "[[:append 1 1]]") + event(8, "invoke", "txn", "[[:append 1 1] [:append 2 2]]") + txn("[[:r 1 [1]] [:r 2 []]]"), cycle("wr 1 2", "rw 2 1"), notCyclic},
		// what is not a cycle
		{"list-append", txn("[[:append 1 1]]") + txn("[[:r 1 [3 1]]]"), at("garbage-read", "1"), cyclic},
		{"list-append", txn("[[:append 1 1]]") + txn("[[:r 1 [1]]]"), at("garbage-read", "1"), impossible + "1, "},
		{`list-append "init":"{1 [3]}"`, txn("[[:append 1 1]]") + txn("[[:r 1 [3 1]]]"), at("garbage-read", "1"), impossible + "1, "},
		{"list-append", event(7, "invoke", "txn", "[[:append 1 3]]") + event(7, "fail", "txn", "[[:append 1 3]]") + txn("[[:r 1 [3]]]"), at("G1a", "1", "0"), cyclic},
		{"list-append", event(7, "invoke", "txn", "[[:append 1 3]]") + event(7, "info", "txn", "[[:append 1 3]]") + txn("[[:r 1 [3]]]"), at("G1a", "1", "0"), impossible},
		{"list-append", event(7, "invoke", "txn", "[[:append 1 3]]") + event(7, "fail", "txn", "[[:append 1 3]]") + txn("[[:r 1 [3]]]"), cycle("wr 0 1", "realtime 1 0"), "rejected: an operation of the cycle has failed"},
		{"list-append", txn("[[:append 1 1] [:append 1 2]]", "[[:r 1 [1]]]"), at("G1b", "1", "0", "0"), cyclic},
		{"list-append", txn("[[:append 1 1] [:append 1 2]]", "[[:r 1 [1 2]]]"), at("G1b", "1", "0", "0"), impossible},
		{"list-append", txn("[[:append 1 1] [:r 1 []]]"), at("internal", "0"), cyclic},
		{"list-append", txn("[[:r 1 []] [:append 1 1] [:r 1 [1]]]"), at("internal", "0"), impossible + "0, "},
		{"list-append", txn("[[:append 1 2] [:r 1 [2 1]]]", "[[:append 1 1]]"), at("internal", "0"), cyclic},
		{"list-append", txn("[[:append 1 2] [:r 1 [1 2]]]", "[[:append 1 1]]"), at("internal", "0"), impossible + "0, "},
		{"list-append", txn("[[:r 1 []] [:r 1 [1]]]", "[[:append 1 1]]"), at("internal", "0"), cyclic},
		{"list-append", txn("[[:append 1 1] [:append 1 2] [:r 1 [2 1]]]"), at("internal", "0"), cyclic},
		{"list-append", txn("[[:r 1 [1]] [:append 1 1]]"), at("future-read", "0", "0"), cyclic},
		{"list-append", txn("[[:r 1 [1]] [:append 1 1]]", "[[:append 1 1]]"), at("future-read", "0", "0"), impossible + "0, "},
		{"list-append", txn("[[:append 1 1]]", "[[:r 1 [1 1]]]"), at("duplicate-elements", "1"), cyclic},
		{"list-append", txn("[[:append 1 1] [:append 1 1]]", "[[:r 1 [1 1]]]"), at("duplicate-elements", "1"), impossible},
		{`list-append "init":"{1 [1]}"`, txn("[[:append 1 1]]", "[[:r 1 [1 1]]]"), at("duplicate-elements", "1"), impossible},
		{"list-append", txn("[[:append 1 1]]", "[[:append 1 2]]", "[[:r 1 [1 2]]]", "[[:r 1 [2 1]]]"), at("incompatible-order", "2", "3"), cyclic},
		{"list-append", txn("[[:append 1 1]]", "[[:append 1 2]]", "[[:r 1 [1 2]]]", "[[:r 1 [1]]]"), at("incompatible-order", "2", "3"), impossible},
		{"list-append", txn("[[:append 1 1] [:append 1 2]]", "[[:r 1 [2 1]]]"), at("incompatible-order", "1", "0", "0"), cyclic},
		{`list-append "init":"{1 [3]}"`, txn("[[:append 1 1]]", "[[:r 1 [1]]]"), at("incompatible-order", "1"), cyclic},
		{"register", strings.ReplaceAll(write("1")+read("2"), "}", ", :index -1}"), invalid + `1,"named":[{"operation":1,"invocation":-1,"completion":-1}],"before":[0],"core":[1]`, "proved: not linearizable"},
		{"register", strings.ReplaceAll(write("1")+read("2"), "}", ", :index -1}"), invalid + `1,"named":[{"operation":1,"invocation":-1,"completion":null}],"before":[0],"core":[1]`, "rejected: an operation that is named is another one"},
		{"mutex", add("acquire", "nil") + event(3, "invoke", "release", "nil"), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the operation that fails has not returned"},
		{"register", write("1") + strings.Replace(read("7"), ":value 7", ":valu 7", 1), valid + "[0,1]", "not checked: it does not read an op that has no :value"},
		{"register", write("1") + strings.Replace(read("7"), ":value 7", `"value" 7`, 1), valid + "[0,1]", "not checked: it does not read an op that has no :value"},
		{"register", write("1") + strings.Replace(read("7"), ":value 7", ":my/value 7", 1), valid + "[0,1]", "not checked: it does not read an op that has no :value"},
		{"register", write("1") + strings.Replace(read("7"), ":value 7", ":value nil, :result 7", 1), valid + "[0,1]", "not checked: it does not read an op that has no :value"},
		{"register", write("1") + strings.Replace(read("7"), ":value 7", ":index 5: :value 1", 1), valid + "[0,1]", "not checked: it does not read 5:"},
		{"register", write("1") + strings.Replace(read("1"), ", :value 1", ", :error nil", 1), valid + "[0,1]", "proved: linearizable"},
		{"register", write("1e400") + read("##Inf"), valid + "[0,1]", "proved: linearizable"},
		{"id-generator", op(0, "generate", "nil", "##-Inf") + op(0, "generate", "nil", "-1e309"), valid + "[0,1]", "rejected: an operation cannot happen where it stands in the order"},
		{"id-generator", op(0, "generate", "nil", "nil"), valid + "[0]", "not checked: it does not read an id that is nil"},
		{`kv "kv-keys":"pairs"`, op(0, "delete", `["x" nil]`, `["x" false]`) + op(0, "get", `["x" nil]`, `["x" ""]`), valid + "[0,1]", "proved: linearizable"}, // no :get saw nil
		{`kv "kv-keys":"pairs"`, op(0, "delete", `["x" nil]`, `["x" false]`) + op(0, "get", `["x" nil]`, `["x" ""]`), invalid + `1,"before":[0],"core":[0,1]`, "rejected: the core has a linearization"},
		{`kv "kv-keys":"pairs"`, op(0, "put", `["x" ""]`, `["x" ""]`) + op(0, "delete", `["y" nil]`, `["y" false]`) + op(0, "put-if-absent", `["x" 1]`, `["x" false]`) + op(0, "get", `["x" nil]`, `["x" ""]`), valid + "[0,1,2,3]", "rejected: an operation cannot happen"},
		{"kv", op(0, "get", `{:key "x"}`, `{:key "x" :found true}`), valid + "[0]", "not checked: it does not read a get without its :value"},
		{`log "init":"[nil]"`, op(0, "read-at", "0", "nil"), valid + "[0]", "not checked: it does not read a log that begins with nothing in it"},
		{"log", op(0, "append", "{:msg :a :match-seq-num nil}", "0") + op(0, "read", "nil", "[:a]"), invalid + `1,"before":[0],"core":[0,1]`, "not checked: it does not read a :match-seq-num that is nil"},
		{"log", op(0, "append", ":a", "0") + op(0, "read-at", "0", "{:offset nil :msg :a}"), invalid + `1,"before":[0],"core":[0,1]`, "not checked: it does not read an :offset that is nil"},
		{`register "init":"1 ;}"`, write("1"), valid + "[0]", "rejected: a key or a value with a comment, or a form that is discarded"},
		{`register "init":"#_2 1"`, write("1"), valid + "[0]", "rejected: a key or a value with a comment, or a form that is discarded"},
		{`register "init":"\";#_\""`, write("1"), valid + "[0]", "proved: linearizable"},
		{`kv "kv-keys":"pairs"`, op(0, "cas", "[:x #{nil 1}]", "[:x #{nil 1}]"), valid + "[0]", "not checked: it does not read a cas of something else than a pair"},
		{`priority-queue "init":"[nil 1]","priority":"min"`, op(0, "dequeue", "nil", "1"), valid + "[0]", "not checked: it does not read an element that says that there is none"},
		// rows of numbers, which the reader keeps in another way
		{`log "init":"[1 2 3 4 5 6 7 8 9]"`, op(1, "read", "nil", "[1 2 3 4 5 6 7 8 9]"), valid + "[0]", "proved: linearizable"},
		{`log "init":"[1 2 3 4 5 6 7 8 9]"`, op(1, "read", "nil", "[1 2 3 4 5 6 7 9 8]"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable"},
		{`set "init":"#{1 2 3 4 5 6 7 8 9}"`, op(1, "read", "nil", "[9 8 7 6 5 4 3 2 1]"), valid + "[0]", "proved: linearizable"},
		{`set "init":"[1 2 3 4 5 6 7 8 9]"`, op(1, "read", "nil", "#{1 2 3 4 5 6 7 8}"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable"},
		{`fifo-queue "init":"[1 2 3 4 5 6 7 8 9]"`, op(1, "drain", "nil", "[1 2 3 4 5 6 7 8 9]"), valid + "[0]", "proved: linearizable"},
		{`fifo-queue "init":"[1 2 3 4 5 6 7 8 9]"`, op(1, "drain", "nil", "[1 2 3 4 5 6 7 9 8]"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable"},
		{`list-append "init":"{1 [1 2 3 4 5 6 7 8 9]}"`, txn("[[:r 1 [1 2 3 4 5 6 7 8 9]]]"), valid + "[0]", "proved: linearizable"},
		{`list-append "init":"{1 [1 2 3 4 5 6 7 8 9]}"`, txn("[[:r 1 [1 2 3 4 5 6 7 9 8]]]"), at("incompatible-order", "0"), "proved: not linearizable"},
		{`register "init":"[1 2 3 4 5 6 7 8 9]"`, read("(1 2 3 4 5 6 7 8 9)") + write("[1 2 3 4 5 6 7 8]") + read("[1 2 3 4 5 6 7 8]"), valid + "[0,1,2]", "proved: linearizable"},
		{`register "init":"[1 2 3 4 5 6 7 8 9]"`, read("#{1 2 3 4 5 6 7 8 9}"), invalid + `0,"before":[],"core":[0]`, "proved: not linearizable"},
		// no choice of the transfers that may have happened explains a read, unless one more crashed, or had not returned
		{`bank "init":"{1 9}"`, add("transfer", "{:from 1 :to 2 :amount 2}") + op(1, "read", "nil", "{1 9 2 0}"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (unexplained_balances_sound)"},
		{`bank "init":"{1 9}"`, lost("transfer", "{:from 1 :to 2 :amount 2}") + op(1, "read", "nil", "{1 6 2 3}"), invalid + `1,"before":[0],"core":[0,1]`, "proved: not linearizable (unexplained_balances_sound)"},
		{`bank "init":"{1 9}"`, lost("transfer", "{:from 1 :to 2 :amount 2}") + op(1, "read", "nil", "{1 7 2 2}"), invalid + `1,"before":[0],"core":[0,1]`, linearizable},
		{`bank "init":"{1 9}"`, event(0, "invoke", "transfer", "{:from 1 :to 2 :amount 2}") + op(1, "read", "nil", "{1 9 2 0}") + event(0, "ok", "transfer", "{:from 1 :to 2 :amount 2}"), invalid + `1,"before":[],"core":[0,1]`, linearizable},
		{`bank "negative-balances":"refuse"`, add("transfer", "{:from :a :to :b :amount -1}") + op(0, "read", "nil", "{:a 1 :b -1}"), valid + "[0,1]", "not checked: it does not read a transfer of less than nothing, or of so much"},
		{"bank", add("transfer", "{:src 1 :dst 2 :amount 5}"), invalid + `0,"before":[],"core":[0]`, "not checked: it does not read a transfer from or to no account"},
		{"kv", add("put", "{:key 1 :value 1}") + op(0, "cas", "{:key 1 :value [1 2] :new 7}", "true"), invalid + `1,"before":[0],"core":[0,1]`, "not checked: it does not read a cas of two kinds"},
		{"kv", add("put", "{:key 1 :value 1}") + op(0, "cas", "{:key 1 :expected 1 :new 2 :old 5}", "true"), valid + "[0,1]", "not checked: it does not read a cas of two kinds"},
		{"kv", op(0, "delete", "{:key 1 :found false}", "true"), valid + "[0]", "not checked: it does not read an invocation that says what came of it"},
		{"register", strings.Replace(write("1")+write("2")+read("1"), ":f", ":key 1, :f", 2) + strings.Replace(read("1"), ":f", ":key 2, :f", 2), valid + "[0,1,2,3]", "not checked: it does not read operations with different keys"},
		{"register", "[" + write("1") + "][" + write("2") + "]", valid + "[0,1]", "not checked: it does not read more than one list of op maps"},
		{"fenced-mutex", op(0, "acquire", "nil", "{:fence -1}"), invalid + `0,"before":[],"core":[0]`, "not checked: it does not read a fence that is less than 0"},
		{"register", write("1") + strings.Replace(read("2"), ":value 2", ":value\u2003 2", 1), valid + "[0,1]", "not checked: "},
		{"register", write(":a") + read(":a\u2003"), invalid + `1,"before":[0],"core":[0,1]`, "not checked: "},
		{"register", write("\"\xff\"") + read("\"\xfe\""), invalid + `1,"before":[0],"core":[0,1]`, "not checked: it does not read other bytes than UTF-8"},
		{"register", write("\"é😀\"") + read("\"é😀\""), valid + "[0,1]", "proved: linearizable"},
		{"register", write("a/") + read("a/"), valid + "[0,1]", "not checked: it does not read a/"},
		{"register", write("#=(+ 1 2)") + read("#=(+ 1 2)"), valid + "[0,1]", "not checked: it does not read #="},
		{"register", write("1") + event(0, "invoke", "write", "2") + event(0, "fail", "read", "2"), valid + "[0]", "not checked: it does not read an operation :write that ends as :read"},
		{"register", write("1") + read("2"), invalid + `1,"before":[0],"core":[0,1],"named":[{"operation":1,"invocation":2,"completion":3}]`, "proved: not linearizable"},
		{"register", write("1") + read("2"), invalid + `1,"before":[0],"core":[0,1],"named":[{"operation":77,"invocation":-3,"completion":"x"}]`, "rejected: an operation that is named is another one"},
		{"register", write("1") + read("2"), invalid + `1,"before":[0],"core":[0,1],"named":[{"operation":1,"invocation":2,"completion":1}]`, "rejected: an operation that is named is another one"},
	} {
		operations := strings.Count(x.history, ":invoke")
		model, parameters, _ := strings.Cut(x.model, " ")
		level := ""
		switch model {
		case "log":
			parameters = strings.TrimPrefix(parameters+`,"answers":"told"`, ",")
		case "list-append":
			level = `,"consistency":"strict-serializable"`
		}
		text := fmt.Sprintf(`{"clew-certificate":1,"operations":%d,"model":"%s","parameters":{%s},"independent":false,"clients":"integers","valid":%v%s}`+"\n{%s}\n",
			operations, model, parameters, strings.HasPrefix(x.line, valid), level, x.line)
		name := fmt.Sprintf("%d: %s %s\n%s", i, x.model, x.line, x.history)
		c.put(name, c.text(x.history), text)
		want[name] = x.says
	}
	c.expect(want)
}

// Of several keys that fail, the line names the one that fails first, whatever the order of the certificate's lines.
func TestTheProvedProgramNamesTheKeyThatFailsFirst(t *testing.T) {
	t.Parallel()
	c := newProved(t)
	history := c.text(`{:process 0, :type :invoke, :f :read, :value [1 nil]}
{:process 0, :type :ok, :f :read, :value [1 7]}
{:process 0, :type :invoke, :f :read, :value [2 nil]}
{:process 0, :type :ok, :f :read, :value [2 7]}
`)
	const head = `{"clew-certificate":1,"operations":2,"model":"register","parameters":{},"independent":true,"clients":"integers","valid":false}`
	one, two := `{"key":"1","valid":false,"fails":0,"before":[],"core":[0]}`, `{"key":"2","valid":false,"fails":1,"before":[],"core":[1]}`
	c.put("in order", history, head+"\n"+one+"\n"+two+"\n")
	c.put("turned", history, head+"\n"+two+"\n"+one+"\n")
	for name, what := range c.check() {
		if !strings.HasPrefix(what, "proved: not linearizable (overwritten_sound) ") || !strings.Contains(what, "; the first of key 1 to fail is operation 0, :index 0 and 1; another key fails, too") {
			t.Errorf("%s: %s", name, what)
		}
	}
}

// Every history can happen with one initial state and one limit of its model, and not with others. Its last operation fails with these.
func TestTheProvedProgramTakesInitialStatesAndLimits(t *testing.T) {
	t.Parallel()
	c := newProved(t)
	want := map[string]string{}
	for _, x := range []struct {
		model, with, without string // parameters with which it can happen, and with which it cannot
		theorem              string // of the failure
		operations           []string
	}{
		{"register", `"init":"5"`, `"init":"6"`, "overwritten", []string{"read nil|5"}},
		{"register", `"nil-reads":"exact"`, `"nil-reads":"exact","init":"6"`, "overwritten", []string{"read nil|nil"}},
		{"cas-register", `"init":"5"`, `"init":"6"`, "overwritten", []string{"cas [5 6]|[5 6]"}},
		{"multi-register", `"init":"{1 5 2 6}"`, `"init":"{1 6 2 5}"`, "overwritten", []string{"txn [[:r 1 nil] [:r 2 nil]]|[[:r 1 5] [:r 2 6]]"}},
		{"kv", `"init":"{1 5}"`, `"init":"{2 5}"`, "overwritten", []string{"get {:key 1}|{:key 1 :value 5}"}},
		{"kv", `"init":"{1 \"a\"}"`, `"init":"{1 \"\"}"`, "check_invalid", []string{`append {:key 1 :value "b"}|{:key 1 :value "b"}`, `get {:key 1}|{:key 1 :value "ab"}`}},
		{"lookup-set", `"init":"[5 6]"`, `"init":"[5]"`, "overwritten", []string{"contains 5|[5 true]", "contains 6|[6 true]"}},
		{"fifo-queue", `"init":"[5 6]"`, `"init":"[6 5]"`, "check_invalid", []string{"dequeue nil|5"}},
		{"fifo-queue", `"init":"[5 6]"`, `"init":"[5]"`, "duplicate", []string{"dequeue nil|5", "dequeue nil|6"}},
		{"stack", `"init":"[6 5]"`, `"init":"[5 6]"`, "check_invalid", []string{"pop nil|5"}},
		{"unordered-queue", `"init":"[6 5]"`, `"init":"[6]"`, "duplicate", []string{"dequeue nil|5"}},
		{"unordered-queue", "", `"init":"[6]"`, "lost_element", []string{"dequeue nil|nil"}},
		{"priority-queue", `"init":"[5 6]","priority":"max"`, `"init":"[5 6]","priority":"min"`, "lost_element", []string{"poll nil|6"}},
		{"priority-queue", `"init":"[5]"`, `"init":"[5 6]"`, "lost_element", []string{"poll nil|5"}},
		{"set", `"init":"[5 6]"`, `"init":"[5]"`, "check_invalid", []string{"read nil|#{5 6}"}},
		{"counter", `"init":"5","answers":"told"`, `"init":"6","answers":"told"`, "check_invalid", []string{"read nil|5"}},
		{"id-generator", `"ids":"distinct"`, `"ids":"growing"`, "check_invalid", []string{"generate nil|6", "generate nil|5"}},
		{"semaphore", `"permits":"2"`, `"permits":"1"`, "two_holders", []string{"acquire nil|nil", "acquire nil|nil"}},
		{"versioned-register", `"init":"[3 5]"`, `"init":"[2 5]"`, "versioned_pattern", []string{"read nil|[3 5]"}},
		{"reentrant-mutex", `"max-holds":"3"`, "", "owned_holders", []string{"acquire nil|nil", "acquire nil|nil", "acquire nil|nil"}},
		{"owner-semaphore", `"permits":"2"`, `"permits":"1"`, "owned_holders", []string{"acquire nil|nil", "acquire nil|nil"}},
		{"reentrant-fenced-mutex", `"max-holds":"3"`, "", "fenced_holders", []string{"acquire nil|nil", "acquire nil|nil", "acquire nil|nil"}},
		{"bank", `"init":"{1 5}"`, `"init":"{1 4}"`, "check_invalid", []string{"transfer {:from 1 :to 2 :amount 5}|{:from 1 :to 2 :amount 5}"}},
		{"bank", `"negative-balances":"allow"`, `"negative-balances":"refuse"`, "check_invalid", []string{"transfer {:from 1 :to 2 :amount 5}|{:from 1 :to 2 :amount 5}"}},
		{"log", `"init":"[5 6]","answers":"told"`, `"init":"[6 5]","answers":"told"`, "log_pattern", []string{"read-at 0|{:offset 0 :msg 5}"}},
		{"log", `"init":"[5 6]","answers":"told"`, `"answers":"told"`, "check_invalid", []string{"append 7|2"}},
		{"lease", `"init":"[7 3]"`, `"init":"[7 4]"`, "lease_pattern", []string{"check nil|[7 3]"}},
		{"list-append", `"init":"{1 [5 6]}"`, `"init":"{1 [6 5]}"`, "list_cycle", []string{"txn [[:r 1 nil]]|[[:r 1 [5 6]]]"}},
	} {
		var history strings.Builder
		var all []string
		for i, o := range x.operations {
			f, values, _ := strings.Cut(o, " ")
			given, value, _ := strings.Cut(values, "|")
			fmt.Fprintf(&history, "{:process 0, :type :invoke, :f :%s, :value %s}\n{:process 0, :type :ok, :f :%s, :value %s}\n", f, given, f, value)
			all = append(all, fmt.Sprint(i))
		}
		file, order, last := c.text(history.String()), strings.Join(all, ","), len(all)-1
		for _, valid := range []bool{true, false} {
			line := fmt.Sprintf(`{"key":null,"valid":true,"order":[%s]}`, order)
			says := []string{"proved: linearizable (check_valid_sound)", "rejected: an operation cannot happen where it stands in the order"}
			if !valid {
				line = fmt.Sprintf(`{"key":null,"valid":false,"fails":%d,"before":[%s],"core":[%s]}`, last, strings.Join(all[:last], ","), order)
				says = []string{"rejected: the core has a linearization", "proved: not linearizable (" + x.theorem + "_sound)"}
			}
			for i, parameters := range []string{x.with, x.without} {
				name := fmt.Sprintf("%s {%s} %s %v", x.model, parameters, x.operations, valid)
				c.put(name, file, fmt.Sprintf(`{"clew-certificate":1,"operations":%d,"model":"%s","parameters":{%s},"independent":false,"clients":"integers","valid":%v}`+"\n%s\n",
					len(all), x.model, parameters, valid, line))
				want[name] = says[i]
			}
		}
	}
	c.expect(want)
}
