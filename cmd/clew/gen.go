package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"clew/internal/batch"
	"clew/internal/files"
	"clew/internal/gen"
	"clew/internal/limits"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

const genHelp = `Writes a random history of a model as Jepsen would, and says whether it is
linearizable, in a comment at the end and in the FILE of --promise:

   ; clew gen: valid; clew check --model register
   ; clew gen: invalid, the completion at :index 1612 cannot happen; clew check ..
   {:valid? false, :index 1612, :bug :stale-read, :check ["--model" "register" "--init" "nil"]}

The verdict is known by construction: operations take effect at instants between
their invocations and their completions, except for the bug, which cannot be
explained. The same flags make the same history. It is never held in memory, so it
may have up to 1,000,000,000 operations.

The bugs, and the models that have them:
%s
The promise of such an anomaly also has the :strongest levels of consistency that hold.

With --crash-rate, operations end in :info, and their processes go on under other
numbers. Some of these operations take effect, perhaps much later, and some never
do. An operation that could explain the bug does not crash, such as a dequeue
before a lost-write.

Examples:
   clew gen --model register --operations 100000 | clew check --model register -
   clew gen --model stack --bug reordered --bug-at 0.5 -o history.edn
   clew gen --model cas-register --values 5 --crash-rate 0.01 --processes 30
   clew gen --model lookup-set --keys 100 --operations 50000 --promise said.edn
   clew gen --model fifo-queue | clew convert --to fastlin -
   clew gen --model etcd --leases 0 --watches 0.1 --form etcd -o report

Exit status: 0, or 254 for bad arguments, or if the history cannot be written or
a signal came first.`

func genCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "gen",
		Usage:       "write a random history whose verdict is known",
		Description: fmt.Sprintf(genHelp, bugTable()),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Usage: "the `MODEL` (clew models lists them)"},
			&cli.IntFlag{Name: "operations", Value: 1000, Usage: "write `N` operations, and those of the bug"},
			&cli.IntFlag{Name: "processes", Value: 5, Usage: "`P` processes at a time"},
			&cli.IntFlag{Name: "values", DefaultText: "every write has its own", Usage: "write `V` different values"},
			&cli.Float64Flag{Name: "crash-rate", Usage: "this share of the operations ends in :info: a `RATE` from 0 to 1"},
			&cli.Float64Flag{Name: "fail-rate", Usage: "this share of the operations that change something ends in :fail: a `RATE` from 0 to 1"},
			&cli.StringFlag{Name: "bug", Value: gen.Linearizable.String(), Usage: "the `KIND` of bug"},
			&cli.Float64Flag{Name: "bug-at", Value: 0.8, Usage: "the place of the bug: a `FRACTION` of the history from 0 to 1"},
			&cli.IntFlag{Name: "keys", DefaultText: "none", Usage: "`K` independent keys: values are [key value], a key has five processes at a time and one key has the bug; with positions, K keys that have one order"},
			&cli.IntFlag{Name: "txn-keys", Value: 3, Usage: "multi-register: transactions on `K` keys"},
			&cli.IntFlag{Name: "txn-steps", Value: 2, Usage: "multi-register: transactions of up to `N` reads and writes"},
			&cli.IntFlag{Name: "permits", DefaultText: "none", Usage: "a semaphore has `K` permits; required for semaphores"},
			&cli.StringFlag{Name: "position", DefaultText: "none", Usage: "completions say under `KEY` where they stand in the order of updates, such as revision"},
			&cli.StringFlag{Name: "positions", Value: "dense", Usage: "`dense|sparse`: every update adds one to the position, or more"},
			&cli.IntFlag{Name: "leases", Value: 2, Usage: "etcd: `N` leases; 0: none"},
			&cli.Float64Flag{Name: "watches", Value: 0.025, Usage: "etcd: this `SHARE` of the operations are watches, from 0 to 0.5"},
			&cli.StringFlag{Name: "form", Value: string(forms.EDN), Usage: "`edn|etcd`: a history, or a report of etcd's robustness tests, with -o as its new folder"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "another `SEED` makes another history"},
			&cli.StringFlag{Name: "o", Value: "-", DefaultText: "standard output", Usage: "write to `FILE`; - is standard output"},
			&cli.StringFlag{Name: "promise", DefaultText: "none", Usage: "write the verdict to `FILE`, as EDN"},
		},
		Action: func(c *cli.Context) error {
			o, err := genOptions(c)
			if err != nil {
				return err
			}
			out := c.String("o")
			if o.Plain {
				return genReport(c, o)
			}
			history, promise := files.To(out, stdout, stderr), (*files.Output)(nil)
			if c.IsSet("promise") {
				promise = files.To(c.String("promise"), stdout, stderr)
				if promise.Same(history) {
					return fmt.Errorf("-o and --promise both go to %s; expected a file for each", c.String("promise"))
				}
				if err := batch.Alien("--promise "+c.String("promise"), promise, nil, history); err != nil {
					return err
				}
				if err := batch.Foreign("--promise "+c.String("promise"), promise, promiseHead); err != nil {
					return err
				}
				if err := promise.Probe(); err != nil {
					return fmt.Errorf("--promise %s: %w", c.String("promise"), err)
				}
			}
			if err := batch.Alien("-o "+out, history, nil); err != nil {
				return err
			}
			ignorePipes()
			fail, err := generate(c.Context, history, o)
			if out == "-" && promise == nil && files.IsClosed(err) { // such as head
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", map[bool]string{true: "standard output", false: "-o " + out}[out == "-"], err)
			}
			if promise == nil {
				return nil
			}
			err = promise.Write(func(w io.Writer) error { _, err := fmt.Fprintln(w, promised(o, fail)); return err })
			if err != nil {
				return fmt.Errorf("--promise %s: %w", c.String("promise"), err)
			}
			return nil
		},
	}
}

// bugTable says which bugs there are, and which models have them.
func bugTable() string {
	var b strings.Builder
	for _, kind := range gen.LongKinds() {
		if gen.Strongest(kind) != nil {
			continue
		}
		fmt.Fprintf(&b, "   %-16s %s\n", kind, kind.About())
		line := ""
		for _, m := range gen.ModelsOf(kind) {
			if len(line)+len(m) > 58 {
				fmt.Fprintf(&b, "%19s%s\n", "", line)
				line = ""
			}
			line += " " + m
		}
		if line != "" {
			fmt.Fprintf(&b, "%19s%s\n", "", line)
		}
	}
	b.WriteString("\nAnomalies of transactions, by the names in docs/transactions.md:\n")
	for _, kind := range gen.LongKinds() {
		if gen.Strongest(kind) == nil {
			continue
		}
		fmt.Fprintf(&b, "   %-28s %s\n%31s %s\n", kind, kind.About(), "", strings.Join(gen.ModelsOf(kind), " "))
	}
	return b.String()
}

// genOptions returns what the flags say.
func genOptions(c *cli.Context) (gen.LongOptions, error) {
	o := gen.LongOptions{Model: c.String("model"), Operations: c.Int("operations"), Processes: c.Int("processes"), Values: c.Int("values"),
		Independent: c.Int("keys"), Permits: c.Int("permits"), Crashes: c.Float64("crash-rate"), Fails: c.Float64("fail-rate"),
		At: max(c.Float64("bug-at"), 1e-9), Position: strings.TrimPrefix(c.String("position"), ":"), Seed: c.Uint64("seed")}
	if c.NArg() > 0 {
		return o, fmt.Errorf("gen takes no arguments, but found %s; clew gen --help shows how", c.Args().First())
	}
	if o.Model == "" {
		return o, errors.New("gen needs --model; clew models lists them")
	}
	if c.IsSet("txn-keys") {
		o.Keys = c.Int("txn-keys")
	}
	if c.IsSet("txn-steps") {
		o.Steps = c.Int("txn-steps")
	}
	if gen.OneOrder(o.Model, o.Position) {
		o.Keys, o.Independent = o.Independent, 0
	}
	if err := etcdOptions(c, &o); err != nil {
		return o, err
	}
	spec := models.Spec{Name: o.Model, Permits: o.Permits, Position: o.Position}
	if err := spec.Set(models.ParamPositions, c.String("positions")); err != nil {
		return o, err
	}
	o.Sparse = spec.SparsePositions
	if err := spec.Check(); err != nil {
		return o, err
	}
	for _, n := range []struct {
		flag        string
		least, most int
	}{{"operations", 1, 1e9}, {"processes", 1, 1e6}, {"values", 0, 1e9}, {"keys", 0, 1e9}, {"txn-keys", 1, 1e6}, {"txn-steps", 1, 1e3}, {"permits", 1, 1e6}} {
		if x := c.Int(n.flag); c.IsSet(n.flag) && (x < n.least || x > n.most) {
			return o, fmt.Errorf("--%s must be a number from %d to %d, not %d", n.flag, n.least, n.most, x)
		}
	}
	for _, flag := range []string{"crash-rate", "fail-rate", "bug-at"} {
		if x := c.Float64(flag); !(x >= 0 && x <= 1) {
			return o, fmt.Errorf("--%s must be a number from 0 to 1, not %v", flag, x)
		}
	}
	var known bool
	if o.Kind, known = gen.KindNamed(c.String("bug")); !known {
		return o, fmt.Errorf("--bug must be %s, not %q", text.OneOf(append([]string{gen.Linearizable.String()}, kindNames(gen.KindsOf(o.Model))...)), c.String("bug"))
	}
	return o, o.Check()
}

// etcdOptions sets what the flags of etcd say.
func etcdOptions(c *cli.Context, o *gen.LongOptions) error {
	n, share, form := c.Int("leases"), c.Float64("watches"), forms.Form(c.String("form"))
	switch {
	case n < 0 || n > 1e6:
		return fmt.Errorf("--leases must be a number from 0 to 1000000, not %d", n)
	case !(share >= 0 && share <= 0.5):
		return fmt.Errorf("--watches must be a number from 0 to 0.5, not %v", share)
	case form != forms.EDN && form != forms.Etcd:
		return fmt.Errorf("--form must be edn or etcd, not %q", form)
	}
	if c.IsSet("leases") {
		o.Leases = cmp.Or(n, -1)
	}
	if c.IsSet("watches") {
		o.Watches = cmp.Or(share, -1)
	}
	o.Plain = form == forms.Etcd
	return nil
}

// genReport writes a report of etcd's robustness tests into a new folder.
func genReport(c *cli.Context, o gen.LongOptions) error {
	dir := c.String("o")
	switch {
	case dir == "-" || dir == "":
		return errors.New("--form etcd needs -o with the folder of the report")
	case c.IsSet("promise"):
		return errors.New("--promise says an :index, which a report of --form etcd does not have; expected no --promise")
	}
	var text bytes.Buffer
	if _, err := gen.Long(&text, o); err != nil {
		return err
	}
	h, err := forms.Read(&text, "the history", jepsen.Options{})
	if err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("-o %s: the folder is not empty; expected a new one", dir)
	}
	err = forms.EtcdReport(h, o.Processes, func(name string) (io.WriteCloser, error) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		return os.Create(path)
	})
	if err != nil {
		return fmt.Errorf("-o %s: %w", dir, err)
	}
	return nil
}

// generate writes a history, and a comment that says what is certain about it. A file is written whole or not at all.
func generate(ctx context.Context, to *files.Output, o gen.LongOptions) (fail int, err error) {
	if err := to.Probe(); err != nil {
		return 0, err
	}
	err = batch.UnlessBlocked(ctx, func() error {
		return to.Write(func(w io.Writer) error {
			out := bufio.NewWriter(limits.Writer(ctx, w))
			n, err := gen.Long(out, o)
			if err != nil {
				return err
			}
			fail = n
			said := "valid"
			if fail >= 0 {
				said = fmt.Sprintf("invalid, the completion at :index %d cannot happen", fail)
			}
			fmt.Fprintf(out, "; clew gen: %s; clew check %s\n", said, strings.Join(quoted(o.Flags()), " "))
			return out.Flush()
		})
	})
	return fail, err
}

// quoted returns arguments as a shell takes them.
func quoted(args []string) []string {
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = text.ShellWord(arg)
	}
	return list
}

// promised returns what is certain about a history, as EDN.
func promised(o gen.LongOptions, fail int) string {
	check := fmt.Sprintf(":check %q}", o.Flags())
	if levels := gen.Strongest(o.Kind); levels != nil {
		check = fmt.Sprintf(":strongest %s, %s", keywords(levels), check)
	}
	switch {
	case fail < 0:
		return "{:valid? true, " + check
	case o.Independent > 0:
		return fmt.Sprintf("{:valid? false, :index %d, :key %d, :bug :%s, %s", fail, o.FailingKey(), o.Kind, check)
	}
	return fmt.Sprintf("{:valid? false, :index %d, :bug :%s, %s", fail, o.Kind, check)
}

// promiseHead begins a promise.
const promiseHead = "{:valid? "

func keywords(levels []models.Level) string {
	words := make([]string, len(levels))
	for i, l := range levels {
		words[i] = ":" + string(l)
	}
	return "[" + strings.Join(words, " ") + "]"
}
