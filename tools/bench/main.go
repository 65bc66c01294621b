// Command bench measures clew on histories that it makes, and prints a table.
//
//	make bench-search
//	make bench-search ARGS="-limit 10s -only '^1k'"
//	make bench-search ARGS="-engines auto -before ../old/clew"
//
// It builds clew once and runs it as users do, in one process for each entry
// and one at a time. So the memory is that of one process, and a search that
// runs away does no harm. Entries over a limit say so. Only ratios within one
// run matter. It ends with status 1 if a verdict is wrong, or if two engines
// contradict each other.
//
// A new table needs one file with a function, and one line in tables.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
)

// tables has the functions that measure, by name.
var tables = map[string]func(*bench) error{
	"clients":   clients,
	"crashes":   crashes,
	"decided":   decided,
	"hitting":   measureHitting,
	"models":    measureModels,
	"porcupine": porcupine,
	"repeated":  repeated,
	"search":    search,
	"speed":     speed,
}

// bench is one run of this program.
type bench struct {
	ctx    context.Context
	limits bounds
	only   *regexp.Regexp // names of the rows to measure
	among  []string       // the engines to measure; nil: all of the table's
	before string         // another build of clew, to measure with each engine; "": none
	sizes  string         // for the table speed
	keep   string         // the table decided leaves its histories in this folder; "": none
	out    io.Writer      // for the table
	status io.Writer      // for progress; nil if nothing shows it
	clew   string         // the program
	dir    string         // for histories
	wrong  int            // wrong verdicts
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == peerCommand {
		return checkPeer(args[1:])
	}
	if len(args) > 0 && args[0] == stagesCommand {
		return measureStages(args[1:])
	}
	names := strings.Join(slices.Sorted(maps.Keys(tables)), ", ")
	flags := flag.NewFlagSet("bench TABLE [flags], where TABLE is one of "+names, flag.ExitOnError)
	limit := flags.Duration("limit", time.Minute, "give up on an entry after this time")
	gigabytes := flags.Int64("memory", 8, "give up on an entry that takes this many gigabytes")
	only := flags.String("only", "", "measure only rows whose name matches this `pattern`")
	among := flags.String("engines", "", "measure only these of the table's engines, `a,b`")
	before := flags.String("before", "", "measure each engine of another build of clew, a `PROGRAM`, right before the same engine")
	sizes := flags.String("sizes", "10k,1M", "how many operations the histories of the table speed have")
	keep := flags.String("keep", "", "leave the histories of the table decided in this `FOLDER`, and do not check them")
	if len(args) == 0 || tables[args[0]] == nil {
		return fmt.Errorf("which table: %s?", names)
	}
	flags.Parse(args[1:])
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "clew-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, limits: bounds{*limit, *gigabytes << 30}, only: pattern, out: os.Stdout, dir: dir, sizes: *sizes, before: *before, keep: *keep}
	if *among != "" {
		b.among = strings.Split(*among, ",")
	}
	if isatty.IsTerminal(os.Stderr.Fd()) {
		b.status = os.Stderr
	}
	if b.clew, err = buildClew(ctx, dir); err != nil {
		return err
	}
	if err := tables[args[0]](b); err != nil {
		return err
	}
	if b.wrong > 0 {
		return fmt.Errorf("%d verdicts are wrong", b.wrong)
	}
	return nil
}

// buildClew builds clew into a folder.
func buildClew(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "clew")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "clew/cmd/clew").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// progress shows what is going on now.
func (b *bench) progress(format string, args ...any) {
	if b.status != nil {
		fmt.Fprintf(b.status, "\r\033[K"+format, args...)
	}
}
