// Package memory reads sizes of memory, finds out how much the process could use, and keeps it within a limit: a
// Keeper ends the work that has gone on for longest.
package memory
