// Package porcupine is github.com/anishathalye/porcupine on clew's searches. A
// test that checks a porcupine.Model with porcupine changes one line, its import,
// and keeps the rest:
//
//	import "clew/contrib/porcupine"
//
// It has all of porcupine's names, and the types are the same types. CheckOperations, CheckEvents
// and their Timeout variants answer as porcupine does. Operations whose times touch are concurrent.
// Events are taken in list order. A nil Equal means ==. Partitions are decided side by side,
// and one illegal partition is enough. A history that makes no sense, such as a return without a
// call, gets porcupine's answer.
//
// The Verbose variants decide in the same way. They say a linearization of each partition, or what could be
// linearized. That is handed to porcupine's own LinearizationInfo, which Visualize draws with the labels of
// the model's DescribeOperation. Where porcupine's memory grows with the square of the history, ours does not.
//
// Explain and ExplainEvents, which porcupine does not have, say why a history is not linearizable: the few operations
// that contradict each other, a sentence, a picture and a page.
//
// Positioned, which porcupine does not have either, is a model whose outputs tell where an operation stands in the order of
// updates, such as a revision. Its histories are replayed in that order, however many values repeat and outputs are unknown.
//
// States are numbered: by the model's Hash, by == if the model has no Equal, or else by a hash of what they hold
// (hash.go). So searches share them, and the model is rarely asked twice for a step. Porcupine's own search,
// written again in wgl.go, decides easy histories. After a few thousand steps it pauses, and package fallback's searches
// have their turns, too. If the model has many states, porcupine's search has the longest turns.
//
// If a model has few states they are all visited first. That shows which operations only read,
// which overwrite whatever was there, and which are possible everywhere. Tests let operations with
// an unknown outcome return after everything else. If such an operation is possible everywhere, it
// need not happen at all, and our searches treat it as crashed.
//
// A model's functions have to be pure, as porcupine wants them. They may get states that porcupine
// would not give them: those that some order of the operations leads to, whether their times allow
// it or not. If that makes one panic, porcupine decides. A step that changes a state in place makes
// every answer doubtful. So states that are hashed by what they hold are looked at after each step. Where one has changed, or
// this cannot be seen, linearizations are replayed, and before a history is called Illegal, states are
// made again. If one of them has changed for the model, the check panics with a message that names it
// (inplace.go). Inputs and outputs that are equal by == mean the same thing.
package porcupine
