// Package limits tests what is said when a limit ends a check or a self-check fails, and that many parts stay within the memory
// of a few.
package limits_test
