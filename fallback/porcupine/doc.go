// Package porcupine is github.com/anishathalye/porcupine on clew's searches. A
// test that checks a porcupine.Model with porcupine changes one line, its import,
// and keeps the rest:
//
//	import "clew/fallback/porcupine"
//
// The names are all porcupine's, and types are the same types. CheckOperations,
// CheckEvents and their Timeout variants answer as porcupine does: Operations
// whose times touch are concurrent, Events count in the order of the list, a nil
// Equal is ==, partitions are decided side by side, and one that is illegal is
// enough. A history that makes no sense, such as a return without a call, gets
// porcupine's answer. The Verbose variants and Visualize are porcupine's own.
//
// What is easy porcupine's own search decides, anew (wgl.go), since nothing is
// faster then. After some thousand steps it rests: states and operations are
// numbered, no step is asked for twice, and package fallback's searches decide. If
// a model has many states, and a Hash, or states that == compares, it goes on for
// a while before they do.
//
// If a model has few states they are all visited first, which shows which
// operations only read, which overwrite whatever was there, and which are
// possible everywhere. One of the last kind that returns after everything else,
// as tests write down operations with an unknown outcome, need not happen at all;
// crashed operations are what our searches are made for.
//
// A model's functions are pure, as porcupine wants them, and get values that
// porcupine might not give them: states that some order of the operations leads
// to, whether their times allow it or not. If that makes one panic, porcupine
// decides. A step that changes a state in place makes every answer doubtful: before a
// history is called Illegal, states are looked at once more, and one that has changed
// to the model is a panic that names it (inplace.go). Inputs and outputs that are equal by == mean the same.
package porcupine
