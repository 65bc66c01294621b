// Package fastpath decides in near-linear time whether a history is
// linearizable, for those data types and histories for which that is
// possible. A general search takes exponential time in the worst case.
//
// Most procedures make a few passes over the events in order of time. Some also sort, or maintain
// trees or heaps, which costs a logarithm. Every file states its cost. A few steps could take much
// longer, such as working out what crashed dequeues took. They have a bound, and beyond it the
// answer is Unknown. Finding the first failing completion may require deciding several prefixes.
//
// The package knows nothing about files or EDN, and does not know any model by
// name. Operations come as int32 columns (models.Columns), and the data type
// comes as a models.Shape. Answers name operations by their rows in the columns.
//
// # Use
//
// Each family of data types (a package below internal/families) has a
// function Path, which is a Family: it returns the path for a shape that belongs to the family.
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
// The verdict alone is cheapest. A Want asks for more: a witness, or the first
// failing completion with a core and a witness of the history before it. If
// the context ends first, the verdict is Unknown and the reason is Stopped.
//
// # What is not here
//
// The procedures rely on distinct values. If two writes of 3 may both be what
// a read of 3 saw, the answer may be Unknown. Valid and Invalid are proofs.
// Unknown says nothing about the history and leaves it to the general search.
//
// # A data type
//
// Each data type has one or a few files in its family. Each file opens with what is
// decided, the precondition, the cost, the lemma, and why crashed operations do no harm.
//
// A Finding says what is wrong with a history, or why it could not be decided. It
// consists of the rows of its operations and of a Pattern, which has the sentence. Tell
// fills in the words of a models.Teller. The Pattern stands next to what finds it.
//
// Many data types share the search for the first failing completion and for
// the core. An Algorithm describes such a type. Its main parts are:
//
//   - Decide takes an Input, which is columns with dense numbers, and returns a
//     verdict, with a witness if asked. If the verdict is Invalid, it names the
//     operations that show it (Keys) and an event by which the history has gone
//     wrong (End), and it may say why (Why).
//   - Needs says which other operations must stay with an operation when a core
//     is made smaller.
//   - Step is the sequential meaning of one operation. It settles tiny
//     sub-histories that Decide finds ambiguous while a core is made smaller.
//     It is nil if Decide never finds ambiguous in a small history what it
//     decides in a large one.
//   - Explain says what is wrong with a minimal core, unless Decide does.
//
// Algorithm.Run decides columns with it. The file failure.go finds the first failing
// completion and the minimal core; input.go cuts prefixes and picks sub-histories.
//
// The other data types do not run an Algorithm. Some of their sweeps find the
// first failing completion as they proceed, and run again over the history
// before it for the witness. Others search for it by deciding prefixes.
package fastpath
