// Package clew checks histories for linearizability.
//
//	h, err := clew.ReadFile("history.edn", jepsen.Options{})
//	..
//	r, err := clew.Check(ctx, h, models.Spec{Name: "cas-register"}, clew.Options{})
//	..
//	fmt.Println(r.EDN())
//
// A history is read once (package jepsen), gets a meaning from a model (package
// models), is decided in near-linear time where that is possible (package
// fastpath), else by a general search (package fallback), and leaves as a result
// with its evidence: a witness where it is linearizable, the first failing
// completion with configurations and final paths where it is not.
package clew
