// Package container decides queues, stacks, priority queues and bags in
// near-linear time. It exports Path, and the violations and ambiguities
// that it finds. A caller can distinguish them with a type switch.
package container
