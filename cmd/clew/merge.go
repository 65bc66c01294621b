package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"clew/internal/batch"
	"clew/internal/checking"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
	"clew/internal/shards"
	"clew/internal/store"
	"clew/internal/terminal"
	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

const mergeHelp = `Combines what clew check --shard I/N printed: the table and the summary of all
histories, with --output json a line of each, or a report for a pipeline, and the
exit status, as one run without shards would have given them. A FILE has one shard
or several; - is standard input. If shards are missing, duplicated, cut short or do
not match, an error names them, and nothing is merged.

Examples:
   parallel clew check --shard {}/16 store/ '>' {}.jsonl ::: $(seq 16)
   clew merge *.jsonl
   cat *.jsonl | clew merge --output json - | jq -r 'select(.valid == false) | .file'
   clew merge --html-dir pages/ *.jsonl       # the index of what check --html-dir wrote
   clew merge --output junit *.jsonl > clew.xml       # or sarif, or github (docs/ci.md)

Exit status: as for clew check, and 254 if the shards do not make a whole.`

func mergeCommand(stdout, stderr io.Writer, status *int) *cli.Command {
	return &cli.Command{
		Name:        "merge",
		Usage:       "merge the shards of a check",
		ArgsUsage:   "FILE...",
		Description: mergeHelp,
		Flags: append(resultFlags(outputs.Merge()),
			&cli.StringFlag{Name: "html-dir", Usage: "write the index.html of the pages that clew check --html-dir `DIR` wrote"}),
		Action: func(c *cli.Context) error {
			output, err := outputs.Find(outputs.Merge(), c.String("output"))
			switch {
			case !c.Args().Present():
				return errors.New("no shard given; clew merge --help shows how")
			case err != nil:
				return err
			case count(c.Args().Slice(), "-") > 1:
				return errors.New("standard input (-) can be read only once")
			}
			m := &merger{runner: runner{stdout: stdout, stderr: stderr, output: output}, pages: c.String("html-dir")}
			m.shown.Look, m.screen = terminal.Look(stdout)
			if err := m.givenPolicy(c); err != nil {
				return err
			}
			ctx, end := m.begin(c)
			defer end()
			*status, err = m.merge(ctx, c.Args().Slice())
			return err
		},
	}
}

type merger struct {
	runner
	pages string // the folder of pages, "" if there is to be no index
}

// merge prints what the shards say together.
func (m *merger) merge(ctx context.Context, paths []string) (int, error) {
	var all shards.Merger
	for _, path := range paths {
		stopped, err := m.Bounded(ctx, func(ctx context.Context) error { return m.readShards(ctx, &all, path) })
		switch {
		case stopped != "":
			complain(m.stderr, fmt.Errorf("%s: unknown: %s", path, stopped))
			return exitUnknown, nil
		case err != nil:
			return 0, err
		}
	}
	lines, err := all.Lines()
	if err != nil {
		return 0, err
	}
	m.tally.of[unwritten] = all.Unwritten()
	m.newProgress(len(lines))
	defer m.progress.Stop()
	m.shown.Table = report.NewTable(m.shown.Look)
	for _, l := range lines {
		m.shown.Table.Fit(cmp.Or(l.Run.Test, l.File), l.Run.Time)
	}
	for _, l := range lines {
		if err := m.say(ctx, newJob(&batch.Job{Source: store.Source{Path: l.File}}), m.answer(l)); err != nil {
			m.loseLast(ctx, err)
			return m.status(), nil
		}
	}
	m.index(ctx, lines)
	m.showAll(ctx)
	if m.output.Summary && (m.output.For == outputs.People || len(lines) > 1) {
		m.summarize(ctx, m.tally.summary(historyCount(len(lines)), valid, invalid, unknown, notJudged, unreadable)+"\n")
	}
	return m.status(), nil
}

// answer returns what a shard said of a history.
func (m *merger) answer(l shards.Line) answer {
	a := answer{warnings: l.Warnings}
	if l.Vacuous != "" && l.Vacuous != report.NoOperations {
		a.warnings = append(slices.Clip(a.warnings), checking.Vacuous(string(l.Vacuous)))
	}
	if m.strict && l.Cause == report.Text(jepsen.NotJudged) {
		a.warnings = append(slices.Clip(a.warnings), "not judged: "+string(l.Error))
	}
	switch cause := jepsen.Cause(l.Cause); {
	case l.Valid == jepsen.Unknown && cause == jepsen.Unreadable:
		var all []error
		for why := range strings.Lines(string(l.Error)) {
			all = append(all, errors.New(strings.TrimSuffix(why, "\n")))
		}
		a.err = errors.Join(all...)
	case l.Valid == jepsen.Unknown && cause == jepsen.Panicked:
		a.bug = string(l.Error)
	case l.Valid == jepsen.Unknown && cause == jepsen.SelfCheckFailed:
		a.of[unknown]++
		a.wrong = fmt.Errorf("%s: the self-check failed: %s", l.File, l.Error)
	default:
		a.count(l.Valid, cause, string(l.Vacuous))
	}
	m.show(&a, l.Record())
	return a
}

// index writes the index of the pages that the shards wrote, if the user asked for it.
func (m *merger) index(ctx context.Context, lines []shards.Line) {
	if m.pages == "" {
		return
	}
	ctx, done := m.Lastly(ctx, 0)
	defer done()
	if err := batch.IndexShards(ctx, m.pages, lines); err != nil {
		m.lose(err)
	}
}

func (m *merger) readShards(ctx context.Context, to *shards.Merger, path string) error {
	in, name, err := m.open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return to.Read(limits.Reader(ctx, in, 0), name)
}

// givenSharding returns what the flags say about shards, or nil if all histories are checked.
func givenSharding(c *cli.Context, k *checker) (*batch.Shard, error) {
	switch {
	case !c.IsSet("shard") && c.Bool("shard-keys"):
		return nil, errors.New("--shard-keys requires --shard")
	case !c.IsSet("shard"):
		return nil, nil
	case c.IsSet("output") && k.output.Name != outputs.JSON.Name:
		return nil, fmt.Errorf("--shard prints lines of JSON for clew merge, which makes %s of them; found --output %s", text.OneOf(outputs.Names(outputs.Merge())), k.output.Name)
	case k.failFast:
		return nil, errors.New("--shard cannot be combined with --fail-fast: clew merge needs all of a shard")
	case c.Bool("quiet"):
		return nil, errors.New("--shard cannot be combined with --quiet: it prints lines of JSON for clew merge")
	case k.follow != nil:
		return nil, errors.New("--shard cannot be combined with --follow, which is for a single history")
	case len(k.evidence.files) > 0:
		return nil, fmt.Errorf("--shard cannot be combined with %s, which is for a single history; --evidence DIR and --html-dir DIR have a file for each", k.evidence.files[0].flag)
	case c.Bool("shard-keys") && !k.reading.Independent && len(k.models) == 0:
		return nil, errors.New("--shard-keys requires --independent")
	}
	shard, err := store.ParseShard(c.String("shard"), os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("--shard: %w", err)
	}
	s := &batch.Shard{Shard: shard, ByKeys: c.Bool("shard-keys")}
	s.ListsAll = s.ByKeys || c.IsSet("models") || k.evidence.anyAsked()
	s.Trailer.Clew = outputs.Build()
	s.Trailer.Settings, err = settingsText(c)
	return s, err
}

// settingFlags are the flags that say what to check and how, other than those of models.
var settingFlags = []string{"models", "algorithm", "depth", "shard-keys", "time-limit", "memory-limit", "verify", "no-verify", "strict"}

// settingsText returns what the flags say about what to check and how. Files count by their content.
func settingsText(c *cli.Context) (string, error) {
	var said []string
	for _, name := range slices.Concat(store.SettingNames, settingFlags) {
		if !c.IsSet(name) {
			continue
		}
		value := c.String(name)
		switch name {
		case "model-file", "models":
			text, err := os.ReadFile(value)
			if err != nil {
				return "", files.PathError(err)
			}
			value = fmt.Sprintf("(SHA-256 %x)", sha256.Sum256(text))
		}
		said = append(said, "--"+name+" "+value)
	}
	return strings.Join(said, " "), nil
}

// endShard ends the output, so that clew merge knows that nothing is missing, and returns the exit status. After a
// signal, or if the output cannot be written, this end is missing.
func (k *checker) endShard(ctx context.Context) int {
	if ctx.Err() != nil {
		complain(k.stderr, fmt.Errorf("shard %s was interrupted; run it again", k.shard))
		return k.status()
	}
	k.shard.Trailer.Unwritten = k.tally.of[unwritten]
	if err := k.print(ctx, k.shard.End()); err != nil {
		k.lose(err)
	}
	if k.tally == (tally{}) {
		return exitValid // this shard has no histories
	}
	return k.status()
}

func historyCount(n int) string {
	if n == 1 {
		return "1 history"
	}
	return fmt.Sprintf("%d histories", n)
}
