package checking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"clew"
	"clew/internal/batch"
	"clew/internal/limits"
	"clew/internal/memory"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// SearchNames lists the settings of a search. Each is a flag of clew check.
var SearchNames = []string{"algorithm", "depth", "time-limit", "memory-limit", "consistency", "verify", "no-verify"}

// Limits returns the time and the memory that settings allow; a time of 0 means no limit. shared, unless 0, is the memory
// for all that runs beside this, and there is no more than that.
func Limits(s store.Settings, shared int64) (limit time.Duration, bytes int64, err error) {
	if given, set := s["time-limit"]; set {
		if limit, err = time.ParseDuration(given); err != nil {
			return 0, 0, fmt.Errorf("--time-limit must be a duration such as 30s or 5m, not %s", given)
		} else if limit <= 0 {
			return 0, 0, fmt.Errorf("--time-limit must be a positive duration, not %s", given)
		}
	}
	given := s["memory-limit"]
	if shared > 0 && given == "" {
		return limit, shared, nil
	}
	bytes, err = memory.Limit(given)
	if shared > 0 {
		bytes = min(bytes, shared)
	}
	return limit, bytes, err
}

// Search returns what settings say of a search, and how many bytes all searches together may use. shared is as in Limits.
func Search(s store.Settings, shared int64) (o clew.Options, bytes int64, err error) {
	o.Algorithm = cmp.Or(s["algorithm"], clew.Algorithms()[0])
	if o.Consistency, err = models.ParseLevel(s["consistency"]); err != nil {
		return o, 0, err
	}
	if o.Consistency == "" && s["consistency"] != "" {
		o.Consistency = models.Linearizable
	}
	if o.TimeLimit, bytes, err = Limits(s, shared); err != nil {
		return o, 0, err
	}
	o.Memory = clew.NewMemory(bytes)
	if depth, set := s["depth"]; set {
		switch o.Depth, err = strconv.Atoi(depth); {
		case o.Algorithm != "hitting":
			return o, 0, fmt.Errorf("--depth applies to --algorithm hitting, not to %s", o.Algorithm)
		case err != nil || o.Depth < 1:
			return o, 0, fmt.Errorf("--depth must be a number of at least 1, not %s", depth)
		}
	}
	for _, name := range []string{"verify", "no-verify"} {
		if value, set := s[name]; set && value != "true" && value != "false" {
			return o, 0, fmt.Errorf("--%s must be true or false, not %s", name, value)
		}
	}
	switch verify, not := s["verify"] == "true", s["no-verify"] == "true"; {
	case verify && not:
		return o, 0, errors.New("--verify and --no-verify cannot be combined")
	case verify:
		o.Verify = clew.VerifyAlways
	case not:
		o.Verify = clew.VerifyNever
	}
	return o, bytes, clew.CheckAlgorithm(o.Algorithm)
}

// OptionsOf returns the options for checking a history that is read in a given way.
func OptionsOf(o clew.Options, how store.Reading) clew.Options {
	o.Independent, o.Whole, o.Keyless = how.Independent, how.Whole, how.Keyless
	o.Consistency = cmp.Or(o.Consistency, how.Level)
	return o
}

// Decide decides the history of a job, which is read in a given way, within the context alone. howFar says that a result
// says how far it is from being linearizable.
func Decide(ctx context.Context, j *batch.Job, h *jepsen.History, how store.Reading, o clew.Options, howFar bool) (*report.Result, error) {
	o = OptionsOf(o, how)
	o.TimeLimit, o.Keys, o.Passed = 0, j.Keys, j.Passed // the context has the limit
	checked, err := clew.Check(ctx, h, how.Spec, o)
	if err != nil {
		return nil, clew.Placed(h, err)
	}
	if o.Consistency == "" {
		checked = how.Withdraw(checked)
	}
	switch {
	case !howFar || checked.Verdict == jepsen.Unknown:
	case checked.Verdict == jepsen.Valid:
		checked.HowFar = report.NotFar()
	default:
		j.Know(checked) // so that the verdict stands in any case
		switch checked.HowFar, err = clew.HowFar(ctx, h, how.Spec, o); {
		case ctx.Err() != nil:
			checked.HowFar = nil
			checked.Missing = cmp.Or(checked.Missing, fmt.Sprintf("evidence is missing (%s): how far it is from being linearizable", limits.Stopped(ctx)))
		case errors.Is(err, clew.ErrNoRoom):
			checked.Missing = cmp.Or(checked.Missing, fmt.Sprintf("evidence is missing (%s): how far it is from being linearizable", jepsen.OutOfMemory))
		case err != nil:
			return nil, clew.Placed(h, err)
		}
	}
	return checked, nil
}

// Warnings returns what is said of a result besides its verdict.
func Warnings(r *report.Result) (all []string) {
	if r.History != nil {
		all = slices.Clip(r.History.Warnings)
	}
	all = append(all, r.Warnings()...)
	if r.Vacuous != "" && r.Vacuous != report.NoOperations { // the reader warns about those
		all = append(all, Vacuous(string(r.Vacuous)))
	}
	return all
}

// Vacuous returns the warning about a vacuous verdict.
func Vacuous(why string) string { return "this verdict is vacuous: " + why }

// Conflict returns an error if the options of a search do not go with a witness.
func Conflict(o clew.Options, witness bool) error {
	if level := o.Consistency; witness && level.Weaker() {
		return fmt.Errorf("--witness is about linearizations; it cannot be combined with --consistency %s", level)
	}
	return nil
}
