package store

import (
	"cmp"
	"context"
	"fmt"
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
	// Named are operations that the results name. The history must have them.
	Named []Named
	// Counts are how many operations returned according to the results, by :f as EDN, and "" for all. It is nil if they do
	// not say so.
	Counts map[string]int64
	// Keys are the independent keys that have results, as EDN.
	Keys []string
	// Own is the model if that belongs to the test itself, so that clew does not have it. Then nothing else is known.
	Own string
	// Wrong says why the file cannot be read. Then nothing else is known.
	Wrong string
}

// Named is an event that results name. What they do not say of it is "", in EDN.
type Named struct {
	Index             int64 // if HasIndex
	HasIndex          bool
	Process, F, Value string
	Time              int64 // if HasTime
	HasTime           bool
	OfKey             bool // Value is without the key of the history's own value
	Must              bool // the checker names the events as they are in the history
	Text              string
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

// checkedAs returns what claims together say about the check behind them. It has no flags if they differ.
func checkedAs(by string, claims claims) *Checked {
	c := &Checked{By: by, Flags: map[string]string{}, Named: claims.named, Counts: claims.counts}
	for _, claim := range claims.found {
		if claim.IsKey {
			c.Keys = append(c.Keys, claim.Key.String())
		}
	}
	none := &Checked{By: by, Named: claims.named, Counts: claims.counts}
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
			none.Own = own
			return none
		}
		if !agrees(flagModel, claim.Model) || !agrees(flagInit, claim.Init) || !agrees(flagIndependent, independent) || !agrees(flagKeyless, keyless) ||
			own != nil && rest != nil && !maps.Equal(own, rest) {
			return none
		}
		if rest != nil {
			own = rest
		}
	}
	if len(claims.found) == 0 && claims.keyed {
		c.Flags[flagIndependent], c.Flags[flagKeyless] = "true", "every"
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
	return c
}

// telling returns what results say if they say how the history was checked, else nil.
func (c *Checked) telling() *Checked {
	if c == nil || len(c.Flags) == 0 && c.Own == "" {
		return nil
	}
	return c
}

// OwnModel returns the model of a claim if that belongs to the test itself, else "".
func OwnModel(c jepsen.Claim) string { return cmp.Or(c.Flags["asked-model"], c.Flags["model-file"]) }

// With returns the flags together with the given ones, which win. It returns false if
// the flags add nothing, or if the results are about another model than the given flags.
func (c *Checked) With(given map[string]string) (map[string]string, bool) {
	if c.telling() == nil || c.Own != "" || given["model-file"] != "" {
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

// Fits says whether the results go with a history: the initial value must suit the model, which was inferred if the results
// do not show it, and the results must not contradict the history.
func (c *Checked) Fits(h *jepsen.History, model string) bool {
	return c.isOf(model) && c.Contradicts(h) == ""
}

// Contradicts says what the results say of the history that is not so, or "". Then they are of another run, or one of the
// two is not whole.
func (c *Checked) Contradicts(h *jepsen.History) string {
	if why := c.miscounts(h); why != "" {
		return why
	}
	if len(c.Keys) > 0 && !c.hasKey(h) {
		return "the history does not have the key " + c.Keys[0]
	}
	missing := missingFrom(h, c.Named)
	others := 0 // that need not be as they are in the history
	for _, n := range c.Named {
		if !n.Must {
			others++
		}
	}
	absent := 0
	for _, n := range missing {
		if n.Must {
			return "the history does not have " + n.Text
		}
		absent++
	}
	if absent > 0 && absent == others {
		return "the history does not have " + missing[0].Text
	}
	return ""
}

// hasKey reports whether some value of a history has one of the keys that have results.
func (c *Checked) hasKey(h *jepsen.History) bool {
	keys := map[edn.ID]bool{}
	for _, key := range c.Keys {
		if id, err := h.Values.ParseLenient([]byte(key)); err == nil {
			keys[h.Values.Same(id)] = true
		}
	}
	return slices.ContainsFunc(h.Value, func(id edn.ID) bool {
		items := h.Values.Items(id)
		return len(items) > 1 && keys[h.Values.Same(items[0])]
	})
}

// miscounts compares how many operations returned.
func (c *Checked) miscounts(h *jepsen.History) string {
	if c.Counts == nil || h.Events-h.Skipped != len(h.Type) {
		return ""
	}
	own := map[edn.ID]int64{}
	all := int64(0)
	for e, t := range h.Type {
		if t != jepsen.Invoke {
			own[h.F[e]]++
			all++
		}
	}
	if said, ok := c.Counts[""]; ok && said != all {
		return fmt.Sprintf("it counts %d operations that returned, and the history has %d", said, all)
	}
	for _, f := range slices.Sorted(maps.Keys(c.Counts)) {
		if id, err := h.Values.ParseLenient([]byte(f)); f != "" && err == nil && own[h.Values.Same(id)] != c.Counts[f] {
			return fmt.Sprintf("it counts %d operations %s that returned, and the history has %d", c.Counts[f], f, own[h.Values.Same(id)])
		}
	}
	return ""
}

// missingFrom returns those of some named events that a history does not have. It takes linear time.
func missingFrom(h *jepsen.History, named []Named) (missing []Named) {
	if len(named) == 0 {
		return nil
	}
	byIndex := map[int64][]int{}
	var others []int
	values := make([]edn.ID, len(named))
	for i, n := range named {
		values[i] = edn.Nil
		if n.Value != "" {
			id, err := h.Values.ParseLenient([]byte(n.Value))
			if err != nil {
				continue // it is not known what it says
			}
			values[i] = h.Values.Same(id)
		}
		if n.HasIndex && !(n.OfKey && n.HasTime) { // old versions numbered the events of each key
			byIndex[n.Index] = append(byIndex[n.Index], i)
		} else {
			others = append(others, i)
		}
	}
	found := make([]bool, len(named))
	left := len(others)
	for _, some := range byIndex {
		left += len(some)
	}
	times := h.Times()
	for e := range jepsen.Event(len(h.Type)) {
		if left == 0 {
			break
		}
		for _, some := range [][]int{byIndex[h.Index(e)], others} {
			for _, i := range some {
				if n := &named[i]; !found[i] && n.is(h, e, values[i], times) {
					found[i] = true
					left--
				}
			}
		}
	}
	for i, n := range named {
		if !found[i] && (slices.Contains(others, i) || slices.Contains(byIndex[n.Index], i)) {
			missing = append(missing, n)
		}
	}
	return missing
}

// is reports whether an event of a history agrees with what is said of the named one. Checkers show an invocation with the
// value that its operation returned.
func (n *Named) is(h *jepsen.History, e jepsen.Event, value edn.ID, times func(jepsen.Event) (int64, bool)) bool {
	says := func(said string, own edn.ID) bool { return said == "" || said == h.Values.Text(own) }
	if !says(n.Process, h.Processes[h.Process[e]]) || !says(n.F, h.F[e]) {
		return false
	}
	if at, known := times(e); n.HasTime && known && at != n.Time {
		return false
	}
	if n.Value == "" {
		return true
	}
	own := []edn.ID{h.Value[e]}
	if op := h.OpOf[e]; op != jepsen.None {
		own = append(own, h.OpValue(op))
	}
	for _, id := range own {
		if h.Values.Same(id) == value {
			return true
		}
		if items := h.Values.Items(id); n.OfKey && h.Values.Kind(id) == edn.KindVector && len(items) > 1 {
			if h.Values.Same(items[1]) == value || len(items) > 2 && h.Values.Same(h.Values.InternVector(items[1:])) == value {
				return true
			}
		}
	}
	return false
}

const (
	resultsFile = "results.edn"
	logFile     = "jepsen.log" // what Jepsen printed while it ran
)

// maxResults bounds the length of results; longer ones are ignored.
const maxResults = 16 << 20

// Checked returns how the history was checked when its test ended. It returns nil if
// the results beside it do not say so, or cannot be read. It reads the results in a
// test.jepsen only from a file of this machine. memory, if not 0, bounds what is read.
func (s Source) Checked(ctx context.Context, memory int64) *Checked {
	return s.resultsSay(ctx, memory).telling()
}

// resultsSay does the same as Checked, and also returns results that only say what the history should have.
func (s Source) resultsSay(ctx context.Context, memory int64) *Checked {
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
		said := readChecked(limits.Whole(ctx, in, memory))
		if ctx.Err() != nil {
			return nil
		}
		return said
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
func ReadChecked(in io.Reader) *Checked { return readChecked(in).telling() }

func readChecked(in io.Reader) *Checked {
	limited := &io.LimitedReader{R: in, N: maxResults + 1}
	claims, err := readClaims(limited, resultsFile, edn.NewValues())
	switch {
	case limited.N == 0:
		return nil
	case err != nil:
		return &Checked{By: resultsFile, Wrong: fmt.Sprintf("they cannot be read (%v)", err)}
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
	return isRun(name) || path.Base(name) == logFile
}

// RunFiles are the names of the files in the folder of a run that say what
// happened or how it was checked.
var RunFiles = []string{"history.edn", "history.txt", "test.jepsen", "test.fressian", logFile, RecorderFile, resultsFile}

// IsRunFile says whether a file has one of these names, with or without the ending
// of a compressed file.
func IsRunFile(name string) bool {
	name, _ = files.PackedName(path.Base(name))
	return slices.Contains(RunFiles, name)
}
