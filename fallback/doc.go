// Package fallback is the general search: it decides histories of any model where no fast path
// applies. The problem is NP-complete. No engine here guesses: it answers Unknown if a limit stops
// it or if it gives up.
//
// An Engine decides one set of operations. If they have a linearization, it shows one. If they have
// none, it names the first failing completion, and shows a linearization up to it. Core then finds
// a small part that fails on its own.
//
//	a := engine.Decide(ctx, ops, fallback.Limits{})
//	if a.Verdict == jepsen.Invalid {
//		core := fallback.Core(ctx, engine, ops, a.FailEvent, fallback.Limits{})
//		...
//	}
//
// A search accounts for its time, memory and turns by a Budget. Layout says which operations are open at which return,
// and counts the crashed ones by meaning. Space numbers the states of a model, and remembers its steps. Package
// internal/engines has the engines, and lists them.
//
// The package knows nothing of fast paths, of independent keys or of results.
package fallback
