// Package gen makes random Jepsen histories as EDN text, with verdicts that are known, at
// least to an oracle. Long ones (Long) are what clew gen prints, and small ones are for
// tests.
//
// The return values of small ones are made in one of three ways. A run asks a simple
// object at a random instant between invocation and completion, so the history is
// linearizable by construction. A mutated run has some returned values exchanged, and a
// guess is random throughout. The text has much of what real histories have. It has
// crashes with and without :info, processes that go on after a crash, and late
// completions of crashed operations. It also has a nemesis, missing indices, and equal
// values in different spellings.
package gen
