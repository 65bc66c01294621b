// Command clew checks Jepsen histories for linearizability.
//
// This package holds the command line and nothing else: flags, files, progress
// and exit statuses.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"clew/models"
)

// Exit statuses, which the contract fixes.
const (
	exitValid   = 0
	exitInvalid = 1
	exitUnknown = 2
	exitUsage   = 254 // bad arguments, or some input is unreadable
	exitBug     = 255
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	status := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the whole program, with everything that it touches passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = reportBug(stderr, fmt.Sprintf("%v\n%s", p, debug.Stack()))
		}
	}()
	app := newApp(stdout, stderr, &status)
	if err := app.RunContext(ctx, permute(app, args)); err != nil {
		fmt.Fprintln(stderr, "clew:", err)
		return exitUsage
	}
	return status
}

// reportBug says that clew itself is at fault.
func reportBug(stderr io.Writer, what string) int {
	fmt.Fprintln(stderr, "clew: this is a bug in clew; please report it with the history that shows it:", what)
	return exitBug
}

func newApp(stdout, stderr io.Writer, status *int) *cli.App {
	app := &cli.App{
		Name:                 "clew",
		Usage:                "check Jepsen histories for linearizability",
		Version:              version(),
		HideVersion:          true,
		Writer:               stdout,
		ErrWriter:            stderr,
		EnableBashCompletion: true,
		ExitErrHandler:       func(*cli.Context, error) {},
		OnUsageError:         usageError,
		Description: "clew reads histories as Jepsen writes them and says whether they are linearizable,\n" +
			"with the operation that cannot be explained where they are not.",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("unknown command %q; clew knows %s (clew --help)", c.Args().First(), commandNames(c.App))
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			checkCommand(stdout, stderr, status),
			verifyCommand(stdout, status),
			compareCommand(stdout, stderr, status),
			convertCommand(stdout, stderr),
			{
				Name: "models", Usage: "list the models", OnUsageError: usageError,
				Action: func(*cli.Context) error { return listModels(stdout) },
			},
			{
				Name: "version", Usage: "print the version", OnUsageError: usageError,
				Action: func(*cli.Context) error {
					_, err := fmt.Fprintln(stdout, "clew", version())
					return err
				},
			},
		},
	}
	for _, c := range app.Commands {
		c.OnUsageError = usageError
	}
	return app
}

func commandNames(app *cli.App) string {
	var names []string
	for _, c := range app.Commands {
		if c.Name != "help" {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}

// usageError puts what the flag package says about an argument in our words.
func usageError(c *cli.Context, err error, _ bool) error {
	help := "clew --help lists the flags"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name {
		help = fmt.Sprintf("clew %s --help lists the flags", c.Command.Name)
	}
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "flag provided but not defined: -"); ok {
		return fmt.Errorf("unknown flag --%s; %s", strings.TrimPrefix(name, "-"), help)
	}
	if name, ok := strings.CutPrefix(msg, "flag needs an argument: -"); ok {
		return fmt.Errorf("--%s needs a value; %s", strings.TrimPrefix(name, "-"), help)
	}
	if m := badValue.FindStringSubmatch(msg); m != nil {
		expected := "a value of another kind"
		switch {
		case m[2] == "time-limit":
			expected = "a duration such as 30s or 5m"
		case strings.HasPrefix(msg, "invalid boolean"):
			expected = "given or not; it takes no value"
		}
		return fmt.Errorf("--%s is %s, not %s", m[2], expected, m[1])
	}
	return err
}

var badValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-+([a-z-]+): `)

// permute moves a command's flags in front of its paths: urfave/cli stops
// looking for flags at the first path, and people write them last.
func permute(app *cli.App, args []string) []string {
	if len(args) < 2 {
		return args
	}
	var command *cli.Command
	for _, c := range app.Commands {
		if c.HasName(args[1]) {
			command = c
		}
	}
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
		case len(arg) < 2 || arg[0] != '-':
			paths = append(paths, arg)
		case arg == "-h" || arg == "-help" || arg == "--help":
			return append(args[:2:2], "--help") // whatever else is asked for
		default:
			flags = append(flags, arg)
			if !takesValue(command, arg) {
				break
			}
			if i++; i == len(rest) {
				return flags // Nothing may follow: the value is missing.
			}
			flags = append(flags, rest[i])
		}
	}
	return append(flags, paths...)
}

// takesValue says whether a flag's value is the next argument.
func takesValue(command *cli.Command, arg string) bool {
	name := arg[1:]
	if name[0] == '-' {
		name = name[1:]
	}
	for _, f := range command.Flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, n := range f.Names() {
			if n == name && !isBool {
				return true
			}
		}
	}
	return false
}

func listModels(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range models.All() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, m.Fs, m.About)
	}
	return t.Flush()
}

// version is what the Go toolchain recorded when it built the program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
