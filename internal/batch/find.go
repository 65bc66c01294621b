package batch

import (
	"context"
	"io/fs"

	"clew/internal/store"
)

// Search says what is found at paths.
type Search struct {
	Shard *Shard
	FS    fs.FS // has the paths, unless it is nil
	Bare  bool  // as of store.Options
	// Job returns the job for a history, or for a path where one is missing.
	Job func(s store.Source, missing error) *Job
	// Warn is called for what is skipped at a path although it has the name of a history.
	Warn func(path string, what ...string)
}

// Find returns a job for each history that the paths stand for. If something in a directory cannot be read, the rest
// is checked. What takes too long to look into is undecided. With a Shard, the jobs are those of all shards.
func (c *Checker) Find(ctx context.Context, paths []string, o Search) []*Job {
	var jobs []*Job
	keep := c.Keep()
	for _, path := range paths {
		var packed *store.Packed
		if o.FS == nil {
			packed = o.Shard.packed(path)
		}
		add := func(s store.Source, err error) *Job {
			j := o.Job(s, err)
			j.packed = packed
			jobs = append(jobs, j)
			return j
		}
		if !o.Shard.opens(packed) {
			add(store.Source{Path: path}, nil)
			continue
		}
		var found []store.Source
		var warnings []string
		left := keep
		how := store.Options{
			Keep: &left,
			Bare: o.Bare,
			Own:  func(s store.Source) bool { return o.Shard.reads(s, packed) },
			Warn: func(what string) { warnings = append(warnings, what) },
		}
		stopped, err := c.First(ctx, func(ctx context.Context) (err error) {
			if o.FS != nil {
				found, err = store.FindFS(ctx, o.FS, path, how)
			} else {
				found, err = store.Find(ctx, path, how)
			}
			return err
		})
		if stopped != "" { // found, warnings and left may still change
			add(store.Source{Path: path}, nil).Stopped = stopped
			continue
		}
		if keep = left; len(warnings) > 0 {
			o.Warn(path, warnings...)
		}
		for _, s := range found {
			add(s, nil)
		}
		if err != nil {
			add(store.Source{Path: path}, err)
		}
	}
	return jobs
}
