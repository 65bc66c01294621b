package store

import (
	"cmp"
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/models"
)

// Checked says how a history was checked when its test ended, as far as the
// results of the test show that with certainty.
type Checked struct {
	By string // the file that shows it: "results.edn"
	// Flags are the equivalent flags of clew check, by their names.
	Flags map[string]string
	// Models lists the models that may have the initial value. It is set if the
	// results do not show the model and only some models have such a value.
	Models []string
	// Failing are operations that fail according to the results. The history must have them.
	Failing []Failing
	// Own is the model if that belongs to the test itself, so that clew does not have it. Then nothing else is known.
	Own string
}

// Failing is an operation that fails according to the results. Process and F are EDN, or "".
type Failing struct {
	Index      int64 // if HasIndex
	HasIndex   bool
	Process, F string
}

// The flags that results show in another way than under their names.
const (
	flagModel       = "model"
	flagInit        = "init"
	flagIndependent = "independent"
	flagKeyless     = "keyless"
)

// recordsWith are Knossos's models that have the initial value in a field.
var recordsWith = map[string][]string{"value": {"Register", "CASRegister"}, "s": {"Set"}, "pending": {"FIFOQueue", "UnorderedQueue"}}

// asByDefault lists flags that change nothing.
var asByDefault = map[string]string{flagIndependent: "false", "semantics": "jepsen", flagKeyless: "error"}

// checkedAs returns what claims together say about the check behind them. It
// returns nil if they differ.
func checkedAs(by string, claims claims) *Checked {
	c := &Checked{By: by, Flags: map[string]string{}}
	var own map[string]string // what clew's plugin says in addition
	agrees := func(flag, value string) bool {
		before, known := c.Flags[flag]
		if value != "" && !known {
			c.Flags[flag] = value
		}
		return value == "" || !known || before == value
	}
	for _, claim := range claims.found {
		if claim.NoOp {
			continue
		}
		independent, keyless := "false", ""
		rest := maps.Clone(claim.Flags)
		maps.DeleteFunc(rest, func(flag, _ string) bool { return flag == flagIndependent || flag == flagKeyless })
		if claim.IsKey {
			independent, keyless = "true", "every" // as in jepsen.independent
		} else if claim.Flags[flagIndependent] != "" {
			independent, keyless = claim.Flags[flagIndependent], claim.Flags[flagKeyless]
		}
		if own := OwnModel(claim); own != "" {
			return &Checked{By: by, Own: own}
		}
		if !agrees(flagModel, claim.Model) || !agrees(flagInit, claim.Init) || !agrees(flagIndependent, independent) || !agrees(flagKeyless, keyless) ||
			own != nil && rest != nil && !maps.Equal(own, rest) {
			return nil
		}
		if rest != nil {
			own = rest
		}
		c.fails(claim)
	}
	maps.Copy(c.Flags, own)
	maps.DeleteFunc(c.Flags, func(flag, value string) bool { return asByDefault[flag] == value })
	if claims.field != "" {
		c.Models = []string{}
	}
	for _, record := range recordsWith[claims.field] {
		if model, known := models.OfRecord(record); known {
			c.Models = append(c.Models, model)
		}
	}
	if len(c.Flags) == 0 {
		return nil
	}
	return c
}

// OwnModel returns the model of a claim if that belongs to the test itself, else "".
func OwnModel(c jepsen.Claim) string { return cmp.Or(c.Flags["asked-model"], c.Flags["model-file"]) }

const maxFailing = 8

// fails notes the operation that a claim names.
func (c *Checked) fails(claim jepsen.Claim) {
	if claim.OpText == "" && !claim.HasOp || len(c.Failing) == maxFailing {
		return
	}
	text := func(v edn.Value) string {
		if v == (edn.Value{}) {
			return ""
		}
		return v.String()
	}
	c.Failing = append(c.Failing, Failing{claim.OpIndex, claim.HasOp, text(claim.OpProcess), text(claim.OpF)})
}

// With returns the flags together with the given ones, which win. It returns false if
// the flags add nothing, or if the results are about another model than the given flags.
func (c *Checked) With(given map[string]string) (map[string]string, bool) {
	if c == nil || c.Own != "" || given["model-file"] != "" {
		return given, false
	}
	model, isGiven := given[flagModel]
	if shown := c.Flags[flagModel]; isGiven && (shown != "" && shown != model || !c.isOf(model)) {
		return given, false
	}
	both := maps.Clone(c.Flags)
	maps.Copy(both, given)
	return both, !maps.Equal(both, given)
}

// isOf says whether the initial value may belong to a model.
func (c *Checked) isOf(model string) bool { return c.Models == nil || slices.Contains(c.Models, model) }

// Fits says whether the results go with a history. The operations that fail
// according to them must be there, and the initial value must suit the model. The
// model was inferred if the results do not show it.
func (c *Checked) Fits(h *jepsen.History, model string) bool {
	if !c.isOf(model) {
		return false
	}
	for _, f := range c.Failing {
		if !f.in(h) {
			return false
		}
	}
	return true
}

func (f *Failing) in(h *jepsen.History) bool {
	is := func(claimed string, own edn.ID) bool { return claimed == "" || claimed == h.Values.Text(own) }
	for e := range jepsen.Event(len(h.Type)) {
		if (!f.HasIndex || h.Index(e) == f.Index) && is(f.Process, h.Processes[h.Process[e]]) && is(f.F, h.F[e]) {
			return true
		}
	}
	return false
}

const resultsFile = "results.edn"

// maxResults bounds the length of results; longer ones are ignored.
const maxResults = 16 << 20

// Checked returns how the history was checked when its test ended. It returns nil if
// the results beside it do not say so, or cannot be read. It reads the results in a
// test.jepsen only from a file of this machine. memory, if not 0, bounds what is read.
func (s Source) Checked(ctx context.Context, memory int64) *Checked {
	switch {
	case s.checked != nil:
		return s.checked
	case s.results != nil && s.results.InOrder: // reading it would require finding it again
		return s.results.checked
	case s.results != nil:
		in, err := s.results.openRegular(ctx)
		if err != nil {
			return nil
		}
		defer in.Close()
		return ReadChecked(limits.Whole(ctx, in, memory))
	case s.open != nil && !s.local:
		return nil
	case filepath.Base(s.Path) == "test.jepsen":
		return s.checkedInTest(ctx, memory)
	case s.test != nil:
		return s.test.checkedInTest(ctx, memory)
	}
	return nil
}

// Results returns the results.edn beside the history of a run. Checked reads it.
func (s Source) Results() (results Source, ok bool) {
	if s.results == nil {
		return Source{}, false
	}
	return *s.results, true
}

// openRegular does the same as OpenWithin for regular files only, since it would wait for a pipe.
func (s Source) openRegular(ctx context.Context) (io.ReadCloser, error) {
	if s.open == nil {
		if info, err := os.Stat(s.Path); err != nil || !info.Mode().IsRegular() {
			return nil, os.ErrInvalid
		}
	}
	return s.OpenWithin(ctx)
}

// ReadChecked reads a results.edn.
func ReadChecked(in io.Reader) *Checked {
	limited := &io.LimitedReader{R: in, N: maxResults + 1}
	claims, err := readClaims(limited, resultsFile, edn.NewValues())
	if err != nil || limited.N == 0 {
		return nil
	}
	return checkedAs(resultsFile, claims)
}

func (s Source) checkedInTest(ctx context.Context, memory int64) *Checked {
	in, err := s.openRegular(ctx)
	if err != nil {
		return nil
	}
	defer in.Close()
	f, isFile := in.(*os.File)
	if !isFile {
		return nil
	}
	claims, err := readTestClaims(ctx, f, s.Path, memory, edn.NewValues())
	if err != nil {
		return nil
	}
	return checkedAs("test.jepsen", claims)
}

func resultsBeside(name string) *Source {
	if !IsOfRun(filepath.ToSlash(name)) {
		return nil
	}
	results := filepath.Join(filepath.Dir(name), resultsFile)
	if info, err := os.Stat(results); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return &Source{Path: results}
}

// IsOfRun says whether a file is a history that Jepsen left in the folder of a
// run, compressed or not.
func IsOfRun(name string) bool {
	name, _ = files.PackedName(name)
	return isRun(name) || path.Base(name) == "jepsen.log"
}

// RunFiles are the names of the files in the folder of a run that say what
// happened or how it was checked.
var RunFiles = []string{"history.edn", "history.txt", "test.jepsen", "test.fressian", "jepsen.log", RecorderFile, resultsFile}

// IsRunFile says whether a file has one of these names, with or without the ending
// of a compressed file.
func IsRunFile(name string) bool {
	name, _ = files.PackedName(path.Base(name))
	return slices.Contains(RunFiles, name)
}
