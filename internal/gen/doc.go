// Package gen makes random Jepsen histories as EDN text, with verdicts that are known, at
// least to an oracle. Long ones (Long) are what clew gen prints, and small ones (New) are for
// tests.
//
// Both ask the same objects (object.go), which the homes of the data types have. A Maker
// (maker.go) lets processes take steps: each operation takes effect at a random instant
// between invocation and completion, so the history is linearizable by construction. It
// also makes operations crash and fail.
//
// A long history may have one bug, which is certain (bug.go). A small one is a run, a mutated
// run in which some answers are exchanged, or a guess, whose answers are random throughout.
// Its text has much of what real histories have. It has crashes with and without :info,
// processes that go on after a crash, and late completions of crashed operations. It also
// has a nemesis, missing indices, and equal values in different spellings.
package gen
