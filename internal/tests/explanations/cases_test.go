package explanations_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"clew"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// TestCases runs the conversations of testdata/cases and of the data types: a history in the .log
// form or as EDN, and what clew says about it.
//
//	check MODEL [init=EDN] [semantics=knossos] [nil-reads=exact] [failed-cas=observe] [priority=min]
//	[permits=K] [max-holds=D] [threads=N] [clients=all] [independent=true] [algorithm=NAME]
//
// go test -run TestCases ./internal/tests/explanations -rewrite writes the answers again; read the difference.
func TestCases(t *testing.T) {
	for _, pattern := range []string{kit.Path("testdata/cases/*.txt"), kit.Path("internal/types/*/*cases.txt")} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			t.Run(file, func(t *testing.T) {
				datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
					if d.Cmd != "check" {
						t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
					}
					return conversation(t, d)
				})
			})
		}
	}
}

// question is what the first line of a conversation asks.
type question struct {
	spec       models.Spec
	allClients bool
	options    clew.Options
}

func asked(t *testing.T, d *datadriven.TestData) (q question, err error) {
	for _, arg := range d.CmdArgs {
		value := strings.Join(arg.Vals, " ")
		switch {
		case len(arg.Vals) == 0:
			q.spec.Name = arg.Key
		case arg.Key == "model-file":
			q.spec = models.Own(kit.StarModel(t, value))
		case arg.Key == "clients":
			q.allClients = value == "all"
		case arg.Key == "independent":
			q.options.Independent = value == "true"
		case arg.Key == "algorithm":
			q.options.Algorithm = value
		default:
			if err = q.spec.Set(models.Param(arg.Key), value); err != nil {
				return q, err
			}
		}
	}
	return q, nil
}

// reading says how the history is read.
func (q question) reading() jepsen.Options {
	return jepsen.Options{AnyFailedF: q.spec.Knossos, AllClients: q.allClients}
}

// answer checks the history of a conversation.
func (q question) answer(text, name string) (*report.Result, error) {
	h, err := clew.Read(strings.NewReader(text+"\n"), name, q.reading())
	if err != nil {
		return nil, err
	}
	return clew.Check(context.Background(), h, q.spec, q.options)
}

func conversation(t *testing.T, d *datadriven.TestData) string {
	q, err := asked(t, d)
	var r *report.Result
	if err == nil {
		r, err = q.answer(d.Input, "h")
	}
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	h := r.History
	var b strings.Builder
	if q.options.Independent {
		for _, key := range r.Keys {
			fmt.Fprintf(&b, "key %s: %s", key.Key, key.Result().Verdict)
			if one := key.Result(); one.Verdict == jepsen.Invalid {
				fmt.Fprintf(&b, " at index %d", one.History.Index(one.FailEvent.OrNone()))
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	for _, w := range h.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	switch r.Verdict {
	case jepsen.Valid:
		fmt.Fprintf(&b, "valid: %s\n", r.Final)
		fmt.Fprintf(&b, "witness:%s\n", indices(h, r.Witness))
	case jepsen.Invalid:
		fmt.Fprintf(&b, "invalid at index %d: %s\n", h.Index(r.FailEvent.OrNone()), r.Explanation)
		if r.Hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", r.Hint)
		}
		for _, path := range r.Paths {
			b.WriteString("path:")
			for _, s := range path {
				state := s.State.String()
				if s.Why != "" {
					state = "#knossos.model.Inconsistent{:msg " + h.Values.Text(h.Values.InternString(s.Why)) + "}"
				}
				fmt.Fprintf(&b, " %d %s", h.Index(h.Invocation[s.Operation]), state)
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "core:%s\n", indices(h, r.Core))
		if again := coreByItself(r, q.spec, q.reading()); again != "" {
			fmt.Fprintf(&b, "the core by itself: %s\n", again)
		}
	default:
		fmt.Fprintf(&b, "unknown: %s\n", r.Cause)
	}
	return b.String()
}

// coreByItself says how the core, checked as a history of its own, differs from the whole history. It returns "" if
// the core fails at the same operation.
func coreByItself(r *report.Result, spec models.Spec, options jepsen.Options) string {
	var text strings.Builder
	if err := r.WriteCore(&text); err != nil {
		return err.Error()
	}
	h, err := clew.Read(strings.NewReader(text.String()), "core", options)
	if err != nil {
		return err.Error()
	}
	own, err := clew.Check(context.Background(), h, spec, clew.Options{})
	switch {
	case err != nil:
		return err.Error()
	case own.Verdict != jepsen.Invalid:
		return "not invalid"
	case h.Index(own.FailEvent.OrNone()) != r.History.Index(r.FailEvent.OrNone()):
		return fmt.Sprintf("it fails at index %d", h.Index(own.FailEvent.OrNone()))
	}
	return ""
}

// indices names operations by the indices of their invocations.
func indices(h *jepsen.History, ops []jepsen.Operation) string {
	var b strings.Builder
	for _, op := range ops {
		fmt.Fprintf(&b, " %d", h.Index(h.Invocation[op]))
	}
	return b.String()
}
