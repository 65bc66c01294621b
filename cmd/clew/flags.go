package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/fallback"
	"clew/internal/checking"
	"clew/internal/memory"
	"clew/internal/option"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/internal/text"
	"clew/models"
)

// modelFlags returns the flags that say which model reads a history, and how. Each is also a key of a test's map in a
// file of models.
func modelFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Usage: "the `MODEL` (clew models lists them); inferred from the :f's if it is not given"},
		&cli.StringFlag{Name: "init", Usage: "the initial value, as `EDN` or @FILE, or that of keys: {:each {k v}}, {:default v}"},
		&cli.StringFlag{Name: "nil-reads", Value: "any", Usage: "`any|exact`: a read of nil says nothing, or that it saw nil"},
		&cli.StringFlag{Name: "failed-cas", Value: "ignore", Usage: "`ignore|observe`: a failed cas says nothing, or that it saw another value"},
		&cli.StringFlag{Name: "priority", Value: "max", Usage: "`max|min`: a priority-queue returns its greatest element first, or its least"},
		&cli.IntFlag{Name: "permits", DefaultText: "none", Usage: "a semaphore has `K` permits; required for semaphores"},
		&cli.IntFlag{Name: "max-holds", DefaultText: "2", Usage: "the owner of a reentrant lock may hold it `D` times at once"},
		&cli.IntFlag{Name: "threads", DefaultText: "the process", Usage: "the owner of a lock is the process modulo `N`"},
		&cli.StringFlag{Name: "ids", Value: "distinct", Usage: "`distinct|growing`: what the ids of an id-generator must be"},
		&cli.StringFlag{Name: "negative-balances", Value: "refuse", Usage: "`refuse|allow`: whether a bank transfer may leave a negative balance"},
		&cli.StringFlag{Name: "answers", Value: "auto", Usage: "`auto|told|echo`: completions return a log's offsets and a counter's new values (told), or only repeat their invocations (echo); auto decides from the whole history"},
		&cli.StringFlag{Name: "kv-keys", Value: "auto", Usage: "`auto|pairs|none`: a kv without :key has its keys in values [key value] (pairs), or nowhere (none); auto decides from the whole history"},
		&cli.StringFlag{Name: "accounts", Value: "auto", Usage: "`auto|as-written|numbers|strings`: what the keywords that name accounts in a bank's reads stand for; auto decides from the whole history"},
		&cli.StringFlag{Name: "position", DefaultText: "the model's", Usage: "completions say under `KEY` where they stand in the order of updates, such as revision; none: ignore it (docs/positions.md)"},
		&cli.StringFlag{Name: "positions", Value: "dense", Usage: "`dense|sparse`: every update adds one to the position, or is only greater than those before it"},
		&cli.BoolFlag{Name: "independent", Usage: "values are [key value]: check each key as a separate history"},
		&cli.StringFlag{Name: "keyless", Value: "error", Usage: "`error|every`: --independent treats an operation without a key as an error, or as part of every key"},
		&cli.StringFlag{Name: "clients", Value: "integers", Usage: "`integers|all`: the clients are the processes that are integers, or all but :nemesis"},
		&cli.StringFlag{Name: "clock-error", DefaultText: "0", Usage: "the times of interval records may be off by up to `D`, such as 5ms if they are in nanoseconds, or a number in their unit"},
		&cli.StringFlag{Name: "semantics", Value: "jepsen", Usage: "`jepsen|knossos`: values are read as Jepsen writes them, or as Knossos reads them"},
		&cli.StringFlag{Name: "model-file", Usage: "a model of your own: a `FILE` in Starlark (docs/own-models.md)"},
	}
}

// given returns the settings of the command line.
func given(c *cli.Context) store.Settings { return asText(c, store.SettingNames) }

// asText returns those of the named flags that were given.
func asText(c *cli.Context, names []string) store.Settings {
	s := store.Settings{}
	for _, name := range c.LocalFlagNames() {
		if slices.Contains(names, name) {
			s[name] = c.String(name)
		}
	}
	return s
}

// givenModels returns what --models says, or nil if it is not given.
func givenModels(ctx context.Context, c *cli.Context, memory int64) (store.Tests, error) {
	file := c.String("models")
	if file == "" {
		return nil, nil
	}
	all, err := store.ReadTests(ctx, file, memory, given(c))
	if err != nil {
		return nil, fmt.Errorf("--models: %w", err)
	}
	return all, nil
}

func searchFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "algorithm", Value: "auto", Usage: "`NAME`: " + strings.Join(clew.Algorithms(), ", ")},
		&cli.IntFlag{Name: "depth", DefaultText: strconv.Itoa(clew.DefaultDepth), Usage: "--algorithm hitting covers what needs up to `D` operations in a particular order"},
	}, limitFlags()...)
}

// limitFlags returns the flags of all commands that read a history: limits, and what an empty standard input is.
func limitFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "time-limit", DefaultText: "none", Usage: "give up on a history after `DURATION`, such as 30s or 5m"},
		&cli.StringFlag{Name: "memory-limit", DefaultText: "half of what is available", Usage: "use at most `SIZE` of memory, such as 512MB or 1.5GB"},
		&cli.StringFlag{Name: "empty", Value: "fail", Usage: "`fail|pass`: an empty standard input is unreadable, since what should write it may be dead, or a history without operations"},
	}
}

// givenLimits returns what these flags say, and no more memory than there is for all that runs beside this; a time of 0
// means no limit.
func givenLimits(c *cli.Context) (time.Duration, int64, error) {
	if _, err := passesEmpty(c); err != nil {
		return 0, 0, err
	}
	_, shared := memory.Shared(c.Context)
	return checking.Limits(asText(c, checking.SearchNames), shared)
}

// passesEmpty reports whether an empty standard input is a history without operations.
func passesEmpty(c *cli.Context) (bool, error) {
	return option.Either("empty", cmp.Or(c.String("empty"), "fail"), "fail", "pass")
}

// searchOptions returns what these flags say, and how many bytes all searches together may use.
func searchOptions(c *cli.Context) (clew.Options, int64, error) {
	if _, err := passesEmpty(c); err != nil {
		return clew.Options{}, 0, err
	}
	_, shared := memory.Shared(c.Context)
	o, limit, err := checking.Search(asText(c, checking.SearchNames), shared)
	o.Engine, _ = c.App.Metadata[engineKey].(fallback.Engine)
	return o, limit, err
}

// consistencyFlag returns the flag for the level of consistency of transactions.
func consistencyFlag() cli.Flag {
	return &cli.StringFlag{Name: "consistency", Aliases: []string{"consistency-models"}, DefaultText: "linearizable", Usage: "decide a `LEVEL` of consistency of transactions, such as serializable or snapshot-isolation (docs/transactions.md)"}
}

// outputFlag returns the flag for the form of results. The first form is the default. A thing is what a line is about.
func outputFlag(forms []outputs.Output, thing string) cli.Flag {
	return &cli.StringFlag{Name: "output", Value: forms[0].Name, Usage: outputs.Usage(forms, thing)}
}

// resultFlags returns the flags that say how results are printed, and what counts as a failure.
func resultFlags(forms []outputs.Output) []cli.Flag {
	return []cli.Flag{
		outputFlag(forms, "result"),
		&cli.BoolFlag{Name: "quiet", Usage: "print only a line on standard error for each failure"},
		&cli.StringFlag{Name: "unknown", Value: "fail", Usage: "`fail|pass`: an undecided history counts as a failure with exit status 2, or not"},
		&cli.BoolFlag{Name: "strict", Usage: "exit with status 254 if there is any warning, such as one about a vacuous verdict"},
	}
}

// evidenceFlags returns the flags for files about a single history, and for a folder of pages.
func evidenceFlags() (flags []cli.Flag) {
	for _, e := range outputs.AllEvidence {
		flags = append(flags, &cli.StringFlag{Name: e.Name, Usage: e.Usage})
		if e.Name == outputs.HTML.Name {
			flags = append(flags, &cli.StringFlag{Name: "html-dir", Usage: "write such a page of every history that is not valid to a file below `DIR`, and an index.html of all"},
				&cli.StringFlag{Name: "html-style", Value: outputs.Styles[0], Usage: "`clew|porcupine`: the style of a page"})
		}
	}
	return flags
}

// evidenceNames returns the flags for files about a single history.
func evidenceNames() (names []string) {
	for _, e := range outputs.AllEvidence {
		names = append(names, "--"+e.Name)
	}
	return names
}

// noEmptyFlag returns an error if the value of a flag is empty, such as that of a variable that is not set. An empty value
// means nothing for any flag. --init has its own error for that. A command that has its flags then forgets which there
// might be: urfave/cli looks through all of them for every one that is not set, which took longer than a small check.
func noEmptyFlag(c *cli.Context) error {
	for _, name := range c.LocalFlagNames() {
		if name != string(models.ParamInit) && c.String(name) == "" {
			return fmt.Errorf("%s needs a value, found an empty one; clew %s --help lists the flags", dashed(name), c.Command.Name)
		}
	}
	c.Command.Flags = nil
	return nil
}

// usageError words the flag package's errors about arguments as clew does.
func usageError(c *cli.Context, err error, _ bool) error {
	help := "clew --help lists the flags"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name {
		help = fmt.Sprintf("clew %s --help lists the flags", c.Command.Name)
	}
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "flag provided but not defined: -"); ok {
		flag := dashed(name)
		return fmt.Errorf("unknown flag %s; %s%s", flag, text.DidYouMean(flag, flagNames(c)), help)
	}
	if name, ok := strings.CutPrefix(msg, "flag needs an argument: -"); ok {
		return fmt.Errorf("%s needs a value; %s", dashed(name), help)
	}
	if m := badValue().FindStringSubmatch(msg); m != nil {
		return fmt.Errorf("--%s must be %s, not %s", m[2], expected(flagOf(c.Command, "--"+m[2])), m[1])
	}
	return err
}

// expected says which values a flag takes.
func expected(f cli.Flag) string {
	switch f := f.(type) {
	case *cli.DurationFlag:
		return "a duration such as 30s or 5m"
	case *cli.IntFlag:
		if f.Name == "values" || f.Name == "keys" { // 0 stands for their defaults
			return "a number of at least 0"
		}
		return "a number of at least 1"
	case *cli.Uint64Flag:
		return "a number of at least 0"
	case *cli.Float64Flag:
		return "a number from 0 to 1"
	case *cli.Int64Flag:
		return "the :index of an event, a number"
	case *cli.BoolFlag:
		return "given without a value"
	}
	return "a value of another kind"
}

// dashed returns a flag as people write it, from its name: -o, --output.
func dashed(name string) string {
	if name = strings.TrimPrefix(name, "-"); len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func flagNames(c *cli.Context) []string {
	flags := c.App.Flags
	if c.Command != nil && len(c.Command.Flags) > 0 {
		flags = c.Command.Flags
	}
	var names []string
	for _, f := range flags {
		names = append(names, "--"+f.Names()[0])
	}
	return names
}

var badValue = text.Pattern(`^invalid (?:boolean )?value (".*") for (?:flag )?-+([a-z-]+): `)

// commanded returns the arguments with a command first. If there is none, it is check. The flags of check may come
// before a path, and before the word check. A word that is neither a command nor the name of a file, and does not
// look like a path, may be a mistyped command.
func commanded(app *cli.App, args []string) []string {
	if len(args) < 2 || isHelp(args[1]) {
		return args
	}
	check := findCommand(app, "check")
	first, flags, known := 1, 0, 0 // first is the first argument that is neither a flag nor the value of one
	for first < len(args) && isFlag(args[first]) {
		if flags++; flagOf(check, args[first]) != nil {
			known++
		}
		if takesValue(check, args[first]) {
			first++
		}
		first++
	}
	if first >= len(args) {
		if known == 0 {
			return args
		}
		return slices.Insert(slices.Clone(args), 1, check.Name)
	}
	switch word := args[first]; {
	case word == check.Name && known == flags:
		return slices.Concat(args[:1], args[first:first+1], args[1:first], args[first+1:])
	case findCommand(app, word) != nil, word == "help", word == "h":
		return args
	case flags == 0 && word != "-" && word != "--" && !strings.ContainsAny(word, `./\`):
		if _, err := os.Lstat(word); err != nil {
			return args
		}
	}
	return slices.Insert(slices.Clone(args), 1, check.Name)
}

// isFlag reports whether an argument is a flag, or several.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' && arg != "--" }

// flagName returns the name of the flag that an argument gives.
func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return name
}

// flagOf returns the flag of a command that an argument gives, or nil if the command has no such flag.
func flagOf(command *cli.Command, arg string) cli.Flag {
	name := flagName(arg)
	for _, f := range command.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func findCommand(app *cli.App, name string) *cli.Command {
	for _, c := range app.Commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// permute moves a command's flags in front of its paths: urfave/cli stops looking for flags at the first path, and
// people write flags last.
func permute(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	command := findCommand(app, args[1])
	if command == nil {
		return args
	}
	flags, paths := append([]string(nil), args[:2]...), []string{"--"}
	rest := args[2:]
	for i := 0; i < len(rest); i++ {
		switch arg := rest[i]; {
		case arg == "--":
			paths = append(paths, rest[i+1:]...)
			i = len(rest)
		case !isFlag(arg):
			paths = append(paths, arg)
		case isHelp(arg):
			return append(args[:2:2], "--help") // whatever else is asked for
		default:
			flags = append(flags, arg)
			if !takesValue(command, arg) {
				break
			}
			if i++; i == len(rest) {
				return flags // The value is missing, so nothing may follow.
			}
			flags = append(flags, rest[i])
		}
	}
	return append(flags, paths...)
}

// takesValue reports whether a flag's value is the next argument.
func takesValue(command *cli.Command, arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	f := flagOf(command, arg)
	_, isBool := f.(*cli.BoolFlag)
	return f != nil && !isBool
}
