package porcupine

import (
	"slices"

	"clew/models"
)

// shown keeps what a search could linearize before it got stuck: for each operation, one of the longest
// orders in which it occurs, as porcupine does. Orders that begin alike share their beginning. So the memory
// grows with the steps of the search, where porcupine's grows with the square of the history.
type shown struct {
	longest []*place // by row
	places  []*place // of what was last linearized; maybe too many
	noted   []int    // by place: the longest order that was noted with it. It never grows from one place to the next
}

// place is a row behind others, in an order.
type place struct {
	row    models.Row
	before *place
	length int
}

// maxOrders bounds the orders that are shown of one partition, and maxRows their rows altogether.
const (
	maxOrders = 1000
	maxRows   = 1 << 20
)

// note keeps what is linearized. It is asked before something is taken back.
func (s *shown) note(stack []turn) {
	for i := len(s.places); i < len(stack); i++ {
		p := &place{row: stack[i].row, length: i + 1}
		if i > 0 {
			p.before = s.places[i-1]
		}
		s.places, s.noted = append(s.places, p), append(s.noted, 0)
	}
	n := len(stack)
	for i := n - 1; i >= 0 && s.noted[i] < n; i-- {
		s.noted[i] = n
		if at := &s.longest[stack[i].row]; *at == nil || (*at).length < n {
			*at = s.places[n-1]
		}
	}
}

// back takes back the operations behind the first n.
func (s *shown) back(n int) {
	n = min(n, len(s.places))
	s.places, s.noted = s.places[:n], s.noted[:n]
}

// orders returns what was kept, the longest first.
func (s *shown) orders() (orders [][]models.Row) {
	var ends []*place
	known := map[*place]bool{nil: true}
	for _, p := range s.longest {
		if !known[p] {
			known[p] = true
			ends = append(ends, p)
		}
	}
	slices.SortStableFunc(ends, func(a, b *place) int { return b.length - a.length })
	rows := 0
	for _, p := range ends[:min(len(ends), maxOrders)] {
		if rows += p.length; rows > maxRows && len(orders) > 0 {
			break
		}
		order := make([]models.Row, p.length)
		for ; p != nil; p = p.before {
			order[p.length-1] = p.row
		}
		orders = append(orders, order)
	}
	return orders
}
