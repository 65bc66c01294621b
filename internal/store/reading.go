package store

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"clew/internal/files"
	"clew/internal/levels"
	"clew/internal/option"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Settings say how to read a history, as text by the names of clew check's flags.
type Settings map[string]string

// SettingNames lists the settings in the order in which they are read. Each is a flag of clew check, and a key of a test's map in a
// file of models.
var SettingNames = []string{"model", "init", "nil-reads", "failed-cas", "priority", "permits", "max-holds", "threads", "ids",
	"negative-balances", "answers", "kv-keys", "accounts", "position", "positions", "independent", "keyless", "clients", "clock-error", "semantics", "model-file"}

// Reading says how to read a history.
type Reading struct {
	Spec        models.Spec
	Independent bool // each key is a history of its own
	Whole       bool // the history is of one object, and that is said
	Keyless     bool // an operation without a key belongs to every key
	AllClients  bool // every process but :nemesis is a client
	ClockError  int64
	ModelFile   string // the file of a user's own model, "" for a built-in one
	Settings    Settings
	Skip        bool           // the history is not to be judged
	Told        report.Sources // what By and LevelBy say
	Level       models.Level   // the level of consistency that the test asked for, "" if that is not known or the model has none
	LevelBy     string         // the file with the test map that says so
	LevelAs     string         // what that file asks for, if Level is only called so or is what that implies
	InitBy      string         // the file with the test map that says the initial value, "" if none does
	Undecided   string         // a level that the test asked for, which is not decided and implies none that is
	By          string         // the file with results from which some of it is taken, "" if all is given
	checked     *Checked       // what By says
	own         string         // the model of the test itself, which clew does not have; it is inferred instead
}

// Pairing returns how to pair the events of a history for this reading.
func (r *Reading) Pairing() jepsen.Options {
	o := r.Spec.Pairing()
	o.AllClients, o.ClockError = r.AllClients, r.ClockError
	return o
}

// Given returns the reading of a model and options that are given in Go.
func Given(spec models.Spec, independent, keyless, allClients bool, clockError int64) Reading {
	s := Settings{}
	for p, value := range spec.Given() {
		s[string(p)] = value
	}
	if spec.Name != "" {
		s["model"] = spec.Name
	}
	if independent {
		s["independent"] = "true"
	}
	if keyless {
		s["keyless"] = "every"
	}
	if allClients {
		s["clients"] = "all"
	}
	r := Reading{Spec: spec, Independent: independent, Keyless: keyless, AllClients: allClients, ClockError: clockError, Settings: s}
	builtIn, err := models.Spec{Name: spec.Name}.Definition()
	if own, _ := spec.Definition(); spec.Name != "" && (err != nil || own != builtIn) {
		r.ModelFile = spec.Name // results say nothing about it
	}
	return r
}

// NewReading returns the reading that settings describe. It returns an error if they make no sense, as far as that
// shows before any history is read.
// An initial value may be in a file: @FILE.
func NewReading(s Settings) (Reading, error) {
	if file, inFile := strings.CutPrefix(s[flagInit], "@"); inFile {
		init, err := readInit(file)
		if err != nil {
			return Reading{Settings: s}, err
		}
		s = maps.Clone(s)
		s[flagInit] = init
	}
	return NewReadingWith(s, ModelFile)
}

// maxInitFile bounds the bytes of a file with an initial value.
const maxInitFile = 64 << 20

// readInit reads an initial value from a file.
func readInit(file string) (string, error) {
	in, err := files.Open(file)
	if err != nil {
		return "", models.ParamErrorf("%s: %v", models.ParamInit, err)
	}
	defer in.Close()
	init, err := io.ReadAll(io.LimitReader(in, maxInitFile+1))
	switch {
	case err != nil:
		return "", models.ParamErrorf("%s: %v", models.ParamInit, err)
	case len(init) > maxInitFile:
		return "", models.ParamErrorf("%s: %s is longer than %d bytes", models.ParamInit, file, maxInitFile)
	}
	return strings.TrimSpace(string(init)), nil
}

// NewReadingWith does the same as NewReading, and has own read a model from a file.
func NewReadingWith(s Settings, own func(file string) (models.Spec, error)) (r Reading, err error) {
	r.Settings = s
	if file, set := s["model-file"]; set {
		r.ModelFile = file
		if r.Spec, err = ownModel(file, s["model"], own); err != nil {
			return r, err
		}
	}
	for _, name := range SettingNames {
		value, set := s[name]
		switch {
		case !set || name == "model-file":
		case name == "model" && strings.HasSuffix(value, ".star"):
			err = fmt.Errorf("%s is the name of a model, not %q; give a model of your own with %s %s", models.ParamModel, value, option.ModelFile, value)
		case name == "clients":
			r.AllClients, err = option.Either(name, value, "integers", "all")
		case name == "clock-error":
			r.ClockError, err = clockError(value)
		case name == "keyless":
			r.Keyless, err = option.Either(name, value, "error", "every")
		case name != "independent":
			err = r.Spec.Set(models.Param(name), value)
		case value != "true" && value != "false":
			err = fmt.Errorf("%s must be true or false, not %s", option.Independent, value)
		default:
			r.Independent, r.Whole = value == "true", value == "false"
		}
		if err != nil {
			return r, err
		}
	}
	if r.Keyless && !r.Independent {
		return r, fmt.Errorf("%s requires %s", option.Keyless, option.Independent)
	}
	switch {
	case r.Spec.Name == "":
	case r.Independent:
		err = r.Spec.CheckKeys()
	default:
		err = r.Spec.Check()
	}
	return r, err
}

// ownModel returns the spec of a model in a file.
func ownModel(file, model string, own func(file string) (models.Spec, error)) (models.Spec, error) {
	if model != "" {
		return models.Spec{}, fmt.Errorf("%s cannot be combined with %s; found both %s and %s", option.ModelFile, models.ParamModel, file, model)
	}
	if own == nil {
		return models.Spec{}, fmt.Errorf("this program does not read models from files, and cannot read %s; package models/modelfile does", file)
	}
	return own(file)
}

// ModelFile reads a model from a file. The command sets it: programs that do without such models do without the
// interpreter that runs them.
var ModelFile func(file string) (models.Spec, error)

// clockError reads a number in the unit of the times, or a duration, which it turns into nanoseconds.
func clockError(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		var d time.Duration
		d, err = time.ParseDuration(text)
		n = int64(d)
	}
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s must be a number in the unit of the times, or a duration such as 5ms if they are in nanoseconds, not %q", option.ClockError, text)
	}
	return n, nil
}

// ReadAs reads the history as the reading says, until the context is done. If the reading may be completed, and leaves
// the model or the initial value open, the results beside the history say them, unless they are of another history.
// ReadAs also returns the reading that counts.
func (s Source) ReadAs(ctx context.Context, given Reading, o jepsen.Options, complete bool) (*jepsen.History, Reading, error) {
	how := given
	var said *Checked
	if complete && s.Path != "-" && given.ModelFile == "" {
		said = s.resultsSay(ctx, o.Memory)
		how = completed(given, said)
	}
	pairing := how.Pairing()
	pairing.Memory, pairing.Fingerprint = o.Memory, o.Fingerprint
	h, err := s.Read(ctx, pairing)
	if err == nil && said != nil {
		if said.Wrong != "" {
			h.Damaged(fmt.Sprintf("the results in %s are not used: %s", said.By, said.Wrong))
		} else if why := said.Contradicts(h); why != "" {
			h.Damaged(fmt.Sprintf("the results in %s are not used: %s; they are of another run, or one of the two is damaged", said.By, why))
			how = given
		} else if how.By != "" && !how.fits(h) {
			how = given
		}
	}
	if err == nil {
		h.Warnings = append(h.Warnings, how.Warnings()...)
	}
	if err == nil {
		s.takeTest(ctx, &how, h, o.Memory, complete)
	}
	return h, how, err
}

// Warnings returns the warnings about the reading.
func (r *Reading) Warnings() []string {
	if r.own == "" {
		return nil
	}
	return []string{fmt.Sprintf("its test was checked with a model of its own, %s, which clew does not have here; the model is inferred instead, and may be another one", r.own)}
}

// Completed returns the reading that ReadAs would return, for a history that is then read as it comes, and what is damaged.
// The history is read once before that if what lies beside it says something that must be compared with it.
func (s Source) Completed(ctx context.Context, given Reading, memory int64) (how Reading, damage []string) {
	if s.Path == "-" || given.ModelFile != "" {
		return given, nil
	}
	if said := s.resultsSay(ctx, memory); s.InOrder || said == nil && !s.besideMaps() {
		return given, nil
	}
	h, how, err := s.ReadAs(ctx, given, jepsen.Options{Memory: memory}, true)
	if err != nil {
		return given, nil // what is wrong is said when it is read again
	}
	damage = h.Record().Damage
	if how.Undecided != "" { // a weak level makes anomalies doubtful
		how.Level, how.Told.Level = models.ReadUncommitted, report.Test
		damage = append(slices.Clip(damage), fmt.Sprintf("according to %s its test asked for %s, which clew does not decide", how.LevelBy, how.Undecided))
	}
	return how, damage
}

// besideMaps reports whether a file lies beside the history that may have the map of its test.
func (s Source) besideMaps() bool {
	return IsOfRun(filepath.ToSlash(s.Path)) && slices.ContainsFunc(testMaps, func(name string) bool {
		_, is := s.beside(name)
		return is
	})
}

// takeTest takes what the map of the test says: the level that it asked for, if the history is one of transactions with levels,
// and the initial value where nothing else says it.
func (s Source) takeTest(ctx context.Context, how *Reading, h *jepsen.History, memory int64, complete bool) {
	if s.Path == "-" {
		return
	}
	all := s.testMaps(ctx, h, memory)
	if why := h.Record().Lacks; why != "" && !slices.Contains(h.Record().Damage, why) && slices.ContainsFunc(all, func(m *TestMap) bool { return m.Wrong == "" }) {
		h.Damaged(why) // a test numbers all of its events, and stores all of them
	}
	if how.ModelFile != "" {
		return
	}
	if len(all) == 0 {
		return
	}
	spec, _, err := how.Spec.Infer(h)
	if err != nil {
		return
	}
	m, err := spec.Model(h.Values)
	levelled := err == nil && !how.Independent && levels.AllOf(m)
	d, err := spec.Definition()
	opens := complete && err == nil && how.Spec.Init == "" && d.Takes(models.ParamInit) &&
		slices.ContainsFunc(all, func(m *TestMap) bool { return m.Init != "" || m.Wrong != "" || m.tells(d) != "" })
	if !levelled && !opens {
		return
	}
	var kept []*TestMap
	for _, m := range all {
		if why := m.contradicts(s, h); why != "" {
			h.Damaged(fmt.Sprintf("what %s says of the test is not used: %s", m.By, why))
		} else {
			kept = append(kept, m)
		}
	}
	if opens {
		how.takeInit(h, spec, kept)
		how.takeTold(d, kept)
	}
	if levelled {
		how.takeLevel(h, kept)
	}
}

// takeInit takes the initial value that maps of the test agree on, if the model has it.
func (r *Reading) takeInit(h *jepsen.History, spec models.Spec, maps []*TestMap) {
	init, by := "", ""
	for i, m := range maps {
		if i > 0 && maps[i-1].otherTest(m) != "" || m.Init != "" && init != "" && m.Init != init {
			return
		}
		if m.Init != "" {
			init, by = m.Init, m.By
		}
	}
	if init == "" || spec.Set(models.ParamInit, init) != nil {
		return
	}
	if _, err := spec.Model(h.Values); err == nil {
		r.Spec.Init, r.InitBy, r.Told.Init = init, by, report.Test
	}
}

// takeTold takes what maps of the test agree on about the initial value.
func (r *Reading) takeTold(d *models.Definition, maps []*TestMap) {
	said := ""
	var by *TestMap
	for i, m := range maps {
		told := m.tells(d)
		if i > 0 && maps[i-1].otherTest(m) != "" || told != "" && said != "" && told != said {
			return
		}
		if told != "" {
			said, by = told, m
		}
	}
	if by != nil {
		r.Spec = r.Spec.WithTest(d, by.get)
	}
}

// takeLevel takes the level that maps of the test ask for.
func (r *Reading) takeLevel(h *jepsen.History, maps []*TestMap) {
	var asked *TestMap
	for _, m := range maps {
		asked = asked.with(m)
	}
	if asked == nil {
		return
	}
	if why := asked.warning(); why != "" {
		h.Warnings = append(h.Warnings, why)
	}
	r.Level, r.LevelBy = asked.Level, asked.By
	switch {
	case asked.Level != "" && asked.As != string(asked.Level):
		r.LevelAs = asked.As
	case asked.Unknown == "" || asked.Differs != "":
	case len(asked.Implied) > 0:
		r.Level, r.LevelAs = asked.Implied[0], asked.As
	default:
		r.Undecided = asked.As
	}
	if r.Level != "" {
		r.Told.Level = report.Test
	}
}

// TellLevel notes in a result that the test asked for its level.
func (r *Reading) TellLevel(of *report.Result) {
	if of == nil || r.Level == "" {
		return
	}
	if of.From.Level = report.Test; of.Levels != nil && of.Levels.Asked == r.Level {
		of.Levels.AskedBy, of.Levels.AskedAs = r.LevelBy, r.LevelAs
	}
}

// Withdraw withdraws a verdict that is stronger than what the test asked for: transactions that are not strictly serializable may
// be at a level that is not decided.
func (r *Reading) Withdraw(x *report.Result) *report.Result {
	if r.Undecided == "" || x.Verdict != jepsen.Invalid {
		return x
	}
	strict := option.Consistency.String() + " " + string(models.StrictSerializable)
	other := fmt.Sprintf("which clew does not decide: %s LEVEL names a level that counts", option.Consistency)
	if r.Level != "" {
		other = "which is decided once the history is whole: check it again then, without following it"
	}
	return &report.Result{
		History: x.History, File: x.File, Model: x.Model, Init: x.Init, Inferred: x.Inferred, ToldBy: x.ToldBy, Spec: x.Spec, From: x.From, Altered: x.Altered,
		Analyzer: x.Analyzer, Ms: x.Ms, Cause: jepsen.Reading, Levels: x.Levels,
		Explanation: fmt.Sprintf("it is not %s: %s; but according to %s its test asked for %s, %s",
			models.StrictSerializable, x.Explanation, r.LevelBy, r.Undecided, other),
		Alternatives: []report.Alternative{{Part: "level", Value: string(models.StrictSerializable), Verdict: jepsen.Invalid, Flag: strict}},
	}
}

// Asked withdraws the verdict about a history that was followed, and so decided at the strongest level, if the map of its test asked
// for a weaker one.
func (s Source) Asked(ctx context.Context, how Reading, r *report.Result, memory int64) *report.Result {
	if r.Verdict != jepsen.Invalid || r.History == nil || how.Spec.Name == "" {
		return r
	}
	s.takeTest(ctx, &how, r.History, memory, false)
	how.Undecided = cmp.Or(how.Undecided, string(how.Level))
	return how.Withdraw(r)
}

// completed returns a reading with what the results beside a history say where it says nothing: the model, the
// initial value, whether there are keys.
func completed(given Reading, checked *Checked) Reading {
	if checked = checked.telling(); !given.Incomplete() {
		return given
	}
	if checked != nil && given.Spec.Name == "" {
		given.own = checked.Own
	}
	both, more := checked.With(given.Settings)
	if !more {
		return given
	}
	known := Settings{} // a later version may write more
	for _, name := range SettingNames {
		if value, ok := both[name]; ok {
			known[name] = value
		}
	}
	how, err := NewReadingWith(known, ModelFile)
	if err != nil {
		return given
	}
	how.Settings, how.By, how.checked = given.Settings, checked.By, checked
	how.Whole = !how.Independent // or the checker would have said so
	how.Told = report.Sources{Keys: report.Results}
	if given.Spec.Name == "" && how.Spec.Name != "" {
		how.Told.Model = report.Results
	}
	if given.Spec.Init == "" && how.Spec.Init != "" {
		how.Told.Init = report.Results
	}
	if given.Independent || given.Whole {
		how.Independent, how.Whole, how.Told.Keys = given.Independent, given.Whole, ""
	}
	return how
}

// Incomplete reports whether results may say more: the model, whether there are keys, or the initial value is not given.
func (r *Reading) Incomplete() bool {
	if r.ModelFile != "" {
		return false
	}
	if r.Spec.Name == "" || !r.Independent && !r.Whole {
		return true
	}
	d, err := r.Spec.Definition()
	return err == nil && r.Spec.Init == "" && d.Takes(models.ParamInit)
}

func (r *Reading) fits(h *jepsen.History) bool {
	spec, _, err := r.Spec.Infer(h)
	return err == nil && r.checked.isOf(spec.Name)
}
