// Package clojure has only tests. They compare with Clojure itself which values
// clew and its certificates' checkers take for equal, and how they order values.
package clojure
