// Package engines is the general search: it lists the engines, and has those that suit a history take turns.
//
// engines.go is the table. Every engine has an entry there and a package of its own below this one:
//
//	configs    Window and Frontier: any model, over compressed configurations
//	staged     registers with many crashed operations
//	matching   registers with many clients, by which read saw which write; its solver is cdcl
//	languages  stacks
//	lockstep   FIFO queues
//	porcupine  any model, by github.com/anishathalye/porcupine
//	hitting    only ever finds witnesses
//
// auto.go decides which engines take turns, turns.go lets them, and refute.go has two engines that only look for a reason why a
// history fails. Package fallback has what engines are made of.
package engines
