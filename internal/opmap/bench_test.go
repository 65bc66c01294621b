package opmap

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"clew/edn"
)

// ordinaryHistory returns a history of n events of a register, as Jepsen writes it.
func ordinaryHistory(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "{:type :invoke, :f :write, :value %d, :process %d, :time %d, :index %d}\n", i%5, i%10, 7654321*i, i)
		case 1:
			fmt.Fprintf(&b, "{:type :ok, :f :write, :value %d, :process %d, :time %d, :index %d}\n", i%5, i%10, 7654321*i, i)
		case 2:
			fmt.Fprintf(&b, "{:type :invoke, :f :cas, :value [%d %d], :process %d, :time %d, :index %d}\n", i%5, i%3, i%10, 7654321*i, i)
		case 3:
			fmt.Fprintf(&b, "{:type :fail, :f :cas, :value [%d %d], :process %d, :time %d, :index %d, :error [:precondition \"no\"]}\n", i%5, i%3, i%10, 7654321*i, i)
		}
	}
	return b.Bytes()
}

func readAll(tb testing.TB, r *Reader) (n int) {
	tb.Helper()
	var ev Event
	for {
		err := r.Next(&ev)
		if err == io.EOF {
			return n
		}
		if err != nil {
			tb.Fatal(err)
		}
		n++
	}
}

func BenchmarkReader(b *testing.B) {
	text := ordinaryHistory(100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, NewReader(bytes.NewReader(text), "", edn.NewValues()))
	}
}

// BenchmarkScout scans a block, as a core does beside the one that interns values and pairs.
func BenchmarkScout(b *testing.B) {
	var h bytes.Buffer
	for i := 0; h.Len() < 256<<10; i++ {
		fmt.Fprintf(&h, "{:index %d, :time %d, :type %s, :process %d, :f :write, :value %d}\n", i, i*77777, [...]string{":invoke", ":ok"}[i%2], i/2%10, i/2)
	}
	r, block, words := NewReader(nil, "", edn.NewValues()), newBlock(), &edn.Words{}
	b.SetBytes(int64(h.Len()))
	b.ReportAllocs()
	for b.Loop() {
		block.text, block.records = h.Bytes(), block.records[:0]
		block.raws.Reset(words)
		r.block = block
		r.scanMaps()
	}
	b.ReportMetric(float64(len(block.records)), "records")
}

func BenchmarkReaderOfUniqueValues(b *testing.B) {
	var h bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&h, "{:index %d, :type :invoke, :process %d, :f :write, :value \"value %d\", :time %d}\n", i, i%10, i*i, i*77777)
	}
	b.SetBytes(int64(h.Len()))
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, NewReader(bytes.NewReader(h.Bytes()), "", edn.NewValues()))
	}
}

func BenchmarkReaderOfSets(b *testing.B) {
	var h bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&h, "{:type :ok, :process 1, :f :read, :value #{")
		for j := range i {
			fmt.Fprintf(&h, "%d ", (j*7919)%1_000_003)
		}
		h.WriteString("}}\n")
	}
	b.SetBytes(int64(h.Len()))
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, NewReader(bytes.NewReader(h.Bytes()), "", edn.NewValues()))
	}
}
