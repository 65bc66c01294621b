package usage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostile returns texts that shells may take for something else. They are in one line
// and not empty if they are offered, since shells list what they offer in lines.
func hostile(r *rand.Rand, offered bool) (all []string) {
	all = []string{"it's", "a [b] (c) {d,e}", "c:d::e", `back\slash\`, `ends in \'`, "`echo ran >&2` $(echo ran >&2) $HOME", `"quoted`, "%d %s", "=ls", "~", "*", "é😀", "plain"}
	alphabet := []rune("'\"\\[](){}:;$`*?~!#&|<>=%^-+, ab")
	if !offered {
		all, alphabet = append(all, "", "two\nlines\n\nand\ttabs"), append(alphabet, '\n', '\t')
	}
	for range 40 {
		text := []rune{'x'}
		for range r.IntN(12) {
			text = append(text, alphabet[r.IntN(len(alphabet))])
		}
		all = append(all, string(text))
	}
	for i, text := range all {
		if offered {
			all[i] = fmt.Sprintf("v%02d%sv", i, text)
		}
	}
	return all
}

// toy returns a program that has hostile texts wherever the definition of a command line has
// texts of its own.
func toy(r *rand.Rand) (p Program, values []string) {
	values = hostile(r, true)
	run := Command{Name: "run", Args: "PATH..."}
	for i, about := range hostile(r, false) {
		run.Flags = append(run.Flags, Flag{Name: fmt.Sprintf("--flag%02d", i), About: about})
		p.Commands = append(p.Commands, Command{Name: fmt.Sprintf("command%02d", i), Usage: about})
	}
	run.Flags = append(run.Flags,
		Flag{Name: "--words", Value: "WORD", Values: values, About: "it's one [of]: these"},
		Flag{Name: "--file", Value: "FILE", About: "a `file`"},
		Flag{Name: "--by", Value: "WORD", Values: values[:1], About: "it's", Other: "--words", By: []Choice{{"plain", values[1:]}}})
	p.Name, p.Usual = "toy", "run"
	p.Commands = append(p.Commands, run, Command{Name: "say", Args: "WORD", Words: values})
	return p, values
}

// offers are scripts that get a completion script and what is typed, and print what is offered.
var offers = map[string]string{
	"bash": `source "$1"; shift
COMP_WORDS=(toy "$@"); COMP_CWORD=$#; _toy
for word in "${COMPREPLY[@]}"; do eval "printf '%s\n' $word"; done`,
	"zsh": `script=$1; shift
words=(toy "$@"); CURRENT=$#words
compdef() { }
compadd() { [[ $1 == -- ]] && shift; print -rl -- "$@" }
_describe() { local list=$@[-1]; print -rl -- "${(@)${(P)list}%%:*}" }
_files() { }
source $script; _toy`,
	"fish": `source $argv[1]
complete -C "toy $argv[2..-1]" | string replace -r '\t.*' ''; true`,
}

// shellFlags has a shell read a script without what a user or a system has set.
var shellFlags = map[string][]string{"bash": {"--norc", "-c"}, "zsh": {"-f", "-c"}, "fish": {"--no-config", "-c"}}

// shell runs a script in a shell, and returns what it prints. It may print no errors.
func shell(t *testing.T, name, script string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	if name != "fish" {
		args = append([]string{name}, args...)
	}
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	cmd := exec.CommandContext(ctx, name, slices.Concat(shellFlags[name], []string{script}, args)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TERM=dumb")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%s %.200q: %v\n%s", name, args, err, &errs)
	}
	return string(out)
}

// written returns the path of the completion script of a program.
func written(t *testing.T, p Program, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "_toy")
	if err := os.WriteFile(path, []byte(p.Completion(name)), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever help and values are, a script parses, runs nothing of them, and offers the values.
func TestShellsTakeTextsLiterally(t *testing.T) {
	for _, name := range Shells {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				p, values := toy(rand.New(rand.NewPCG(seed, 0)))
				path := written(t, p, name)
				shell(t, name, name+` -n "`+path+`"`)
				for typed, want := range map[string][]string{
					"run --words ":              values,
					"run --words plain --by ":   values[1:],
					"run --words unknown --by ": values[:1],
					"say ":                      values,
				} {
					got := strings.Split(strings.TrimSuffix(shell(t, name, offers[name], slices.Concat([]string{path}, strings.Split(typed, " "))...), "\n"), "\n")
					slices.Sort(got)
					if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
						t.Errorf("%q offers\n%q\nwant\n%q", typed, got, want)
					}
				}
				for typed, want := range map[string]string{"run --flag": "--flag", "comm": "command"} {
					got := strings.Count(shell(t, name, offers[name], slices.Concat([]string{path}, strings.Split(typed, " "))...), want)
					if n := len(hostile(rand.New(rand.NewPCG(seed, 0)), false)); got != n {
						t.Errorf("%q offers %d, want %d", typed, got, n)
					}
				}
			}
		})
	}
}

// zshTyped types the beginnings of words in a terminal, where zsh ends them. What is run then
// goes into a file.
const zshTyped = `zmodload zsh/zpty
zpty terminal zsh -f -i
zpty -w terminal "fpath=(${(q)1:h} \$fpath); autoload -Uz compinit; compinit -u -D; toy() { print -rl -- \"\$@\" >> ${(q)2} }"
for typed in "${@[3,-1]}"; do
  zpty -w terminal "toy $typed"$'\t'
done
zpty -w terminal exit
while zpty -r terminal said; do :; done`

func TestZshEndsWordsInATerminal(t *testing.T) {
	p, values := toy(rand.New(rand.NewPCG(1, 0)))
	path, ran := written(t, p, "zsh"), filepath.Join(t.TempDir(), "ran")
	args, want := []string{path, ran}, []string{}
	for i, value := range values {
		args = append(args, fmt.Sprintf("run --words v%02d", i))
		want = append(want, "run", "--words", value)
	}
	args = append(args, "run --fil", "sa")
	want = append(want, "run", "--file", "say")
	shell(t, "zsh", zshTyped, args...)
	text, err := os.ReadFile(ran)
	if got := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: ran\n%q\nwant\n%q", err, got, want)
	}
}
