package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"clew"
	"clew/internal/batch"
	"clew/internal/certificate"
	"clew/internal/checking"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/jepsen"
	"clew/report"
)

// checkRequest asks for a check.
type checkRequest struct {
	head
	checkOptions
	History json.RawMessage `json:"history"` // a text in any form, or an array of op maps; taken out
	Bytes   *int64          `json:"bytes"`
}

// checkOptions say how to check.
type checkOptions struct {
	File    string            `json:"file"` // what the history is called
	Options options           `json:"options"`
	Files   map[string]string `json:"files"` // texts by name
}

// checkResult is what clew check prints, and what it would write into files.
type checkResult struct {
	Status   int               `json:"status"` // the exit status
	Line     json.RawMessage   `json:"line"`   // as --output json prints it
	Warnings []string          `json:"warnings"`
	Output   map[string]string `json:"output,omitempty"`   // by the name of --output
	Evidence map[string]string `json:"evidence,omitempty"` // by the name of its flag
	Lacks    map[string]string `json:"lacks,omitempty"`    // why there is no such evidence
}

func check(c *call) (any, error) {
	var r checkRequest
	if err := c.into(&r); err != nil {
		return nil, err
	}
	t, err := r.terms()
	if err != nil {
		return nil, err
	}
	if t.Memory > 0 && int64(c.size) > t.Memory {
		t.source(r.File, nil, nil)
		return t.result(context.Background(), batch.Answer{Result: t.job.Late(jepsen.OutOfMemory, false)}), nil
	}
	history, err := c.body("history", r.Bytes)
	if err != nil {
		return nil, err
	}
	return t.check(r.File, history, c.progress)
}

// terms are the options of a check, read.
type terms struct {
	batch.Checker
	job      batch.Job
	options  clew.Options
	howFar   bool
	forms    []outputs.Output
	evidence []outputs.Evidence
	how      outputs.EvidenceOptions
	shown    outputs.Options
}

// terms reads the options.
func (r *checkOptions) terms() (*terms, error) {
	t := &terms{shown: outputs.Options{Version: outputs.Version()}}
	if err := r.Options.known(checkNames()); err != nil {
		return nil, err
	}
	var err error
	if t.job.Reading, err = r.Options.reading(r.Files); err != nil {
		return nil, err
	}
	search, err := r.Options.texts(slices.Concat(checking.SearchNames, []string{"html-style"}))
	if err != nil {
		return nil, err
	}
	if t.options, t.Memory, err = checking.Search(search, 0); err != nil {
		return nil, failed(kindOptions, err)
	}
	t.TimeLimit = t.options.TimeLimit
	if t.howFar, err = r.Options.is("how-far"); err != nil {
		return nil, err
	}
	if t.evidence, err = r.Options.evidence(); err != nil {
		return nil, err
	}
	names, err := r.Options.list("output")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		form, err := outputs.Find(outputs.Check(), name)
		if err != nil {
			return nil, failed(kindOptions, err)
		}
		t.forms = append(t.forms, form)
	}
	witness := slices.ContainsFunc(t.evidence, func(e outputs.Evidence) bool { return e.Name == "witness" })
	t.how = outputs.EvidenceOptions{Style: cmp.Or(search["html-style"], outputs.Styles[0]),
		Certificate: certificate.Options{AllClients: t.job.AllClients, Keyless: t.job.Keyless}}
	if err := cmp.Or(checking.Conflict(t.options, witness), batch.CheckStyle(t.how.Style)); err != nil {
		return nil, failed(kindOptions, err)
	}
	return t, nil
}

// source says where the history is. Without a name it is what clew check reads as "-".
func (t *terms) source(name string, history []byte, progress func(Progress)) {
	open := func() io.Reader { return bytes.NewReader(history) }
	if progress != nil {
		p := Progress{Of: int64(len(history))}
		open = func() io.Reader {
			p.Read = 0
			return counted{bytes.NewReader(history), func(n int) {
				p.Read += int64(n)
				progress(p)
			}}
		}
		t.Began = func(h *jepsen.History) {
			p.Operations = h.Operations()
			progress(p)
		}
	}
	if t.job.Source = store.InMemory(name, open); name == "" || name == "-" {
		t.job.Source = store.Source{Path: "-"}.WithInput(open())
	}
	t.how.SHA256 = func(context.Context) (string, error) {
		if t.job.Path == "-" {
			return "", nil
		}
		sum := sha256.Sum256(history)
		return hex.EncodeToString(sum[:]), nil
	}
}

// check checks a history.
func (t *terms) check(file string, history []byte, progress func(Progress)) (any, error) {
	t.source(file, history, progress)
	start := time.Now()
	ctx, end := context.WithCancel(context.Background())
	defer end()
	t.Watch(ctx)
	t.AsGiven = true
	t.Decide = func(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading) (*report.Result, error) {
		return checking.Decide(ctx, j, h, how, t.options, t.howFar)
	}
	x := batch.Within(ctx, &t.Bounds, t.TimeLimit, func(ctx context.Context) batch.Answer { return t.Check(ctx, &t.job) },
		func(cause jepsen.Cause) batch.Answer { return batch.Answer{Result: t.job.Late(cause, false)} })
	last, done := t.Lastly(ctx, t.TimeLimit-time.Since(start))
	defer done()
	result := t.result(last, x)
	if x.Err != nil {
		f := failed(kindUnreadable, x.Err)
		f.Result = result
		return nil, f
	}
	return result, nil
}

// result returns what is said of a result.
func (t *terms) result(ctx context.Context, x batch.Answer) *checkResult {
	r := x.Result
	said := &checkResult{Warnings: append([]string{}, checking.Warnings(r)...), Status: statusOf(r, x.Err)}
	run := report.NewRun("", "", r)
	json := func(o outputs.Output) string { return o.Text([]outputs.Record{*o.NewRecord(run, r, x.Err)}, &t.shown) }
	said.Line = []byte(json(outputs.JSON))
	for _, o := range t.forms {
		put(&said.Output, o.Name, json(o))
	}
	if x.Err != nil {
		return said
	}
	if wrong := r.SelfCheckFailure(); wrong != nil {
		said.Warnings = append(said.Warnings, fmt.Sprintf("this is a bug in clew; please report it with the history: the self-check failed: %s", wrong.Error))
	}
	for _, e := range t.evidence {
		if lacks := e.Lacks(r, &t.how); lacks != "" {
			put(&said.Lacks, e.Name, lacks)
			continue
		}
		var b bytes.Buffer
		write, err := e.Writer(ctx, r, &t.how)
		if err == nil {
			err = write(&b)
		}
		if err != nil { // the verdict stands
			put(&said.Lacks, e.Name, err.Error())
			continue
		}
		put(&said.Evidence, e.Name, b.String())
	}
	return said
}

func put(to *map[string]string, name, said string) {
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[name] = said
}

// statusOf returns the exit status that clew check has with one history.
func statusOf(r *report.Result, err error) int {
	switch {
	case r.SelfCheckFailure() != nil:
		return 255
	case r.Verdict == jepsen.Invalid:
		return 1
	case err != nil:
		return 254
	case r.Verdict == jepsen.Unknown:
		return 2
	}
	return 0
}
