package usage

import (
	"embed"
	"fmt"
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
		"join":  strings.Join,
		"names": Program.names,
		"quote": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"long":  func(s string) string { return strings.TrimLeft(s, "-") },
		"dash":  func(s string) string { return map[bool]string{true: "-l", false: "-o"}[strings.HasPrefix(s, "--")] },
		"flags": func(flags []Flag) string {
			var names []string
			for _, f := range flags {
				names = append(names, f.Name)
			}
			return strings.Join(append(names, "--help"), " ")
		},
		// An item of zsh's _describe has a colon before its description.
		"item": func(name, about string) string {
			return fmt.Sprintf("%s:%s", strings.ReplaceAll(name, ":", `\:`), about)
		},
	}).ParseFS(templates, "*.tmpl"))
})
