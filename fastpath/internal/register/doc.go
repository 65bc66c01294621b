// Package register decides registers in near-linear time: read and write, with
// cas, and with versions. It exports Path, and the violations and ambiguities
// that it finds. A caller can distinguish them with a type switch.
package register
