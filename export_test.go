package clew

import (
	"context"

	"clew/fallback"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Look returns what Follow finds when it looks at a history that grows: a failure, or nil.
func Look(h *jepsen.History, spec models.Spec) *report.Result {
	f := follower{ctx: context.Background(), spec: spec}
	f.look(h)
	return f.found
}

// Looker looks at a history that grows, as Follow does, without pauses.
type Looker struct{ f follower }

// Looks returns a Looker.
func Looks(spec models.Spec, o Options) *Looker {
	return &Looker{follower{ctx: context.Background(), spec: spec, options: o}}
}

// Passes looks at what has come, and reports whether that is certainly linearizable without a decision of the whole. It may be
// even if Passes returns false.
func (l *Looker) Passes(h *jepsen.History) bool { return l.f.passes(l.f.ctx, h) }

// Held returns how many operations it holds.
func (l *Looker) Held() int {
	h, err := l.f.m.held.Builder().SoFar()
	if err != nil {
		panic(err)
	}
	return h.Operations()
}

// Ends returns the result of all that has come, after looks, although an engine does not decide it before the context is done.
func (l *Looker) Ends(ctx context.Context, h *jepsen.History, engine fallback.Engine) (*report.Result, error) {
	l.f.later, l.f.options.Engine = ctx, engine
	return l.f.whole(h)
}

// FollowTo returns what Follow says of a whole history after a look at what came before.
func FollowTo(seen, whole *jepsen.History, spec models.Spec) (*report.Result, error) {
	f := follower{ctx: context.Background(), later: context.Background(), spec: spec}
	f.look(seen)
	return f.whole(whole)
}
