// Package held is what a monitor holds of a history that goes on: the operations on which later completions may depend, and
// what is known of those that were forgotten. It stores that in a file, too. It decides nothing; package clew does.
package held
