package main

import (
	"fmt"
	"strings"

	"clew"
	"clew/fallback"
	"clew/internal/engines/hitting"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// The hitting families are measured on as many threads and operations as Ozkan,
// Majumdar & Niksic (PPoPP 2019) used. Their histories came from stress tests
// of ten containers of java.util.concurrent.
const (
	hittingThreads   = 7
	hittingEach      = 2
	hittingDepth     = 5
	hittingHistories = 1000 // of a row; the paper had 8673 in all
	hittingFamilies  = 50   // histories of a row whose families are counted
)

// hittingRows are models, each with how quiet its threads are (gen.Threads).
var hittingRows = []struct {
	model, about string
	quiet        float64
}{
	{"java-queue", "little overlap", 0.95},
	{"java-queue", "some overlap", 0.9},
	{"java-queue", "much overlap", 0.5},
	{"java-queue", "most overlap", 0},
	{"fifo-queue", "some overlap", 0.9},
	{"priority-queue", "some overlap", 0.9},
	{"stack", "some overlap", 0.9},
	{"lookup-set", "some overlap", 0.9},
	{"kv", "some overlap", 0.9},
}

// measureHitting prints tables like the paper's 3 and 2: how many linearizable
// histories have a witness in a strong d-hitting family, and how many schedules
// there are. It verifies every witness. The tables also show the paper's public
// figures, which are for all containers together.
func measureHitting(b *bench) error { return b.hitting(hittingHistories, hittingFamilies) }

func (b *bench) hitting(histories, counted int) error {
	const width = len("priority-queue, some overlap")
	shares, sizes := []column{{"", "linearizable histories", width}, {"", "open", 5}}, []column{{"", "schedules, mean", width}, {"", "chains", 6}}
	for d := 1; d <= hittingDepth; d++ {
		shares = append(shares, column{"witnessed, %", fmt.Sprintf("d <= %d", d), 7})
		sizes = append(sizes, column{"up to depth", fmt.Sprintf("d = %d", d), 8}, column{"up to depth", "bound", 8})
	}
	var sizeRows [][]string
	t := newTable(b.out, shares...)
	for _, row := range hittingRows {
		name := row.model + ", " + row.about
		if !b.only.MatchString(name) {
			continue
		}
		f, err := b.families(name, row.model, row.quiet, histories, counted)
		if err != nil {
			return err
		}
		t.row(append([]string{name, mean(f.chains, histories)}, f.shares(histories)...)...)
		sizeRows = append(sizeRows, append([]string{name, mean(f.counted, counted)}, f.sizes...))
	}
	t.row("the paper, all containers", "", "", "93.3", "", "", "99.9")
	fmt.Fprintln(b.out)
	t = newTable(b.out, sizes...)
	for _, cells := range sizeRows {
		t.row(cells...)
	}
	return nil
}

// families holds the results for a row's histories.
type families struct {
	found           [hittingDepth + 1]int // by depth
	chains, counted int                   // sums over all histories, and over those whose families are counted
	sizes           []string              // by depth: schedules, and the bound m n^(d-1)
}

func mean(sum, n int) string { return fmt.Sprintf("%.1f", float64(sum)/float64(n)) }

func (f *families) shares(histories int) []string {
	var cells []string
	sum := 0
	for _, n := range f.found[1:] {
		sum += n
		cells = append(cells, fmt.Sprintf("%.1f", 100*float64(sum)/float64(histories)))
	}
	return cells
}

func (b *bench) families(name, model string, quiet float64, histories, counted int) (*families, error) {
	f := &families{}
	var schedules [hittingDepth + 1]int64
	var bounds [hittingDepth + 1]float64
	spec := models.Spec{Name: model}
	for seed := range uint64(histories) {
		b.progress("%s: %d", name, seed)
		if b.ctx.Err() != nil {
			return nil, b.ctx.Err()
		}
		h, err := forms.Read(strings.NewReader(gen.Threads(seed, model, hittingThreads, hittingEach, quiet).Text), "", jepsen.Options{})
		if err != nil {
			return nil, err
		}
		ops, err := spec.Read(h)
		if err != nil {
			return nil, err
		}
		chains := mostOpen(&ops.Columns)
		f.chains += chains
		a := hitting.Engine{Depth: hittingDepth}.Decide(b.ctx, ops, fallback.Limits{})
		if a.Verdict == jepsen.Valid {
			f.found[a.Depth]++
			b.verify(h, spec, ops, a.Order)
		}
		if seed >= uint64(counted) {
			continue
		}
		f.counted += chains
		never := *ops
		never.Model = impossible{ops.Model}
		bound := float64(chains)
		for d := 1; d <= hittingDepth; d++ {
			schedules[d] += hitting.Engine{Depth: d}.Decide(b.ctx, &never, fallback.Limits{}).Schedules
			bounds[d] += bound
			bound *= float64(ops.Len())
		}
	}
	for d := 1; d <= hittingDepth; d++ {
		f.sizes = append(f.sizes, fmt.Sprintf("%.0f", float64(schedules[d])/float64(counted)), fmt.Sprintf("%.0f", bounds[d]/float64(counted)))
	}
	return f, nil
}

// verify counts a witness that does not replay as a wrong verdict.
func (b *bench) verify(h *jepsen.History, spec models.Spec, ops *models.Operations, order []int32) {
	witness := make([]jepsen.Operation, len(order))
	for i, row := range order {
		witness[i] = ops.Of[row]
	}
	if err := clew.Verify(h, spec, witness); err != nil {
		b.wrong++
	}
}

// mostOpen returns the largest number of operations that are open at once. It
// takes that many chains to cover them.
func mostOpen(c *models.Columns) int {
	most := 0
	for _, inv := range c.Inv {
		open := 0
		for i := range c.Inv {
			if c.Inv[i] <= inv && inv < c.Res[i] {
				open++
			}
		}
		most = max(most, open)
	}
	return most
}

// impossible is a model in which nothing can happen: no schedule is a witness.
type impossible struct{ models.Model }

func (impossible) Traits() *models.Traits { return &models.Traits{} }

func (impossible) Step(dst []models.State, _ models.State, _ models.Op) []models.State { return dst }
