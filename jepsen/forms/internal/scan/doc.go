// Package scan has what the readers of text forms share.
//
// lines.go reads a text line by line, and words.go divides lines into words. words.go also
// finds keywords, most of which occur many times; names.go, on which that rests, says whether
// a text is the name of a keyword, and has a table for values that are needed only for a
// moment. at.go reads short words and integers at an index of a text. place.go counts lines
// and columns, and shortens what messages quote. order.go puts the calls and returns of
// operations in order of time.
package scan
