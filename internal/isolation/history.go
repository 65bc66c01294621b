package isolation

import (
	"slices"

	"clew/models"
)

// History is what is known of transactions: which versions of keys they made and read.
//
// The versions of a key have the numbers 1, 2 and so on, in their order; 0 is the initial one. A key may have further
// versions that nothing read, in an order that is not known. A version that a transaction made and replaced itself may be
// left out.
type History struct {
	Inv, Res []int32 // by transaction, in order of invocation: events. Res is models.Open if it never returned
	Process  []int32
	Happened []bool // false: it may be left out, since nothing depends on it
	Events   int32

	Made   [][]int32 // by key: the transactions that made the versions, in their order, or -1 for one that does not count
	Sure   []int32   // by key: of how many of those the order is certain, as no read contradicts another one; nil: of all
	Unread [][]int32 // by key: the transactions that made versions that nothing read, once each, in order of invocation
	Values [][]int32 // by key: what an edge tells of each version in Made, then in Unread
	Reads  []Read    // of transactions that happened

	// Touched has the keys that each transaction concerns, one transaction after the other. From is where each begins, and the end.
	Touched, From []int32
}

// Read says that a transaction read a version of a key that it had not made itself.
type Read struct {
	Txn, Key, Version int32
	Apart             bool // it contradicts the order of versions, so that it is not known which ones it missed
}

// # The graph of a history
//
// A read of version v of a key gives WR from the transaction that made v, and RW to the one that made the next version. Of neighbors in the
// order of versions the former comes before the latter, by WW. Versions that nothing read come last. If the same transaction made
// the last version that was read, its others come next. Otherwise one that has read the last version that is known and
// updates the key has to come next: RW to all others, and First if updates may not overlap. Where reads contradict each other, all that
// is certain is that the versions on which they agree come before the others.

// graph returns the graph of a history. KeyTime is only in it if it is asked for.
func (h *History) graph(keys bool) *Graph {
	n := int32(len(h.Inv))
	g := &Graph{Txns: n, Nodes: n}
	following := h.following()
	whole := h.whole(following)
	ends := make([]end, len(h.Made))
	for key := range h.Made {
		ends[key] = h.versions(g, int32(key), whole[key])
	}
	for _, r := range h.Reads {
		k, v := r.Key, following[r.Key][r.Version]
		if r.Version > 0 && h.Made[k][r.Version-1] >= 0 {
			g.Add(h.Made[k][r.Version-1], r.Txn, WR, k, h.Values[k][r.Version-1])
		}
		if r.Apart {
			continue
		}
		if v >= 0 {
			if v < h.sure(k) {
				g.Add(r.Txn, h.Made[k][v], RW, k, h.Values[k][v])
			}
			continue
		}
		if next := ends[k].next; next >= 0 {
			g.Add(r.Txn, next, RW, k, h.unreadValue(k, next))
		}
		if e := ends[k]; e.after >= 0 && !e.continued && h.unreadPlace(k, r.Txn) < 0 {
			g.Add(r.Txn, e.after, RW, k, -1)
		}
	}
	h.inTime(g)
	if keys {
		h.inTimeByKey(g)
	}
	return g
}

// sure returns of how many versions of a key the order is certain.
func (h *History) sure(k int32) int32 {
	if h.Sure == nil {
		return int32(len(h.Made[k]))
	}
	return h.Sure[k]
}

// following returns by key and version which place in Made has the next version that counts, or -1.
func (h *History) following() [][]int32 {
	all := make([][]int32, len(h.Made))
	for k, made := range h.Made {
		all[k] = make([]int32, len(made)+1)
		all[k][len(made)] = -1
		for v := len(made) - 1; v >= 0; v-- {
			if all[k][v] = all[k][v+1]; made[v] >= 0 {
				all[k][v] = int32(v)
			}
		}
	}
	return all
}

// unreadPlace returns the place of a transaction in Unread, or -1.
func (h *History) unreadPlace(k, txn int32) int {
	if at, is := slices.BinarySearch(h.Unread[k], txn); is {
		return at
	}
	return -1
}

func (h *History) unreadValue(k, txn int32) int32 {
	return h.Values[k][len(h.Made[k])+h.unreadPlace(k, txn)]
}

// whole returns by key which transactions have read the last version that is known and made one that nothing read, once each.
func (h *History) whole(following [][]int32) [][]int32 {
	whole := make([][]int32, len(h.Made))
	for _, r := range h.Reads {
		if of := whole[r.Key]; !r.Apart && following[r.Key][r.Version] < 0 && h.unreadPlace(r.Key, r.Txn) >= 0 && (len(of) == 0 || of[len(of)-1] != r.Txn) {
			whole[r.Key] = append(of, r.Txn)
		}
	}
	return whole
}

// end is what comes after the last version of a key that is known.
type end struct {
	next      int32 // the transaction that certainly makes the next version, or -1
	after     int32 // the node before all others whose versions nothing read, or -1
	continued bool  // next has also made the last version that is known
}

// versions adds the edges between the transactions that made versions of a key. Of those whose versions nothing read, whole have
// read the last version that is known.
func (h *History) versions(g *Graph, k int32, whole []int32) end {
	last, sure := int32(-1), h.sure(k)
	for v, txn := range h.Made[k] {
		if txn >= 0 {
			if last >= 0 {
				g.Add(last, txn, WW, k, h.Values[k][v])
			}
			if int32(v) < sure {
				last = txn
			}
		}
	}
	e := end{next: -1, after: -1}
	if sure < int32(len(h.Made[k])) {
		for _, txn := range h.Unread[k] {
			if last >= 0 {
				g.Add(last, txn, WW, k, h.unreadValue(k, txn))
			}
		}
		return e
	}
	rest := len(h.Unread[k])
	if last >= 0 && h.unreadPlace(k, last) >= 0 {
		e.next, e.continued = last, true
		rest--
	} else if len(whole) > 0 {
		e.next = whole[0]
		rest--
	}
	if rest > 0 {
		e.after = g.Node()
	}
	if last >= 0 && e.after >= 0 {
		g.Add(last, e.after, WW, k, -1)
	}
	if e.next >= 0 && !e.continued {
		if last >= 0 {
			g.Add(last, e.next, WW, k, h.unreadValue(k, e.next))
		}
		for _, txn := range whole[1:] { // each of the two has read the key before the other updated it
			g.Add(txn, e.next, First, k, h.unreadValue(k, e.next))
		}
		if e.after >= 0 {
			g.Add(e.next, e.after, RW, k, -1)
			g.Add(e.next, e.after, First, k, -1)
		}
	}
	for _, txn := range h.Unread[k] {
		if txn != e.next {
			g.Add(e.after, txn, through, k, h.unreadValue(k, txn))
		}
	}
	return e
}

// inTime adds the edges from what returned to what was called later, and those of processes.
func (h *History) inTime(g *Graph) {
	returns := h.returns()
	chain, txn := int32(-1), int32(0)
	of := map[int32]int32{} // by process: what returned last
	for t := range h.Events {
		if int(txn) < len(h.Inv) && h.Inv[txn] == t {
			if h.Happened[txn] {
				if chain >= 0 {
					g.Add(chain, txn, through, -1, -1)
				}
				if before, some := of[h.Process[txn]]; some {
					g.Add(before, txn, Process, -1, -1)
				}
			}
			txn++
		} else if r := returns[t]; r > 0 {
			node := g.Node()
			g.Add(r-1, node, Time, -1, -1)
			if chain >= 0 {
				g.Add(chain, node, through, -1, -1)
			}
			chain = node
			of[h.Process[r-1]] = r - 1
		}
	}
}

// returns returns by event which transaction returns, plus 1.
func (h *History) returns() []int32 {
	returns := make([]int32, h.Events)
	for txn, res := range h.Res {
		if res != models.Open {
			returns[res] = int32(txn) + 1
		}
	}
	return returns
}

// inTimeByKey adds the edges from what returned to what was called later and concerns the same key.
func (h *History) inTimeByKey(g *Graph) {
	returns := h.returns()
	chain := make([]int32, len(h.Made))
	for k := range chain {
		chain[k] = -1
	}
	txn := int32(0)
	for t := range h.Events {
		if int(txn) < len(h.Inv) && h.Inv[txn] == t {
			for _, k := range h.touched(txn) {
				if h.Happened[txn] && chain[k] >= 0 {
					g.Add(chain[k], txn, through, k, -1)
				}
			}
			txn++
		} else if r := returns[t]; r > 0 {
			for _, k := range h.touched(r - 1) {
				node := g.Node()
				g.Add(r-1, node, KeyTime, k, -1)
				if chain[k] >= 0 {
					g.Add(chain[k], node, through, k, -1)
				}
				chain[k] = node
			}
		}
	}
}

func (h *History) touched(txn int32) []int32 { return h.Touched[h.From[txn]:h.From[txn+1]] }
