// Package clew checks histories for linearizability, and shows why.
//
//	h, err := clew.ReadFile("history.edn", jepsen.Options{})
//	..
//	r, err := clew.Check(ctx, h, models.Spec{Name: "cas-register"}, clew.Options{})
//	..
//	fmt.Print(r.Text())
//
// A history is read once, or built operation by operation (package jepsen, and
// jepsen/forms for text), gets a meaning from a model (package models), is decided
// in near-linear time if that is possible (package fastpath), else by a general
// search (package fallback), and leaves as a result (package report) with its
// evidence: a witness if it is linearizable, and if it is not, the first failing
// completion with configurations, final paths and a core.
//
// # Glossary
//
// A history is a list of events in the order in which they happened. Time plays no
// part beside that order.
//
// An event is one op map of a client: it begins an operation (its invocation,
// :invoke) or ends it (its completion: :ok, :fail or :info). Events are numbered
// from 0 on; the number is the time.
//
// An operation is an invocation with its completion, if it has one. Operations are
// numbered in order of invocation.
//
// An operation that succeeded ended in :ok, and took effect at one instant between
// its events. One that failed ended in :fail, and never took effect. One that
// crashed ended in :info or not at all: it may take effect at any time after its
// invocation, or never.
//
// An operation is open at an event if it has begun by then and has not returned.
//
// A row is an operation as a model reads it. Operations that cannot matter have
// none, so rows are numbered by themselves, and anew in every part and prefix.
//
// A class numbers values: equal values, in the sense of Clojure's =, are of one
// class.
//
// A part, or partition, of a history is the operations that touch one part of the
// model's state, such as one key. Parts are decided by themselves.
//
// A prefix of a history is its events up to some completion. Operations that are
// open at its end are optional, and keep the value that they will return.
//
// A linearization is an order of all operations that succeeded, and of some that
// crashed, in which none stands behind one that began after it had returned, and in
// which the model can take every step. A witness is a linearization that was found.
//
// The first failing completion is the first :ok event with which the history up to
// it has no linearization.
//
// A configuration is what a search has reached: a state, and which operations it
// has linearized. Those shown are about to fail at the first failing completion;
// pending operations are open there and not linearized. A final path goes on from a
// configuration and ends with the failing operation, which cannot happen.
//
// A core is a small choice of operations that has no linearization either. It
// holds the failing operation, and as a history of its own it fails there first.
//
// A history is unambiguous if its values tell which operation each of them came
// from. Many models can then be decided in near-linear time.
package clew
