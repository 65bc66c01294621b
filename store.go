package clew

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"clew/internal/batch"
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
	// FS, unless nil, has the paths, such as an object store. Otherwise they are those of this machine.
	FS fs.FS
	// Warn, unless nil, is called for what is skipped at a path although it has the name of a history.
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
		ctx, end := context.WithCancel(ctx)
		defer end()
		c, jobs, err := o.checker(ctx, paths)
		if err != nil {
			yield(Run{Result: &report.Result{Cause: jepsen.Unreadable, Error: err.Error()}}, err)
			return
		}
		c.Watch(ctx)
		check := func(i int) batch.Answer {
			j := jobs[i]
			defer j.End()
			late := func(cause jepsen.Cause) batch.Answer { return batch.Answer{Result: j.Late(cause, false)} }
			return batch.Within(ctx, &c.Bounds, c.TimeLimit-j.Took, func(ctx context.Context) batch.Answer { return o.run(ctx, c, j) }, late)
		}
		batch.InOrder(len(jobs), func(i int) { c.ReadAhead(ctx, jobs[i]) }, check, func(i int, x batch.Answer) bool {
			return yield(Run{jobs[i].Path, jobs[i].Test, jobs[i].Time, x.Result}, x.Err)
		})
	}
}

// checker returns what checks the histories below the paths, and these.
func (o *StoreOptions) checker(ctx context.Context, paths []string) (*batch.Checker, []*batch.Job, error) {
	if ctx == nil {
		return nil, nil, errNoContext
	}
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	var shard *store.Shard
	if o.Shard != "" {
		some, err := store.ParseShard(o.Shard, os.Getenv)
		if err != nil {
			return nil, nil, fmt.Errorf("StoreOptions.Shard: %w", err)
		}
		shard = &some
	}
	c := &batch.Checker{Bounds: batch.Bounds{TimeLimit: o.TimeLimit, Memory: o.MemoryLimit}, Decide: o.decide()}
	keep := c.Keep()
	var jobs []*batch.Job
	for _, path := range paths {
		var archive *store.Packed
		if p, packed := store.PackedAt(path); packed && shard != nil && o.FS == nil {
			if archive = &p; !shard.Opens(p) {
				continue
			}
		}
		found, err := o.find(ctx, path, &keep)
		for _, s := range found {
			if shard.HasSource(s, archive) {
				jobs = append(jobs, o.job(s, nil))
			}
		}
		if s := (store.Source{Path: path}); err != nil && shard.HasSource(s, archive) {
			jobs = append(jobs, o.job(s, err))
		}
	}
	return c, jobs, nil
}

// decide returns what decides a history.
func (o *StoreOptions) decide() func(context.Context, *batch.Job, *jepsen.History, store.Reading) (*report.Result, error) {
	check := o.Options
	if check.Memory == nil && o.MemoryLimit > 0 {
		check.Memory = NewMemory(o.MemoryLimit)
	}
	check.TimeLimit = 0 // the context has it
	return func(ctx context.Context, _ *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
		own := check
		own.Independent, own.Keyless = how.Independent, how.Keyless
		r, err := Check(ctx, h, how.Spec, own)
		if err != nil {
			return nil, Placed(h, err)
		}
		return r, nil
	}
}

// find returns the histories at a path. It may keep some bytes of archives.
func (o *StoreOptions) find(ctx context.Context, path string, keep *int64) ([]store.Source, error) {
	how := store.Options{Keep: keep, Warn: func(what string) {
		if o.Warn != nil {
			o.Warn(path, what)
		}
	}}
	if o.FS != nil {
		return store.FindFS(ctx, o.FS, path, how)
	}
	return store.Find(ctx, path, how)
}

// job returns the job for a history that was found, or for a path where none can be found.
func (o *StoreOptions) job(s store.Source, missing error) *batch.Job {
	spec := o.Spec
	if o.Tests != nil {
		if own, ok := o.Tests(s.TestName()); ok {
			spec = own
		}
	}
	return &batch.Job{Source: s, Missing: missing, Reading: store.Given(spec, o.Independent, o.Keyless, o.AllClients, o.ClockError)}
}

// run checks a history. A panic is a result, too.
func (o *StoreOptions) run(ctx context.Context, c *batch.Checker, j *batch.Job) (x batch.Answer) {
	bug := j.Ahead.Bug
	if bug == "" {
		bug = watchdog.Guarded(func() { x = c.Check(ctx, j) })
	}
	if bug != "" {
		x = batch.Answer{Result: j.Undecided(jepsen.Panicked)}
		x.Result.Error = bug
	}
	return x
}
