// Command run is make campaign: it compares all engines on random histories for as long
// as it is told, unit by unit. Each unit that was finished is a line of the log, so a later
// run goes on with others; the table is of all of them.
//
//	go run ./internal/campaign/run -minutes 30 -log campaign.jsonl
//
// A mismatch is made as small as possible and written as a case for testdata/cases, with
// clew's answer yet to be filled in (go test -run TestCases -rewrite .).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"clew/internal/campaign"
	"clew/models"
)

// finished is a line of the log.
type finished struct {
	campaign.Unit
	campaign.Counts
}

func main() {
	minutes := flag.Float64("minutes", 3, "how long")
	seed := flag.Uint64("seed", 1, "the first unit of each configuration; the next ones count on")
	rounds := flag.Uint64("rounds", 0, "how many units of each configuration; 0: as many as there is time for")
	log := flag.String("log", "", "a file that keeps what was done, with which a run goes on")
	only := flag.String("only", "", "configurations whose names contain this")
	cases := flag.String("cases", "testdata/cases", "where mismatches are written")
	flag.Parse()
	debug.SetGCPercent(1000) // reading takes large buffers, however small the history
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(*minutes*float64(time.Minute)))
	defer cancel()
	var specs []models.Spec
	for _, s := range campaign.Configs() {
		if strings.Contains(campaign.Name(s), *only) {
			specs = append(specs, s)
		}
	}
	wrong, err := run(ctx, specs, *seed, *rounds, *log, *cases)
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(2)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, specs []models.Spec, seed, rounds uint64, log, cases string) (wrong int, err error) {
	fmt.Fprintf(os.Stderr, "campaign: %d configurations, units of %d histories, from seed %d\n", len(specs), campaign.Histories, seed)
	all := map[string]*campaign.Counts{}
	done := map[campaign.Unit]bool{}
	count := func(f finished) {
		done[f.Unit] = true
		if all[f.Config] == nil {
			all[f.Config] = &campaign.Counts{}
		}
		all[f.Config].Add(f.Counts)
	}
	to, err := open(log, count)
	if err != nil {
		return 0, err
	}
	defer to.Close()
	var mu sync.Mutex // of all that follows
	next := 0
	take := func() (models.Spec, campaign.Unit, bool) {
		mu.Lock()
		defer mu.Unlock()
		for ctx.Err() == nil && (rounds == 0 || uint64(next/len(specs)) < rounds) {
			spec := specs[next%len(specs)]
			u := campaign.Unit{Config: campaign.Name(spec), Seed: seed + uint64(next/len(specs))}
			if next++; !done[u] {
				return spec, u, true
			}
		}
		return models.Spec{}, campaign.Unit{}, false
	}
	finish := func(u campaign.Unit, c campaign.Counts, failed error) error {
		mu.Lock()
		defer mu.Unlock()
		if m := (*campaign.Mismatch)(nil); errors.As(failed, &m) {
			c.Mismatches++
			wrong++
			fmt.Printf("seed %d: %v\n", u.Seed, m)
			if err := writeCase(cases, u, m); err != nil {
				return err
			}
		}
		f := finished{u, c}
		count(f)
		line, err := json.Marshal(f)
		if err == nil {
			_, err = to.Write(append(line, '\n'))
		}
		return err
	}
	errs := make([]error, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for {
				spec, u, more := take()
				if !more {
					return
				}
				c, failed := u.Run(spec)
				if errs[i] = finish(u, c, failed); errs[i] != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	return wrong, errors.Join(append(errs, table(all))...)
}

// open opens the log to append to, after each of its lines has been counted.
func open(file string, count func(finished)) (*os.File, error) {
	if file == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var done finished
		if err := json.Unmarshal(lines.Bytes(), &done); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", file, err), f.Close())
		}
		count(done)
	}
	return f, lines.Err()
}

// writeCase writes a mismatch as a case that has no answer yet.
func writeCase(folder string, u campaign.Unit, m *campaign.Mismatch) error {
	if m.Text == "" {
		return nil // of several histories
	}
	name := fmt.Sprintf("campaign-%s-%d.txt", m.Spec.Name, u.Seed)
	text := fmt.Sprintf("# %s\ncheck %s\n%s----\n", strings.ReplaceAll(m.Err.Error(), "\n", "\n# "), campaign.Args(m.Spec), m.Text)
	fmt.Fprintln(os.Stderr, "campaign: written to", name)
	return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666)
}

// table prints all counts, by configuration and by what was compared.
func table(all map[string]*campaign.Counts) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "histories\tlinearizable\tnot\twith crashes\tby a fast path\tverdicts compared\twrong\t configuration")
	var sum campaign.Counts
	row := func(name string, c *campaign.Counts) {
		compared := 0
		for _, n := range c.Compared {
			compared += n
		}
		fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t %s\n", c.Valid+c.Invalid, c.Valid, c.Invalid, c.Crashed, c.Fast, compared, c.Mismatches, name)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row(name, all[name])
		sum.Add(*all[name])
	}
	row("all", &sum)
	fmt.Fprintln(out, "\t\t\t\t\t\t\t")
	for _, what := range slices.Sorted(maps.Keys(sum.Compared)) {
		fmt.Fprintf(out, "%d\t\t\t\t\t\t\t %s\n", sum.Compared[what], what)
	}
	return out.Flush()
}
