// Package models defines what operations mean. It reads an :f and a value into typed
// columns, and says what an operation does to a state, one step at a time.
//
// # A model of your own
//
// Write a Func: an initial state of any comparable type and a step for each :f, which gets
// a Call. Own makes a Spec of it, for Check of package clew.
//
//	counter := models.Func[int64]{Name: "hits", Ops: map[string]models.StepFunc[int64]{
//		"hit": func(n int64, c models.Call) ([]int64, error) { return []int64{n + 1}, nil },
//		"look": func(n int64, c models.Call) ([]int64, error) {
//			if seen, _ := c.Out.Int(); c.OK && seen != n {
//				return nil, models.Inconsistent("can't see %d: there are %d", seen, n)
//			}
//			return []int64{n}, nil
//		},
//	}}
//	r, err := clew.Check(ctx, h, models.Own(counter.Definition()), clew.Options{})
//
// A Definition of your own is for a model whose states need not be compared by Go, or
// whose speed matters. Package modelfile reads models from files in Starlark.
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
// # What a model is made of
//
// A Definition has everything that is known about a model. That includes its name, its
// :f's and parameters, how its states print, and how a history of it is recognized. Its New
// makes a Reader for one history. A Reader is a Model that also reads operations.
//
// Whatever else a model may offer is a field of its Traits: how its operations are read,
// what a search may leave out, which near-linear decision may fit. Each field says what it
// promises and what it buys. Without any, a model is right and slow.
//
// Each built-in model has a home, a folder in internal/types, from which go generate makes
// the registry. CONTRIBUTING.md says what a new one consists of.
package models
