package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"clew/internal/gen"
	"clew/models"
)

// speed measures everything that a check does, for every model. It makes histories
// of each of the sizes with values of their own, and such a history with one wrong
// answer. Then it measures other programs beside clew (beside.go).
//
// Each stage is measured separately, in processor time per operation. The stages
// are text to op maps, op maps to operations, deciding, the witness or the core,
// and the rest of the result. The total is that of clew check as a process.
// Another process counts what it allocates.
func speed(b *bench) error {
	sizes, err := sizesOf(b.sizes)
	if err != nil {
		return err
	}
	t := newTable(b.out, column{"", "history", len("reentrant-fenced-mutex, 10M, foreign-release")}, column{"", "size", 7},
		column{"scan", "MB/s", 6}, column{"scan", "ns/op", 6}, column{"pair", "ns/op", 6}, column{"decide", "ns/op", 7}, column{"witness", "ns/op", 7}, column{"result", "ns/op", 7},
		column{"total", "wall", 8}, column{"total", "cpu", 8}, column{"total", "MB/s", 6}, column{"total", "ns/op", 6}, column{"total", "allocs/op", 9}, column{"total", "memory", 8}, column{"", "verdict", 8})
	for _, m := range models.All() {
		lost := false // a model that takes too long at one size also does at larger ones
		for _, n := range sizes {
			for _, kind := range []gen.LongKind{gen.Linearizable, gen.KindsOf(m.Name)[0]} {
				o := gen.LongOptions{Model: m.Name, Kind: kind, Operations: n, Processes: 10, At: 0.8, Seed: 1}
				if over, err := b.speedOf(t, o, lost); err != nil {
					return err
				} else if over {
					lost = true
				}
			}
		}
	}
	return beside(b, sizes[len(sizes)-1])
}

// sizesOf reads a list such as 10k,1M.
func sizesOf(list string) (sizes []int, err error) {
	for _, text := range strings.Split(list, ",") {
		digits, unit := strings.TrimRight(text, "kM"), 1
		switch text[len(digits):] {
		case "k":
			unit = 1e3
		case "M":
			unit = 1e6
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || thousands(n*unit) != text {
			return nil, fmt.Errorf("-sizes: expected numbers such as 500, 10k or 1M, found %q", text)
		}
		sizes = append(sizes, n*unit)
	}
	return sizes, nil
}

// speedOf prints a line of the table. over says that the history took too long, or
// more memory than allowed.
func (b *bench) speedOf(t *table, o gen.LongOptions, lost bool) (over bool, err error) {
	name, want := fmt.Sprintf("%s, %s", o.Model, thousands(o.Operations)), "valid"
	if o.Kind != gen.Linearizable {
		name, want = name+", "+o.Kind.String(), "invalid"
	}
	switch {
	case !b.only.MatchString(name):
		return false, nil
	case lost:
		t.row(name, "", "", "", "", "", "", "", "lost", "", "", "", "", "", "")
		return true, nil
	}
	file, size, err := b.file(o)
	if err != nil {
		return false, err
	}
	defer os.Remove(file)
	b.progress("%s: check", name)
	m, err := b.measure(file, o.Flags()...)
	if err != nil {
		return false, err
	}
	spec := models.Spec{Name: o.Model, Init: o.Init()}
	if o.Model == "semaphore" || o.Model == "owner-semaphore" {
		spec.Permits = 2
	}
	if m.over != "" {
		b.progress("")
		t.row(append([]string{name, megabytes(size), "", "", "", "", "", ""}, m.over, duration(m.cpu), "", "", "", megabytes(m.memory), "-")...)
		return true, nil
	}
	b.progress("%s: its stages", name)
	s, err := b.stagesOf(file, spec, false)
	if err != nil {
		return false, err
	}
	b.progress("")
	per := func(d time.Duration) string { return fmt.Sprint(int(d) / o.Operations) }
	t.row(name, megabytes(size), rate(size, s.Scan), per(s.Scan), per(s.Pair), per(s.Decide), per(s.Witness), per(s.Result),
		duration(m.wall), duration(m.cpu), rate(size, m.wall), per(m.cpu), fmt.Sprintf("%.2f", float64(s.Allocs)/float64(o.Operations)), megabytes(m.memory),
		b.verdict(map[string]bool{m.verdict: true}, want))
	return false, nil
}

// rate returns megabytes, of a million bytes, per second.
func rate(size int64, d time.Duration) string {
	return fmt.Sprintf("%.0f", float64(size)/1e6/d.Seconds())
}

// file makes a history, and returns its file and its size.
func (b *bench) file(o gen.LongOptions) (file string, size int64, err error) {
	b.progress("%s: writing", o.Model)
	if file, err = b.history(long(o)); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", 0, err
	}
	return file, info.Size(), nil
}
