// Package fallback is the general search: it decides histories of any model where no fast path
// applies. The problem is NP-complete. No engine here guesses: it answers Unknown if a limit stops
// it or if it gives up.
//
// An Engine decides one set of operations. If they have a linearization, it shows one. If they have
// none, it names the first failing completion, and shows a linearization up to it. Core then finds
// a small part that fails on its own.
//
//	a := engine.Decide(ctx, ops, limits.Limits{})
//	if a.Verdict == jepsen.Invalid {
//		core := fallback.Core(ctx, engine, ops, a.FailEvent, limits.Limits{})
//		...
//	}
//
// Window, Frontier and Porcupine are searches. Relay has several engines take turns, and Race runs
// them side by side. Families of engines that share more have packages of their own. Staged and
// matching (with its solver, cdcl) are for registers, languages is for stacks, and lockstep is for
// queues. Hitting only ever finds witnesses. They use Layout, Space and the rest of what this
// package exports for them. Package auto picks an engine by its name. A new engine needs a type
// that implements Engine, and one line in auto.
//
// The package knows nothing of fast paths, of independent keys or of results.
package fallback
