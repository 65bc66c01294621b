// Package matching decides registers by which read saw which write. It has one Engine of the general search, see package
// fallback.
//
// matching.go says why the rule about chains and zones decides, and runs the search. problem.go has what is known about a
// history before anything is decided. The solver is package cdcl: theory.go keeps chains for it, zones.go the zones of
// these, hall.go a matching of cas with nodes, and lemma.go explains what cannot be. open.go opens readers for decision.
// witness.go puts a solution in order.
package matching
