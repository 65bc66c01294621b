package usage

import (
	"fmt"
	"strings"
	"text/template"
)

// Shells are the shells that have completions.
var Shells = []string{"bash", "zsh", "fish"}

// Completion returns the completion script of a shell.
func (p Program) Completion(shell string) string {
	var b strings.Builder
	if err := scripts.ExecuteTemplate(&b, shell, p); err != nil {
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

var scripts = template.Must(template.New("").Funcs(template.FuncMap{
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
}).Parse(`
{{- define "bash"}}# Completion of {{.Name}} for bash, made by: {{.Name}} completion bash
_{{.Name}}() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local command= flags= values= words= kind=file given i
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      {{join (names .) "|"}}) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case ${command:-{{.Usual}}} in
{{- range .Commands}}
    {{.Name}})
      flags='{{flags .Flags}}'
{{- if .Words}}
      words='{{join .Words " "}}'{{end}}
{{- if not .Paths}}
      kind={{end}}
{{- with .Groups}}
      case $prev in
{{- range .}}
        {{join .Flags "|"}}) {{if eq .Kind "words"}}values='{{join .Values " "}}'{{else if eq .Kind "text"}}return{{else}}flags= kind={{.Kind}}{{end}}
{{- if .By}}
          given={{.Other}}
          for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
            [[ ${COMP_WORDS[i]} == {{.Other}} ]] || continue
            given=${COMP_WORDS[i+1]}
            [[ $given != = ]] || given=${COMP_WORDS[i+2]}
          done
          case $given in
{{- range .By}}
            {{.Given}}) values='{{join .Values " "}}' ;;
{{- end}}
          esac
         {{- end}} ;;
{{- end}}
      esac{{end}} ;;
{{- end}}
    help) words='{{join (names .) " "}}' kind= ;;
  esac
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
    return
  fi
  if [[ -n $flags && $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  if [[ -z $command && -n $flags ]]; then
    words='{{join (names .) " "}}'
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  local IFS=$'\n'
  case $kind in
    file) COMPREPLY+=($(compgen -f -- "$cur")) ;;
    folder) COMPREPLY=($(compgen -d -- "$cur")) ;;
    *) return ;;
  esac
  compopt -o filenames 2> /dev/null
}
complete -F _{{.Name}} {{.Name}}
{{end}}

{{- define "zsh"}}#compdef {{.Name}}
# Completion of {{.Name}} for zsh, made by: {{.Name}} completion zsh
_{{.Name}}() {
  local cur=${words[CURRENT]} prev=${words[CURRENT-1]} command= kind=file word given=
  local -a commands flags values
  commands=({{range .Commands}}
    {{quote (item .Name .Usage)}}{{end}}
    'help:show the help of a command'
  )
  if [[ $cur == -*=* ]]; then
    prev=${cur%%=*}
    compset -P '*='
  fi
  for word in ${words[2,CURRENT-1]}; do
    case $word in
      ({{join (names .) "|"}}) command=$word; break ;;
    esac
  done
  case ${command:-{{.Usual}}} in
{{- range .Commands}}
    ({{.Name}})
      flags=({{range .Flags}}
        {{quote (item .Name .About)}}{{end}}
        '--help:show help'
      )
{{- if .Words}}
      values=({{join .Words " "}}){{end}}
{{- if not .Paths}}
      kind={{end}}
{{- with .Groups}}
      case $prev in
{{- range .}}
        ({{join .Flags "|"}})
{{- if .By}}
          for word in $words; do
            [[ $given == {{.Other}} ]] && given=$word
            [[ $word == {{.Other}} ]] && given=$word
            [[ $word == {{.Other}}=* ]] && given=${word#*=}
          done
          case $given in
{{- range .By}}
            ({{.Given}}) compadd -- {{join .Values " "}}; return ;;
{{- end}}
          esac
         {{- end}} {{if eq .Kind "words"}}compadd -- {{join .Values " "}}{{else if eq .Kind "file"}}_files{{else if eq .Kind "folder"}}_files -/{{else}}:{{end}}; return ;;
{{- end}}
      esac{{end}} ;;
{{- end}}
    (help) _describe command commands; return ;;
  esac
  if [[ $cur == -* ]]; then
    _describe -o flag flags
    return
  fi
  [[ -n $command ]] || _describe command commands
  (( $#values )) && compadd -- $values
  [[ -z $kind ]] || _files
}
if [[ $funcstack[1] == _{{.Name}} ]]; then
  _{{.Name}} "$@"
else
  compdef _{{.Name}} {{.Name}}
fi
{{end}}

{{- define "fish"}}# Completion of {{.Name}} for fish, made by: {{.Name}} completion fish
{{- $p := .}}
function __{{.Name}}_given
  set -l line " "(string join -- " " (commandline -opc))" "
  string match -q -- "* $argv[1] $argv[2] *" $line; or string match -q -- "* $argv[1]=$argv[2] *" $line
end
{{- range .Flags}}
complete -c {{$p.Name}} -n __fish_use_subcommand {{dash .Name}} {{long .Name}} -d {{quote .About}}{{end}}
{{- range .Commands}}
complete -c {{$p.Name}} -n __fish_use_subcommand -a {{.Name}} -d {{quote .Usage}}{{end}}
complete -c {{.Name}} -n __fish_use_subcommand -a help -d 'show the help of a command'
complete -c {{.Name}} -n '__fish_seen_subcommand_from help' -f -a {{quote (join (names .) " ")}}
{{- range .Commands}}
{{- $seen := printf "__fish_seen_subcommand_from %s" .Name}}
{{- if eq .Name $p.Usual}}{{$seen = printf "not __fish_seen_subcommand_from %s" (join ($p.Others .Name) " ")}}{{end}}
{{- if not .Paths}}
complete -c {{$p.Name}} -n {{quote $seen}} -f{{if .Words}} -a {{quote (join .Words " ")}}{{end}}{{end}}
{{- range .Flags}}
{{- $flag := .}}
{{- $own := $seen}}
{{- if .By}}{{$own = printf "%s; and not __%s_given %s '*'" $seen $p.Name .Other}}{{end}}
{{- range .By}}
complete -c {{$p.Name}} -n {{quote (printf "%s; and __%s_given %s %s" $seen $p.Name $flag.Other .Given)}} {{dash $flag.Name}} {{long $flag.Name}} -x -a {{quote (join .Values " ")}} -d {{quote $flag.About}}{{end}}
complete -c {{$p.Name}} -n {{quote $own}} {{dash .Name}} {{long .Name}}
{{- if eq .Kind "words"}} -x -a {{quote (join .Values " ")}}
{{- else if eq .Kind "file"}} -r -F
{{- else if eq .Kind "folder"}} -x -a '(__fish_complete_directories)'
{{- else if eq .Kind "text"}} -x{{end}} -d {{quote .About}}{{end}}{{end}}
{{end}}`))
