// Package javaqueue is the home of java-queue: java.util.Queue with all its methods.
//
// javaqueue.go reads its operations and says what they do, run.go does it without copying the queue, and levels.go says
// what they show of its size and its elements. gen.go makes histories, and second.go is the oracle's own reading.
package javaqueue
