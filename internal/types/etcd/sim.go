package etcd

import "slices"

// sim is an etcd of generated histories. It shares nothing with the model.
type sim struct {
	keys      int
	now       map[int]item
	leases    map[int]bool
	revision  int
	compacted int
	log       []entered // of the last revisions, for watches
}

// item is a key that is there. No lease is 0.
type item struct{ value, revision, version, created, lease int }

// entered is a put, or a delete, of a revision.
type entered struct {
	key, revision int
	is, was       item
	put, there    bool // is put, and there was one before
}

// longestLog bounds the log.
const longestLog = 100

func newSim(keys int) *sim {
	return &sim{keys: keys, now: map[int]item{}, leases: map[int]bool{}, revision: 1, compacted: -1}
}

// asked is an operation with its answer.
type asked struct {
	f        string
	tests    []tested
	acts     [2][]act // if some test fails, and if none does
	lease    int
	at       int  // a revision
	wide     bool // a watch of all keys
	progress bool

	told      bool // there is an answer
	refused   string
	revision  int
	branch    int
	delivered [][]entered // a response that has none is a notification, with the revision in its place of notes
	notes     []int
}

// tested is a condition: 0 the value, 1 the mod revision, 2 the version, 3 the create revision.
type tested struct{ key, field, want int }

// act is an action with its result.
type act struct {
	f        string
	key, end int // to end, or only key if it is 0
	value    int
	lease    int
	limit    int
	keysOnly bool
	found    []int // keys
	items    []item
	count    int // also how many were deleted
}

// span returns the keys of an action.
func (a *act) span() (from, to int) {
	if a.end == 0 {
		return a.key, a.key + 1
	}
	return a.key, a.end
}

// answer lets an operation happen.
func (x *sim) answer(o *asked) {
	o.told = true
	before := len(x.log)
	switch o.f {
	case ":lease-grant":
		x.leases[o.lease] = true
	case ":lease-revoke":
		for key := range x.keys {
			if x.now[key].lease == o.lease && x.now[key].version > 0 {
				x.leave(key, nil)
			}
		}
		delete(x.leases, o.lease)
	case ":compact":
		switch {
		case o.at <= x.compacted:
			o.refused = "compacted"
		case o.at > x.revision:
			o.refused = "future revision"
		default:
			x.compacted = o.at
		}
	case ":defragment":
	default:
		x.transact(o)
	}
	if len(x.log) > before {
		x.revision++
	}
	o.revision = x.revision
	if len(x.log) > 2*longestLog {
		x.log = slices.Clone(x.log[len(x.log)-longestLog:])
	}
}

func (x *sim) transact(o *asked) {
	o.branch = 1
	for _, t := range o.tests {
		i, there := x.now[t.key]
		has := [...]int{i.value, i.revision, i.version, i.created}[t.field]
		if has != t.want || t.field == 0 && !there {
			o.branch = 0
		}
	}
	for i := range o.acts[o.branch] {
		a := &o.acts[o.branch][i]
		a.found, a.items, a.count = nil, nil, 0
		if a.f == ":put" {
			if a.lease == 0 || x.leases[a.lease] {
				x.leave(a.key, &item{value: a.value, lease: a.lease})
			}
			continue
		}
		from, to := a.span()
		for key := from; key < to; key++ {
			i, there := x.now[key]
			if !there {
				continue
			}
			if a.count++; a.f == ":delete" {
				x.leave(key, nil)
			} else if a.limit == 0 || len(a.found) < a.limit {
				a.found, a.items = append(a.found, key), append(a.items, i)
			}
		}
	}
}

// leave puts an item, or deletes a key.
func (x *sim) leave(key int, is *item) {
	was, there := x.now[key]
	e := entered{key: key, revision: x.revision + 1, was: was, there: there}
	if is == nil {
		delete(x.now, key)
	} else {
		e.put, e.is = true, *is
		if e.is.created = was.created; !there {
			e.is.created = e.revision
		}
		e.is.revision, e.is.version = e.revision, was.version+1
		x.now[key] = e.is
	}
	x.log = append(x.log, e)
}

// watch delivers what has happened from a revision on, a response for some revisions each.
func (x *sim) watch(o *asked, ends func() bool, key int) {
	o.told = true
	var some []entered
	for i, e := range x.log {
		if e.revision < o.at || !o.wide && e.key != key {
			continue
		}
		some = append(some, e)
		last := i+1 == len(x.log) || x.log[i+1].revision > e.revision
		if last && ends() {
			o.deliver(some)
			some = nil
		}
	}
	if some != nil {
		o.deliver(some)
	}
	if o.progress {
		o.note(x.revision)
	}
}

func (o *asked) deliver(events []entered) {
	o.delivered, o.notes = append(o.delivered, events), append(o.notes, 0)
}

func (o *asked) note(revision int) {
	o.delivered, o.notes = append(o.delivered, nil), append(o.notes, revision)
}
