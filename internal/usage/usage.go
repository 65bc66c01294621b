// Package usage makes completion scripts and a man page from the definition of a
// command line, so that neither can know flags that the program does not have.
package usage

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Program is a command line.
type Program struct {
	Name, Usage, Description, Version string
	Flags                             []Flag // flags of the program itself
	Commands                          []Command
	// Usual is the default command.
	Usual string
}

// Command is a command of a program.
type Command struct {
	Name, Usage, Args, Description string
	Flags                          []Flag
	Words                          []string // words that may replace its arguments
}

// Paths says whether the command's arguments are files.
func (c Command) Paths() bool { return c.Args != "" && len(c.Words) == 0 }

// Flag is a flag.
type Flag struct {
	Name   string   // with its dashes
	Value  string   // what stands for its value, or "" if it takes none
	About  string   // as the program's help has it
	Values []string // all values that it may have, or nil if they are not known
	Other  string   // the flag on which its values depend, or "" if they do not
	By     []Choice // the values that it may have, by the value of that flag
}

// Choice says which values a flag may have if another one has a certain value.
type Choice struct {
	Given  string
	Values []string
}

// Kind returns what the value of a flag is: "none", "words", "file", "folder" or "text".
func (f Flag) Kind() string {
	switch {
	case f.Value == "":
		return "none"
	case len(f.Values) > 0:
		return "words"
	case slices.Contains([]string{"FILE", "TABLE"}, f.Value):
		return "file"
	case f.Value == "DIR":
		return "folder"
	}
	return "text"
}

// Of returns the program of an app. values returns the values of a command's flag,
// or what may stand as the command's arguments if the flag is "".
func Of(app *cli.App, usual, version string, values func(command, flag string) []string) Program {
	p := Program{Name: app.Name, Usage: app.Usage, Description: app.Description, Version: version, Usual: usual}
	p.Flags = flags(app.Flags, func(string) []string { return nil })
	for _, c := range app.Commands {
		if c.Hidden || c.Name == "help" {
			continue
		}
		of := func(flag string) []string { return values(c.Name, flag) }
		p.Commands = append(p.Commands, Command{Name: c.Name, Usage: c.Usage, Args: c.ArgsUsage, Description: c.Description,
			Flags: flags(c.Flags, of), Words: of("")})
	}
	return p
}

func flags(defined []cli.Flag, values func(flag string) []string) []Flag {
	var all []Flag
	for _, f := range defined {
		if visible, is := f.(cli.VisibleFlag); slices.Contains(f.Names(), "help") || is && !visible.IsVisible() {
			continue
		}
		name, about, _ := strings.Cut(f.String(), "\t")
		name, value, _ := strings.Cut(name, " ")
		if _, isBool := f.(*cli.BoolFlag); isBool {
			about = strings.TrimSuffix(about, " (default: false)")
			value = ""
		}
		all = append(all, Flag{Name: name, Value: value, About: about, Values: values(f.Names()[0])})
	}
	return all
}

// names returns the names of the commands.
func (p Program) names() []string {
	var all []string
	for _, c := range p.Commands {
		all = append(all, c.Name)
	}
	return append(all, "help")
}
