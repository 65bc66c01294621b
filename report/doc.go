// Package report holds what a checker found about a history, and shows it.
//
// A Result has the verdict and its evidence: for a valid history the witness,
// and for an invalid one the first failing completion, a core, configurations
// and final paths. Operations and events in it are rows of the History's
// columns; Failing, WitnessOps and CoreOps show them in plain Go.
//
// A Result renders itself, and each way to do so has its file in this package.
// EDN is the map that Knossos would answer with, MarshalJSON is a Line for
// other programs, which can be read back, and Text and WriteSVG are for people. Pictures are of a Window:
// few operations, and where they and all that belongs to them stand; package page
// has them in pages for browsers. WriteWitness and WriteCore write the evidence
// as op maps, and ReadWitness and ReadEDN read a witness and a result back. Table
// shows the results of a store. Package ci has reports for pipelines.
//
//	r, err := clew.Check(ctx, h, spec, clew.Options{})
//	..
//	fmt.Print(r.Text())
//
// The package decides nothing, and knows no engine. It steps a model only to
// show how a history fails (Explain).
package report
