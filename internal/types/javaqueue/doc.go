// Package javaqueue is the home of java-queue: java.util.Queue with all its methods.
//
// home.go lists the types, javaqueue.go, run.go say what they mean. gen.go has the
// object of generated histories, and second.go is a second reading of the types for the
// oracle, which shares nothing with the first.
package javaqueue
