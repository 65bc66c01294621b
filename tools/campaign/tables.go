package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"clew/internal/campaign"
)

// tally holds the counts of all units.
type tally struct {
	configs, models map[string]*campaign.Counts
	commits         []stretch
}

// stretch counts the work at one commit.
type stretch struct {
	commit string
	units  int
	campaign.Counts
}

func (t *tally) add(f finished) {
	if t.configs == nil {
		t.configs, t.models = map[string]*campaign.Counts{}, map[string]*campaign.Counts{}
	}
	for _, x := range []struct {
		to   map[string]*campaign.Counts
		name string
	}{{t.configs, f.Config}, {t.models, f.Model}} {
		if x.to[x.name] == nil {
			x.to[x.name] = &campaign.Counts{}
		}
		x.to[x.name].Add(f.Counts)
	}
	if last := len(t.commits) - 1; last < 0 || t.commits[last].commit != f.Commit {
		t.commits = append(t.commits, stretch{commit: f.Commit})
	}
	last := &t.commits[len(t.commits)-1]
	last.units++
	last.Add(f.Counts)
}

// sum returns all counts together.
func (t *tally) sum() (all campaign.Counts) {
	for _, c := range t.configs {
		all.Add(*c)
	}
	return all
}

// table has a heading and rows of cells. The first cell of a row is a name.
type table struct {
	heading []string
	rows    [][]string
}

func (t *table) row(name string, numbers ...int) {
	row := []string{name}
	for _, n := range numbers {
		row = append(row, grouped(n))
	}
	t.rows = append(t.rows, row)
}

// grouped returns a number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// of returns a table of counts.
func of(what string, counts map[string]*campaign.Counts, all campaign.Counts) *table {
	t := &table{heading: []string{what, "histories", "linearizable", "not", "with crashes", "verdicts compared", "wrong"}}
	row := func(name string, c *campaign.Counts) {
		t.row(name, c.Valid+c.Invalid, c.Valid, c.Invalid, c.Crashed, comparisons(c), c.Mismatches)
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		row(name, counts[name])
	}
	row("all", &all)
	return t
}

// comparisons returns how many verdicts were compared.
func comparisons(c *campaign.Counts) (n int) {
	for _, compared := range []campaign.Compared{c.Engines, c.Changes, c.Forms} {
		for _, v := range compared {
			n += v.Valid + v.Invalid
		}
	}
	return n
}

// verdicts returns a table of verdicts, the most frequent first.
func verdicts(what string, compared campaign.Compared) *table {
	t := &table{heading: []string{what, "verdicts compared", "linearizable", "not"}}
	names := slices.SortedFunc(maps.Keys(compared), func(a, b string) int {
		x, y := compared[a], compared[b]
		return cmp.Or(cmp.Compare(y.Valid+y.Invalid, x.Valid+x.Invalid), cmp.Compare(a, b))
	})
	for _, name := range names {
		v := compared[name]
		t.row(name, v.Valid+v.Invalid, v.Valid, v.Invalid)
	}
	return t
}

// unknown returns a table of the histories that were not decided, by cause.
func unknown(all campaign.Counts) *table {
	t := &table{heading: []string{"not decided", "histories"}}
	for _, cause := range slices.SortedFunc(maps.Keys(all.Unknown), func(a, b string) int {
		return cmp.Or(cmp.Compare(all.Unknown[b], all.Unknown[a]), cmp.Compare(a, b))
	}) {
		t.row(cause, all.Unknown[cause])
	}
	return t
}

// text prints counts by configuration, and by what was compared.
func (t *tally) text(w io.Writer) error {
	all := t.sum()
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, x := range []*table{of("configuration", t.configs, all), verdicts("engine", all.Engines), verdicts("change", all.Changes), verdicts("form", all.Forms), unknown(all)} {
		for _, row := range append([][]string{x.heading}, x.rows...) {
			fmt.Fprintf(out, "%s\t %s\n", strings.Join(row[1:], "\t"), row[0])
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// markdown prints the tables of docs/trust.md.
func (t *tally) markdown(w io.Writer) error {
	all := t.sum()
	at := &table{heading: []string{"commit", "units", "histories", "verdicts compared", "wrong"}}
	for _, s := range t.commits {
		at.row("`"+s.commit+"`", s.units, s.Valid+s.Invalid, comparisons(&s.Counts), s.Mismatches)
	}
	for _, x := range []*table{at, of("model", t.models, all), verdicts("engine", all.Engines), verdicts("change", all.Changes), verdicts("form", all.Forms), unknown(all)} {
		for i, row := range append([][]string{x.heading}, x.rows...) {
			if fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); i == 0 {
				fmt.Fprintf(w, "|---|%s\n", strings.Repeat("--:|", len(row)-1))
			}
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}
