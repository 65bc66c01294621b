package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"clew/internal/effort"
)

func TestTheVersionSaysWhatItWasBuiltFrom(t *testing.T) {
	built := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	const commit = "7304e3f58c06ad09d7a4d1d5bdbe1a7ed97a2e3e"
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "(devel)"},
		{built(""), "(devel)"},
		{built("v1.2.3"), "v1.2.3"},
		{built("v1.2.3", "vcs.revision", commit), "v1.2.3 (commit 7304e3f58c06)"},
		{built("v1.2.3", "vcs.revision", commit, "vcs.time", "2026-11-22T10:14:06Z", "vcs.modified", "false"), "v1.2.3 (commit 7304e3f58c06 of 2026-11-22T10:14:06Z)"},
		{built("(devel)", "vcs.revision", "abc", "vcs.modified", "true"), "(devel) (commit abc, modified)"},
	} {
		if got, want := versionLine(c.info), c.want+", "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// completions holds what is typed, one word after the other. It also holds which offers for the last word must be
// there, and which must not.
var completions = []struct{ typed, offers, not string }{
	{"ch", "check", "merge"},
	{"check --mod", "--model --models --model-file", "--init"},
	{"check --model ", "register cas-register lease", "--model check"},
	{"verify --model ", "mutex kv", ""},
	{"check --output ", "text edn json junit sarif github", ""},
	{"merge --output ", "text json junit sarif github", "edn"},
	{"compare --output ", "text json", "junit"},
	{"do", "doctor", "compare"},
	{"doctor --output ", "text json", "edn"},
	{"doctor --m", "--model --models --model-file --mutants", "--algorithm"},
	{"--algorithm ", "auto frontier hitting competition", "check"},
	{"check --unknown ", "fail pass", ""},
	{"check --semantics ", "jepsen knossos", ""},
	{"check --init ", "", "x.edn check --model"},
	{"check --core ", "x.edn", "check"},
	{"check x", "x.edn", ""},
	{"check --evidence ", "folder", "x.edn check"},
	{"completion ", "bash zsh fish", "x.edn"},
	{"convert --to ", "edn jsonl intervals", "test.jepsen"},
	{"convert --from ", "edn test.jepsen", ""},
	{"gen --model ", "register stack", "none"},
	{"gen --bug ", "none stale-read reordered", ""},
	{"gen --model register --bug ", "none stale-read", "reordered register --model"},
	{"gen --model stack --bug ", "none reordered", "two-holders"},
	{"gen --model bank --bug ", "none torn-read", "reordered"},
	{"gen --model stack --model register --bug ", "none stale-read", "reordered"},
	{"gen --model nothing --bug ", "none stale-read reordered", ""},
	{"models ", "stack cas-register", "x.edn"},
	{"help ", "check completion man", "x.edn"},
	{"", "check merge completion x.edn", "--model"},
}

// A shell's test has the completion script in $1. It prints what is offered once the other arguments have been typed.
var shells = map[string]string{
	"bash": `source "$1"; shift
COMP_WORDS=(clew "$@"); COMP_CWORD=$#; _clew
printf '%s\n' "${COMPREPLY[@]}"`,
	// Nothing completes without a terminal: these functions stand for what zsh would ask. It keeps what begins with
	// what was typed.
	"zsh": `script=$1; shift
words=(clew "$@"); CURRENT=$#words
compdef() { }
compadd() { [[ $1 == -- ]] && shift; print -rl -- "${(@M)@:#${words[CURRENT]}*}" }
_describe() { local list=$@[-1]; compadd -- "${(@)${(P)list}%%:*}" }
_files() { if [[ $1 == -/ ]]; then compadd -- *(/); else compadd -- *; fi }
source $script; _clew`,
	"fish": `source $argv[1]
complete -C "clew $argv[2..-1]" | string replace -r '\t.*' '' | string trim -r -c /; true`,
}

func TestShellsComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "x.edn", write)
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for shell, test := range shells {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(err)
			}
			_, script, _ := clewRun("completion", shell)
			putFile(t, "../completion", script)
			for i, c := range completions {
				if !effort.Takes(i) {
					continue
				}
				flags := map[string][]string{"bash": {"--norc", "-c", test, "bash"}, "zsh": {"-f", "-c", test, "zsh"}, "fish": {"--no-config", "-c", test}}[shell]
				cmd := exec.Command(shell, slices.Concat(flags, []string{"../completion"}, strings.Split(c.typed, " "))...)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", c.typed, err, out)
				}
				offers := strings.Split(string(out), "\n")
				for _, want := range strings.Fields(c.offers) {
					if !slices.Contains(offers, want) {
						t.Errorf("%q: %s is not offered: %s", c.typed, want, out)
					}
				}
				for _, not := range strings.Fields(c.not) {
					if slices.Contains(offers, not) {
						t.Errorf("%q: %s is offered", c.typed, not)
					}
				}
			}
		})
	}
}

func TestWhatIsOfferedIsTaken(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "h.edn", write)
	offered := 0
	for _, c := range about(newApp(nil, io.Discard, io.Discard, new(int))).Commands {
		for _, f := range c.Flags {
			for _, value := range f.Values {
				args := []string{c.Name, f.Name, value}
				switch {
				case c.Name == "gen" && f.Name != "--model":
					args = append(args, "--model", "register")
				case c.Name == "gen" && strings.Contains(value, "semaphore"):
					args = append(args, "--permits", "2")
				case c.Name == "convert" && f.Name == "--from":
					args = append(args, "--to", "edn", "h.edn")
				default:
					args = append(args, "h.edn")
				}
				offered++
				_, _, stderr := clewRun(args...)
				for _, refused := range []string{"unknown ", "not \"" + value, "expected one of", f.Name + " is "} {
					if strings.Contains(stderr, refused) {
						t.Errorf("%q: %s", args, stderr)
					}
				}
			}
		}
	}
	if offered < 150 {
		t.Errorf("only %d values are offered", offered)
	}
}

func TestTheManPageHasEveryFlag(t *testing.T) {
	status, page, stderr := clewRun("man")
	if status != exitValid || stderr != "" {
		t.Fatal(status, stderr)
	}
	app := newApp(nil, io.Discard, io.Discard, new(int))
	for _, c := range app.Commands {
		if !strings.Contains(page, "\n.SH CLEW "+strings.ToUpper(c.Name)+"\n") {
			t.Errorf("there is no %s", c.Name)
		}
		for _, f := range c.Flags {
			if visible, is := f.(cli.VisibleFlag); is && !visible.IsVisible() { // of requests alone
				continue
			}
			name := "--" + f.Names()[0]
			if len(f.Names()[0]) == 1 {
				name = name[1:]
			}
			if !strings.Contains(page, `\fB`+strings.ReplaceAll(name, "-", `\-`)+`\fR`) {
				t.Errorf("%s has no %s", c.Name, name)
			}
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("groff", "-man", "-ww", "-z", "-Tutf8")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

func TestMakeInstall(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil || effort.Few() {
		t.Skip("without make, or in a hurry")
	}
	to := filepath.Join(t.TempDir(), "a folder")
	cmd := exec.Command("make", "-s", "install", "PREFIX=/usr", "DESTDIR="+to)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var found []string
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, _ := d.Info()
			found = append(found, fmt.Sprintf("%s %04o", strings.TrimPrefix(path, to), info.Mode()))
		}
		return err
	})
	want := []string{
		"/usr/bin/clew 0755",
		"/usr/share/bash-completion/completions/clew 0644",
		"/usr/share/fish/vendor_completions.d/clew.fish 0644",
		"/usr/share/man/man1/clew.1 0644",
		"/usr/share/zsh/site-functions/_clew 0644",
	}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("%v, %v; want %v", found, err, want)
	}
	if out, err := exec.Command(filepath.Join(to, "usr", "bin", "clew"), "--version").Output(); err != nil || !strings.HasPrefix(string(out), "clew ") {
		t.Errorf("%s, %v", out, err)
	}
}
