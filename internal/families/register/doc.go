// Package register decides registers in near-linear time. Path chooses among them: register.go has
// read and write, and cas.go adds cas. Both compare the zones of values in zones.go, and producers.go
// says which operations stay together in their cores. versionedregister.go has registers whose
// updates say their versions, and versiongaps.go fills the versions that no operation said.
package register
