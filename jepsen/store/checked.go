package store

import (
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/jepsen"
)

// Checked is how a history was checked when its test ended, as far as the results of the
// test tell for certain.
type Checked struct {
	By string // the file that tells it: "results.edn"
	// Flags are what clew check would have been given, by the names of its flags.
	Flags map[string]string
	// Models are those of which the initial value may be one, if the model is not told
	// and only some have such a value.
	Models []string
	// Failing are operations that are said to fail, which must be in the history.
	Failing []Failing
}

// Failing is an operation that is said to fail. Process and F are EDN, or "".
type Failing struct {
	Index      int64 // if HasIndex
	HasIndex   bool
	Process, F string
}

// The flags that results tell in some other way than under their names.
const (
	flagModel       = "model"
	flagInit        = "init"
	flagIndependent = "independent"
	flagKeyless     = "keyless"
)

// recordsWith are Knossos's models that have the initial value in a field.
var recordsWith = map[string][]string{"value": {"Register", "CASRegister"}, "s": {"Set"}, "pending": {"FIFOQueue", "UnorderedQueue"}}

// asByDefault are flags that change nothing.
var asByDefault = map[string]string{flagIndependent: "false", "semantics": "jepsen", flagKeyless: "error"}

// checkedAs returns what claims say together of how they came about: nothing if they
// differ, or if any is about a model that is not clew's.
func checkedAs(by string, claims []Claim, modelOf func(record string) (model string, ok bool)) *Checked {
	c := &Checked{By: by, Flags: map[string]string{}}
	var own map[string]string // what clew's plugin says beside
	field := ""               // where the initial value was
	agrees := func(flag, value string) bool {
		before, known := c.Flags[flag]
		if value != "" && !known {
			c.Flags[flag] = value
		}
		return value == "" || !known || before == value
	}
	for _, claim := range claims {
		if claim.NoOp {
			continue
		}
		independent, keyless := "false", ""
		rest := maps.Clone(claim.Flags)
		maps.DeleteFunc(rest, func(flag, _ string) bool { return flag == flagIndependent || flag == flagKeyless })
		if claim.IsKey {
			independent, keyless = "true", "every" // as jepsen.independent has it
		} else if claim.Flags[flagIndependent] != "" {
			independent, keyless = claim.Flags[flagIndependent], claim.Flags[flagKeyless]
		}
		if _, ownModel := rest["model-file"]; ownModel ||
			!agrees(flagModel, claim.Model) || !agrees(flagInit, claim.Init) || !agrees(flagIndependent, independent) || !agrees(flagKeyless, keyless) ||
			own != nil && rest != nil && !maps.Equal(own, rest) {
			return nil
		}
		if rest != nil {
			own = rest
		}
		if claim.field != "" {
			field = claim.field
		}
		c.fails(claim)
	}
	maps.Copy(c.Flags, own)
	maps.DeleteFunc(c.Flags, func(flag, value string) bool { return asByDefault[flag] == value })
	if field != "" {
		c.Models = []string{}
	}
	for _, record := range recordsWith[field] {
		if model, known := modelOf(record); known {
			c.Models = append(c.Models, model)
		}
	}
	if len(c.Flags) == 0 {
		return nil
	}
	return c
}

// maxFailing bounds the operations that are looked for.
const maxFailing = 8

// fails notes the operation that a claim names.
func (c *Checked) fails(claim Claim) {
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

// With returns the flags together with those that are given, which win. It is false if
// nothing is added to these, or if the results are of something else than they say.
func (c *Checked) With(given map[string]string) (map[string]string, bool) {
	if c == nil || given["model-file"] != "" {
		return given, false
	}
	model, isGiven := given[flagModel]
	if told := c.Flags[flagModel]; isGiven && (told != "" && told != model || !c.isOf(model)) {
		return given, false
	}
	both := maps.Clone(c.Flags)
	maps.Copy(both, given)
	return both, !maps.Equal(both, given)
}

// isOf says whether the initial value may be one of a model.
func (c *Checked) isOf(model string) bool { return c.Models == nil || slices.Contains(c.Models, model) }

// Fits says whether what was taken goes with a history: the operations that are said to
// fail are there, and the initial value is one of its model, which was inferred if the
// results do not tell it.
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
	is := func(told string, own edn.ID) bool { return told == "" || told == h.Values.Text(own) }
	for e := range jepsen.Event(len(h.Type)) {
		if (!f.HasIndex || h.Index(e) == f.Index) && is(f.Process, h.Processes[h.Process[e]]) && is(f.F, h.F[e]) {
			return true
		}
	}
	return false
}

// resultsFile is what the results of a run are called.
const resultsFile = "results.edn"

// maxResults is how long results may be: longer ones tell nothing.
const maxResults = 16 << 20

// Checked returns how the history was checked when its test ended, nil if the results
// beside it do not tell, or cannot be read. In a test.jepsen they are read only
// where it is a file of this machine. Memory, if not 0, bounds what is read.
func (s Source) Checked(ctx context.Context, memory int64, modelOf func(record string) (model string, ok bool)) *Checked {
	switch {
	case modelOf == nil:
		return nil
	case s.checked != nil:
		return s.checked
	case s.results != nil && s.results.InOrder: // reading it would take finding it again
		return s.results.checked
	case s.results != nil:
		in, err := s.results.openRegular(ctx)
		if err != nil {
			return nil
		}
		defer in.Close()
		return ReadChecked(limits.Whole(ctx, in, memory), modelOf)
	case s.open != nil:
		return nil
	case filepath.Base(s.Path) == "test.jepsen":
		return s.checkedInTest(ctx, memory, modelOf)
	case s.test != nil:
		return s.test.checkedInTest(ctx, memory, modelOf)
	}
	return nil
}

// Results is the results.edn beside the history of a run, which Checked reads.
func (s Source) Results() (results Source, ok bool) {
	if s.results == nil {
		return Source{}, false
	}
	return *s.results, true
}

// openRegular is OpenWithin, but that a file must be a regular one: a pipe would be waited
// for.
func (s Source) openRegular(ctx context.Context) (io.ReadCloser, error) {
	if s.open == nil {
		if info, err := os.Stat(s.Path); err != nil || !info.Mode().IsRegular() {
			return nil, os.ErrInvalid
		}
	}
	return s.OpenWithin(ctx)
}

// readChecked reads a results.edn.
func ReadChecked(in io.Reader, modelOf func(record string) (model string, ok bool)) *Checked {
	limited := &io.LimitedReader{R: in, N: maxResults + 1}
	claims, err := ReadClaims(limited, resultsFile, edn.NewValues(), modelOf)
	if err != nil || limited.N == 0 {
		return nil
	}
	return checkedAs(resultsFile, claims, modelOf)
}

// checkedInTest is what the results in a test.jepsen tell.
func (s Source) checkedInTest(ctx context.Context, memory int64, modelOf func(record string) (model string, ok bool)) *Checked {
	in, err := s.openRegular(ctx)
	if err != nil {
		return nil
	}
	defer in.Close()
	f, isFile := in.(*os.File)
	if !isFile {
		return nil
	}
	claims, err := ReadTestClaims(ctx, f, s.Path, memory, edn.NewValues(), modelOf)
	if err != nil {
		return nil
	}
	return checkedAs("test.jepsen", claims, modelOf)
}

// resultsBeside is the results.edn beside the history of a run, nil if there is none.
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

// IsOfRun says whether a file is a history that Jepsen has left in the folder of a run,
// compressed or not.
func IsOfRun(name string) bool {
	name, _ = files.PackedName(name)
	return isRun(name) || path.Base(name) == "jepsen.log"
}

// RunFiles are the names of what Jepsen leaves in the folder of a run, as far as it says
// what happened or how it was checked.
var RunFiles = []string{"history.edn", "history.txt", "test.jepsen", "test.fressian", "jepsen.log", resultsFile}

// IsRunFile says whether a file has one of these names, or would have it unpacked.
func IsRunFile(name string) bool {
	name, _ = files.PackedName(path.Base(name))
	return slices.Contains(RunFiles, name)
}

// isResults says whether a file has the results of a run as a whole.
func isResults(name string) bool {
	return path.Base(name) == resultsFile && !strings.Contains("/"+name, "/independent/")
}
