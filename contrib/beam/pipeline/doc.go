// Package pipeline checks the histories of a store as an Apache Beam job, on as many
// machines as the runner has.
//
//	p, s := beam.NewPipelineWithRoot()
//	lines := pipeline.Check(s, pipeline.Options{Inputs: []string{"gs://store/*/*/*"}})
//
// An element is one history, or one independent key of one, never an operation: a single decision stays on one
// machine. Histories are found and read through Beam's file systems, reshuffled, and checked separately, each with
// its own limits. Every history gives a line of the output, as clew check --output json prints it. A history that
// does not parse, that hits a limit, or that makes a model panic never fails the job.
package pipeline
