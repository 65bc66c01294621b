// Package fallback is the general search: it decides histories of any model if
// no fast path applies. The problem is NP-complete. No engine here guesses: one
// that is stopped by a limit, or that gives up, answers Unknown.
//
// An Engine decides one set of operations. If they have a linearization, it
// shows one. If they have none, it names the first failing completion, and shows
// a linearization up to it. Core then finds a small part that fails by itself.
//
//	a := engine.Decide(ctx, ops, limits.Limits{})
//	if a.Verdict == jepsen.Invalid {
//		core := fallback.Core(ctx, engine, ops, a.FailEvent, limits.Limits{})
//		...
//	}
//
// Window, Frontier and Porcupine are searches. Relay has several engines take
// turns, and Race runs them side by side. Families of engines that share more have
// packages of their own: staged and matching (with its solver, cdcl), for registers,
// languages, for stacks, lockstep, for queues, and hitting, which only ever finds
// witnesses. They use Layout, Space and whatever else is exported here for them.
// Package auto picks an engine by its name. A new engine is a type that implements Engine, and one line
// in auto.
//
// The package knows nothing of fast paths, of independent keys or of results.
package fallback
