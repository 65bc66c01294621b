package batch

import (
	"context"
	"fmt"

	"clew/edn"
	"clew/internal/shards"
	"clew/internal/store"
	"clew/report"
)

// Shard is the part of all histories that a run checks. A nil Shard has all of them.
type Shard struct {
	store.Shard
	ByKeys   bool // it has some keys of every history of independent keys
	ListsAll bool // it looks into every archive: ByKeys, models and names of files need all histories
	Trailer  shards.Trailer
}

// packed returns the archive at a path if shards split it, else nil.
func (s *Shard) packed(path string) *store.Packed {
	if s == nil {
		return nil
	}
	if p, ok := store.PackedAt(path); ok {
		return &p
	}
	return nil
}

// opens reports whether the content of an archive must be known here.
func (s *Shard) opens(p *store.Packed) bool {
	return s == nil || p == nil || s.ListsAll || s.Opens(*p)
}

// reads reports whether a history that is found will be read.
func (s *Shard) reads(source store.Source, p *store.Packed) bool {
	return s == nil || s.ByKeys || s.HasSource(source, p)
}

// Own returns the jobs of the shard among all jobs.
func (s *Shard) Own(ctx context.Context, jobs []*Job) []*Job {
	if s == nil {
		return jobs
	}
	var own []*Job
	var names []string
	s.Trailer.Shard, s.Trailer.Inputs = s.String(), store.FingerprintOfFiles(ctx, filesOf(jobs))
	for len(jobs) > 0 {
		name, n := jobs[0].Name(), 1
		if p := jobs[0].packed; p != nil {
			name = fmt.Sprint(p.Name, " of ", p.Size, " bytes")
			for n < len(jobs) && jobs[n].packed == p {
				n++
			}
		}
		for member, j := range jobs[:n] {
			j.place = shards.Place{At: len(names)}
			if j.packed != nil {
				j.place.Member, j.place.Members = member, n
			}
			if s.ByKeys && j.Independent {
				j.Keys = func(key edn.Value) bool { return s.Has(j.Name() + " " + key.String()) }
			}
			if j.Keys != nil || s.HasSource(j.Source, j.packed) {
				own = append(own, j)
			}
		}
		names, jobs = append(names, name), jobs[n:]
	}
	s.Trailer.List, s.Trailer.Listed = store.Fingerprint(names), len(names)
	return own
}

// filesOf returns the files that decide whether and how the histories count, each once: those that hold them, the
// test.jepsen, the clew.jsonl and the results beside them, and models of one's own.
func filesOf(jobs []*Job) (files []string) {
	seen := map[string]bool{"": true}
	add := func(path string) {
		if !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	for _, j := range jobs {
		add(j.File())
		add(j.ModelFile)
		if j.Member() {
			continue
		}
		if test, ok := j.Beside(); ok {
			add(test.Path)
		}
		if recorder, ok := j.Recorder(); ok {
			add(recorder.Path)
		}
		if results, ok := j.Results(); ok && j.Incomplete() {
			add(results.Path)
		}
	}
	return files
}

// Line returns the line about a history, whose page is that of the row. The caller calls printed once it has printed that.
func (s *Shard) Line(j *Job, r *report.Result, row *Row, err error) (text string, printed func()) {
	l := shards.NewLine(j.Source, r, s.Shard, j.place, row.page(), j.Keys != nil, err)
	text, sum := shards.Sealed(l)
	l = shards.Line{Line: report.Line{Valid: l.Valid, Cause: l.Cause}} // many lines may wait
	return text, func() { s.Trailer.Count(&l, sum) }
}

// End returns the last line, so that a merger knows that nothing is missing.
func (s *Shard) End() string {
	text, _ := shards.Sealed(s.Trailer)
	return text
}
