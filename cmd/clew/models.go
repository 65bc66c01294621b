package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"clew/models"
)

func modelsCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:   "models",
		Usage:  "list the models",
		Action: func(*cli.Context) error { return listModels(stdout) },
	}
}

func listModels(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range models.All() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", m.Name, m.Fs, m.About)
	}
	return t.Flush()
}
