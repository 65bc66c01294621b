package etcd

import (
	"slices"

	"clew/internal/gen"
)

// bugs are what may be wrong with long histories. Those of watches come last.
var bugs = gen.Bugs{gen.StaleRead, gen.LostWrite, gen.ImpossibleRead, gen.Duplicate, gen.TwoHolders,
	gen.EventLost, gen.EventTwice, gen.EventsReordered, gen.EventsSplit, gen.EarlyBookmark, gen.WrongResume}

// Bug puts marked values, all told with their revisions, and then shows something else, or takes a lock twice. Nothing
// else changes meanwhile. So each revision is known from then on, whatever crashed operations do.
func (x *object) Bug(*gen.Thread) gen.Op {
	switch {
	case x.Kind == gen.TwoHolders:
		return x.locks()
	case x.Kind == gen.ImpossibleRead:
		return x.shown(item{x.Mark + 2, x.revision, 1, x.revision, 0}, x.revision)
	case x.Step == 0:
		x.from = x.revision + 1
		return x.marks(0)
	case x.Step == 1:
		o := x.marks(1)
		if x.Kind == gen.LostWrite || x.Kind == gen.Duplicate {
			o.Forced, o.Last = true, x.Kind == gen.Duplicate
			a := x.ops[o.A]
			a.told, a.branch, a.revision = true, 1, x.revision+1
			if x.Kind == gen.Duplicate {
				a.revision = x.revision
			}
		}
		return o
	case x.Kind == gen.StaleRead:
		i := x.now[0]
		return x.shown(item{x.Mark, x.from, i.version - 1, i.created, 0}, x.from)
	case x.Kind == gen.LostWrite:
		return x.shown(x.now[0], x.revision)
	case x.Step == 2:
		return x.marks(2)
	}
	return x.watches()
}

// marks puts a marked value, and one of another key if it is the second of a watch's bug.
func (x *object) marks(n int) gen.Op {
	first := act{f: ":put", value: x.Mark + n}
	if n != 1 || x.Kind != gen.EventsSplit {
		return x.op(asked{f: ":put", acts: only(first)}, true)
	}
	second := first
	second.key = 1
	return x.op(asked{f: ":txn", acts: [2][]act{1: {first, second}}}, true)
}

// shown is a read of the first key that shows something.
func (x *object) shown(i item, revision int) gen.Op {
	a := act{f: ":range", found: []int{0}, items: []item{i}, count: 1}
	return gen.Wrong(x.op(asked{f: ":range", acts: only(a), told: true, branch: 1, revision: revision}, false))
}

// locks takes a lock if it is free.
func (x *object) locks() gen.Op {
	a := asked{f: ":txn", tests: []tested{{x.lock(), 1, 0}}}
	a.acts[1] = []act{{f: ":put", key: x.lock(), value: x.Mark}}
	if x.Step == 0 {
		return x.op(a, true)
	}
	a.told, a.branch, a.revision = true, 1, x.revision+1
	return gen.Wrong(x.op(a, true))
}

// watches is a watch of what the bug has put, which is not delivered as it should be.
func (x *object) watches() gen.Op {
	a := asked{f: ":watch", at: x.from, wide: true, told: true, acts: only(act{})}
	var all []entered
	for _, e := range x.log {
		if e.revision >= x.from {
			all = append(all, e)
		}
	}
	last := len(all) - 1
	switch x.Kind {
	case gen.EventLost:
		a.deliver(slices.Delete(all, 1, 2))
	case gen.EventTwice:
		a.deliver(slices.Insert(all, 1, all[1]))
	case gen.EventsReordered:
		all[last], all[last-1] = all[last-1], all[last]
		a.deliver(all)
	case gen.EventsSplit:
		a.deliver(all[:last-1])
		a.deliver(all[last-1:])
	case gen.EarlyBookmark:
		a.deliver(all[:last])
		a.note(x.revision)
		a.deliver(all[last:])
	case gen.WrongResume:
		a.deliver(all[1:])
	}
	return gen.Wrong(x.op(a, false))
}
