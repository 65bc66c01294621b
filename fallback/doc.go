// Package fallback is the general search: it decides histories of any model
// when no fast path applies. The problem is NP-complete; every engine is
// exact, and answers "unknown" when a limit stops it.
//
// An Engine decides one set of operations. Check asks it about growing
// prefixes until it knows the first failing completion, and Explain shows what
// the search saw there: configurations and final paths.
package fallback
