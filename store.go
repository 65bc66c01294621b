package clew

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync/atomic"
	"time"

	"clew/internal/batch"
	"clew/internal/outputs"
	"clew/internal/page"
	"clew/internal/shards"
	"clew/internal/store"
	"clew/internal/watchdog"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// StoreOptions say how to check the histories of a store.
type StoreOptions struct {
	// Options say how to check each history. The time limit covers its reading, too. If Memory is nil, all checks
	// together share MemoryLimit.
	Options
	// Spec is the model of all histories. Without a name or an initial value, the results of a run say them, if they
	// are stored beside its history. Otherwise the model is inferred.
	Spec models.Spec
	// Tests, unless nil, says which model a test has, by its name in the store, or false for Spec.
	Tests func(test string) (models.Spec, bool)
	// AllClients and ClockError say how to read the events, as in jepsen.Options.
	AllClients bool
	ClockError int64
	// MemoryLimit is about how many bytes the process may hold; 0 is no limit. While the histories are checked it also
	// is the limit of Go's garbage collector.
	MemoryLimit int64
	// Shard, such as "3/16", chooses a part of the histories, by their names: 16 machines that each check one part
	// check them all. "" is all. "auto" takes the part of a Kubernetes or Slurm task from the environment.
	Shard string
	// ShardKeys splits every history of independent keys by its keys.
	ShardKeys bool
	// ShardTo, unless nil, gets what MergeShards reads about the Shard.
	ShardTo io.Writer
	// Evidence, unless "", is a folder for the core of each history that is not linearizable, below it at the path of
	// the history. It becomes a store of them.
	Evidence string
	// Pages, unless "", is a folder for a page of each history that is not valid, and an index.html of all, which only
	// a store without shards has.
	Pages string
	// PageStyle is "clew", as is "", or "porcupine".
	PageStyle string
	// FS, unless nil, has the paths, such as an object store. Otherwise they are those of this machine.
	FS fs.FS
	// Warn, unless nil, is called for what is skipped at a path although it has the name of a history, for a file in
	// Evidence or Pages that an earlier check left, and for what could not be written at the end.
	Warn func(path, what string)
}

// Run is a history of a store with its result.
type Run struct {
	Path string // the path that was given, with the name below it or in its archive
	// Test and Time are those of the store's layout, TEST/TIME/history.edn. They are "" for a history that was itself
	// given.
	Test, Time string
	// Result is always there. Its verdict is unknown if the history cannot be read, or if a limit or the context ends
	// its check.
	Result *report.Result
	// Lost says what could not be written about the run, in Evidence, in Pages or to ShardTo. It is nil if all was.
	Lost error

	err    error           // why the history could not be read
	record *outputs.Record // if MergeShards has read the run, else nil
	page   string          // the same: the link to its page
}

// CheckStore checks all histories below some paths, several at once, and yields them in order. A path is a history, or
// a directory or archive (.tar, .tar.gz, .tar.zst, .zip) of them. If a test was killed while it wrote its history, the
// test.jepsen beside that counts.
//
// An error goes with a run that could not be read, or to whose history the model or the options do not apply. The
// others are still checked. A path without any history has a run of its own, with an error.
//
// A history is dropped once its run was taken: keep results only if there is memory for their histories. If the loop
// ends early, CheckStore ends the checks that are under way.
func CheckStore(ctx context.Context, o StoreOptions, paths ...string) iter.Seq2[Run, error] {
	return func(yield func(Run, error) bool) {
		c, err := newStoreCheck(ctx, &o)
		var jobs []*batch.Job
		if err == nil {
			var end context.CancelFunc
			ctx, end = context.WithCancel(ctx)
			defer end()
			c.Watch(ctx)
			jobs, err = c.find(ctx, paths)
		}
		if err != nil {
			yield(Run{Result: &report.Result{Cause: jepsen.Unreadable, Error: err.Error()}}, err)
			return
		}
		whole := true
		check := func(i int) stored { return c.check(ctx, jobs[i]) }
		batch.InOrder(len(jobs), func(i int) { c.ReadAhead(ctx, jobs[i]) }, check, func(i int, x stored) bool {
			j := jobs[i]
			run := Run{Path: j.Path, Test: j.Test, Time: j.Time, Result: x.Result, Lost: errors.Join(x.lost, c.toShard(j, x.Answer)), err: x.Err}
			whole = yield(run, x.Err)
			return whole
		})
		if whole && ctx.Err() == nil {
			c.finish(ctx, jobs)
		}
	}
}

// storeCheck is a check of a store that is under way.
type storeCheck struct {
	batch.Checker
	o       *StoreOptions
	shard   *batch.Shard // nil: all histories are checked
	folders *batch.Folders
}

// stored is what became of a history, and of what was to be written about it.
type stored struct {
	batch.Answer
	lost error
}

// newStoreCheck returns a check, or an error if the options make no sense.
func newStoreCheck(ctx context.Context, o *StoreOptions) (*storeCheck, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	asked := o.Consistency
	if err := o.check(); err != nil {
		return nil, err
	}
	if asked != "" && o.Consistency == "" {
		o.Consistency = models.Linearizable // not what a test map asks for
	}
	style := cmp.Or(o.PageStyle, outputs.Styles[0])
	if err := batch.CheckStyle(style); err != nil {
		return nil, err
	}
	if o.MemoryLimit < 0 {
		return nil, fmt.Errorf("StoreOptions.MemoryLimit: expected a number of bytes or 0 for no limit, found %d", o.MemoryLimit)
	}
	c := &storeCheck{o: o, folders: batch.NewFolders(o.Evidence, o.Pages, style)}
	c.Bounds, c.Decide = batch.Bounds{TimeLimit: o.TimeLimit, Memory: o.MemoryLimit}, o.decide()
	if o.Shard == "" && (o.ShardTo != nil || o.ShardKeys) {
		return nil, errors.New("StoreOptions.ShardTo and StoreOptions.ShardKeys require StoreOptions.Shard")
	}
	if o.Shard != "" {
		part, err := store.ParseShard(o.Shard, os.Getenv)
		if err != nil {
			return nil, fmt.Errorf("StoreOptions.Shard: %w", err)
		}
		c.shard = &batch.Shard{Shard: part, ByKeys: o.ShardKeys, ListsAll: o.ShardKeys || o.Tests != nil || c.folders.Asked()}
		c.shard.Trailer.Clew, c.shard.Trailer.Settings = outputs.Build(), o.settings()
	}
	return c, nil
}

// settings says what is checked and how, as far as text can.
func (o *StoreOptions) settings() string {
	return fmt.Sprintf("%v, clock error %d, algorithm %q, depth %d, time limit %v, memory limit %d, verification %d, keys split %t, own models %t",
		o.reading(o.Spec).Settings, o.ClockError, o.Algorithm, o.Depth, o.TimeLimit, o.MemoryLimit, o.Verify, o.ShardKeys, o.Tests != nil)
}

func (o *StoreOptions) reading(spec models.Spec) store.Reading {
	return store.Given(spec, o.Independent, o.Keyless, o.AllClients, o.ClockError)
}

// find returns the jobs for the histories below the paths. It fails if what is to be written would destroy one.
func (c *storeCheck) find(ctx context.Context, paths []string) ([]*batch.Job, error) {
	jobs := c.Find(ctx, paths, batch.Search{Shard: c.shard, FS: c.o.FS, Bare: true, Job: c.o.job, Warn: c.o.warn})
	inputs, _ := batch.Inputs(jobs)
	if err := cmp.Or(c.folders.Outside(paths), c.folders.Check(jobs, inputs, map[string]string{}), c.folders.Probe()); err != nil {
		return nil, err
	}
	return c.shard.Own(ctx, jobs), nil
}

// warn passes on what the user of the library may want to know.
func (o *StoreOptions) warn(path string, what ...string) {
	for _, w := range what {
		if o.Warn != nil {
			o.Warn(path, w)
		}
	}
}

func (o *StoreOptions) decide() func(context.Context, *batch.Job, *jepsen.History, store.Reading) (*report.Result, error) {
	check := o.Options
	if check.Memory == nil && o.MemoryLimit > 0 {
		check.Memory = NewMemory(o.MemoryLimit)
	}
	check.TimeLimit = 0 // the context has it
	return func(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
		own := check
		own.Consistency = cmp.Or(own.Consistency, how.Level)
		if own.Independent, own.Whole, own.Keyless = how.Independent, how.Whole, how.Keyless; j.Keys != nil {
			own.Keys = j.Keys
		}
		if own.Passed == nil {
			own.Passed = j.Passed
		}
		r, err := Check(ctx, h, how.Spec, own)
		if err != nil {
			return nil, Placed(h, err)
		}
		if own.Consistency == "" {
			r = how.Withdraw(r)
		}
		return r, nil
	}
}

// job returns the job for a history that was found, or for a path where none can be found.
func (o *StoreOptions) job(s store.Source, missing error) *batch.Job {
	spec := o.Spec
	if o.Tests != nil {
		if own, ok := o.Tests(s.TestName()); ok {
			spec = own
		}
	}
	return &batch.Job{Source: s, Missing: missing, Reading: o.reading(spec), Passed: new(atomic.Int64)}
}

// check checks a history within the limits, and writes what is to be written about it. A panic is a result, too.
func (c *storeCheck) check(ctx context.Context, j *batch.Job) (x stored) {
	defer j.End()
	start := time.Now()
	left := c.TimeLimit - j.Took
	x.Answer = batch.Within(ctx, &c.Bounds, left, func(ctx context.Context) (a batch.Answer) {
		bug := cmp.Or(j.Ahead.Bug, watchdog.Guarded(func() { a = c.Check(ctx, j) }))
		if bug != "" {
			a = batch.Answer{Result: j.Undecided(jepsen.Panicked)}
			a.Result.Error = bug
		}
		return a
	}, func(cause jepsen.Cause) batch.Answer { return batch.Answer{Result: j.Late(cause, false)} })
	ctx, done := c.Lastly(ctx, left-time.Since(start))
	defer done()
	bug := watchdog.Guarded(func() {
		j.Row, x.lost = c.folders.Page(ctx, j, x.Result)
		if core := c.folders.Core(j, x.Result); core != nil {
			x.lost = errors.Join(core(ctx), x.lost)
		}
		c.o.warn(j.Path, c.folders.Stale(j, x.Result, j.Row)...)
	})
	if bug != "" {
		x.lost = errors.New(bug)
	}
	return x
}

// toShard writes the line of a history in a shard. After an error no further line is written, so the shard is cut
// short.
func (c *storeCheck) toShard(j *batch.Job, x batch.Answer) error {
	if c.o.ShardTo == nil {
		return nil
	}
	line, printed := c.shard.Line(j, x.Result, j.Row, x.Err)
	if _, err := io.WriteString(c.o.ShardTo, line); err != nil {
		c.o.ShardTo = nil
		return fmt.Errorf("StoreOptions.ShardTo: %w", err)
	}
	printed()
	return nil
}

func (c *storeCheck) finish(ctx context.Context, jobs []*batch.Job) {
	ctx, done := c.Lastly(ctx, c.TimeLimit)
	defer done()
	var err error
	if c.shard != nil && c.o.ShardTo != nil {
		_, err = io.WriteString(c.o.ShardTo, c.shard.End())
	} else if c.shard == nil {
		err = c.folders.Index(ctx, jobs)
	}
	if err != nil {
		c.o.warn(cmp.Or(c.o.Pages, c.o.Shard), err.Error())
	}
}

// MergeShards puts together what CheckStore wrote to StoreOptions.ShardTo, or clew check --shard printed, about all
// shards of a store. Each input has one shard or several. It returns the runs as one CheckStore of the whole would have
// yielded them, but their results hold only the verdict, its explanation and what else a report shows. The error says
// which shards are missing, duplicated, cut short or do not match.
func MergeShards(inputs ...io.Reader) ([]Run, error) {
	var all shards.Merger
	for i, in := range inputs {
		name := fmt.Sprint("input ", i+1)
		if file, ok := in.(interface{ Name() string }); ok {
			name = file.Name()
		}
		if err := all.Read(in, name); err != nil {
			return nil, err
		}
	}
	lines, err := all.Lines()
	if err != nil {
		return nil, err
	}
	runs := make([]Run, len(lines))
	for i, l := range lines {
		runs[i] = Run{Path: l.File, Test: l.Run.Test, Time: l.Run.Time, record: l.Record(), page: l.Run.Page, Result: &report.Result{
			File: l.File, Verdict: l.Valid, Model: string(l.Model), Init: string(l.Init), ToldBy: l.ToldBy, Inferred: l.Run.Inferred,
			Analyzer: string(l.Analyzer), Ms: l.Ms, Verified: l.Verified != nil && *l.Verified, Explanation: string(l.Explanation), Kind: l.Kind,
			Vacuous: string(l.Vacuous), Cause: jepsen.Cause(l.Cause), Error: string(l.Error),
		}}
	}
	return runs, nil
}

// WriteReport writes what clew merge prints about the runs of a store, in one of its forms: "text", a table; "json", a
// line for each; and "junit", "sarif" and "github" for pipelines (docs/ci.md).
func WriteReport(w io.Writer, form string, runs ...Run) error {
	output, err := outputs.Find(outputs.Merge(), form)
	if err != nil {
		return err
	}
	o := outputs.Options{Table: report.NewTable(report.TextOptions{}), Version: outputs.Version()}
	var records []outputs.Record
	for _, run := range runs {
		o.Table.Fit(cmp.Or(run.Test, run.Path), run.Time)
		records = append(records, *run.recordFor(&output))
	}
	_, err = io.WriteString(w, output.Text(records, &o))
	return err
}

// WriteIndex writes the page that lists runs which MergeShards returned, with links to the pages that the shards wrote
// into the same StoreOptions.Pages.
func WriteIndex(w io.Writer, runs ...Run) error {
	var list []page.Run
	for _, run := range runs {
		x := run.recordFor(&outputs.JSON)
		list = append(list, page.NewRun(x.Run, x.Line, run.page))
	}
	return page.WriteIndex(w, "histories", list)
}

// recordFor returns what an output prints about the run.
func (run *Run) recordFor(o *outputs.Output) *outputs.Record {
	if run.record != nil {
		return run.record
	}
	return o.NewRecord(report.NewRun(run.Test, run.Time, run.Result), run.Result, run.err)
}
