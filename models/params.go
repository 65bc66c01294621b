package models

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"clew/edn"
	"clew/internal/option"
	"clew/internal/text"
)

// Values of ParamKVKeys. Where operations have no :key, only the history as a whole shows
// which of them have keys. [1 2] may be the value 2 of the key 1, or the value [1 2].
const (
	KVKeysPairs = "pairs" // every value is [key value]
	KVKeysNone  = "none"  // no operation has a key
)

// Values of ParamAccounts. Objects of JSON have only strings for keys, so the account 0 of a transfer is the key :0 of a
// read. Only the history as a whole shows what the keywords of reads name.
const (
	AccountsAsWritten = "as-written" // a keyword names an account of its own
	AccountsNumbers   = "numbers"    // :0 is the number 0
	AccountsStrings   = "strings"    // :a is the string "a"
)

// Param names a parameter of models, as Spec.Set takes it.
type Param string

// The parameters. ParamInit is the initial value, as EDN.
const (
	ParamModel     Param = "model"
	ParamInit      Param = "init"
	ParamNilReads  Param = "nil-reads"  // any, exact
	ParamFailedCAS Param = "failed-cas" // ignore, observe
	ParamSemantics Param = "semantics"  // jepsen, knossos
	ParamPriority  Param = "priority"   // max, min
	ParamPermits   Param = "permits"    // a number
	ParamMaxHolds  Param = "max-holds"  // a number
	ParamThreads   Param = "threads"    // a number
	ParamIDs       Param = "ids"        // distinct, growing
	ParamAnswers   Param = "answers"    // auto, told, echo
	ParamKVKeys    Param = "kv-keys"    // auto, pairs, none
	ParamAccounts  Param = "accounts"   // auto, as-written, numbers, strings

	ParamNegativeBalances Param = "negative-balances" // refuse, allow

	ParamPosition  Param = "position"  // the key of an op map that says where the operation stands, or none
	ParamPositions Param = "positions" // dense, sparse
)

// String returns the parameter as messages name it: by the field of Spec that it sets, or by its flag.
func (p Param) String() string {
	field := map[Param]string{ParamModel: "Name", ParamInit: "Init", ParamPosition: "Position"}[p]
	for _, known := range params {
		if known.name == p {
			field = known.field
		}
	}
	return option.Option{Field: "Spec." + field, Flag: "--" + string(p)}.String()
}

// param describes a parameter.
type param struct {
	name  Param
	field string // of Spec
	// choices are its values, the default first; nil if it is a number.
	choices []string
	// of returns the field of a Spec: a *bool is true for the second choice, a *string is the
	// choice or "", and an *int is 0 if no number was given.
	of func(s *Spec) any
	// with says which models it goes with, "" if their names say it best.
	with string
	// needed says why a model that takes the parameter needs it, "" if no model needs it.
	needed string
}

// Choices returns the values of a parameter, the default first; nil if it is a number or
// anything.
func (p Param) Choices() []string {
	for _, known := range params {
		if known.name == p {
			return slices.Clone(known.choices)
		}
	}
	return nil
}

var params = []param{
	{name: ParamNilReads, field: "NilReadsExact", choices: []string{"any", "exact"}, with: "registers", of: func(s *Spec) any { return &s.NilReadsExact }},
	{name: ParamFailedCAS, field: "ObserveFailedCAS", choices: []string{"ignore", "observe"}, of: func(s *Spec) any { return &s.ObserveFailedCAS }},
	{name: ParamSemantics, field: "Knossos", choices: []string{"jepsen", "knossos"}, of: func(s *Spec) any { return &s.Knossos }},
	{name: ParamPriority, field: "Priority", choices: []string{"max", "min"}, of: func(s *Spec) any { return &s.Priority }},
	{name: ParamPermits, field: "Permits", needed: "the number of its permits", of: func(s *Spec) any { return &s.Permits }},
	{name: ParamMaxHolds, field: "MaxHolds", with: "reentrant locks", of: func(s *Spec) any { return &s.MaxHolds }},
	{name: ParamThreads, field: "Threads", with: "locks that have an owner", of: func(s *Spec) any { return &s.Threads }},
	{name: ParamIDs, field: "GrowingIDs", choices: []string{"distinct", "growing"}, of: func(s *Spec) any { return &s.GrowingIDs }},
	{name: ParamNegativeBalances, field: "NegativeBalances", choices: []string{"refuse", "allow"}, of: func(s *Spec) any { return &s.NegativeBalances }},
	{name: ParamAnswers, field: "Answers", choices: []string{chosenByHistory, AnswersTold, AnswersEcho}, of: func(s *Spec) any { return &s.Answers }},
	{name: ParamPositions, field: "SparsePositions", choices: []string{"dense", "sparse"}, of: func(s *Spec) any { return &s.SparsePositions }},
	{name: ParamKVKeys, field: "KVKeys", choices: []string{chosenByHistory, KVKeysPairs, KVKeysNone}, of: func(s *Spec) any { return &s.KVKeys }},
	{name: ParamAccounts, field: "Accounts", choices: []string{chosenByHistory, AccountsAsWritten, AccountsNumbers, AccountsStrings}, of: func(s *Spec) any { return &s.Accounts }},
}

// chosenByHistory is the choice of a parameter that the history as a whole decides.
const chosenByHistory = "auto"

// choice returns the value of a parameter with choices, "" if it was not given or is a number.
func (k param) choice(s *Spec) string {
	switch x := k.of(s).(type) {
	case *string:
		return *x
	case *bool:
		if *x {
			return k.choices[1]
		}
	}
	return ""
}

// number returns a parameter that is a number, 0 if it was not given or has choices.
func (k param) number(s *Spec) int {
	if n, ok := k.of(s).(*int); ok {
		return *n
	}
	return 0
}

// Given returns the parameters that differ from their defaults, with their texts.
func (s Spec) Given() map[Param]string {
	given := map[Param]string{}
	if s.Init != "" {
		given[ParamInit] = s.Init
	}
	if s.Position != "" {
		given[ParamPosition] = s.Position
	}
	for _, p := range params {
		if choice := p.choice(&s); choice != "" {
			given[p.name] = choice
		} else if n := p.number(&s); n != 0 {
			given[p.name] = strconv.Itoa(n)
		}
	}
	return given
}

// Flags returns the arguments with which clew check reads a history as the spec does, nil if its model is not in the
// registry.
func (s Spec) Flags() []string {
	if s.own != nil {
		return nil
	}
	flags, given := []string{"--" + string(ParamModel), s.Name}, s.Given()
	for _, p := range slices.Sorted(maps.Keys(given)) {
		flags = append(flags, "--"+string(p), given[p])
	}
	return flags
}

// MaxCount bounds every parameter that is a number, and the permits and versions of one
// operation, so that sums do not overflow.
const MaxCount = 1 << 30

// Set sets a parameter from its text. It is the only parser of parameters. Errors are
// ParamErrors. Set does not check whether the model takes the parameter; Check does.
func (s *Spec) Set(p Param, value string) error {
	switch p {
	case ParamModel:
		s.Name = value
		return nil
	case ParamInit:
		if value == "" {
			return ParamErrorf("%s must be an EDN value such as 0 or nil, not empty", ParamInit)
		}
		s.Init = value
		_, err := s.initial(edn.NewValues())
		return err
	case ParamPosition:
		return s.setPosition(value)
	}
	i := slices.IndexFunc(params, func(known param) bool { return known.name == p })
	if i < 0 {
		return ParamErrorf("unknown parameter %q; models take %s", string(p), paramNames())
	}
	known := params[i]
	if known.choices != nil {
		if !slices.Contains(known.choices, value) {
			return known.noChoice(value)
		}
		switch x := known.of(s).(type) {
		case *bool:
			*x = value == known.choices[1]
		case *string:
			if *x = value; value == chosenByHistory {
				*x = ""
			}
		}
		return nil
	}
	n, err := strconv.Atoi(value)
	switch {
	case err != nil || n < 1:
		return ParamErrorf("%s must be a number of at least 1, not %s", p, value)
	case n > MaxCount:
		return ParamErrorf("%s must be at most %d, not %s", p, MaxCount, value)
	}
	*known.of(s).(*int) = n
	return nil
}

func (k param) noChoice(value string) error {
	return ParamErrorf("%s must be %s, not %q", k.name, text.OneOf(k.choices), value)
}

func paramNames() string {
	names := []string{string(ParamModel), string(ParamInit), string(ParamPosition)}
	for _, known := range params {
		names = append(names, string(known.name))
	}
	return strings.Join(names, ", ")
}

// checkParams returns an error if the parameters do not make sense for a model.
func (s Spec) checkParams(d *Definition) error {
	if s.Init != "" && d.NoInit != "" {
		return ParamErrorf("%s does not take %s: %s", d.Name, ParamInit, d.NoInit)
	}
	if s.SparsePositions && s.Position == "" {
		return ParamErrorf("%s sparse needs %s", ParamPositions, ParamPosition)
	}
	for _, known := range params {
		n, choice := known.number(&s), known.choice(&s)
		if choice != "" && !slices.Contains(known.choices, choice) {
			return known.noChoice(choice)
		}
		switch takes := d.Takes(known.name); {
		case takes && known.needed != "" && n < 1:
			return ParamErrorf("%s needs %s K, %s, at least 1", d.Name, known.name, known.needed)
		case n < 0:
			return ParamErrorf("%s must be at least 1, not %d", known.name, n)
		case n > MaxCount:
			return ParamErrorf("%s must be at most %d, not %d", known.name, MaxCount, n)
		case (n > 0 || choice != "") && !takes:
			return known.misplaced(&s, d)
		}
	}
	return nil
}

// misplaced returns the error for a parameter that a model does not take.
func (k param) misplaced(s *Spec, d *Definition) error {
	with := k.with
	if with == "" {
		with = takers(k.name)
	}
	what := ""
	if k.choices != nil && k.name != ParamPriority {
		what = " " + k.choice(s) // the default goes with every model
	}
	return ParamErrorf("%s%s applies to %s, not to %s", k.name, what, with, d.Name)
}

// takers names the models that take a parameter.
func takers(p Param) string {
	var names []string
	for _, d := range registry {
		if d.Takes(p) {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, " and ")
}

// initial returns the initial value in a table, nil if none is given.
func (s *Spec) initial(v *edn.Values) (*edn.ID, error) {
	if s.Init == "" {
		return nil, nil
	}
	id, err := v.Parse([]byte(s.Init), edn.Pos{Line: 1, Col: 1})
	if err != nil {
		return nil, ParamErrorf("%s:%v", ParamInit, err)
	}
	id = v.Same(id)
	return &id, nil
}

// ParamError is an error that names parameters. Error names fields of Spec; Spell may use
// other names.
type ParamError struct {
	format string
	args   []any
	cause  error
	none   string // see NoModel
}

// ParamErrorf returns a ParamError. Args that name parameters must be Params.
func ParamErrorf(format string, args ...any) error { return &ParamError{format: format, args: args} }

// Unwrap returns what the error is about, or nil.
func (e *ParamError) Unwrap() error { return e.cause }

func (e *ParamError) Error() string { return fmt.Sprintf(e.format, e.args...) }

// Spell returns the error with other names for its parameters, such as those of a program's
// own settings.
func (e *ParamError) Spell(name func(Param) string) string {
	args := slices.Clone(e.args)
	for i, arg := range args {
		if p, ok := arg.(Param); ok {
			args[i] = name(p)
		}
	}
	return fmt.Sprintf(e.format, args...)
}
