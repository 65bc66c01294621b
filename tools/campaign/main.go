// Command campaign compares all engines on random histories until its time is up, unit by
// unit. Each finished unit is a line of the log, so a later run goes on with others; the
// table covers all of them.
//
//	make campaign MINUTES=30
//	make campaign ARGS=-report
//	make campaign ARGS="-only 'stack, knossos' -seed 17 -rounds 1"
//
// The second command prints the tables of docs/trust.md, and the third repeats a unit. A
// mismatch is made as small as possible and written as a case for testdata/cases. clew's
// answer is still to be filled in (go test -run TestCases ./internal/tests/explanations -rewrite).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"clew/internal/campaign"
)

// finished is a line of the log.
type finished struct {
	campaign.Unit
	Model  string
	Commit string // of clew
	campaign.Counts
}

// memory is what the process should take. Beyond that, it collects garbage more often.
const memory = 512 << 20

func main() {
	minutes := flag.Float64("minutes", 3, "how long")
	seed := flag.Uint64("seed", 1, "the first unit of each configuration; the next ones count on")
	rounds := flag.Uint64("rounds", 0, "how many units of each configuration; 0: as many as there is time for")
	log := flag.String("log", "", "a file that keeps what was done, with which a run goes on")
	only := flag.String("only", "", "configurations whose names contain this")
	cases := flag.String("cases", "testdata/cases", "where mismatches are written")
	models := flag.String("models", "testdata/models", "where the model files are")
	report := flag.Bool("report", false, "print the tables of the log as Markdown, and do nothing else")
	flag.Parse()
	debug.SetGCPercent(1000) // reading takes large buffers, however small the history
	debug.SetMemoryLimit(memory)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(*minutes*float64(time.Minute)))
	defer cancel()
	r := &runner{commit: commit(), seed: *seed, rounds: *rounds, cases: *cases, done: map[campaign.Unit]bool{}}
	err := r.open(*log)
	if err == nil && *report {
		fail(r.tally.markdown(os.Stdout))
		return
	}
	fail(err)
	all, err := campaign.All(*models)
	fail(err)
	for _, c := range all {
		if strings.Contains(c.Name, *only) {
			r.configs = append(r.configs, c)
		}
	}
	fail(r.run(ctx))
	if r.wrong > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "campaign:", err)
		os.Exit(2)
	}
}

// commit returns the current commit, or "" if it is not known.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// runner runs units.
type runner struct {
	configs      []campaign.Config
	seed, rounds uint64
	commit       string
	cases        string
	log          *os.File

	mu    sync.Mutex // guards all fields below
	next  int
	done  map[campaign.Unit]bool
	tally tally
	wrong int
}

// open opens the log to append to, after counting each of its lines.
func (r *runner) open(file string) (err error) {
	if file == "" {
		file = os.DevNull
	}
	if r.log, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666); err != nil {
		return err
	}
	lines := bufio.NewScanner(r.log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var f finished
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", file, err), r.log.Close())
		}
		r.count(f)
	}
	return lines.Err()
}

func (r *runner) count(f finished) {
	r.done[f.Unit] = true
	r.tally.add(f)
}

// take returns the next unit to run.
func (r *runner) take(ctx context.Context) (c campaign.Config, u campaign.Unit, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ctx.Err() == nil && len(r.configs) > 0 {
		round := uint64(r.next / len(r.configs))
		if r.rounds > 0 && round >= r.rounds {
			break
		}
		c = r.configs[r.next%len(r.configs)]
		u = campaign.Unit{Config: c.Name, Seed: r.seed + round}
		if r.next++; !r.done[u] {
			return c, u, true
		}
	}
	return c, u, false
}

// finish counts a unit, and writes it to the log.
func (r *runner) finish(c campaign.Config, u campaign.Unit, counts campaign.Counts, failed error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := (*campaign.Mismatch)(nil); errors.As(failed, &m) {
		counts.Mismatches++
		r.wrong++
		fmt.Printf("seed %d of %s: %v\n", u.Seed, u.Config, m)
		if err := writeCase(r.cases, u, m); err != nil {
			return err
		}
	} else if failed != nil {
		return failed
	}
	f := finished{u, c.Model, r.commit, counts}
	r.count(f)
	line, err := json.Marshal(f)
	if err == nil {
		_, err = r.log.Write(append(line, '\n'))
	}
	return err
}

// run runs units until the context ends.
func (r *runner) run(ctx context.Context) error {
	histories := 0
	for _, c := range r.configs {
		histories += c.Histories
	}
	fmt.Fprintf(os.Stderr, "campaign: %d configurations with a unit each are %d histories; from seed %d\n", len(r.configs), histories, r.seed)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for {
				c, u, more := r.take(ctx)
				if !more {
					return
				}
				counts, failed := u.Run(c)
				if errs[i] = r.finish(c, u, counts, failed); errs[i] != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	return errors.Join(append(errs, r.tally.text(os.Stdout), r.log.Close())...)
}

// writeCase writes a mismatch as a case without an answer.
func writeCase(folder string, u campaign.Unit, m *campaign.Mismatch) error {
	name := fmt.Sprintf("campaign-%s-%d.txt", strings.NewReplacer(",", "", " ", "-").Replace(u.Config), u.Seed)
	args := campaign.Args(m.Spec)
	if m.Keys {
		args += " independent=true"
	}
	text := fmt.Sprintf("# %s\ncheck %s\n%s----\n", strings.ReplaceAll(m.Err.Error(), "\n", "\n# "), args, m.Text)
	fmt.Fprintln(os.Stderr, "campaign: written to", name)
	return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666)
}
