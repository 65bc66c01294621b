// Package testkit is shared by the tests of the families. It holds data types
// as tests know them, with a sequential specification that shares nothing
// with models. It has a judge of decisions and their evidence, which searches
// by internal/oracle. It loops over all small, random and long histories.
package testkit
