// Package report is what a checker found about a history, and how it is shown.
//
// A Result has the verdict and its evidence: of a valid history the witness, of an
// invalid one the first failing completion, a core, configurations and final
// paths. Operations and events in it are rows of the History's columns; Failing,
// WitnessOps and CoreOps show them in plain Go.
//
// A Result renders itself, a file of this package for each way: EDN is the map
// that Knossos would answer with, MarshalJSON a line for other programs, Text and
// WriteSVG are for people. WriteWitness and WriteCore write the evidence as op
// maps, and ReadWitness reads a witness again. Table shows the results of a store.
//
//	r, err := clew.Check(ctx, h, spec, clew.Options{})
//	..
//	fmt.Print(r.Text())
//
// The package decides nothing, and knows no engine. Explain is what it finds out by
// itself: configurations and final paths, given where a history fails.
package report
