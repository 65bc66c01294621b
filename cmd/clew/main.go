// Command clew checks Jepsen histories for linearizability.
//
// This package only holds the command line: flags, files, progress and exit statuses.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"clew/fallback"
	"clew/internal/batch"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/option"
	"clew/internal/terminal"
	"clew/internal/text"
	"clew/internal/watchdog"
)

func init() {
	option.AsFlags()
	// The help command is urfave/cli's, one for all apps.
	app := &cli.App{}
	app.Setup()
	app.Command("help").Usage = "list the commands, or show the help of one"
}

// Exit statuses, which the contract fixes.
const (
	exitValid   = 0
	exitInvalid = 1
	exitUnknown = 2
	exitUsage   = 254 // bad arguments, or some input is unreadable
	exitBug     = 255
)

func main() {
	// If Go itself ends the process, for lack of memory or with a broken runtime, the status is 2, which means an
	// unknown verdict here. It aborts instead, which sets no status.
	debug.SetTraceback("crash")
	memory.Spacious()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	ends = append(ends, hangups()...)
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	dog := watchdog.New(exitUsage, leave)
	ctx = watchdog.With(ctx, dog)
	over := dog.Stage(ctx, batch.Patience)
	status := run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
	over()
	stop()
	watchdog.Await(expired, lastWords, files.Tidy) // what was left behind may still write
	os.Exit(status)
}

// leave ends the process with a status, although something in it hangs.
func leave(status int, why context.Context) {
	watchdog.Await(expired, lastWords, func() {
		files.Tidy()
		fmt.Fprintf(os.Stderr, "clew: ended: %s\n", limits.Stopped(why))
	})
	os.Exit(status)
}

// lastWords is how long clew tries to say why it ends, and to remove files that are not whole, once it must. On a busy
// machine a few milliseconds were not enough.
const lastWords = 100 * time.Millisecond

// expired is a context that has ended.
var expired = func() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}()

// run is the whole program, with everything outside it passed in.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	return runWith(ctx, nil, args, stdin, stdout, stderr)
}

// The app's metadata holds the engine that decides instead of --algorithm's, what the program was called with, and, if
// only a command's flags are asked for, what takes its context once they are read. Of a request, they say that it brings
// its history.
const (
	engineKey = "engine"
	argsKey   = "args"
	flagsKey  = "flags"

	requestKey = "request"
)

// parsing guards urfave/cli's help command and help flag, which are one for all apps. It is held until a command has its
// flags.
var parsing sync.Mutex

// runWith runs the program. The engine, unless nil, decides instead of --algorithm's.
func runWith(ctx context.Context, engine fallback.Engine, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	return runApp(ctx, map[string]any{engineKey: engine, argsKey: args}, stdin, stdout, stderr)
}

// runApp runs the program with an app's metadata.
func runApp(ctx context.Context, metadata map[string]any, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	// Text from files must not control a terminal.
	stderr = text.NewWriter(stderr)
	if f, ok := stdout.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		stdout = text.NewWriter(stdout)
	}
	help := &printed{to: stdout}
	return guarded(stderr, &status, func() error {
		args := metadata[argsKey].([]string)
		app := newApp(args, stdout, stderr, &status)
		app.Reader, app.Writer, app.Metadata = stdin, help, metadata
		parsing.Lock()
		parsed := sync.OnceFunc(parsing.Unlock)
		defer parsed()
		for _, c := range app.Commands {
			c.Before = func(c *cli.Context) error {
				parsed()
				if err := noEmptyFlag(c); err != nil {
					return err
				}
				if take, ok := metadata[flagsKey].(func(*cli.Context)); ok {
					take(c)
					c.Command.Action = func(*cli.Context) error { return nil }
				}
				return nil
			}
		}
		err := app.RunContext(ctx, permute(app, commanded(app, args)))
		return cmp.Or(err, help.failed)
	})
}

// guarded runs a command, and returns its exit status.
func guarded(stderr io.Writer, status *int, command func() error) int {
	var err error
	bug := watchdog.Guarded(func() { err = command() })
	switch {
	case bug != "":
		return reportBug(stderr, bug)
	case err != nil:
		complain(stderr, err)
		return exitUsage
	}
	return *status
}

// printed takes help and remembers the first error. The code that prints help drops errors.
type printed struct {
	to     io.Writer
	failed error
}

func (p *printed) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	p.failed = cmp.Or(p.failed, err)
	return n, err
}

// Help fits into the terminal.
func init() {
	cli.HelpPrinter = func(w io.Writer, help string, of any) {
		out := w
		if p, is := w.(*printed); is {
			out = p.to
		}
		var funcs map[string]any
		if look, _ := terminal.Look(out); look.Width > 0 {
			funcs = map[string]any{"wrap": func(s string, offset int) string { return wrappedHelp(s, offset, look.Width) }}
		}
		cli.HelpPrinterCustom(w, help, of, funcs)
	}
}

// Layout of a flag's help, which begins after 3 blanks.
const (
	flagIndent  = 3
	flagColumn  = 28
	leastColumn = 40 // of what stands beside the names
)

// wrappedHelp wraps a part of the help, which stands behind some blanks. A line that has blanks of its own, such as an example,
// stays as it is. What a flag does follows its name and a tab, and stands beside or below it.
func wrappedHelp(s string, offset, width int) string {
	var out []string
	add := func(s, indent string) {
		for i, line := range text.Wrap(s, func(line string) bool { return utf8.RuneCountInString(line) <= max(leastColumn, width-len(indent)) }) {
			if i > 0 || len(out) > 0 {
				line = indent + line
			}
			out = append(out, line)
		}
	}
	if name, does, is := strings.Cut(s, "\t"); is {
		beside := strings.Repeat(" ", flagIndent+flagColumn)
		if width-len(beside) < leastColumn || len(name) > flagColumn-2 {
			out = append(out, name)
			if width-len(beside) < leastColumn {
				beside = strings.Repeat(" ", flagIndent+3)
			}
			add(does, beside)
			return strings.Join(out, "\n")
		}
		add(does, beside)
		out[0] = name + strings.Repeat(" ", flagColumn-len(name)) + strings.TrimLeft(out[0], " ")
		return strings.Join(out, "\n")
	}
	indent, paragraph := strings.Repeat(" ", offset), ""
	end := func() {
		if paragraph != "" {
			add(paragraph, indent)
		}
		paragraph = ""
	}
	for _, line := range strings.Split(s, "\n") {
		switch {
		case line == "":
			end()
			out = append(out, "")
		case line[0] == ' ' || strings.HasPrefix(line, "* "):
			end()
			out = append(out, indent+line)
		case paragraph == "":
			paragraph = line
		default:
			paragraph += " " + line
		}
	}
	end()
	return strings.Join(out, "\n")
}

// reportBug says that clew itself is at fault.
func reportBug(stderr io.Writer, what string) int {
	fmt.Fprintln(stderr, "clew: this is a bug in clew; please report it with the history that shows it:", what)
	return exitBug
}

// newApp returns the command line. A command that ends without an error sets the status. For clew check it has no other
// commands: thousands of requests of serve --stdio may ask for it.
func newApp(args []string, stdout, stderr io.Writer, status *int) *cli.App {
	app := &cli.App{
		Name:                 "clew",
		Usage:                "check Jepsen histories for linearizability",
		HideVersion:          true,
		EnableBashCompletion: true,
		Flags:                []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version", DisableDefaultText: true}},
		Writer:               stdout,
		ErrWriter:            stderr,
		ExitErrHandler:       func(*cli.Context, error) {},
		OnUsageError:         usageError,
		Description: "clew reads histories as Jepsen writes them and says whether they are linearizable,\n" +
			"and if they are not, which operation cannot be explained.\n\n" +
			"clew [flags] PATH is short for clew check [flags] PATH. If a command and a path have\n" +
			"the same name, the command wins.\n\n" +
			"docs/getting-started.md leads from nothing to a verdict on your own history;\n" +
			"docs/troubleshooting.md says what to do about messages.",
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return unknownCommand(c.Args().First(), c.App)
			case c.Bool("version"):
				return printVersion(stdout)
			}
			return cli.ShowAppHelp(c)
		},
	}
	if len(args) > 1 && args[1] == "check" {
		app.Commands = []*cli.Command{checkCommand(stdout, stderr, status)}
	} else {
		app.Commands = commands(stdout, stderr, status)
	}
	for _, c := range app.Commands {
		c.OnUsageError = usageError
		// Only clew itself has a help command: after another command, "h" and "help" are paths. The help of such a
		// command stays that of a command without subcommands.
		c.HideHelpCommand = true
		c.CustomHelpTemplate = cli.CommandHelpTemplate
	}
	return app
}

// commands returns all commands.
func commands(stdout, stderr io.Writer, status *int) []*cli.Command {
	return []*cli.Command{
		checkCommand(stdout, stderr, status),
		mergeCommand(stdout, stderr, status),
		verifyCommand(stdout, stderr, status),
		monitorCommand(stdout, stderr, status),
		compareCommand(stdout, stderr, status),
		doctorCommand(stdout, stderr, status),
		convertCommand(stdout, stderr),
		renderCommand(stdout, stderr),
		genCommand(stdout, stderr),
		serveCommand(stdout, stderr),
		modelsCommand(stdout, stderr, status),
		completionCommand(stdout),
		manCommand(stdout),
		versionCommand(stdout),
	}
}

// unknownCommand returns the error for a word that is not a command.
func unknownCommand(word string, app *cli.App) error {
	names := commandNames(app)
	return fmt.Errorf("unknown command %q; %sclew knows %s (clew --help)", word, text.DidYouMean(word, names), strings.Join(names, ", "))
}

func commandNames(app *cli.App) []string {
	var names []string
	for _, c := range app.Commands {
		if c.Name != "help" {
			names = append(names, c.Name)
		}
	}
	return names
}
