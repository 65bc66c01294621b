package store

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"clew/edn"
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
	Told        report.Sources // what By and LevelBy say
	Level       models.Level   // the level of consistency that the test asked for, "" if that is not known or the model has none
	LevelBy     string         // the file with the test map that says so
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
	if complete {
		how = s.completed(ctx, given, o.Memory)
	}
	pairing := how.Pairing()
	pairing.Memory, pairing.Fingerprint = o.Memory, o.Fingerprint
	h, err := s.Read(ctx, pairing)
	if err == nil && how.By != "" && !how.fits(h) {
		how = given
	}
	if err == nil {
		h.Warnings = append(h.Warnings, how.Warnings()...)
	}
	if err == nil {
		s.takeLevel(ctx, &how, h, o.Memory)
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

// Completed returns the reading that ReadAs would return, for a history that is then read as it comes. The history is read
// once before that if the results beside it say something that shows whether they are of this history.
func (s Source) Completed(ctx context.Context, given Reading, memory int64) Reading {
	how := s.resulting(ctx, given, memory)
	if how.Independent || how.ModelFile != "" {
		return how
	}
	if m, err := how.Spec.Model(edn.NewValues()); how.Spec.Name != "" && (err != nil || !levels.AllOf(m)) {
		return how
	}
	if asked := s.testMap(ctx, memory); asked != nil && asked.Level != "" {
		how.Level, how.LevelBy, how.Told.Level = asked.Level, asked.By, report.Test
	}
	return how
}

// resulting returns a reading with what the results beside a history say, unless they are of another one.
func (s Source) resulting(ctx context.Context, given Reading, memory int64) Reading {
	how := s.completed(ctx, given, memory)
	if how.By == "" || len(how.checked.Failing) == 0 && (how.Spec.Name != "" || how.checked.Models == nil) && how.checked.isOf(how.Spec.Name) {
		return how
	}
	if s.InOrder {
		return given
	}
	pairing := how.Pairing()
	pairing.Memory = memory
	if h, err := s.Read(ctx, pairing); err != nil || !how.fits(h) {
		return given
	}
	return how
}

// takeLevel takes the level that the test asked for, if the history is one of transactions with levels.
func (s Source) takeLevel(ctx context.Context, how *Reading, h *jepsen.History, memory int64) {
	if how.Independent || how.ModelFile != "" {
		return
	}
	asked := s.testMap(ctx, memory)
	if asked == nil || asked.says() == "" && asked.Differs == "" {
		return
	}
	spec, _, err := how.Spec.Infer(h)
	if err != nil {
		return
	}
	if m, err := spec.Model(h.Values); err != nil || !levels.AllOf(m) {
		return
	}
	if why := asked.warning(); why != "" {
		h.Warnings = append(h.Warnings, why)
	}
	how.Level, how.LevelBy = asked.Level, asked.By
}

// TellLevel notes in a result that the test asked for its level.
func (r *Reading) TellLevel(of *report.Result) {
	if of == nil || r.Level == "" {
		return
	}
	if of.From.Level = report.Test; of.Levels != nil && of.Levels.Asked == r.Level {
		of.Levels.AskedBy = r.LevelBy
	}
}

// completed returns a reading with what the results beside a history say where it says nothing: the model, the
// initial value, whether there are keys.
func (s Source) completed(ctx context.Context, given Reading, memory int64) Reading {
	if s.Path == "-" || !given.Incomplete() {
		return given
	}
	checked := s.Checked(ctx, memory)
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
	return err == nil && r.checked.Fits(h, spec.Name)
}
