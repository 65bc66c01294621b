package certificates_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// lied is a history of transactions on lists about which certificates lie. T0 and T1 append to :x; T2 reads that, and appends to :y;
// T3 fails; T4 crashes, and T7 shows that it happened; T5 crashes, and nothing shows that; T6 reads :y as it was before T2. T7
// is of the process of T4.
const lied = `{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:append :x 2]]}
{:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:append :x 2]]}
{:process 0, :type :invoke, :f :txn, :value [[:append :x 3]]}
{:process 0, :type :ok, :f :txn, :value [[:append :x 3]]}
{:process 1, :type :invoke, :f :txn, :value [[:r :x nil] [:append :y 1]]}
{:process 1, :type :ok, :f :txn, :value [[:r :x [1 2 3]] [:append :y 1]]}
{:process 2, :type :invoke, :f :txn, :value [[:append :x 9]]}
{:process 2, :type :fail, :f :txn, :value [[:append :x 9]]}
{:process 3, :type :invoke, :f :txn, :value [[:r :y nil] [:append :x 4]]}
{:process 3, :type :info, :f :txn, :value [[:r :y nil] [:append :x 4]]}
{:process 4, :type :invoke, :f :txn, :value [[:append :x 5]]}
{:process 5, :type :invoke, :f :txn, :value [[:r :y nil] [:r :x nil]]}
{:process 5, :type :ok, :f :txn, :value [[:r :y []] [:r :x [1 2 3]]]}
{:process 3, :type :invoke, :f :txn, :value [[:append :z 1] [:r :z nil] [:append :z 1.0] [:r :x nil]]}
{:process 3, :type :ok, :f :txn, :value [[:append :z 1] [:r :z [1]] [:append :z 1.0] [:r :x [1 2 3 4]]]}
`

// liedWrong is one in which reads are wrong: T1 reads half of T0 (:x), what T2 failed to append (:y), what nothing did (:z), and some of
// itself (:w).
const liedWrong = `{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:append :x 2]]}
{:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:append :x 2]]}
{:process 1, :type :invoke, :f :txn, :value [[:r :x nil] [:r :y nil] [:r :z nil] [:append :w 1] [:r :w nil] [:append :w 2] [:r :v nil]]}
{:process 2, :type :invoke, :f :txn, :value [[:append :y 1]]}
{:process 2, :type :fail, :f :txn, :value [[:append :y 1]]}
{:process 3, :type :invoke, :f :txn, :value [[:append :y 2] [:r :x nil] [:append :v 1]]}
{:process 3, :type :ok, :f :txn, :value [[:append :y 2] [:r :x [2 1]] [:append :v 1]]}
{:process 1, :type :ok, :f :txn, :value [[:r :x [1]] [:r :y [1 2]] [:r :z [7]] [:append :w 1] [:r :w [1 2]] [:append :w 2] [:r :v [1 1]]]}
`

// liedTwice has a value that was appended twice.
const liedTwice = `{:process 0, :type :invoke, :f :txn, :value [[:append :x 1]]}
{:process 0, :type :ok, :f :txn, :value [[:append :x 1]]}
{:process 1, :type :invoke, :f :txn, :value [[:append :x 1]]}
{:process 1, :type :ok, :f :txn, :value [[:append :x 1]]}
{:process 2, :type :invoke, :f :txn, :value [[:r :x nil]]}
{:process 2, :type :ok, :f :txn, :value [[:r :x [1 1]]]}
`

// liedRegisters has a read of nil, which says something only with --nil-reads exact.
const liedRegisters = `{:process 0, :type :invoke, :f :txn, :value [[:w :x 1] [:r :x nil]]}
{:process 0, :type :ok, :f :txn, :value [[:w :x 1] [:r :x 1]]}
{:process 1, :type :invoke, :f :txn, :value [[:r :x nil] [:w :x 2]]}
{:process 1, :type :ok, :f :txn, :value [[:r :x nil] [:w :x 2]]}
`

// Each rule of the program that checks certificates of levels has a lie that only this rule refuses, and a truth beside it.
func TestAnotherProgramRefusesLiesAboutLevels(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	files := make([]string, 5) // the last one reads what nothing wrote
	for i, text := range []string{lied, liedWrong, liedTwice, liedRegisters, strings.Replace(liedRegisters, ":ok, :f :txn, :value [[:r :x nil]", ":ok, :f :txn, :value [[:r :x 7]", 1)} {
		files[i] = filepath.Join(c.dir, fmt.Sprintf("lied%d.edn", i))
		if err := os.WriteFile(files[i], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	for i, x := range []struct {
		of             int // the history
		level, section string
		says           string
	}{
		{0, "serializable", `"order":[0,1,6,2,4,7]`, "proved: serializable holds as list-append"},
		{0, "serializable", `"order":[0,1,2,4,7]`, "rejected: transactions are missing, such as [6]"},
		{0, "serializable", `"order":[0,1,6,2,4,7,2]`, "rejected: the history lacks a transaction of the order, or one does not stand there 1x"},
		{0, "serializable", `"order":[0,1,6,2,4,7,8]`, "rejected: the history lacks a transaction of the order, or one does not stand there 1x"},
		{0, "serializable", `"order":[0,1,6,2,4,7,3]`, "rejected: a transaction of the order has failed"},
		{0, "serializable", `"order":[0,1,4,6,7,"2"]`, "rejected: an order is a list of transactions"},
		{0, "serializable", `"order":[0,1,2,4,6,7]`, "rejected: transaction 6 cannot read that where it stands"},
		{0, "serializable", `"order":[0,1,6,2,4,7],"points":[]`, "rejected: a certificate of another form"},
		{0, "serializable", `"points":[0,0,1,1,6,6,2,2,4,4,7,7]`, "rejected: a certificate of another form"},
		{0, "serial", `"order":[0,1,6,2,4,7]`, "rejected: a level of which no certificate proves this"},
		{0, "strict-serializable", `"order":[0,1,6,2,4,7]`, "rejected: transaction 2 had returned before one began that stands before it"},
		{0, "strong-session-serializable", `"order":[0,7,1,4,6,2]`, "rejected: transaction 7 cannot read that where it stands"},
		{0, "strong-session-serializable", `"order":[1,0,4,6,7,2]`, "rejected: transaction 0 had returned before one began that stands before it"},
		{0, "serializable-linearizable-keys", `"order":[0,1,6,2,4,7]`, "rejected: transaction 2 had returned before one began that stands before it"},

		{0, "strong-session-snapshot-isolation", `"points":[0,0,1,1,6,2,2,6,4,4,7,7]`, "proved: strong-session-snapshot-isolation holds as list-append"},
		{0, "snapshot-isolation", `"points":[0,0,1,1,2,2,6,6,4,4,7,7]`, "rejected: transaction 6 cannot read that where it stands"},
		{0, "snapshot-isolation", `"points":[0,0,1,2,1,2,6,6,4,4,7,7]`, "rejected: transaction 2 cannot read that where it stands"},
		{0, "snapshot-isolation", `"points":[0,1,0,1,6,6,2,2,4,4,7,7]`, "rejected: transaction 1 overlaps one that appends to the same key"},
		{0, "snapshot-isolation", `"points":[0,0,1,1,4,4,6,6,7,7]`, "rejected: transactions are missing, such as [2]"},
		{0, "snapshot-isolation", `"points":[0,0,1,1,4,4,6,6,7,7,2]`, "rejected: the history lacks a transaction of the order, or one does not stand there 2x"},
		{0, "strong-session-snapshot-isolation", `"points":[1,1,0,0,6,6,2,2,4,4,7,7]`, "rejected: transaction 0 had returned before one began that stands before it"},
		{0, "strong-session-snapshot-isolation", `"order":[0,1,6,2,4,7]`, "rejected: a certificate of another form"},

		{0, "read-committed", `"order":[0,1,2,4,6,7]`, "proved: read-committed holds as list-append"},
		{0, "read-committed", `"order":[1,0,2,4,6,7]`, "rejected: transaction 1 stands before one that appended earlier to the same key"},
		{0, "read-committed", `"order":[0,2,1,4,6,7]`, "rejected: transaction 2 stands before one of which it read"},
		{0, "read-committed", `"order":[0,1,2,6,7]`, "rejected: a transaction is missing that was read"},
		{0, "read-committed", `"order":[5,0,1,2,4,6,7]`, "proved: read-committed holds as list-append"},
		{1, "read-committed", `"order":[0,1,3]`, "rejected: a read shows what a failed transaction appended"},
		{1, "read-uncommitted", `"order":[0,1,3]`, "rejected: a read shows what nothing appended"},

		{0, "strict-serializable", `"anomaly":"G-single-item-realtime","cycle":[{"type":"rw","from":[6,0],"to":[2,1]},{"type":"realtime","from":[2],"to":[6]}]`, "proved: strict-serializable does not hold (G-single-item-realtime)"},
		{0, "strict-serializable", `"anomaly":"G-single-item","cycle":[{"type":"rw","from":[6,0],"to":[2,1]},{"type":"realtime","from":[2],"to":[6]}]`, "rejected: this cycle has another name"},
		{0, "strict-serializable", `"anomaly":"G-single-item-process","cycle":[{"type":"rw","from":[6,0],"to":[2,1]},{"type":"process","from":[2],"to":[6]}]`, "rejected: 2 had not returned before 6 was called, or is of another process"},
		{0, "strict-serializable", `"anomaly":"G-single-item-realtime","cycle":[{"type":"rw","from":[6,0],"to":[2,1]},{"type":"realtime","from":[2,1],"to":[6]}]`, "rejected: a transaction that the history lacks"},
		{0, "serializable", `"anomaly":"G-single-item-realtime","cycle":[{"type":"rw","from":[6,0],"to":[2,1]},{"type":"realtime","from":[2],"to":[6]}]`, "rejected: serializable allows cycles with a step of type realtime"},
		{0, "serializable-linearizable-keys", `"anomaly":"G-single-item-realtime","cycle":[{"type":"rw","from":[6,0],"to":[2,1]},{"type":"realtime","from":[2,1],"to":[6,0]}]`, "proved: serializable-linearizable-keys does not hold (G-single-item-realtime)"},
		{0, "serializable-linearizable-keys", `"anomaly":"G-single-item-realtime","cycle":[{"type":"rw","from":[6,0],"to":[2,1]},{"type":"realtime","from":[2,1],"to":[6,1]}]`, "rejected: no realtime leads from 2 to 6 there"},
		{0, "strict-serializable", `"anomaly":"G0-realtime","cycle":[{"type":"ww","from":[0,0],"to":[4,1]},{"type":"realtime","from":[4],"to":[7]}]`, "rejected: 4 had not returned before 7 was called, or is of another process"},
		{0, "strict-serializable", `"anomaly":"G1c-realtime","cycle":[{"type":"wr","from":[4,1],"to":[7,3]},{"type":"realtime","from":[7],"to":[4]}]`, "rejected: 7 had not returned before 4 was called, or is of another process"},
		{0, "strict-serializable", `"anomaly":"G0-realtime","cycle":[{"type":"ww","from":[1,0],"to":[5,0]},{"type":"realtime","from":[5],"to":[1]}]`, "rejected: nothing shows that both 1 and 5 happened"},
		{0, "strict-serializable", `"anomaly":"G0","cycle":[{"type":"ww","from":[1,0],"to":[0,0]},{"type":"ww","from":[0,0],"to":[1,0]}]`, "rejected: no ww leads from 1 to 0 there"},
		{0, "strict-serializable", `"anomaly":"G1c","cycle":[{"type":"wr","from":[0,0],"to":[2,0]},{"type":"wr","from":[0,0],"to":[2,0]}]`, "rejected: no wr leads from 0 to 2 there"},
		{0, "strict-serializable", `"anomaly":"G-single-item","cycle":[{"type":"rw","from":[2,0],"to":[1,0]},{"type":"wr","from":[1,0],"to":[2,0]}]`, "rejected: no rw leads from 2 to 1 there"},
		{0, "strict-serializable", `"anomaly":"G-single-item","cycle":[{"type":"rw","from":[7,1],"to":[7,2]},{"type":"rw","from":[7,1],"to":[7,2]}]`, "rejected: no rw leads from 7 to 7 there"},
		{0, "strict-serializable", `"anomaly":"G1c","cycle":[{"type":"wr","from":[1,0],"to":[2,0]},{"type":"ww","from":[0,0],"to":[1,0]}]`, "rejected: the steps are not a cycle"},
		{0, "strict-serializable", `"anomaly":"G0","cycle":[{"type":"ww","from":[0,2],"to":[1,0]},{"type":"ww","from":[1,0],"to":[0,0]}]`, "rejected: a micro-operation that the history lacks"},
		{0, "strict-serializable", `"anomaly":"G0","cycle":[]`, "rejected: a cycle of another form"},
		{0, "snapshot-isolation", `"anomaly":"G-single-item","cycle":[{"type":"first","from":[6,0],"to":[2,1]},{"type":"wr","from":[2,1],"to":[6,0]}]`, "rejected: no first leads from 6 to 2 there"},
		{0, "snapshot-isolation", `"anomaly":"G-SI","transactions":[0,1,2]`, "rejected: these transactions have an order"},
		{0, "snapshot-isolation", `"anomaly":"G-SI","transactions":[0,1,5]`, "rejected: an anomaly of another form"},
		{0, "serializable", `"anomaly":"G-SI","transactions":[0,1,2]`, "rejected: an anomaly of another form"},

		{1, "read-committed", `"anomaly":"G1b","at":[[1,0],[0,0],[0,1]]`, "proved: read-committed does not hold (G1b)"},
		{1, "read-uncommitted", `"anomaly":"G1b","at":[[1,0],[0,0],[0,1]]`, "rejected: read-uncommitted allows G1b"},
		{1, "read-committed", `"anomaly":"G1b","at":[[1,0],[0,1],[0,0]]`, "rejected: there is no G1b there"},
		{1, "read-committed", `"anomaly":"G1b","at":[[1,0],[0,0]]`, "rejected: an anomaly of another form"},
		{1, "read-committed", `"anomaly":"G1a","at":[[1,1],[2,0]]`, "proved: read-committed does not hold (G1a)"},
		{1, "read-committed", `"anomaly":"G1a","at":[[1,1],[3,0]]`, "rejected: there is no G1a there"},
		{1, "read-committed", `"anomaly":"G1a","at":[[1,0],[2,0]]`, "rejected: an anomaly of another form"},
		{1, "read-committed", `"anomaly":"dirty-update","at":[[1,1],[2,0],[3,0]]`, "proved: read-committed does not hold (dirty-update)"},
		{1, "read-committed", `"anomaly":"dirty-update","at":[[1,1],[3,0],[2,0]]`, "rejected: there is no dirty-update there"},
		{1, "read-uncommitted", `"anomaly":"garbage-read","at":[[1,2]]`, "proved: read-uncommitted does not hold (garbage-read)"},
		{1, "read-uncommitted", `"anomaly":"garbage-read","at":[[1,1]]`, "rejected: there is no garbage-read there"},
		{1, "read-committed", `"anomaly":"future-read","at":[[1,4],[1,5]]`, "proved: read-committed does not hold (future-read)"},
		{1, "read-committed", `"anomaly":"future-read","at":[[1,4],[1,3]]`, "rejected: there is no future-read there"},
		{1, "snapshot-isolation", `"anomaly":"internal","at":[[1,4]]`, "proved: snapshot-isolation does not hold (internal)"},
		{1, "read-committed", `"anomaly":"internal","at":[[1,4]]`, "rejected: read-committed allows internal"},
		{1, "snapshot-isolation", `"anomaly":"internal","at":[[1,0]]`, "rejected: there is no internal there"},
		{1, "read-uncommitted", `"anomaly":"duplicate-elements","at":[[1,6]]`, "proved: read-uncommitted does not hold (duplicate-elements)"},
		{1, "read-uncommitted", `"anomaly":"duplicate-elements","at":[[1,4]]`, "rejected: there is no duplicate-elements there"},
		{1, "read-committed", `"anomaly":"incompatible-order","at":[[3,1],[0,0],[0,1]]`, "proved: read-committed does not hold (incompatible-order)"},
		{1, "read-committed", `"anomaly":"incompatible-order","at":[[3,1],[1,0]]`, "proved: read-committed does not hold (incompatible-order)"},
		{1, "read-committed", `"anomaly":"incompatible-order","at":[[3,1],[0,1],[0,0]]`, "rejected: there is no incompatible-order there"},
		{1, "read-committed", `"anomaly":"incompatible-order","at":[[3,1]]`, "rejected: there is no incompatible-order there"},
		{1, "read-committed", `"anomaly":"incompatible-order","at":[[1,2],[1,2]]`, "rejected: there is no incompatible-order there"},
		{1, "read-committed", `"anomaly":"lost-update","at":[[3,1]]`, "rejected: an anomaly of another form"},
		{1, "read-committed", `"anomaly":"G1b","at":[[1,0],[0,0],[0,1]],"explanation":1`, "rejected: what is said of the failure is of another form"},

		{2, "serializable", `"order":[0,1,2]`, "proved: serializable holds as list-append"},
		{2, "serializable", `"anomaly":"G0","cycle":[{"type":"ww","from":[0,0],"to":[1,0]},{"type":"ww","from":[1,0],"to":[0,0]}]`, "rejected: a value was appended twice to a key"},
		{2, "read-committed", `"order":[0,1,2]`, "rejected: a value was appended twice to a key"},
		{3, "serializable", `"order":[1,0]`, "proved: serializable holds as multi-register"},
		{3, "serializable", `"order":[0]`, "rejected: transactions are missing, such as [1]"},
		{4, "serializable", `"order":[0,1]`, "rejected: transaction 1 cannot read that where it stands"},
		{3, "serializable", `"anomaly":"G0","cycle":[]`, "rejected: a level of which no certificate proves this"},
		{3, "snapshot-isolation", `"points":[1,1,0,0]`, "proved: snapshot-isolation holds as multi-register"},
		{3, "read-committed", `"order":[1,0]`, "rejected: a level of which no certificate proves this"},
		{3, "snapshot-isolation", `"points":[0,0,1]`, "rejected: the history lacks a transaction of the order, or one does not stand there 2x"},
	} {
		name := fmt.Sprintf("%d: %s %s", i, x.level, x.section)
		valid := !strings.Contains(x.section, "anomaly")
		head := fmt.Sprintf(`{"clew-certificate":1,"operations":%d,"model":"%s","parameters":{},"independent":false,"clients":"integers","valid":%t,"consistency":"%s"}`,
			[]int{8, 4, 3, 2, 2}[x.of], []string{"list-append", "list-append", "list-append", "multi-register", "multi-register"}[x.of], valid, x.level)
		c.put(name, files[x.of], fmt.Sprintf("%s\n{\"key\":null,\"valid\":%t,%s}\n", head, valid, x.section))
		want[name] = x.says
	}
	c.expect(want)
}

// A transaction that says nothing may stand anywhere, also where it began before one that had returned: orders leave it out.
func TestOrdersOfLevelsLeaveOutWhatSaysNothing(t *testing.T) {
	t.Parallel()
	const first, last = "{:process 0, :type :invoke, :f :txn, :value %s}\n{:process 0, :type :ok, :f :txn, :value %s}\n", "{:process 2, :type :invoke, :f :txn, :value [[:r :x nil]]}\n{:process 2, :type :ok, :f :txn, :value [[:r :x %s]]}\n"
	c, want := newCertified(t), map[string]string{}
	for i, x := range []struct {
		model, update, nothing, old string
		levels                      []models.Level
	}{
		{"multi-register", "[[:w :x 1]]", "[[:r :y nil]]", "0", []models.Level{models.StrongSessionSerializable, models.Serializable, models.SnapshotIsolation}},
		{"multi-register", "[[:w :x 1]]", "[]", "0", []models.Level{models.StrongSessionSerializable, models.Serializable, models.SnapshotIsolation}},
		{"list-append", "[[:append :x 1]]", "[]", "[]", models.AllLevels()[1:]},
	} {
		text := fmt.Sprintf(first+first+last, x.update, x.update, x.nothing, x.nothing, x.old)
		file := c.text(text)
		for _, level := range x.levels {
			spec := models.Spec{Name: x.model}
			if x.model == "multi-register" {
				spec.Init = "{:x 0}"
			}
			r := kit.CheckedText(t, text, spec, clew.Options{Consistency: level})
			name := fmt.Sprintf("%d, %s", i, level)
			holds := map[bool]string{true: "holds", false: "does not hold"}[r.Verdict == jepsen.Valid]
			want[name] = fmt.Sprintf("proved: %s %s", level, holds)
			c.add(name, file, r)
		}
	}
	c.expect(want)
}

// A list may show what was appended on both sides of what failed.
func TestACertificateShowsADirtyUpdateInAListThatRepeatsElements(t *testing.T) {
	t.Parallel()
	const text = `{:process 0, :type :invoke, :f :txn, :value [[:append :x 1]]}
{:process 0, :type :ok, :f :txn, :value [[:append :x 1]]}
{:process 0, :type :invoke, :f :txn, :value [[:append :x 3]]}
{:process 0, :type :fail, :f :txn, :value [[:append :x 3]]}
{:process 2, :type :invoke, :f :txn, :value [[:r :x nil]]}
{:process 2, :type :ok, :f :txn, :value [[:r :x [1 3 1]]]}
`
	c, want := newCertified(t), map[string]string{}
	for _, level := range models.AllLevels() {
		r := kit.CheckedText(t, text, models.Spec{Name: "list-append"}, clew.Options{Consistency: level})
		want[string(level)] = fmt.Sprintf("proved: %s does not hold", level)
		c.add(string(level), c.text(text), r)
	}
	c.expect(want)
}

// The sentence of a certificate about a level tells the anomaly that the certificate shows, although the result may tell another one.
func TestACertificateTellsTheAnomalyThatItShows(t *testing.T) {
	t.Parallel()
	txn := func(process int, value string) string {
		return fmt.Sprintf("{:process %d, :type :invoke, :f :txn, :value %s}\n{:process %d, :type :ok, :f :txn, :value %s}\n", process, value, process, value)
	}
	shown := map[string]bool{}
	for _, text := range []string{
		txn(0, "[[:append 0 1] [:append 0 2]]") + txn(1, "[[:r 0 [1]]]"),
		txn(0, "[[:append 0 1]]") + txn(1, "[[:append 0 2]]") + txn(2, "[[:r 0 [2 1]]]") + txn(3, "[[:r 0 [1 2]]]"),
		txn(0, "[[:append 0 1]]") + txn(1, "[[:r 0 [1 7]]]") + txn(0, "[[:append 0 2]]") + txn(1, "[[:r 0 [1 2]]]"),
		txn(0, "[[:append 0 1]]") + txn(1, "[[:r 0 []]]"),
		lied,
	} {
		for _, level := range append(models.AllLevels(), "") {
			r := kit.CheckedText(t, text, models.Spec{Name: "list-append"}, clew.Options{Consistency: level})
			var b bytes.Buffer
			if err := clew.WriteCertificate(context.Background(), &b, r, clew.CertificateOptions{}); err != nil {
				t.Fatal(err)
			}
			_, line, _ := strings.Cut(b.String(), "\n")
			var says struct{ Anomaly, Explanation string }
			if err := json.Unmarshal([]byte(line), &says); err != nil {
				t.Fatal(err)
			}
			if says.Anomaly == "" {
				continue
			}
			shown[says.Anomaly] = true
			if !strings.HasPrefix(says.Explanation, says.Anomaly+": ") {
				t.Errorf("%s: shows %s, and tells %q\n%s", level, says.Anomaly, says.Explanation, text)
			}
		}
	}
	for _, kind := range []string{"G1b", "incompatible-order", "G-single-item-realtime"} {
		if !shown[kind] {
			t.Errorf("no certificate shows %s", kind)
		}
	}
}
