// Package pace makes monitors look at a history more often than they do by themselves, so that small histories of tests have many
// looks. A context carries it to the monitors that are made with it. Programs do not use it.
package pace

import "context"

// Pace is how often a monitor looks and saves. The zero Pace changes nothing.
type Pace struct {
	Events int  // it looks after each so many events, no fewer, unless this is 0
	Saves  bool // it saves its state after every look
}

type key struct{}

// With returns a context for monitors of a pace.
func With(ctx context.Context, p Pace) context.Context { return context.WithValue(ctx, key{}, p) }

// Each returns a context for monitors that look after each so many events, or as they do by themselves if that is 0.
func Each(ctx context.Context, events int) context.Context { return With(ctx, Pace{Events: events}) }

// Of returns the pace that a context carries.
func Of(ctx context.Context) Pace {
	p, _ := ctx.Value(key{}).(Pace)
	return p
}
