// Package models says what operations mean: how a :f and a value are read into
// typed columns, and what an operation does to a state, one step at a time.
//
// A Spec names a model and its parameters. Spec.Read reads a history with it
// and gives Operations: columns that a fast path or a search can decide
// without knowing EDN. The Model in them is the sequential specification; it is
// small enough to check by eye, and it is what every engine's answer is
// replayed against.
//
// A new model is one file here with a type that implements definition, and one
// line in the registry.
package models
