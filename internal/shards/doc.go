// Package shards writes what clew check --shard says about its part of a list of
// histories, and puts the parts together as clew merge does. It does not check
// anything, and it does not know files.
//
// A part consists of lines of JSON: a Line for each history, in the order of the list, and
// a Trailer at the end. A part without a Trailer was cut off. Each line has a checksum.
//
//	var m shards.Merger
//	for each part {
//		err = m.Read(in, name)
//		..
//	}
//	lines, err := m.Lines()
package shards
