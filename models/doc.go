// Package models defines what operations mean. It reads an :f and a value into typed
// columns, and says what an operation does to a state, one step at a time.
//
// # Use
//
// A Spec names a model and its parameters. Spec.Set sets a parameter from its text, and
// Infer names the model that a history seems to be of. Spec.Read reads a history and
// returns Operations: columns of numbers that a fast path or a search can decide without
// knowing EDN.
//
//	spec := models.Spec{Name: "cas-register"}
//	err := spec.Set(models.ParamInit, "0")
//	...
//	ops, err := spec.Read(h)
//
// Their Model is the sequential specification: an initial state and a Step. It is small
// enough to check by eye, and every engine's answer is replayed against it. A Teller names
// operations in sentences about them.
//
// The package decides nothing and does not know any engine.
//
// # Adding a model
//
// A new model is one file here and one line in the registry. The file has a Definition,
// with everything that is known about the model. That includes its name, its :f's and
// parameters, how its states print, and how a history of it is recognized. Its New makes a
// Reader for one history. A Reader is a Model that also reads operations.
//
// Whatever else a model may offer is a field of its Traits: how its operations are read,
// what a search may leave out, which near-linear decision may fit. Each field says what it
// promises and what it buys. Without any, a model is right and slow.
//
// Own makes a Spec from a Definition that is not in the registry. Func is the short way to
// one: functions over any comparable state. Package modelfile reads models from files.
package models
