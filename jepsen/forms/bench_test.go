package forms

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/gen"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// BenchmarkReadFile reads a history as Jepsen prints it: 4 processes add elements
// to a set, and ask for them.
func BenchmarkReadFile(b *testing.B) {
	var h strings.Builder
	at := int64(54_000_000)
	for i := range 140_000 {
		typ, value := ":invoke", fmt.Sprint(i*7919%1000)
		if i%8 >= 4 {
			typ, value = ":ok", fmt.Sprintf("[%d %t]", (i-4)*7919%1000, i%3 == 0)
		}
		at += int64(i) % 9973
		fmt.Fprintf(&h, "{:index %d, :time %d, :type %s, :process %d, :f %s, :value %s}\n", i, at, typ, i%4, [...]string{":add", ":contains"}[i/8%2], value)
	}
	path := filepath.Join(b.TempDir(), "history.edn")
	if err := os.WriteFile(path, []byte(h.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(h.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadFile(path, jepsen.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// queueHistory returns a history of a queue with a number of operations, in EDN: 5
// processes in turn, one of which dequeues.
func queueHistory(operations int) string {
	var h strings.Builder
	for i := range operations {
		f, call := ":enqueue", fmt.Sprint(i)
		if i%5 == 4 {
			f, call = ":dequeue", "nil"
		}
		fmt.Fprintf(&h, "{:process %d, :type :invoke, :f %s, :value %s, :index %d}\n", i%5, f, call, 2*i)
		if i%5 == 4 {
			call = fmt.Sprint(i / 5)
		}
		fmt.Fprintf(&h, "{:process %d, :type :ok, :f %s, :value %s, :index %d}\n", i%5, f, call, 2*i+1)
	}
	return h.String()
}

// BenchmarkForms reads one history in each of the forms.
func BenchmarkForms(b *testing.B) {
	const operations = 100_000
	text := queueHistory(operations)
	txns := strings.NewReplacer(":enqueue, :value ", ":txn, :value [[:append 3 ", ":dequeue, :value ", ":txn, :value [[:r 3 ", ", :index", "]], :index").Replace(text)
	bench := func(name, text string, to Form) {
		var h bytes.Buffer
		if _, err := Convert(&h, strings.NewReader(text), "h", EDN, to); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(h.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(bytes.NewReader(h.Bytes()), "h", jepsen.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/operations, "ns/operation")
		})
	}
	for _, form := range All {
		bench(string(form), text, form)
	}
	bench("txns in edn", txns, EDN)
	bench("txns in jsonl", txns, JSONL)
}

// counting is a feed that counts events, and keeps nothing.
type counting struct {
	feed.Feed
	values *edn.Values
	events int
}

func (c *counting) Values() *edn.Values           { return c.values }
func (c *counting) Expect(int64)                  {}
func (c *counting) Warn(string, ...any)           {}
func (c *counting) Add(*opmap.Event, int32) error { c.events++; return nil }
func (c *counting) AddRows(r *opmap.Rows) (int, error) {
	c.events += len(r.All)
	return len(r.All), nil
}

// BenchmarkScanning scans each of the forms that hold events, and interns their values: with -cpu 1, what a core does of reading
// besides pairing.
func BenchmarkScanning(b *testing.B) {
	var long bytes.Buffer
	if _, err := gen.Long(&long, gen.LongOptions{Model: "register", Operations: 100_000, Processes: 10, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"edn", "jsonl", "json", "log", "log with times"} {
		form, times := Form(name[:min(len(name), 5)]), strings.HasSuffix(name, "times")
		if times {
			form = Log
		}
		var h bytes.Buffer
		if _, err := Convert(&h, bytes.NewReader(long.Bytes()), "h", EDN, form); err != nil {
			b.Fatal(err)
		}
		if times {
			text := bytes.ReplaceAll(h.Bytes(), []byte("INFO  jepsen.util"), []byte("2026-11-28 15:38:01,125{GMT}\tINFO\t[jepsen worker 3] jepsen.util"))
			h.Reset()
			h.Write(text)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(h.Len()))
			b.ReportAllocs()
			for b.Loop() {
				c := &counting{values: edn.NewValues()}
				in := newInput(b.Context(), c, "h", jepsen.Options{})
				in.form = form.row()
				text := source{Reader: bufio.NewReader(bytes.NewReader(h.Bytes()))}
				if err := in.form.read(in, text); err != nil || c.events != 200_000 {
					b.Fatal(c.events, err)
				}
			}
		})
	}
}
