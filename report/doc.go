// Package report holds what a checker found about a history, and shows it.
//
// A Result has the verdict and its evidence. For a valid history this is the
// witness; for an invalid one, the first failing completion, a core,
// configurations and final paths. Operations and events in it are rows of the
// History's columns. Failing, WitnessOps and CoreOps show them in plain Go.
//
// A Result renders itself, and each way to do so has its file in this package. EDN is the map that
// Knossos would return. MarshalJSON writes a Line for other programs, which can be read back. Text
// and WriteSVG are for people. Pictures show a Window: a few operations, and where they and
// everything that belongs to them stand. WriteWitness and WriteCore write the evidence as op maps,
// and ReadWitness and ReadEDN read a witness and a result back. Table shows the results of a store.
//
//	r, err := clew.Check(ctx, h, spec, clew.Options{})
//	..
//	fmt.Print(r.Text())
//
// The package decides nothing and does not know the engines.
// It steps a model only to show how a history fails (Explain).
package report
