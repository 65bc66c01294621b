// Package fastpath decides in near-linear time whether a history is
// linearizable, for data types and histories where that is possible. A
// general search takes exponential time in the worst case; the procedures
// here look at every operation a fixed number of times.
//
// It knows nothing of files, of Jepsen or of people: operations come as
// int32 columns (models.Columns), answers name operations by their position
// in the columns, and values by the ids that the columns use.
//
// # Use
//
//	d := fastpath.CASRegister(columns, initialValue, fastpath.WantFailure)
//	switch d.Verdict {
//	case fastpath.Valid:     // certain
//	case fastpath.Invalid:   // certain; d.Fail, d.Core and d.Why say more
//	case fastpath.Ambiguous: // ask a general search; d.Reason says why
//	}
//
// The verdict alone is cheapest. A caller asks with a Want for what else it
// needs: a witness, or the first failing completion with a core.
//
// # What is not here
//
// The procedures lean on values being distinguishable: if two writes of 3 can
// both be what a read of 3 saw, the answer may be Ambiguous. That is not an
// answer about the history, and never a guess: Valid and Invalid are proofs,
// Ambiguous hands the history to the general search.
//
// # The shape of a type
//
// Each data type is a file. It opens with what is decided, the precondition,
// the cost, the lemma, and why crashed operations do not spoil it. Its
// algorithm value has three parts:
//
//   - decide: columns in, verdict out, with a witness if asked. Where it says
//     Invalid it names the operations that show it (keys) and an event by
//     which the history has gone wrong (end).
//   - needs: which other operations an operation must not be parted from when
//     a core is made smaller.
//   - step: the sequential meaning of one operation. It settles tiny
//     sub-histories that decide finds ambiguous while a core is made smaller.
//
// Types whose decide never finds ambiguous in the small what it decides in the
// large have no step; they may have an explain, which says what is wrong with a
// minimal core. Queue, stack and priority queue share their preparation
// (containers.go), and how they deal with crashed removes of unknown value
// (unknown.go).
//
// The exported function of a type hands these to run, and everything that
// types have in common follows: failure.go finds the first failing completion
// and the minimal core, input.go cuts prefixes and picks sub-histories.
package fastpath
