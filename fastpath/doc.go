// Package fastpath decides in near-linear time whether a history is
// linearizable, for data types and histories for which that is possible. A
// general search takes exponential time in the worst case. The procedures here
// are sweeps: over a history that is valid one goes once or a few times, to find
// the first failing completion of an invalid one it goes a few times more.
//
// It knows nothing of files, of Jepsen or of people, and no model by name:
// operations come as int32 columns (models.Columns), what they are operations of
// as a models.Shape. Answers name operations by their rows in the columns.
//
// # Use
//
// A family of data types (packages register, container, lock and set) gives the
// path for a shape, if the shape is its own:
//
//	path, _ := register.Path(models.RegisterShape{Init: init, CAS: true})
//	d := path.Decide(ctx, columns, fastpath.WantFailure)
//	switch d.Verdict {
//	case jepsen.Valid:   // certain
//	case jepsen.Invalid: // certain; d.FailEvent, d.Before, d.Core and d.Why say more
//	case jepsen.Unknown: // ask a general search; d.Reason says why
//	}
//
// The verdict alone is cheapest. A caller asks with a Want for what else it
// needs: a witness, or the first failing completion with a core, and a witness of
// what came before it.
//
// # What is not here
//
// The procedures lean on values being distinguishable: if two writes of 3 can
// both be what a read of 3 saw, the answer may be Unknown. That is not an answer
// about the history, and never a guess: Valid and Invalid are proofs, Unknown
// hands the history to the general search.
//
// # A type
//
// Each data type is a file in its family. It opens with what is decided, the
// precondition, the cost, the lemma, and why crashed operations do not spoil it.
// Its Algorithm has three parts:
//
//   - Decide: columns in, verdict out, with a witness if asked. If it says Invalid
//     it names the operations that show it (Keys) and an event by which the
//     history has gone wrong (End).
//   - Needs: which other operations an operation must not be parted from when
//     a core is made smaller.
//   - Step: the sequential meaning of one operation. It settles tiny
//     sub-histories that Decide finds ambiguous while a core is made smaller.
//
// Types whose Decide never finds ambiguous in the small what it decides in the
// large have no Step; they may have an Explain, which says what is wrong with a
// minimal core. What is wrong is a Violation: a small type with its operations
// and its sentence, beside what finds it.
//
// Algorithm.Run does what such types have in common: failure.go finds the first
// failing completion and the minimal core, input.go cuts prefixes and picks
// sub-histories. Sweeps that meet the first failing completion as they go along
// have no Algorithm. They run once more over what came before it, for the witness.
package fastpath
