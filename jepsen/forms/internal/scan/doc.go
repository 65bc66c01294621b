// Package scan has what the readers of text forms share: the part of a text that
// is in memory, places in it, and a table for temporary values.
package scan
