package transaction

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// readLists reads a history of transactions on lists.
func readLists(b *testing.B, text []byte) (*models.Operations, models.TxnListsShape) {
	b.Helper()
	h, err := forms.Read(bytes.NewReader(text), "history.edn", jepsen.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ops, err := models.Spec{Name: "list-append"}.Read(h)
	if err != nil {
		b.Fatal(err)
	}
	shape, _ := models.ShapeOf[models.TxnListsShape](ops.Model)
	return ops, shape
}

func BenchmarkLists(b *testing.B) {
	for _, n := range []int{100_000, testkit.BenchOps} {
		var text bytes.Buffer
		if _, err := gen.Long(&text, gen.LongOptions{Model: "list-append", Operations: n, Processes: 20}); err != nil {
			b.Fatal(err)
		}
		ops, shape := readLists(b, text.Bytes())
		b.Run(fmt.Sprintf("operations=%d", n), func(b *testing.B) {
			testkit.BenchSweep(b, &ops.Columns, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return listAppend(b.Context(), c, shape, want)
			})
		})
	}
}

// One transaction appends to many keys, and another one reads them.
func BenchmarkManyKeysOfOneTransaction(b *testing.B) {
	for _, keys := range []int{1000, 10_000, 100_000} {
		var asked, reads, told strings.Builder
		for key := range keys {
			fmt.Fprintf(&asked, "[:append %d 1] ", key)
			fmt.Fprintf(&reads, "[:r %d nil] ", key)
			fmt.Fprintf(&told, "[:r %d [1]] ", key)
		}
		var text bytes.Buffer
		for _, event := range []string{":invoke, :value [" + asked.String(), ":ok, :value [" + asked.String(), ":invoke, :value [" + reads.String(), ":ok, :value [" + told.String()} {
			fmt.Fprintf(&text, "{:process 0, :f :txn, :type %s]}\n", event)
		}
		ops, shape := readLists(b, text.Bytes())
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			for b.Loop() {
				if d := listAppend(b.Context(), &ops.Columns, shape, fastpath.WantVerdict); d.Verdict != jepsen.Valid {
					b.Fatal(d)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(keys), "ns/key")
		})
	}
}

func BenchmarkRegisters(b *testing.B) {
	for _, n := range []int{100_000, testkit.BenchOps} {
		var text bytes.Buffer
		if _, err := gen.Long(&text, gen.LongOptions{Model: "multi-register", Operations: n, Processes: 20, Keys: 10, Steps: 4}); err != nil {
			b.Fatal(err)
		}
		ops, shape := readRegisters(b, text.Bytes())
		b.Run(fmt.Sprintf("operations=%d", n), func(b *testing.B) {
			testkit.BenchSweep(b, &ops.Columns, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return rwRegister(b.Context(), c, *shape, want)
			})
		})
		b.Run(fmt.Sprintf("serializable/operations=%d", n), func(b *testing.B) {
			testkit.BenchSweep(b, &ops.Columns, func(c *models.Columns, want fastpath.Want) fastpath.Decision {
				return Registers(b.Context(), c, *shape, Keeps{})
			})
		})
	}
}
