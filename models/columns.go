package models

import (
	"math"

	"clew/internal/hugepages"
)

// Open is the Res of an operation that never returned, or has not returned in the prefix
// under test. It may take effect at any time after its invocation, or never.
const Open int32 = math.MaxInt32

// Kind says what an operation does. Each model numbers its own kinds.
type Kind uint8

// Row numbers an operation in Columns, from 0 on in order of invocation. A part or a prefix
// numbers its own rows.
type Row = int32

// Op is one operation as its model understands it: what it does, and to which values. The
// kind says what A and B are: value classes (see edn.Values.Same), or indices into a table
// of the model.
type Op struct {
	Kind Kind
	A, B int32
}

// Columns are the operations of a history that can matter to its verdict, in order of
// invocation, column by column. They leave out failed operations, crashed operations
// without effect and reads that match anything.
//
// Inv and Res are events: rows of the history's event columns, which serve as the time. All
// are distinct, 0 <= Inv[i] < Res[i] < Events, Inv ascends, and Res[i] is Open if the
// operation crashed.
type Columns struct {
	Events int32
	Inv    []int32
	Res    []int32
	Kind   []Kind
	A, B   []int32
}

// Len returns the number of operations.
func (c *Columns) Len() int { return len(c.Inv) }

// Op returns the i-th operation.
func (c *Columns) Op(i int32) Op { return Op{c.Kind[i], c.A[i], c.B[i]} }

// Append adds an operation. Operations are added in order of invocation.
func (c *Columns) Append(inv, res int32, op Op) {
	c.Inv = append(c.Inv, inv)
	c.Res = append(c.Res, res)
	c.Kind = append(c.Kind, op.Kind)
	c.A = append(c.A, op.A)
	n := len(c.B)
	if n == cap(c.B) {
		c.B = append(c.B, op.B)
		return
	}
	// Many models leave B 0. A page of zeros that was never written takes no memory.
	if c.B = c.B[:n+1]; c.B[n] != op.B {
		c.B[n] = op.B
	}
}

// grow makes room for n more operations.
func (c *Columns) grow(n int) {
	c.Inv = hugepages.Grow(c.Inv, n)
	c.Res = hugepages.Grow(c.Res, n)
	c.Kind = hugepages.Grow(c.Kind, n)
	c.A = hugepages.Grow(c.A, n)
	c.B = hugepages.Grow(c.B, n)
}

// split groups rows by the part that they touch, in the order of the parts' first rows.
// Linear time.
func (c *Columns) split(p *Partition, rows []int32) [][]int32 {
	var number Numbering
	var sizes []int
	in := make([]int32, len(rows))
	for i, row := range rows {
		in[i] = number.Of(p.Of(c.Op(row)))
		if int(in[i]) == len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[in[i]]++
	}
	lists := make([][]int32, len(sizes))
	room := make([]int32, len(rows))
	for i, n := range sizes {
		lists[i], room = room[:0:n], room[n:]
	}
	for i, row := range rows {
		lists[in[i]] = append(lists[in[i]], row)
	}
	return lists
}

// Numbering numbers the parts of a model from 0 on, in order of appearance. Parts are value
// classes or indices into a table, and hence small enough to index an array.
type Numbering struct {
	Number []int32 // by part: 1 + its number, 0 if it has none
	Count  int32   // of numbers
}

func (n *Numbering) Of(part int32) int32 {
	if int(part) >= len(n.Number) {
		n.Number = append(n.Number, make([]int32, int(part)+1-len(n.Number))...)
	}
	if n.Number[part] == 0 {
		n.Count++
		n.Number[part] = n.Count
	}
	return n.Number[part] - 1
}

// Has returns the number of a part, if it has one.
func (n *Numbering) Has(part int32) (number int32, ok bool) {
	if int(part) >= len(n.Number) {
		return -1, false
	}
	return n.Number[part] - 1, n.Number[part] > 0
}
