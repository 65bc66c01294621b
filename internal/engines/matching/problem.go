package matching

import (
	"slices"

	"clew/fallback"
	"clew/models"
)

// none stands for no row, no node or no variable.
const none int32 = -1

// initial is the node of the initial value.
const initial int32 = 0

// problem is what is known about a history before anything is decided. Time is
// dense here: it numbers the events of the rows that matter, from 0 on.
//
// A node is something whose value can be seen: the initial value, a write, or a
// cas that changes the value. Nodes are numbered by invocation. A reader is an
// operation that sees a node: a read, or a cas, observed or not.
type problem struct {
	ops      *models.Operations
	inv, res []int32 // by row, in dense time; res is models.Open if it never returns
	at       []int32 // by time: the row

	nodeOf       []int32 // by row, or none
	rowOf        []int32 // by node; none for the initial value
	nodeInv      []int32 // by node; -1 for the initial value
	nodeRes      []int32
	last         []int32      // by row: the latest invocation among nodes that had returned before the row was invoked
	value        []int32      // by node: what it leaves
	sought       []int32      // by reader: the value that it saw, or that it did not see
	short, long  []candidates // by value: its nodes; long has those that are open for long, or never return
	readers      []models.Row // rows that return, by return
	returns      []int32      // by place in readers: how many operations returned up to it
	hasFailedCAS bool
}

// candidates are nodes in order of invocation.
type candidates struct {
	nodes  []int32
	latest []int32 // by place: the latest return among the nodes up to it
}

// isLink says whether a row is a cas that changes the value.
func isLink(op models.Op) bool { return op.Kind == models.CAS && op.A != op.B }

// isNode says whether a row leaves a value of its own.
func isNode(op models.Op) bool { return op.Kind == models.Write || isLink(op) }

// newProblem takes time linear in the operations and their events.
func newProblem(ops *models.Operations) *problem {
	n := ops.Len()
	p := &problem{ops: ops, inv: make([]int32, n), res: slices.Repeat([]int32{models.Open}, n), nodeOf: make([]int32, n), last: make([]int32, n)}
	p.rowOf, p.nodeInv, p.nodeRes = append(p.rowOf, none), append(p.nodeRes, -1), append(p.nodeRes, -1)
	for _, row := range fallback.RowsAt(ops) {
		if row != none {
			p.at = append(p.at, row)
		}
	}
	seen := make([]bool, n)
	last, returns := int32(-1), int32(0)
	for t, row := range p.at {
		op := ops.Op(row)
		switch {
		case !seen[row]:
			seen[row] = true
			p.inv[row], p.last[row], p.nodeOf[row] = int32(t), last, none
			if isNode(op) {
				p.nodeOf[row] = int32(len(p.rowOf))
				p.rowOf, p.nodeInv, p.nodeRes = append(p.rowOf, row), append(p.nodeInv, int32(t)), append(p.nodeRes, models.Open)
			}
		default:
			p.res[row] = int32(t)
			returns++
			if node := p.nodeOf[row]; node != none {
				p.nodeRes[node] = int32(t)
				last = max(last, p.inv[row])
			}
			if op.Kind != models.Write {
				p.readers, p.returns = append(p.readers, row), append(p.returns, returns)
			}
			p.hasFailedCAS = p.hasFailedCAS || op.Kind == models.FailedCAS
		}
	}
	p.list()
	return p
}

// longest is how many events a node may be open for to be among the short ones.
const longest = 4096

// list gives values dense numbers, and lists their nodes.
func (p *problem) list() {
	numbers := fallback.Numbering{}
	p.value = make([]int32, len(p.rowOf))
	p.sought = make([]int32, len(p.inv))
	p.value[initial] = numbers.Of(p.ops.Model.Init()[0])
	for row := range p.inv {
		op := p.ops.Op(int32(row))
		p.sought[row] = numbers.Of(op.A)
		if node := p.nodeOf[row]; node != none {
			p.value[node] = p.sought[row]
			if op.Kind == models.CAS {
				p.value[node] = numbers.Of(op.B)
			}
		}
	}
	p.short, p.long = make([]candidates, len(numbers)), make([]candidates, len(numbers))
	for node, v := range p.value {
		c := &p.short[v]
		if p.nodeRes[node]-p.nodeInv[node] > longest {
			c = &p.long[v]
		}
		latest := p.nodeRes[node]
		if k := len(c.latest); k > 0 {
			latest = max(latest, c.latest[k-1])
		}
		c.nodes, c.latest = append(c.nodes, int32(node)), append(c.latest, latest)
	}
}

// each calls f, until it returns false, with the nodes that a row can have seen, among those
// invoked at time from or later and before time to. Such a node was invoked before the row
// returned, and nothing certainly replaced it before the row was invoked.
func (p *problem) each(row, from, to int32, f func(node int32) bool) {
	to = min(to, p.res[row])
	if p.ops.Kind[row] != models.FailedCAS {
		p.eachOf(p.sought[row], row, from, to, f)
		return
	}
	for v := range p.short {
		if int32(v) != p.sought[row] && !p.eachOf(int32(v), row, from, to, f) {
			return
		}
	}
}

// eachOf does what each does for the nodes of one value. It says whether f wants more.
func (p *problem) eachOf(value, row, from, to int32, f func(node int32) bool) bool {
	own := p.nodeOf[row]
	for _, c := range [2]*candidates{&p.short[value], &p.long[value]} {
		end, _ := slices.BinarySearchFunc(c.nodes, to, func(node, t int32) int { return int(p.nodeInv[node]) - int(t) })
		for i := end - 1; i >= 0 && c.latest[i] >= p.last[row]; i-- {
			node := c.nodes[i]
			if p.nodeInv[node] < from {
				break
			}
			if p.nodeRes[node] >= p.last[row] && node != own && !f(node) {
				return false
			}
		}
	}
	return true
}

// sawSomething says whether there is a node that a row can have seen.
func (p *problem) sawSomething(row int32) bool {
	some := false
	p.each(row, -1, p.res[row], func(int32) bool {
		some = true
		return false
	})
	return some
}

// bytes returns about how much memory the problem holds.
func (p *problem) bytes() int64 {
	return 4 * int64(7*len(p.inv)+len(p.at)+8*len(p.rowOf))
}
