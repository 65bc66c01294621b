package main

import (
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"
)

const serveHelp = `Shows a Jepsen store to a browser, as lein run serve does: all runs, the newest
first, with clew's verdicts and Jepsen's. The page of a run is what clew check --html
writes. A run is checked when its page is opened, and a run that still grows again
and again. clew serve only reads: it writes nothing into the store.

Only this machine can open the pages, unless --addr names another address. There
are no passwords: use another address only where all may read the store.

With --stdio, clew decides histories that another program sends on standard input,
many at a time (docs/stdio.md), until that closes.

Examples:
   clew serve store/                        # then open http://127.0.0.1:8080
   clew serve --addr 127.0.0.1:0 store/     # picks a free port, and prints it
   clew serve --model cas-register --time-limit 5m store/
   clew serve --models tests.edn --memory-limit 4GB store/
   clew check --html-dir pages/ store/      # files instead of a server
   clew serve --stdio                       # for programs, on a pipe

Exit status: 0 after SIGINT, SIGTERM or the end of standard input, or 254 for bad
arguments, if the store or a request cannot be read, or if the port is taken.`

// servedLimit is the time limit of a check, unless there is another one: a browser waits for it.
const servedLimit = time.Minute

func serveCommand(stdout, stderr io.Writer) *cli.Command {
	limited := searchFlags()
	for _, f := range limited {
		if d, ok := f.(*cli.DurationFlag); ok {
			d.Value, d.DefaultText = servedLimit, servedLimit.String()
		}
	}
	return &cli.Command{
		Name:        "serve",
		Usage:       "show a store to a browser, or decide histories for a program",
		ArgsUsage:   "STORE",
		Description: serveHelp,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8080", Usage: "listen at `HOST:PORT`; port 0 picks a free one"},
			&cli.StringFlag{Name: "models", Usage: "read each test's model from `FILE`, an EDN map as for clew check"},
			&cli.BoolFlag{Name: "stdio", Usage: "decide histories that come on standard input with their flags (docs/stdio.md); only --memory-limit goes with it"},
		}, modelFlags(), limited),
		Action: func(c *cli.Context) error {
			if c.Bool("stdio") {
				return (&runner{stdout: stdout, stderr: stderr}).answerRequests(c)
			}
			return (&runner{stdout: stdout, stderr: stderr}).serve(c)
		},
	}
}
