// Package fallback is the general search: it decides histories of any model
// when no fast path applies. The problem is NP-complete; every engine here is
// exact, and answers Unknown if a limit stops it.
//
// An Engine decides one set of operations. If they have a linearization it shows
// one, and if they have none, the first failing completion and a linearization up
// to it. Window, Frontier and Porcupine are searches, and Race is several engines
// side by side. Check asks an engine, and Core finds a small part that fails by
// itself.
//
// Families of engines that share more lie in packages of their own: staged, for
// registers, and hitting, which only ever finds witnesses. They use the Layout,
// the Space of states, and what else is exported here for them. Package auto picks
// an engine by its name.
package fallback
