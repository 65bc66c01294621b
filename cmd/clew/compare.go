package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/files"
	"clew/jepsen"
	"clew/jepsen/store"
	"clew/models"
	"clew/report"
)

const compareHelp = `Checks histories again and says whether clew agrees with what Knossos said of
them: with every linearizability result in the results.edn beside a history.edn,
whatever its checker is called, of each independent key too; or with a table of
verdicts. A failure agrees if the failing operation is the same. Where they
disagree, clew shows its evidence, verified, and the known difference if one
explains it.

A PATH is a history or a directory, as for clew check. Without --model the model
is the one that the results show, else it is inferred.

--knossos CMD is run for histories without results, by sh, with --model MODEL
FILE appended. It prints Knossos's result map, or a line "FILE<TAB>true" as
Knossos's own command line does. It gets twice the time limit, or 10 minutes.

--verdicts TABLE has columns parted by tabs: file, verdict, and where its first
line names them model (cas-register:0 is one from 0), algo, ms and fail_index.
Files are below PATH, or beside the table.

Examples:
   clew compare store/
   clew compare --knossos ./knossos.sh old-histories/
   clew compare --verdicts verdicts.tsv histories/
   clew compare --output json store/ | jq -r 'select(.agreement == "DISAGREE") | .file'

Exit status: 0 nothing disagrees, 1 some disagreement, 2 nothing comparable, 254
bad arguments or unreadable input.`

func compareCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "compare",
		Usage:       "compare with Knossos's results",
		ArgsUsage:   "PATH...",
		Description: compareHelp,
		Flags: append(modelFlags(),
			&cli.StringFlag{Name: "models", Usage: "which model each test of a store has: an EDN map in `FILE`, as for clew check"},
			&cli.StringFlag{Name: "knossos", Usage: "run `CMD` for histories without results"},
			&cli.StringFlag{Name: "verdicts", Usage: "compare with the verdicts in a `TABLE`"},
			algorithmFlag(), depthFlag(), timeLimitFlag(), memoryLimitFlag(),
			&cli.StringFlag{Name: "output", Value: "text", Usage: "`FORMAT`: text or json (one comparison a line)"},
		),
		Action: func(c *cli.Context) error {
			k, err := newComparer(c, stdout, stderr)
			if err != nil {
				return err
			}
			*status, err = k.run(c.Context)
			return err
		},
	}
}

// comparer is one run of clew compare.
type comparer struct {
	spec           models.Spec
	models         storeModels
	options        clew.Options
	knossos        string
	json           bool
	items          []comparable
	stdout, stderr io.Writer
	progress       *progress
}

// comparable is a history, and what a table says of it.
type comparable struct {
	job
	claims []store.Claim // nil: what its results.edn says
}

func newComparer(c *cli.Context, stdout, stderr io.Writer) (*comparer, error) {
	spec, err := modelSpec(c)
	if err != nil {
		return nil, err
	}
	k := &comparer{spec: spec, knossos: c.String("knossos"), json: c.String("output") == "json", stdout: stdout, stderr: stderr}
	if k.options, err = searchOptions(c); err != nil {
		return nil, err
	}
	switch output := c.String("output"); {
	case output != "text" && output != "json":
		return nil, fmt.Errorf("--output is text or json, not %q", output)
	case c.IsSet("verdicts") && k.knossos != "":
		return nil, errors.New("--verdicts and --knossos do not go together")
	case c.IsSet("verdicts") && c.NArg() > 1:
		return nil, errors.New("--verdicts goes with at most one folder of histories")
	case !c.IsSet("verdicts") && !c.Args().Present():
		return nil, errors.New("no history given; clew compare --help shows how")
	}
	if file := c.String("models"); file != "" {
		if k.models, err = readStoreModels(file, c); err != nil {
			return nil, err
		}
	}
	if c.IsSet("verdicts") {
		return k, k.table(c.String("verdicts"), c.Args().First())
	}
	for _, path := range c.Args().Slice() {
		if err := k.find(path); err != nil {
			return nil, err
		}
	}
	var jobs []*job
	for i := range k.items {
		jobs = append(jobs, &k.items[i].job)
	}
	return k, k.models.unused(jobs)
}

// find adds the histories below a path.
func (k *comparer) find(path string) error {
	if path == "-" {
		return errors.New("compare reads results beside histories in files, not standard input (-)")
	}
	found, err := store.Find(path)
	if err != nil {
		return err
	}
	for _, s := range found {
		if s.Member() {
			return fmt.Errorf("%s: compare reads directories, not archives; unpack it first", path)
		}
		k.add(s, nil)
	}
	return nil
}

func (k *comparer) add(s store.Source, claims []store.Claim) {
	x := comparable{job{Source: s, spec: k.spec, independent: k.options.Independent}, claims}
	if m, ok := k.models[s.Test]; ok && s.Stored {
		x.spec, x.independent = m.spec, m.independent
	}
	k.items = append(k.items, x)
}

// table adds the histories of a table, in its order, each once.
func (k *comparer) table(path, dir string) error {
	f, err := files.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := store.ReadTable(f, path)
	if err != nil {
		return err
	}
	if dir == "" {
		dir = filepath.Dir(path)
	}
	at := map[string]int{}
	for _, row := range rows {
		i, seen := at[row.File]
		if !seen {
			i = len(k.items)
			at[row.File] = i
			k.add(store.Source{Path: filepath.Join(dir, row.File)}, []store.Claim{})
		}
		k.items[i].claims = append(k.items[i].claims, row.Claim)
	}
	return nil
}

// compared is what became of a history: a line or more for each claim.
type compared struct {
	lines []string
	count map[clew.Agreement]int
	times [2]float64 // Knossos's and ours, of claims with a time
	err   error
	bug   string // clew panicked
}

// run compares every history and prints the answers in order. It returns the
// exit status.
func (k *comparer) run(ctx context.Context) (int, error) {
	k.progress = newProgress(k.stderr, len(k.items))
	defer k.progress.stop()
	total := compared{count: map[clew.Agreement]int{}}
	unreadable, bugs := 0, 0
	var failed error
	inOrder(len(k.items), nil, func(i int) (c compared) {
		defer func() {
			if p := recover(); p != nil {
				c.bug = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
		}()
		return k.compare(ctx, &k.items[i])
	}, func(i int, x compared) bool {
		k.progress.clear()
		if x.bug != "" {
			bugs++
			reportBug(k.stderr, k.items[i].Path+": "+x.bug)
		}
		if x.err != nil {
			unreadable++
			fmt.Fprintln(k.stderr, "clew:", x.err)
		}
		for _, line := range x.lines {
			if _, failed = io.WriteString(k.stdout, line); failed != nil {
				return false
			}
		}
		for a, n := range x.count {
			total.count[a] += n
		}
		total.times[0] += x.times[0]
		total.times[1] += x.times[1]
		k.progress.file()
		return true
	})
	if failed != nil {
		return 0, failed
	}
	if !k.json {
		k.progress.stop()
		n := total.count
		s := fmt.Sprintf("%d results: %d agree, %d disagree, %d unknown to knossos, %d not comparable",
			n[clew.Agree]+n[clew.Disagree]+n[clew.KnossosUnknown]+n[clew.NotComparable],
			n[clew.Agree], n[clew.Disagree], n[clew.KnossosUnknown], n[clew.NotComparable])
		if total.times[0] > 0 {
			s += fmt.Sprintf("; knossos took %.0f ms, clew %.0f ms", total.times[0], total.times[1])
		}
		fmt.Fprintln(k.stdout, s)
	}
	switch {
	case bugs > 0:
		return exitBug, nil
	case total.count[clew.Disagree] > 0:
		return exitInvalid, nil
	case unreadable > 0:
		return exitUsage, nil
	case total.count[clew.Agree] == 0:
		return exitUnknown, nil
	}
	return exitValid, nil
}

// compare compares one history with what is claimed of it.
func (k *comparer) compare(ctx context.Context, x *comparable) (c compared) {
	c.count = map[clew.Agreement]int{}
	h, err := x.Read(readOptions(x.spec))
	if err != nil {
		c.err = err
		return c
	}
	claims := x.claims
	if claims == nil {
		if claims, err = k.results(ctx, x, h); err != nil {
			c.err = err
			return c
		}
	}
	if len(claims) == 0 {
		none := clew.Comparison{Why: "there is no result of a linearizability checker in a results.edn beside it"}
		c.count[none.Agreement]++
		c.lines = append(c.lines, k.line(x, h, none))
		return c
	}
	o := k.options
	o.Independent = x.independent
	all, err := clew.Compare(ctx, h, x.spec, o, claims)
	if err != nil {
		c.err = err
		return c
	}
	for _, one := range all {
		one.Why = asFlags(one.Why)
		c.count[one.Agreement]++
		c.lines = append(c.lines, k.line(x, h, one))
		if one.Result != nil && one.Claim.Ms > 0 {
			c.times[0] += one.Claim.Ms
			c.times[1] += one.Result.Ms
		}
	}
	return c
}

// results is what the results.edn beside a history says, or Knossos itself.
func (k *comparer) results(ctx context.Context, x *comparable, h *jepsen.History) ([]store.Claim, error) {
	path := filepath.Join(filepath.Dir(x.Path), "results.edn")
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		claims, err := store.ReadClaims(f, path, h.Values, models.OfRecord)
		if err != nil || len(claims) > 0 {
			return claims, err
		}
	}
	if k.knossos == "" {
		return nil, nil
	}
	return k.runKnossos(ctx, x, h)
}

// knossosTime is what Knossos gets where there is no time limit.
const knossosTime = 10 * time.Minute

// runKnossos has Knossos check a history. A command that fails, or says nothing
// that can be understood, is an error; one that takes too long is a claim of
// unknown.
func (k *comparer) runKnossos(ctx context.Context, x *comparable, h *jepsen.History) ([]store.Claim, error) {
	spec := x.spec
	if spec.Name == "" {
		name, err := models.Infer(h)
		if err != nil {
			return nil, located(h, err)
		}
		spec.Name = name
	}
	limit := knossosTime
	if k.options.TimeLimit > 0 {
		limit = 2 * k.options.TimeLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", k.knossos+` "$@"`, "sh", "--model", spec.Name, x.Path)
	endWholeGroup(cmd)
	start := time.Now()
	out, err := cmd.Output()
	claim := store.Claim{Checker: "--knossos", Model: spec.Name, Ms: float64(time.Since(start).Microseconds()) / 1000}
	if ctx.Err() != nil {
		return []store.Claim{claim}, nil
	}
	if claims, mapErr := store.ReadClaims(strings.NewReader(string(out)), x.Path, h.Values, models.OfRecord); mapErr == nil && len(claims) == 1 {
		claims[0].Checker, claims[0].Ms = claim.Checker, claim.Ms
		return claims, nil
	}
	for line := range strings.Lines(string(out)) {
		_, verdict, tab := strings.Cut(strings.TrimSpace(line), "\t")
		switch verdict = strings.TrimSpace(verdict); {
		case tab && verdict == "true":
			claim.Verdict = jepsen.Valid
		case tab && verdict == "false":
			claim.Verdict = jepsen.Invalid
		case !tab || verdict != ":unknown" && verdict != "unknown":
			continue
		}
		return []store.Claim{claim}, nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: --knossos: %w: %s", x.Path, err, firstLine(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: --knossos: %w", x.Path, err)
	}
	return nil, fmt.Errorf("%s: --knossos: expected a result map or FILE<TAB>true, found %q", x.Path, firstLine(string(out)))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 100 {
		s = s[:100]
	}
	return s
}

// line shows a comparison.
func (k *comparer) line(x *comparable, h *jepsen.History, c clew.Comparison) string {
	if k.json {
		return k.jsonLine(x, h, c)
	}
	s := fmt.Sprintf("%-15s  %s", c.Agreement, x.Path)
	if c.Claim.Checker != "" {
		s += "  " + c.Claim.Checker
	}
	if c.Claim.IsKey {
		s += "  key " + h.Values.Text(c.Claim.Key)
	}
	switch c.Agreement {
	case clew.Agree:
		s += "  " + claimed(c.Claim)
	case clew.KnossosUnknown:
		s += "  clew says " + found(c.Result)
	}
	if c.Claim.Ms > 0 && c.Result != nil {
		s += fmt.Sprintf("  (knossos %.0f ms, clew %.1f ms)", c.Claim.Ms, c.Result.Ms)
	}
	if c.Agreement != clew.Disagree {
		if c.Why != "" {
			s += "  " + c.Why
		}
		return s + "\n"
	}
	s += "\n    knossos says " + claimed(c.Claim)
	if c.Claim.OpText != "" {
		s += ": " + c.Claim.OpText
	}
	s += "\n    clew says " + found(c.Result)
	if c.Result.Verified {
		s += ", verified"
	}
	if c.Why != "" {
		s += "\n    " + c.Why
	}
	return s + "\n" + proof(c.Result)
}

// claimed and found are a verdict with the failing operation.
func claimed(c store.Claim) string {
	if c.HasOp {
		return fmt.Sprintf("INVALID at index %d", c.OpIndex)
	}
	return map[jepsen.Verdict]string{jepsen.Valid: "valid", jepsen.Invalid: "INVALID", jepsen.Unknown: "unknown"}[c.Verdict]
}

func found(r *report.Result) string {
	switch r.Verdict {
	case jepsen.Valid:
		return "valid"
	case jepsen.Invalid:
		return fmt.Sprintf("INVALID at index %d", r.FailingIndex())
	}
	return "unknown: " + string(r.Cause)
}

// proof is our evidence, as clew check shows it.
func proof(r *report.Result) string {
	if r.Verdict == jepsen.Valid {
		return fmt.Sprintf("    a linearization of all %d operations was found and replayed; clew check --witness FILE writes it\n", len(r.Witness))
	}
	var b strings.Builder
	_, text, _ := strings.Cut(r.Text(), "\n")
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String() + "\n"
}

// jsonLine is a comparison as JSON. Keys that do not apply are null.
func (k *comparer) jsonLine(x *comparable, h *jepsen.History, c clew.Comparison) string {
	type claim struct {
		Valid   any      `json:"valid"`
		OpIndex *int64   `json:"op-index"`
		Ms      *float64 `json:"ms"`
	}
	j := struct {
		File      string         `json:"file"`
		Checker   string         `json:"checker"`
		Key       *string        `json:"key"`
		Agreement string         `json:"agreement"`
		Why       string         `json:"why"`
		Knossos   *claim         `json:"knossos"`
		Clew      *report.Result `json:"clew"`
	}{File: x.Path, Checker: c.Claim.Checker, Agreement: c.Agreement.String(), Why: c.Why, Clew: c.Result}
	if c.Claim.IsKey {
		key := h.Values.Text(c.Claim.Key)
		j.Key = &key
	}
	if c.Result != nil || c.Claim != (store.Claim{}) {
		j.Knossos = &claim{Valid: map[jepsen.Verdict]any{jepsen.Valid: true, jepsen.Invalid: false, jepsen.Unknown: "unknown"}[c.Claim.Verdict]}
		if c.Claim.HasOp {
			j.Knossos.OpIndex = &c.Claim.OpIndex
		}
		if c.Claim.Ms > 0 {
			j.Knossos.Ms = &c.Claim.Ms
		}
	}
	line, err := json.Marshal(j)
	if err != nil {
		panic(err) // it is numbers and text
	}
	return string(line) + "\n"
}
