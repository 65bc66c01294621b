// Package reading tests how a history is read: what is inferred, initial states, answers that are told, keys, and what a verdict
// says nothing about.
package reading_test
