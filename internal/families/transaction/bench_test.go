package transaction

import (
	"bytes"
	"fmt"
	"testing"

	"clew/fastpath"
	"clew/internal/families/testkit"
	"clew/internal/gen"
	"clew/models"
)

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
