// Package staged decides registers, in particular if many operations have crashed. It has one Engine of the general
// search, see package fallback.
//
// staged.go runs the stages. space.go has the nodes that all stages walk over, and says why nothing is lost. search.go
// searches with learning, and prices.go finds prices for crashed operations.
package staged
