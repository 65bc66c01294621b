package clewtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/internal/option"
	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// width is that of texts, in characters. The log indents them.
const width = 110

// shrunk says what Run has to add to a failure.
type shrunk struct {
	run   string         // what the history is of: its clients, operations and seed
	found string         // what came of the search for a smaller run
	first *report.Result // of the first run, if the failure is that of a smaller one
}

// tell says what was found about a history, and fails the test unless that is good.
func (s *settings) tell(t testing.TB, r *report.Result, err error, of shrunk) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf("%sthe history cannot be checked: %v", of.run, err)
	case r == nil: // that has been said
	case r.Verdict == jepsen.Valid:
		if r.Vacuous != "" {
			t.Logf("%sthe verdict is vacuous: %s", of.run, r.Vacuous)
		}
		for _, w := range r.Warnings() {
			t.Log("warning: " + w)
		}
	case r.Verdict == jepsen.Unknown && s.unknown:
		t.Log(of.run + s.said(r, of) + leave(t, r, of))
	case r.Verdict == jepsen.Unknown:
		t.Error(of.run + "it is not known whether the history is linearizable (the option AllowUnknown lets this pass)\n" + s.said(r, of) + leave(t, r, of))
	default:
		t.Error(of.run + "the history is not linearizable\n" + s.said(r, of) + leave(t, r, of))
	}
}

// said returns what the log says of a result besides its verdict.
func (s *settings) said(r *report.Result, of shrunk) string {
	said := of.found + r.TextFor(report.TextOptions{Width: width})
	for _, w := range r.Warnings() {
		said += "  warning: " + w + "\n"
	}
	return said
}

// leave writes what is left of a failure into files that survive the test, and returns their names for the log.
func leave(t testing.TB, r *report.Result, of shrunk) string {
	dir, err := folder(t)
	if err != nil {
		return fmt.Sprintf("no files: %v", err)
	}
	var said strings.Builder
	write := func(name, what string, content func(w io.Writer) error) {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err == nil {
			err = errors.Join(content(f), f.Close())
		}
		if err != nil {
			what += fmt.Sprintf(" (%v)", err)
		}
		fmt.Fprintf(&said, "%-10s%s\n", what+":", path)
	}
	whole := r
	if of.first != nil {
		whole = of.first
	}
	write("history.edn", "history", whole.History.WriteEDN)
	if of.first != nil {
		write("smallest.edn", "smallest", r.History.WriteEDN)
	}
	if r.Verdict == jepsen.Invalid {
		if r.FirstFailing().Placed() {
			write("core.edn", "core", r.WriteCore)
		}
		write("failure.html", "page", func(w io.Writer) error {
			return clew.WritePage(context.Background(), w, r, report.WindowOptions{})
		})
	}
	said.WriteString(again(r, filepath.Join(dir, "history.edn")))
	return said.String()
}

// again returns the command that checks a history, if clew check knows the model.
func again(r *report.Result, path string) string {
	args := r.Spec.Flags()
	if args == nil {
		return ""
	}
	if r.Keys != nil {
		args = append(args, option.Independent.Flag)
	}
	said := "again:    clew check"
	for _, arg := range append(args, path) {
		said += " " + text.ShellWord(arg)
	}
	return said + "\n"
}

// folder returns one that go test -artifacts keeps, or else a new one that survives the test.
func folder(t testing.TB) (string, error) {
	since126, is := t.(interface{ ArtifactDir() string }) // Go 1.25 has none
	if f := flag.Lookup("test.artifacts"); is && f != nil && f.Value.String() == "true" {
		return since126.ArtifactDir(), nil
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\*:?"<>|`, r) || r == os.PathSeparator {
			return '_'
		}
		return r
	}, t.Name())
	return os.MkdirTemp("", "clew-"+name[:min(len(name), 64)]+"-*")
}
