// Package sequence decides objects in near-linear time whose answers are numbers that order
// what happened: counters, generators of ids and logs. It exports Path, and the violations
// and ambiguities that it finds. A caller can distinguish them with a type switch.
package sequence
