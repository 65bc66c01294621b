package etcd

import (
	"fmt"
	"strconv"

	"clew/internal/gen"
)

// object is etcd in generated histories. An operation has its number in A. Small histories have no watches.
type object struct {
	*gen.Maker
	*sim
	leaseCount int
	watching   float64 // the share of reads
	ops        map[int]*asked
	next       int
	from       int // the revision at which a bug began
}

func newObject(m *gen.Maker) gen.Object {
	keys := m.Keys
	if m.Small {
		keys = min(keys, 3)
	}
	x := &object{Maker: m, sim: newSim(keys + 1), ops: map[int]*asked{}} // the last key is a lock
	x.leaseCount = max(0, gen.UpTo(m.Leases, 2))
	if x.watching = m.Watches / reads(m.Reads); m.Watches == 0 {
		x.watching = 0.05
	}
	return x
}

// reads is the share of operations that change nothing.
func reads(share float64) float64 {
	if share == 0 {
		return 0.5
	}
	return share
}

// lock is a key that only a bug uses.
func (x *object) lock() int { return x.keys - 1 }

func (x *object) op(o asked, changes bool) gen.Op {
	x.next++
	x.ops[x.next] = &o
	return gen.Op{F: o.f, Changes: changes, A: x.next}
}

// anyKey returns a key, and sometimes the end of a range.
func (x *object) anyKey(ranges float64) (key, end int) {
	key = x.Rand.IntN(x.keys - 1)
	if x.Chance(ranges) {
		end = key + 1 + x.Rand.IntN(x.keys-1-key)
	}
	return key, end
}

func (x *object) Read(*gen.Thread) gen.Op {
	if !x.Small && x.Chance(x.watching) {
		return x.op(asked{f: ":watch", at: max(1, x.revision-x.Rand.IntN(50)), wide: x.Chance(0.7), progress: x.Chance(0.3), acts: x.of(x.Rand.IntN(x.keys - 1))}, false)
	}
	return x.op(asked{f: ":range", acts: only(x.get())}, false)
}

// of returns what has the key of a watch.
func (x *object) of(key int) [2][]act { return only(act{key: key}) }

func only(a act) [2][]act { return [2][]act{1: {a}} }

func (x *object) get() act {
	a := act{f: ":range"}
	a.key, a.end = x.anyKey(0.4)
	if x.Chance(0.2) {
		a.limit = 1 + x.Rand.IntN(2)
	}
	a.keysOnly = x.Small && x.Chance(0.1)
	return a
}

func (x *object) put() act {
	a := act{f: ":put", value: x.Write()}
	a.key, _ = x.anyKey(0)
	if x.Chance(0.15) && x.leaseCount > 0 {
		a.lease = 1 + x.Rand.IntN(x.leaseCount)
	}
	return a
}

func (x *object) remove() act {
	a := act{f: ":delete"}
	ranges := 0.2
	if x.Plain {
		ranges = 0
	}
	a.key, a.end = x.anyKey(ranges)
	return a
}

func (x *object) Change(*gen.Thread) gen.Op {
	switch p := x.Rand.Float64(); {
	case p < 0.45:
		return x.op(asked{f: ":put", acts: only(x.put())}, true)
	case p < 0.6:
		return x.op(asked{f: ":delete", acts: only(x.remove())}, true)
	case p < 0.88:
		return x.op(x.txn(), true)
	case p < 0.97 && x.leaseCount == 0:
		return x.op(asked{f: ":put", acts: only(x.put())}, true)
	case p < 0.94:
		return x.op(asked{f: ":lease-grant", lease: 1 + x.Rand.IntN(x.leaseCount)}, true)
	case p < 0.97:
		return x.op(asked{f: ":lease-revoke", lease: 1 + x.Rand.IntN(x.leaseCount)}, true)
	case p < 0.99:
		return x.op(asked{f: ":compact", at: max(1, x.revision-x.Rand.IntN(4)+1)}, true)
	}
	return x.op(asked{f: ":defragment"}, false)
}

// txn makes up a transaction that compares a key, mostly with what it has, and puts or deletes it.
func (x *object) txn() asked {
	a := x.put()
	i := x.now[a.key]
	t := tested{key: a.key, field: x.Rand.IntN(4)}
	if x.Plain {
		t.field = 1 + t.field%2 // a revision or a version
	}
	t.want = [...]int{i.value, i.revision, i.version, i.created}[t.field]
	if other := x.Chance(0.3); other && t.field == 0 {
		t.want = x.Write()
	} else if other {
		t.want++
	}
	o := asked{f: ":txn", tests: []tested{t}}
	if t.field == 0 && t.want < 0 || x.Chance(0.1) {
		o.tests = nil
	}
	o.acts[1] = []act{a}
	if more := x.put(); more.key != a.key && x.Chance(0.3) {
		o.acts[1] = append(o.acts[1], more)
	}
	if x.Chance(0.2) {
		o.acts[1] = append(o.acts[1], x.get())
	}
	if x.Chance(0.7) {
		o.acts[0] = []act{x.get()}
	} else if x.Chance(0.5) {
		o.acts[0] = []act{x.remove()}
	}
	return o
}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	a := x.ops[o.A]
	if a.f == ":watch" {
		x.watch(a, func() bool { return x.Chance(0.5) }, a.acts[1][0].key)
	} else {
		x.answer(a)
	}
	return gen.Done
}

// Err changes a number of an answer.
func (x *object) Err(o *gen.Op) {
	a := x.ops[o.A]
	if !a.told {
		a.told, a.revision, a.branch = true, 1+x.Rand.IntN(4), 1
	}
	acts := a.acts[a.branch]
	if len(acts) == 0 || x.Chance(0.4) {
		a.revision = max(1, a.revision+x.Rand.IntN(3)-1)
		return
	}
	r := &acts[x.Rand.IntN(len(acts))]
	switch n := len(r.items); {
	case n > 0 && x.Chance(0.3):
		r.found, r.items = r.found[:n-1], r.items[:n-1]
	case n > 0 && x.Chance(0.5):
		r.items[0].value = x.Write()
	case n > 0:
		r.items[0].revision = max(1, r.items[0].revision+x.Rand.IntN(3)-1)
	default:
		r.count = max(0, r.count+x.Rand.IntN(3)-1)
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	a := x.ops[o.A]
	if returned && !x.Small {
		delete(x.ops, o.A)
	}
	p := printer{x, b}
	switch {
	case !returned:
		p.request(a)
	case a.f == ":watch":
		p.responses(a)
	case a.f == ":defragment" || x.Small && a.refused == "" && x.Chance(0.05):
		p.b = append(p.b, "nil"...)
	default:
		p.answer(a)
	}
	return p.b
}

// printer prints an operation.
type printer struct {
	*object
	b []byte
}

func (p *printer) say(text string) { p.b = append(p.b, text...) }

// field begins a field of a map.
func (p *printer) field(name string) {
	if p.b[len(p.b)-1] != '{' {
		p.say(", ")
	}
	p.say(":" + name + " ")
}

func (p *printer) number(name string, n int) {
	p.field(name)
	p.b = p.Int(p.b, n)
}

// key prints a key. Its names are in the order of the numbers; the end of a range may be no key.
func (p *printer) key(name string, key int) {
	p.field(name)
	p.b = strconv.AppendQuote(p.b, keyName(key))
}

func keyName(key int) string { return fmt.Sprintf("k%06d", key) }

func (p *printer) request(a *asked) {
	switch p.say("{"); a.f {
	case ":txn":
		p.txn(a)
	case ":lease-grant", ":lease-revoke":
		p.number("lease", a.lease)
	case ":compact":
		p.number("revision", a.at)
	case ":watch":
		if a.wide {
			p.say(`:key "k", :prefix true`)
		} else {
			p.key("key", a.acts[1][0].key)
		}
		p.number("revision", a.at)
		p.say(", :prev-kv true")
	case ":defragment":
	default:
		p.act(&a.acts[1][0])
	}
	p.say("}")
}

// act prints what an action asks for.
func (p *printer) act(a *act) {
	p.key("key", a.key)
	if a.end > 0 {
		p.key("end", a.end)
	}
	if a.f == ":put" {
		p.field("value")
		p.b = p.Print(p.b, a.value)
	}
	if a.lease > 0 {
		p.number("lease", a.lease)
	}
	if a.limit > 0 {
		p.number("limit", a.limit)
	}
	if a.keysOnly {
		p.say(", :keys-only true")
	}
}

func (p *printer) txn(a *asked) {
	p.say(":if [")
	for _, t := range a.tests {
		p.say("{")
		p.key("key", t.key)
		if t.field == 0 {
			p.field("value")
			p.b = p.Print(p.b, t.want)
		} else {
			p.number([...]string{"", "mod-revision", "version", "create-revision"}[t.field], t.want)
		}
		p.say("}")
	}
	for branch, name := range []string{"], :else [", "], :then ["} {
		p.say(name)
		for i := range a.acts[branch] {
			p.say("{:f " + a.acts[branch][i].f)
			p.act(&a.acts[branch][i])
			p.say("}")
		}
	}
	p.say("]")
}

func (p *printer) answer(a *asked) {
	p.say("{")
	if a.refused != "" {
		p.say(":error " + strconv.Quote(a.refused) + "}")
		return
	}
	if a.f != ":compact" {
		p.number("revision", a.revision)
	}
	switch a.f {
	case ":txn":
		p.say(fmt.Sprintf(", :succeeded %t, :results [", a.branch == 1))
		for i := range a.acts[a.branch] {
			p.say("{")
			p.result(&a.acts[a.branch][i])
			p.say("}")
		}
		p.say("]")
	case ":put", ":range", ":delete":
		p.result(&a.acts[1][0])
	}
	p.say("}")
}

func (p *printer) result(a *act) {
	switch a.f {
	case ":delete":
		p.number("deleted", a.count)
	case ":range":
		p.field("kvs")
		p.say("[")
		for i, key := range a.found {
			p.say("{")
			p.key("key", key)
			if !a.keysOnly {
				p.field("value")
				p.b = p.Print(p.b, a.items[i].value)
			}
			p.number("mod-revision", a.items[i].revision)
			p.number("version", a.items[i].version)
			if p.Small && a.items[i].lease > 0 && p.Chance(0.5) {
				p.number("lease", a.items[i].lease)
			}
			p.say("}")
		}
		p.say("]")
		p.number("count", a.count)
	}
}

func (p *printer) responses(a *asked) {
	p.say("{:responses [")
	for i, events := range a.delivered {
		if events == nil {
			p.say("{:progress true")
			p.number("revision", a.notes[i])
			p.say("}")
			continue
		}
		p.say("{:events [")
		last := 0
		for _, e := range events {
			p.event(e)
			last = max(last, e.revision)
		}
		p.say("]")
		p.number("revision", last)
		p.say("}")
	}
	p.say("]}")
}

func (p *printer) event(e entered) {
	p.say("{:type " + map[bool]string{true: ":put", false: ":delete"}[e.put])
	p.key("key", e.key)
	p.number("revision", e.revision)
	if e.put {
		p.field("value")
		p.b = p.Print(p.b, e.is.value)
	}
	if e.put && !e.there {
		p.say(", :create true")
	}
	if e.there {
		p.say(", :prev {:value ")
		p.b = p.Print(p.b, e.was.value)
		p.number("mod-revision", e.was.revision)
		p.number("version", e.was.version)
		p.say("}")
	}
	p.say("}")
}
