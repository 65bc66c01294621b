// Clew-beam checks the histories of a store as an Apache Beam job, on one machine or on many. It prints the summary
// and exits as clew check does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"clew/contrib/beam/pipeline"
	"clew/internal/memory"
)

const usage = `Usage: clew-beam [flags] --output FILE GLOB...

Checks every history that the globs match, on any file system that Beam has (local,
gs://, s3://), and writes a line of JSON for each, as clew check --output json does,
in no order. A glob names files: of those that a store has, histories are chosen as
clew check chooses them; archives are unpacked.

Examples:
   clew-beam --output results.json 'store/*/*/*'
   clew-beam --independent --output results.json --summary summary.json history.edn
   clew-beam --runner dataflow --project P --region R --staging_location gs://B/staging \
     --output gs://B/results.json 'gs://B/store/*/*/*'

Exit status: 0 all valid, 1 some invalid, 2 some unknown, or a runner that
gives no counts, 254 bad arguments, a glob
that matches no history, or a job that failed; the first that applies of 1, 254, 2, 0.

Flags (Beam's own ones are listed, too):
`

// params lists the parameters of the model, by the names of clew check's flags.
var params = []string{"model", "init", "nil-reads", "failed-cas", "priority", "permits", "max-holds", "threads", "ids",
	"negative-balances", "answers", "kv-keys", "accounts", "semantics", "position", "positions"}

func main() {
	status, err := run(context.Background(), os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "clew-beam:", err)
	}
	os.Exit(status)
}

// badUse is the exit status of bad arguments and of a failed job.
const badUse = 254

func run(ctx context.Context, args []string, stdout io.Writer) (int, error) {
	output := flag.String("output", "", "write the JSON lines to `FILE`")
	summary := flag.String("summary", "", "write how many histories have each verdict to `FILE`, as JSON")
	modelFile := flag.String("model-file", "", "a model of your own: a `FILE` in Starlark")
	o := pipeline.Options{Params: map[string]string{}}
	for _, name := range params {
		flag.Func(name, "as clew check --"+name, func(value string) error {
			o.Params[name] = value
			return nil
		})
	}
	flag.BoolVar(&o.Independent, "independent", false, "values are [key value]: each key is checked by itself")
	keyless := flag.String("keyless", "error", "how --independent treats an operation without a key: as an `error`, or as part of every key (every)")
	clients := flag.String("clients", "integers", "which processes are clients: those that are `integers`, or all but :nemesis (all)")
	flag.StringVar(&o.Algorithm, "algorithm", "auto", "the `ENGINE`, as clew check --algorithm")
	flag.DurationVar(&o.TimeLimit, "time-limit", time.Minute, "how long a history, or a key, may take: `DURATION`; 0 is no limit")
	limit := flag.String("memory-limit", "1GB", "how much memory a history, or a key, may take: `SIZE`, such as 512MB")
	flag.BoolVar(&o.Verify, "verify", false, "check the evidence again")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.CommandLine.Init("clew-beam", flag.ContinueOnError) // bad arguments have our exit status
	if err := flag.CommandLine.Parse(args); err == flag.ErrHelp {
		return 0, nil
	} else if err != nil {
		return badUse, err
	}
	beam.Init()
	o.Inputs = flag.Args()
	var err error
	if o.Keyless, err = either("keyless", *keyless, "error", "every"); err != nil {
		return badUse, err
	}
	if o.AllClients, err = either("clients", *clients, "integers", "all"); err != nil {
		return badUse, err
	}
	if o.MemoryLimit, err = memory.Limit(*limit); err != nil {
		return badUse, err
	}
	if *modelFile != "" {
		text, err := os.ReadFile(*modelFile)
		if err != nil {
			return badUse, err
		}
		o.ModelFile, o.ModelText = *modelFile, string(text)
	}
	if *output == "" {
		return badUse, fmt.Errorf("expected --output FILE, where the lines go")
	}
	if err := o.Validate(); err != nil {
		return badUse, err
	}
	if err := pipeline.CheckInputs(ctx, o.Inputs); err != nil {
		return badUse, err
	}
	p, s := beam.NewPipelineWithRoot()
	pipeline.Write(s, pipeline.Check(s, o), *output, *summary)
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return badUse, err
	}
	return report(counts(result), stdout), nil
}

// either reports whether the value of a flag is the second of two. Any other value is an error.
func either(flag, value, first, second string) (bool, error) {
	if value != first && value != second {
		return false, fmt.Errorf("--%s must be %s or %s, not %q", flag, first, second, value)
	}
	return value == second, nil
}

// counts returns the metrics of a job by name, or none if the runner does not give them.
func counts(result beam.PipelineResult) map[string]int64 {
	count := map[string]int64{}
	if result == nil {
		return count
	}
	for _, c := range result.Metrics().Query(func(r beam.MetricResult) bool { return r.Namespace() == "clew" }).Counters() {
		count[c.Name()] += c.Result()
	}
	return count
}

// report prints the counts of a job, and returns the exit status. Without counts the verdicts are unknown here: they
// are in the output.
func report(count map[string]int64, stdout io.Writer) int {
	if count["valid"]+count["invalid"]+count["unknown"] == 0 {
		fmt.Fprintln(stdout, "the runner returned no counts; the verdicts are in the output")
		return 2
	}
	fmt.Fprintf(stdout, "%d valid, %d invalid, %d unknown\n", count["valid"], count["invalid"], count["unknown"])
	switch {
	case count["invalid"] > 0:
		return 1
	case count["unknown"] > 0:
		return 2
	}
	return 0
}
