//go:build race

package edn

const raceFactor = 10 // The race detector slows loops down about as much.
