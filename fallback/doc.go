// Package fallback is the general search: it decides histories of any model
// when no fast path applies. The problem is NP-complete; every engine is
// exact, and answers "unknown" when a limit stops it.
//
// An Engine decides one set of operations, with the first failing completion
// and a linearization up to it where they have none: Window and Porcupine do,
// and Race lets several. Check asks an engine, Explain shows what the search saw
// at the failure (configurations and final paths), and Core finds a small part
// that fails by itself.
package fallback
