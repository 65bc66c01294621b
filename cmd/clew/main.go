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
	"runtime/debug"
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
	status := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the whole program, with everything that it touches passed in.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = reportBug(stderr, p)
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
func reportBug(stderr io.Writer, p any) int {
	fmt.Fprintf(stderr, "clew: this is a bug in clew; please report it with the history that shows it: %v\n%s", p, debug.Stack())
	return exitBug
}

func newApp(stdout, stderr io.Writer, status *int) *cli.App {
	usageError := func(_ *cli.Context, err error, _ bool) error { return err }
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
				return fmt.Errorf("unknown command %q; clew knows check, models and version (clew --help)", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			checkCommand(stdout, stderr, status),
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
		default:
			flags = append(flags, arg)
			if takesValue(command, arg) && i+1 < len(rest) {
				i++
				flags = append(flags, rest[i])
			}
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
