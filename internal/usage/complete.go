package usage

import (
	"embed"
	"regexp"
	"strings"
	"sync"
	"text/template"
)

// Shells are the shells that have completions.
var Shells = []string{"bash", "zsh", "fish"}

// Completion returns the completion script of a shell.
func (p Program) Completion(shell string) string {
	var b strings.Builder
	if err := scripts().ExecuteTemplate(&b, shell+".tmpl", p); err != nil {
		panic(err) // the templates are ours
	}
	return b.String()
}

// group is a number of flags whose values are completed in the same way.
type group struct {
	Kind   string
	Flags  []string
	Values []string
	Other  string
	By     []Choice
}

// Groups returns the flags that take a value, grouped by their values.
func (c Command) Groups() []group {
	var all []*group
	of := map[string]*group{}
	for _, f := range c.Flags {
		if f.Kind() == "none" {
			continue
		}
		key := f.Kind() + " " + strings.Join(f.Values, " ") + f.Other
		if of[key] == nil {
			of[key] = &group{Kind: f.Kind(), Values: f.Values, Other: f.Other, By: f.By}
			all = append(all, of[key])
		}
		of[key].Flags = append(of[key].Flags, f.Name)
	}
	groups := make([]group, len(all))
	for i, g := range all {
		groups[i] = *g
	}
	return groups
}

// Givens returns the values of the other flag on which a flag's own values depend.
func (f Flag) Givens() (all []string) {
	for _, choice := range f.By {
		all = append(all, choice.Given)
	}
	return all
}

// Others returns the names of all other commands.
func (p Program) Others(name string) []string {
	var all []string
	for _, other := range p.names() {
		if other != name {
			all = append(all, other)
		}
	}
	return all
}

//go:embed *.tmpl
var templates embed.FS

var scripts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"names": Program.names,
		"word":  word,
		"words": func(words []string, between string) string { return each(words, word, between) },
		"flags": func(flags []Flag) []string {
			var names []string
			for _, f := range flags {
				names = append(names, f.Name)
			}
			return append(names, "--help")
		},
		"line": line,
		// An item of zsh's _describe has a colon before its description.
		"item": func(name, about string) string {
			return quoted(strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(name)+":"+line(about), `'\''`)
		},
		"fishQuote": fishQuote,
		"fishWords": fishWords,
		// fish reads a list of words like a command.
		"fishList": func(words any) string { return fishQuote(fishWords(words)) },
		"fishFlag": fishFlag,
	}).ParseFS(templates, "*.tmpl"))
})

// plain is a word that means itself in every shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// word returns a word for bash and zsh.
func word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return quoted(s, `'\''`)
}

// quoted returns a text in apostrophes, with something in place of its own apostrophes.
func quoted(s, apostrophe string) string { return "'" + strings.ReplaceAll(s, "'", apostrophe) + "'" }

// fishQuote returns a quoted word for fish, in whose quotes a backslash has a meaning.
func fishQuote(s string) string { return quoted(strings.ReplaceAll(s, `\`, `\\`), `\'`) }

func fishWords(words any) string {
	list, several := words.([]string)
	if !several {
		list = []string{words.(string)}
	}
	return each(list, func(s string) string {
		if plain.MatchString(s) {
			return s
		}
		return fishQuote(s)
	}, " ")
}

// fishFlag returns the options of fish's complete for a flag: -l for --flag, -o for -flag, -s for -f.
func fishFlag(name string) string {
	option, bare := "-o ", strings.TrimLeft(name, "-")
	switch {
	case strings.HasPrefix(name, "--"):
		option = "-l "
	case len(bare) == 1:
		option = "-s "
	}
	return option + fishWords(bare)
}

func each(words []string, change func(string) string, between string) string {
	changed := make([]string, len(words))
	for i, w := range words {
		changed[i] = change(w)
	}
	return strings.Join(changed, between)
}

// line returns a text in one line, since shells list what they offer in lines.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }
