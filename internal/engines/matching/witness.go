package matching

import (
	"slices"

	"clew/models"
)

// order returns a linearization of what returned before a time, given what every
// reader saw (a node, or none). It has the chains by the start of their zones: a
// node, the reads of it, the cas that saw it, and so on.
func (p *problem) order(saw []int32, until int32) []models.Row {
	n := len(p.rowOf)
	next, reads, nextRead := nones(n), nones(n), nones(len(p.inv))
	for row := len(saw) - 1; row >= 0; row-- {
		node := saw[row]
		switch own := p.nodeOf[row]; {
		case node == none || own == none && p.res[row] >= until:
		case own != none:
			next[node] = own
		default:
			nextRead[row], reads[node] = reads[node], int32(row)
		}
	}
	start := nones(len(p.at) + 1)
	for root := range int32(n) {
		if row := p.rowOf[root]; row != none && isLink(p.ops.Op(row)) {
			continue
		}
		p.trim(root, next, reads, until)
		first, last := p.nodeRes[root], p.nodeInv[root]
		if first >= until && next[root] == none && reads[root] == none {
			continue
		}
		for node := root; node != none; node = next[node] {
			first, last = min(first, p.nodeRes[node]), max(last, p.nodeInv[node])
			for r := reads[node]; r != none; r = nextRead[r] {
				first, last = min(first, p.res[r]), max(last, p.inv[r])
			}
		}
		start[min(first, last)+1] = root
	}
	var order []models.Row
	for _, root := range start {
		for node := root; node != none; node = next[node] {
			if row := p.rowOf[node]; row != none {
				order = append(order, row)
			}
			for r := reads[node]; r != none; r = nextRead[r] {
				order = append(order, r)
			}
		}
	}
	return order
}

// trim removes from the end of a chain the cas that no reader saw and that need
// not happen.
func (p *problem) trim(root int32, next, reads []int32, until int32) {
	last := root
	for node := next[root]; node != none; node = next[node] {
		if reads[node] != none || p.nodeRes[node] < until {
			last = node
		}
	}
	next[last] = none
}

// nones returns n times none.
func nones(n int) []int32 { return slices.Repeat([]int32{none}, n) }
