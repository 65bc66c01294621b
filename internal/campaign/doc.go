// Package campaign compares everything in clew that decides histories: small random
// histories of every model and every way to read it, which the oracle decides and a naive
// reading as well, with all engines and their evidence; and what must not change a
// verdict (relations.go). Tests take a few of each, and make campaign as many as there is
// time for.
package campaign
