package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kv holds values by key: strings that are appended to, or any values.
type kv struct {
	unnamed
	g      *generator
	text   bool   // strings
	empty  bool   // the empty string is one of them; then only gets tell what is there
	absent string // how a missing key prints: nil or "" (of strings)
	form   int    // how operations show their key
	now    map[string]string
}

// The forms of kv's operations.
const (
	ofKey  = iota // :key beside :value
	ofPair        // [key value]
	ofMap         // {:key .. :value ..}, with flags
	ofNone        // they have no key
)

func newKV(g *generator) *kv {
	x := &kv{g: g, now: map[string]string{}, absent: "nil", text: g.chance(0.5)}
	if !x.text {
		x.form = g.r.IntN(4)
		if len(g.values) == 1 && x.form == ofNone {
			x.form = ofKey // any might not have anything else to return
		}
	} else {
		x.empty = g.chance(0.5)
		x.absent = [...]string{"nil", `""`}[g.r.IntN(2)]
	}
	return x
}

var kvKeys = []string{`"x"`, "1", ":z"}

func (x *kv) call() call {
	g := x.g
	key := kvKeys[g.r.IntN(3)]
	if g.chance(0.4) {
		key = kvKeys[0] // fewer keys, so that more happens to each
	}
	if x.form == ofNone {
		key = "nil"
	}
	fs := []string{":get", ":get", ":get", ":put", ":delete", ":cas", ":put-if-absent", ":put"}
	if x.text {
		fs[3], fs[4] = ":append", ":append"
	}
	if x.empty {
		fs = []string{":get", ":get", ":put", ":append", ":delete"}
	}
	c := call{f: fs[g.r.IntN(len(fs))], args: []string{key}}
	arg := "nil"
	switch c.f {
	case ":put", ":append", ":put-if-absent":
		c.args = append(c.args, x.any(c.f == ":put"))
		arg = x.spell(c.args[1])
	case ":cas":
		c.args = append(c.args, x.any(true), x.any(true))
		if now, ok := x.now[key]; ok && g.chance(0.5) {
			c.args[1] = now
		}
		if arg = "[" + x.spell(c.args[1]) + " " + x.spell(c.args[2]) + "]"; x.form == ofMap {
			c.arg = fmt.Sprintf("{:key %s, :expected %s, :new %s}", key, x.spell(c.args[1]), x.spell(c.args[2]))
			return c
		}
	}
	c.arg = x.print(&c, arg)
	return c
}

// print writes the value of an operation in the history's form.
func (x *kv) print(c *call, value string) string {
	switch key := c.args[0]; x.form {
	case ofPair:
		return "[" + key + " " + value + "]"
	case ofMap:
		return "{:key " + key + ", :value " + value + "}"
	case ofKey:
		c.key = key
	}
	return value
}

// any returns one of the values, or sometimes nil if some is true.
func (x *kv) any(some bool) string {
	if some && x.g.chance(0.05) {
		return "nil"
	}
	if x.text {
		n := min(len(x.g.values), 4)
		if !x.empty {
			n = min(n, 3)
		}
		return strconv.Quote([...]string{"a", "b", "ab", ""}[x.g.r.IntN(n)])
	}
	for {
		if v := x.g.any(); x.form != ofNone || v != "[1 2]" { // this may be a key and a value
			return v
		}
	}
}

func (x *kv) spell(v string) string {
	if x.text {
		return v
	}
	return x.g.spell(v)
}

func (x *kv) start() string {
	var pairs []string
	keys := kvKeys
	if x.form == ofNone {
		keys = []string{"nil"}
	}
	for _, key := range keys {
		if x.g.chance(0.7) {
			x.now[key] = x.any(false)
			pairs = append(pairs, key+" "+x.spell(x.now[key]))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func (x *kv) set(key, value string) {
	if x.now[key] = value; value == "nil" {
		delete(x.now, key)
	}
}

func (x *kv) apply(o *op) outcome {
	key := o.args[0]
	now, found := x.now[key]
	o.result = o.arg
	switch o.f {
	case ":put":
		x.set(key, o.args[1])
	case ":append":
		x.now[key] = strconv.Quote(strings.Trim(now, `"`) + strings.Trim(o.args[1], `"`))
	case ":delete":
		delete(x.now, key)
		o.result = x.flag(&o.call, ":found", found)
	case ":get":
		if !found {
			now = "nil"
		}
		o.result = x.got(&o.call, now)
	default:
		old, next := "nil", o.args[1]
		if o.f == ":cas" {
			old, next = o.args[1], o.args[2]
		}
		if !found {
			now = "nil"
		}
		if now != old {
			if o.result = x.flag(&o.call, ":succeeded", false); o.result == o.arg {
				return refused
			}
			return done
		}
		x.set(key, next)
		o.result = x.flag(&o.call, ":succeeded", true)
	}
	return done
}

// got prints what a get returned.
func (x *kv) got(c *call, value string) string {
	switch {
	case value == "nil" && x.form == ofMap && x.g.chance(0.5):
		return "{:key " + c.args[0] + ", :found false}"
	case value == "nil":
		return x.print(c, x.absent)
	case x.form == ofMap && x.g.chance(0.5):
		return "{:key " + c.args[0] + ", :found true, :value " + x.spell(value) + "}"
	}
	return x.print(c, x.spell(value))
}

// flag prints whether an operation succeeded, or its argument, which says nothing.
func (x *kv) flag(c *call, name string, is bool) string {
	switch {
	case x.empty || x.g.chance(0.4) || slices.Contains(c.args, "false") && x.form != ofMap:
		return c.arg
	case x.form == ofMap:
		return fmt.Sprintf("{:key %s, %s %t}", c.args[0], name, is)
	}
	return strconv.FormatBool(is)
}

func (x *kv) guess(c *call) string {
	switch c.f {
	case ":get":
		return x.got(c, x.any(true))
	case ":put", ":append":
		return c.arg
	case ":delete":
		return x.flag(c, ":found", x.g.chance(0.5))
	}
	return x.flag(c, ":succeeded", x.g.chance(0.5))
}
