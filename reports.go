package clew

import (
	"cmp"
	"fmt"
	"io"

	"clew/internal/outputs"
	"clew/internal/page"
	"clew/internal/shards"
	"clew/jepsen"
	"clew/report"
)

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
	o := outputs.Options{Table: report.NewTable(), Version: outputs.Version()}
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
