//go:build race

package opmap

const raceFactor = 10 // The race detector slows loops down about as much.
