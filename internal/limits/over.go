package limits

import "context"

// Over reports whether a context is done. Loops ask it now and then. Where one thread runs everything, it first lets the
// timer of a time limit run.
func Over(ctx context.Context) bool {
	yield()
	return ctx.Err() != nil
}
