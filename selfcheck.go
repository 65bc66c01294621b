package clew

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clew/fallback"
	"clew/internal/engines"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// The self-check looks at the evidence of every verdict again, as far as that is cheap. Whether it is cheap depends
// on the history alone, and never on the time that passes:
//
//   - A witness always is. One pass over it shows that every operation is in it once and in time. The steps of the model
//     are those that lead to the final state, which is shown anyway.
//   - A core is cheap if it has at most maxJudged operations and other engines decide it within a bound. Each has
//     judgeWork, and judgePerOperation more for each operation of the history. That is some milliseconds, or about a tenth
//     of the time for reading the history. Among independent keys, the cores of the first maxJudgedKeys that fail are
//     cheap, too: deciding a small key costs less than starting another engine.
//
// Which engine found a core may depend on time, if several ran in parallel. So two of three engines have to agree,
// whichever found it: at least one of them is another.
//
// VerifyAlways checks everything, starting from the history: it reads the operations of a witness again, and
// decides a core however hard it is.
const (
	maxJudged         = 2000
	judgeWork         = 100_000
	judgePerOperation = 20
	maxJudgedKeys     = 1000
	judgeMemory       = 32 << 20 // bytes, whatever other checks hold
)

// byRequest ends the reasons why clew did not check a core again without being asked.
func byRequest() string {
	return fmt.Sprintf("; %s rechecks it, however long that takes", option.Verify)
}

// selfCheck checks the evidence of a result and notes that in it. An error means that the evidence is wrong.
func (c *checking) selfCheck(ctx context.Context, d *decider, r *report.Result, o Options) error {
	switch {
	case c.wrong != nil:
		return fmt.Errorf("the witness is not a linearization: %w", c.wrong)
	case o.Verify == VerifyNever, r.Verdict == jepsen.Unknown:
		return nil
	case r.Verdict == jepsen.Valid && o.Verify != VerifyAlways:
		if r.Verified = len(c.missing) == 0; !r.Verified {
			r.Unverified = "a limit came first: " + string(limits.Stopped(ctx))
		}
		return nil
	case r.Verdict == jepsen.Valid:
		r.Verified = true
		return c.unfinished(ctx, r, verifyWithin(ctx, r.History, c.spec, r.Witness))
	case r.Core == nil:
		r.Unverified = "there was no time for a core"
		return nil
	case len(r.Core) > maxJudged && o.Verify != VerifyAlways:
		r.Unverified = fmt.Sprintf("its core has %d operations, and clew rechecks at most %d by default%s", len(r.Core), maxJudged, byRequest())
		return nil
	case d.judged == maxJudgedKeys && o.Verify != VerifyAlways:
		r.Unverified = fmt.Sprintf("clew rechecks the cores of at most %d keys by default%s", maxJudgedKeys, byRequest())
		return nil
	}
	d.judged++
	var err error
	late := stopped(c.ops.Model, func() { r.Verified, err = d.verifyCore(ctx, c, r, o) })
	switch ended := late || !r.Verified && ctx.Err() != nil; {
	case ended && o.Verify == VerifyAlways:
		c.lacks("its verification")
		fallthrough
	case ended:
		r.Unverified = "a limit came first: " + string(limits.Stopped(ctx))
	case !r.Verified && err == nil:
		r.Unverified = "its core is too hard to recheck within a few milliseconds" + byRequest()
	}
	return err
}

// unfinished returns an error of a replay, unless the error only says that the context ended before the replay did.
func (c *checking) unfinished(ctx context.Context, r *report.Result, err error) error {
	var failed *models.Failure
	switch {
	case errors.As(err, &failed):
		panic(failed)
	case err != nil && err == context.Cause(ctx):
		r.Verified = false
		c.lacks("its verification")
		return nil
	case err != nil:
		return fmt.Errorf("the witness is not a linearization: %w", err)
	}
	return nil
}

// verifyCore decides a core once more, or all that came before the failure if operations have positions. If the user asked for that, another engine than the one that found the core
// decides it. Otherwise as many engines as necessary do.
func (d *decider) verifyCore(ctx context.Context, c *checking, r *report.Result, o Options) (bool, error) {
	part := c.parts[c.verdict.failing]
	fail, judged := int32(r.FailEvent.OrNone()), part
	if part.Model.Traits().Positions == nil { // else a core fails for the positions that it lacks, which proves nothing
		judged = part.Select(part.Among(r.Core))
	}
	core := judged.Prefix(fail)
	finder := strings.TrimPrefix(r.Analyzer, "clew/")
	judges, agree := []fallback.Engine{engines.Judge(finder)}, 1
	if o.Verify != VerifyAlways && !strings.HasPrefix(finder, "fast-") {
		judges, agree = engines.Judges(), 2
	}
	for _, judge := range judges {
		again := *d
		again.fast, again.only, again.engine = false, false, judge
		switch x := again.judgment(ctx, core.Operations, c, o); x.Verdict {
		case jepsen.Invalid:
			agree--
		case jepsen.Valid:
			return false, errors.New("the core is linearizable, says " + x.analyzer)
		}
		if agree == 0 {
			return true, nil
		}
	}
	return false, nil
}

// judgment decides a core. If the user asked for that, it has the limits of the check. Otherwise it has a fixed
// amount of work and memory, whatever else is running.
func (d *decider) judgment(ctx context.Context, core *models.Operations, c *checking, o Options) decision {
	lim := fallback.Limits{Memory: o.limits().Memory}
	if o.Verify != VerifyAlways {
		var stop func()
		ctx, lim, stop = fallback.Limits{Memory: models.NewMemory(judgeMemory)}.Within(ctx, judgeWork+judgePerOperation*int64(c.h.Operations()))
		defer stop()
	}
	return d.part(ctx, core, lim)
}

// ordered returns an error unless a witness is in time and is made of the orders of the parts. The model follows
// these for the final state. Linear time.
func (c *checking) ordered(witness []jepsen.Operation) error {
	partOf := make([]int32, c.h.Operations()) // already right if one part has all
	if len(c.parts) != 1 || c.parts[0].Len() < len(partOf) {
		for op := range partOf {
			partOf[op] = jepsen.None
		}
		for i, part := range c.parts {
			for _, op := range part.Of {
				partOf[op] = int32(i)
			}
		}
	}
	next := make([]int32, len(c.parts)) // by part: the place in its order
	err := inTime(c.h, witness, partOf, func(i int, op jepsen.Operation) error {
		p := partOf[op]
		if p == jepsen.None {
			return nil
		}
		order := c.decisions[p].Order
		if int(next[p]) == len(order) || c.parts[p].Of[order[next[p]]] != op {
			return &WitnessError{i, c.h.Name(op) + " is not at this position in the order that was found"}
		}
		next[p]++
		return nil
	})
	for p, n := range next {
		if order := c.decisions[p].Order; err == nil && int(n) < len(order) {
			err = &WitnessError{len(witness), c.h.Name(c.parts[p].Of[order[n]]) + " is missing"}
		}
	}
	return err
}

// refuted returns the result to show if the evidence of another result is wrong.
func refuted(r *report.Result, wrong error) *report.Result {
	r.Verified = false
	return &report.Result{
		History: r.History, File: r.File, Model: r.Model, Init: r.Init, Inferred: r.Inferred, Spec: r.Spec,
		Verdict: jepsen.Unknown, Cause: jepsen.SelfCheckFailed, Error: wrong.Error(), Analyzer: r.Analyzer, Ms: r.Ms, Refuted: r,
	}
}
