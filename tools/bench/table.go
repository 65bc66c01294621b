package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// table prints rows as they come, in columns of fixed width, so that an
// interrupted run still shows what it has measured.
type table struct {
	w       io.Writer
	columns []column
}

// column is a column of a table, under the heading of its group.
type column struct {
	group, name string
	width       int
}

// newTable prints the head of a table.
func newTable(w io.Writer, columns ...column) *table {
	t := &table{w, columns}
	groups, names := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		if names[i] = c.name; i == 0 || c.group != columns[i-1].group {
			groups[i] = c.group
		}
	}
	t.row(groups...)
	t.row(names...)
	return t
}

// row prints cells: the first to the left, the others to the right.
func (t *table) row(cells ...string) {
	var line strings.Builder
	for i, c := range t.columns {
		width := c.width
		if i == 0 {
			width = -width
		}
		fmt.Fprintf(&line, "%*s  ", width, cells[i])
	}
	fmt.Fprintln(t.w, strings.TrimRight(line.String(), " "))
}

// comparison is a table with one row for each history and some engines side by
// side. The others are compared with the first engine. Or each one is compared
// with itself in another build, which comes right before it.
type comparison struct {
	*bench
	engines []string
	table   *table
	lost    map[string]bool // in a series: whether an engine was over a limit
}

// beforePrefix begins the names of engines in the other build.
const beforePrefix = "before: "

// compare begins a table. width is the length of the longest name.
func (b *bench) compare(width int, engines ...string) *comparison {
	columns := []column{{"", "history", width}}
	if b.among != nil {
		engines = slices.DeleteFunc(slices.Clone(engines), func(e string) bool { return !slices.Contains(b.among, e) })
	}
	if b.before != "" {
		var both []string
		for _, e := range engines {
			both = append(both, beforePrefix+e, e)
		}
		engines = both
	}
	for i, e := range engines {
		columns = append(columns, column{e, "wall", 8}, column{e, "cpu", 8}, column{e, "memory", 8})
		if b.isCompared(i) {
			columns = append(columns, column{e, "faster", 7}, column{e, "smaller", 7})
		}
	}
	return &comparison{b, engines, newTable(b.out, append(columns, column{"", "verdict", 8})...), nil}
}

// isCompared says whether the i-th engine of a row is compared with one before it.
func (b *bench) isCompared(i int) bool { return i > 0 && (b.before == "" || i%2 == 1) }

// series begins rows that get harder and harder. An engine that was over a limit
// in one row is not run again, and its entries say so. This applies to the given
// engines, or to all if none is given.
func (c *comparison) series(engines ...string) {
	if len(engines) == 0 {
		engines = c.engines
	}
	c.lost = map[string]bool{}
	for _, e := range engines {
		c.lost[e] = false
	}
}

// alone ends a series.
func (c *comparison) alone() { c.lost = nil }

// row measures a history, which write writes. want is its verdict, or "" if it
// is not known by construction. args are clew's arguments, including --model.
func (c *comparison) row(name, want string, write func(io.Writer) error, args ...string) error {
	if !c.only.MatchString(name) {
		return nil
	}
	c.progress("%s: writing", name)
	file, err := c.history(write)
	if err != nil {
		return err
	}
	defer os.Remove(file)
	cells := []string{name}
	verdicts := map[string]bool{}
	var first measurement
	for i, engine := range c.engines {
		if !c.isCompared(i) {
			first = measurement{}
		}
		if c.lost[engine] {
			cells = append(cells, "lost", "-", "-")
			if c.isCompared(i) {
				cells = append(cells, "-", "-")
			}
			continue
		}
		c.progress("%s: %s", name, engine)
		build, algorithm := c.clew, engine
		if name, other := strings.CutPrefix(engine, beforePrefix); other {
			build, algorithm = c.before, name
		}
		m, err := c.measureBuild(build, file, append([]string{"--algorithm", algorithm}, args...)...)
		if err != nil {
			c.progress("")
			return err
		}
		cells = append(cells, m.cells()...)
		if c.isCompared(i) {
			cells = append(cells, against(first, m, c.limits)...)
		} else {
			first = m
		}
		if m.verdict != "" {
			verdicts[m.verdict] = true
		} else if _, gives := c.lost[engine]; gives {
			c.lost[engine] = true
		}
	}
	c.progress("")
	c.table.row(append(cells, c.verdict(verdicts, want))...)
	return nil
}

// history writes a history to a file.
func (b *bench) history(write func(io.Writer) error) (string, error) {
	f, err := os.Create(filepath.Join(b.dir, "history.edn"))
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(w), w.Flush(), f.Close())
	return f.Name(), err
}

// verdict returns the common verdict of the engines that decided.
func (b *bench) verdict(found map[string]bool, want string) string {
	switch {
	case len(found) == 0:
		return "-"
	case len(found) > 1 || want != "" && !found[want]:
		b.wrong++
		return "WRONG"
	case found["valid"]:
		return "valid"
	}
	return "invalid"
}

// cells returns a measurement in three columns.
func (m measurement) cells() []string {
	if m.over != "" {
		return []string{m.over, duration(m.cpu), megabytes(m.memory)}
	}
	return []string{duration(m.wall), duration(m.cpu), megabytes(m.memory)}
}

// against returns how many times faster, in processor time, and how many times
// smaller m is than the first engine's measurement. (Other work on the machine
// disturbs processor time less than elapsed time.) If only the first engine was
// over a limit, the figures are lower bounds. If m was over a limit, or the
// first engine was not run, there are no figures.
func against(first, m measurement, l bounds) []string {
	if m.over != "" || first == (measurement{}) {
		return []string{"-", "-"}
	}
	faster := float64(first.cpu) / float64(m.cpu)
	smaller := float64(first.memory) / float64(m.memory)
	switch first.over {
	case "":
		return []string{times(faster), times(smaller)}
	case l.tooLong():
		return []string{"> " + times(faster), "-"}
	case l.tooMuch():
		return []string{"-", "> " + times(float64(l.memory)/float64(m.memory))}
	}
	return []string{"-", "-"}
}

func times(x float64) string {
	if x >= 9.95 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

func duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

func megabytes(n int64) string {
	if n < 1e10 && n >= 1e9 {
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// thousands writes 10000 as 10k, and 1000000 as 1M.
func thousands(n int) string {
	for _, unit := range slices.Backward([]struct {
		n    int
		name string
	}{{1e3, "k"}, {1e6, "M"}}) {
		if n >= unit.n && n%unit.n == 0 {
			return fmt.Sprint(n/unit.n) + unit.name
		}
	}
	return fmt.Sprint(n)
}
