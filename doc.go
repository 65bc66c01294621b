// Package clew checks histories for linearizability, and shows why.
//
//	h, err := clew.ReadFile("history.edn", jepsen.Options{})
//	..
//	r, err := clew.Check(ctx, h, models.Spec{Name: "cas-register"}, clew.Options{})
//	..
//	fmt.Print(r.Text())
//
// A history is read once, or built operation by operation (package jepsen, and jepsen/forms for text). A model gives
// it a meaning (package models). The history is decided in near-linear time if possible (package fastpath), else by a general
// search (package fallback). The result (package report) has its evidence: a witness if the history is linearizable.
// If it is not, the evidence is the first failing completion with configurations, final paths and a core.
//
// # Glossary
//
// A history is a list of events in the order in which they happened. Only that order counts; times do not.
//
// An event is one op map of a client: it begins an operation (its invocation, :invoke) or ends it (its completion:
// :ok, :fail or :info). Events are numbered from 0; the number is the time.
//
// An operation is an invocation with its completion, if it has one. Operations are numbered in order of invocation.
//
// An operation that succeeded ended in :ok, and took effect at one instant between its events. One that failed ended
// in :fail, and never took effect. One that crashed ended in :info or not at all: it may take effect at any time
// after its invocation, or never.
//
// An operation is open at an event if it has begun by then and has not returned.
//
// A row is an operation as a model reads it. Operations that cannot matter have no row, so rows have numbers of their
// own. Every part and every prefix numbers its rows from 0.
//
// A class is a number for a value. Equal values, in the sense of Clojure's =, are of the same class.
//
// A part, or partition, of a history consists of the operations that touch one part of the model's state, such as one
// key. Parts are decided separately.
//
// A prefix of a history consists of its events up to some completion. Operations that are open at its end are
// optional, and keep the value that they will return.
//
// A linearization is an order of all operations that succeeded, and of some that crashed. No operation comes after
// one that began after it had returned, and the model can take every step. A witness is a linearization that was
// found.
//
// The first failing completion is the first :ok event such that the history up to it has no linearization.
//
// A configuration is what a search has reached: a state, and which operations it has linearized. The configurations
// in a result are about to fail at the first failing completion; pending operations are open there and not
// linearized. A final path goes on from a configuration and ends with the failing operation, which cannot happen.
//
// A core is a small selection of operations that has no linearization either. It holds the failing operation, and as
// a history of its own it fails there first.
//
// A history is unambiguous if its values show which operation each of them came from. Many models can then be decided
// in near-linear time.
package clew
