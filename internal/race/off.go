//go:build !race

// Package race is for tests that have many more histories than the race detector needs
// to see, which slows everything down ten times. With it they take few, as with -short,
// and all of them in a run without it: .ci/run does both.
package race

// Enabled says whether the race detector is on.
const Enabled = false
