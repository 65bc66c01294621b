// Package outputs has the forms in which clew check, clew merge and clew compare
// print results: the values of --output. Each form has a file, and All lists them.
//
//	text     a sentence and a drawing for people, or a table of a store's results
//	edn      a line with the map that Knossos would return
//	json     a line with a report.Line
//	junit  ┐
//	sarif  ├ reports for pipelines, made of the cases in cases.go
//	github ┘
//
// AllEvidence lists what is written to files of its own: witnesses, cores, drawings,
// pages and certificates.
//
// A form prints each result as soon as it is its turn, or all of them at the end.
// Between the two, and in the shards of a store, a result is only a Record, which
// does not hold on to its history.
package outputs
