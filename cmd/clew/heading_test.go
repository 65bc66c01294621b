package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"clew/internal/outputs"
)

// headings are outputs with a heading: of each result when it is its turn, and of all results at the end.
var headings = []outputs.Output{
	{Name: "each", Heading: heading, Each: func(r *outputs.Record, _ *outputs.Options) string { return row(r) }},
	{Name: "all", Heading: heading, All: func(records []outputs.Record, _ *outputs.Options) (said string) {
		for i := range records {
			said += row(&records[i])
		}
		return said + "end\n"
	}},
}

func heading(*outputs.Options) string { return "file,valid\n" }

func row(r *outputs.Record) string { return r.File + "," + r.Line.Valid.String() + "\n" }

// checkedAs returns what clew check prints in an output.
func checkedAs(t *testing.T, o outputs.Output, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	k := &checker{runner: runner{stdout: &out, stderr: &errs}}
	status := 0
	c := checkCommand(&out, &errs, &status)
	c.Action = func(c *cli.Context) error {
		given := func(ctx context.Context) error {
			err := k.given(ctx, c)
			k.output = o
			return err
		}
		return k.command(c, &status, given, func(ctx context.Context) (int, error) { return k.run(ctx, c.Args().Slice()) })
	}
	app := &cli.App{Commands: []*cli.Command{c}}
	if err := app.RunContext(t.Context(), slices.Concat([]string{"clew", "check"}, args)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// mergedAs returns what clew merge prints in an output.
func mergedAs(t *testing.T, o outputs.Output, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	m := &merger{runner: runner{stdout: &out, stderr: &errs, output: o}}
	c := &cli.Command{Name: "merge", Action: func(c *cli.Context) error {
		ctx, end := m.begin(c)
		defer end()
		_, err := m.merge(ctx, c.Args().Slice())
		return err
	}}
	app := &cli.App{Commands: []*cli.Command{c}}
	if err := app.RunContext(t.Context(), slices.Concat([]string{"clew", "merge"}, args)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A heading stands once before the first result, whatever is checked and however.
func TestOutputsHaveTheirHeading(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"store/a/20260101T000000.000Z", "store/b/20260101T000000.000Z", "empty"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if dir != "empty" {
			putFile(t, dir+"/history.edn", write)
		}
	}
	putFile(t, "x.edn", write)
	putFile(t, "y.edn", write)
	putFile(t, "bad.edn", "{:process")
	for _, c := range []struct {
		args []string
		rows int
	}{
		{[]string{"x.edn"}, 1},
		{[]string{"x.edn", "y.edn"}, 2},
		{[]string{"bad.edn", "y.edn"}, 2},
		{[]string{"store"}, 2},
		{[]string{"--follow", "--model", "register", "--idle", "10ms", "x.edn"}, 1},
	} {
		for _, o := range headings {
			printed := checkedAs(t, o, c.args...)
			rows, headed := strings.CutPrefix(printed, heading(nil))
			if !headed || strings.Contains(rows, heading(nil)) || strings.Count(rows, ",") != c.rows {
				t.Errorf("%s %q: %q", o.Name, c.args, printed)
			}
		}
	}
	_, all, _ := clewRun("check", "--shard", "1/1", "store")
	putFile(t, "all.jsonl", all)
	for _, o := range headings {
		printed := mergedAs(t, o, "all.jsonl")
		if rows, headed := strings.CutPrefix(printed, heading(nil)); !headed || strings.Count(rows, ",") != 2 {
			t.Errorf("merge in %s: %q", o.Name, printed)
		}
	}
}

// A table without rows has a heading, too, so that a program can read it.
func TestNoResultsHaveAHeading(t *testing.T) {
	for _, o := range headings {
		var out bytes.Buffer
		r := runner{stdout: &out, output: o}
		r.showAll(t.Context())
		if rows, headed := strings.CutPrefix(out.String(), heading(nil)); !headed || strings.Contains(rows, ",") {
			t.Errorf("%s: %q", o.Name, out.String())
		}
	}
}
