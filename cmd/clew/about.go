package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"clew"
	"clew/internal/gen"
	"clew/internal/outputs"
	"clew/internal/text"
	"clew/internal/usage"
	"clew/jepsen/forms"
	"clew/models"
)

func versionCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version",
		Description: "Prints the version, the commit that it was built from, and Go's version, as clew --version does.",
		Action:      func(*cli.Context) error { return printVersion(stdout) },
	}
}

func printVersion(stdout io.Writer) error {
	info, _ := debug.ReadBuildInfo()
	_, err := fmt.Fprintln(stdout, "clew", versionLine(info))
	return err
}

// versionLine returns the version, the commit if it is known, and what built the program:
//
//	v1.2.3 (commit 7304e3f58c06 of 2026-11-22T10:14:06Z, modified), go1.26.0 linux/amd64
func versionLine(info *debug.BuildInfo) string {
	return outputs.BuildOf(info) + ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}

const completionHelp = `Prints a script with which a shell completes the commands of clew, their flags, and
the values of flags: models, algorithms, forms, outputs. make install puts them where
shells look for them.

Examples:
   source <(clew completion bash)                    # for this shell; or in ~/.bashrc
   clew completion bash > /etc/bash_completion.d/clew
   clew completion zsh > ~/.zsh/completions/_clew    # a folder in $fpath
   clew completion fish > ~/.config/fish/completions/clew.fish`

func completionCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print a completion script for a shell",
		ArgsUsage:   strings.Join(usage.Shells, "|"),
		Description: completionHelp,
		Action: func(c *cli.Context) error {
			shell, expected := c.Args().First(), "completion takes one shell: "+text.OneOf(usage.Shells)
			if c.NArg() == 0 {
				return errors.New(expected)
			}
			if c.NArg() > 1 || !slices.Contains(usage.Shells, shell) {
				return fmt.Errorf("%s; found %q", expected, strings.Join(c.Args().Slice(), " "))
			}
			_, err := io.WriteString(stdout, about(c.App).Completion(shell))
			return err
		},
	}
}

func manCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "print the man page",
		Description: "Prints the man page, in roff: what --help says about every command, and the models.\n\n" +
			"Examples:\n   clew man | man -l -\n   clew man > /usr/local/share/man/man1/clew.1",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return errors.New("man takes no argument; it is one page")
			}
			var list strings.Builder
			if err := listModels(&list); err != nil {
				return err
			}
			models := "   " + strings.ReplaceAll(strings.TrimSuffix(list.String(), "\n"), "\n", "\n   ")
			_, err := io.WriteString(stdout, about(c.App).Man(usage.Section{Title: "models", Text: models}))
			return err
		},
	}
}

// about describes the command line, for docs and completion.
func about(app *cli.App) usage.Program {
	p := usage.Of(app, "check", outputs.Version(), valuesOf)
	for _, c := range p.Commands {
		for i := range c.Flags {
			if f := &c.Flags[i]; c.Name == "gen" && f.Name == "--bug" {
				f.Other, f.By = "--model", bugsByModel()
			}
		}
	}
	return p
}

// genModels returns the models that have generated histories, with bugs and without.
func genModels() (names []string) {
	for _, kind := range gen.LongKinds() {
		names = append(names, gen.ModelsOf(kind)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func bugsByModel() (by []usage.Choice) {
	for _, model := range genModels() {
		by = append(by, usage.Choice{Given: model, Values: append([]string{gen.Linearizable.String()}, kindNames(gen.KindsOf(model))...)})
	}
	return by
}

func kindNames(kinds []gen.LongKind) (names []string) {
	for _, kind := range kinds {
		names = append(names, kind.String())
	}
	return names
}

func modelNames() []string {
	var names []string
	for _, m := range models.All() {
		names = append(names, m.Name)
	}
	return names
}

// valuesOf returns the values that a flag of a command takes, as far as that is a list. If the flag is "", it returns
// those of the command's arguments.
func valuesOf(command, flag string) []string {
	switch flag {
	case "":
		return map[string][]string{"completion": usage.Shells, "models": modelNames()}[command]
	case "model":
		if command == "gen" {
			return genModels()
		}
		return modelNames()
	case "output":
		return outputs.Names(map[string][]outputs.Output{"check": outputs.Check(), "merge": outputs.Merge(), "compare": outputs.Compare(), "doctor": examinations()}[command])
	case "bug":
		return kindNames(gen.LongKinds())
	case "consistency":
		levels := []string{string(models.Linearizable)}
		for _, level := range models.AllLevels() {
			levels = append(levels, string(level))
		}
		return levels
	case "from":
		return strings.Split(forms.Names(forms.Readable), ", ")
	}
	if choices := models.Param(flag).Choices(); choices != nil {
		return choices
	}
	return map[string][]string{
		"algorithm": clew.Algorithms(), "html-style": outputs.Styles, "to": strings.Split(forms.Names(forms.All), ", "), "scale": {"order", "time"},
		"keyless": {"error", "every"}, "clients": {"integers", "all"}, "unknown": {"fail", "pass"}, "empty": {"fail", "pass"},
	}[flag]
}
