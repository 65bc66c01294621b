// Package fastpath decides in near-linear time whether a history is
// linearizable, for the data types and histories for which that is possible. A
// general search takes exponential time in the worst case.
//
// Most procedures are a few passes over the events in order of time. Some also
// sort, or keep trees or heaps, which costs a logarithm; every file states its
// cost. The few steps that could take much longer, such as working out what
// crashed dequeues took, have a bound, and past it the answer is Unknown. To find
// the first failing completion, several prefixes may have to be decided.
//
// The package knows nothing of files and of EDN, and no model by name:
// operations come as int32 columns (models.Columns), and the data type comes as
// a models.Shape. Answers name operations by their rows in the columns.
//
// # Use
//
// Each family of data types (packages register, container, lock, set and
// sequence) has a function Path, which is a Family: it gives the path for a
// shape, if the shape belongs to the family.
//
//	path, refusal := register.Path(models.RegisterShape{Init: init, CAS: true})
//	...
//	d := path.Decide(ctx, columns, fastpath.WantFailure)
//	switch d.Verdict {
//	case jepsen.Valid:   // certain
//	case jepsen.Invalid: // certain; d.FailEvent, d.Before, d.Core and d.Why say more
//	case jepsen.Unknown: // ask a general search; d.Reason says why
//	}
//
// The verdict alone is cheapest. With a Want the caller asks for more: a
// witness, or the first failing completion with a core and a witness of what came
// before it. If the context ends first, the verdict is Unknown, and the reason is
// Stopped.
//
// # What is not here
//
// The procedures depend on telling values apart: if two writes of 3 can both be
// what a read of 3 saw, the answer may be Unknown. Valid and Invalid are proofs.
// Unknown says nothing about the history, and leaves it to the general search.
//
// # A data type
//
// Each data type has a file in its family, or a few. The file opens with what is
// decided, the precondition, the cost, the lemma, and why crashed operations do
// not spoil it.
//
// What is wrong with a history is a Violation, and why it could not be decided
// is an Ambiguity. Each of these is a small type that holds its operations as
// rows. Its method Tell puts them into a sentence, with the words of a
// models.Teller. The type stands in the file of the procedure that finds it.
//
// Many data types share the search for the first failing completion and for the
// core. They are described by an Algorithm, whose main parts are:
//
//   - Decide: it takes an Input, which is columns with dense numbers, and gives a
//     verdict, with a witness if asked. If it says Invalid, it names the
//     operations that show it (Keys), an event by which the history has gone
//     wrong (End), and perhaps the Violation (Why).
//   - Needs: which other operations must stay with an operation if a core is
//     made smaller.
//   - Step: the sequential meaning of one operation. It settles tiny
//     sub-histories that Decide finds ambiguous while a core is made smaller.
//     There is none if Decide never finds ambiguous in a small history what it
//     decides in a large one.
//   - Explain: the Violation of a minimal core, unless Decide gives it.
//
// Algorithm.Run decides columns with it. The file failure.go finds the first
// failing completion and the minimal core; input.go cuts prefixes and picks
// sub-histories.
//
// The other data types have no Algorithm to run. Some of their sweeps meet the
// first failing completion as they go along, and run once more over what came
// before it, for the witness; others look for it by deciding prefixes.
package fastpath
