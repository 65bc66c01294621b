// Package clojure has nothing but tests. They hold what clew and its certificates'
// checkers take for equal, and for an order, against Clojure itself.
package clojure
