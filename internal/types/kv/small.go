package kv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clew/internal/gen"
)

// smallKV holds values by key: strings that are appended to, or any values.
type smallKV struct {
	gen.Unnamed
	g      *gen.SmallHistory
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

func newSmallKV(g *gen.SmallHistory) *smallKV {
	x := &smallKV{g: g, now: map[string]string{}, absent: "nil", text: g.Chance(0.5)}
	if !x.text {
		x.form = g.Rand.IntN(4)
		if len(g.Values) == 1 && x.form == ofNone {
			x.form = ofKey // any might not have anything else to return
		}
	} else {
		x.empty = g.Chance(0.5)
		x.absent = [...]string{"nil", `""`}[g.Rand.IntN(2)]
	}
	return x
}

var smallKeys = []string{`"x"`, "1", ":z"}

func (x *smallKV) Call() gen.Call {
	g := x.g
	key := smallKeys[g.Rand.IntN(3)]
	if g.Chance(0.4) {
		key = smallKeys[0] // fewer keys, so that more happens to each
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
	c := gen.Call{F: fs[g.Rand.IntN(len(fs))], Args: []string{key}}
	arg := "nil"
	switch c.F {
	case ":put", ":append", ":put-if-absent":
		c.Args = append(c.Args, x.any(c.F == ":put"))
		arg = x.spell(c.Args[1])
	case ":cas":
		c.Args = append(c.Args, x.any(true), x.any(true))
		if now, ok := x.now[key]; ok && g.Chance(0.5) {
			c.Args[1] = now
		}
		if arg = "[" + x.spell(c.Args[1]) + " " + x.spell(c.Args[2]) + "]"; x.form == ofMap {
			c.Arg = fmt.Sprintf("{:key %s, :expected %s, :new %s}", key, x.spell(c.Args[1]), x.spell(c.Args[2]))
			return c
		}
	}
	c.Arg = x.print(&c, arg)
	return c
}

// print writes the value of an operation in the history's form.
func (x *smallKV) print(c *gen.Call, value string) string {
	switch key := c.Args[0]; x.form {
	case ofPair:
		return "[" + key + " " + value + "]"
	case ofMap:
		return "{:key " + key + ", :value " + value + "}"
	case ofKey:
		c.Key = key
	}
	return value
}

// any returns one of the values, or sometimes nil if some is true.
func (x *smallKV) any(some bool) string {
	if some && x.g.Chance(0.05) {
		return "nil"
	}
	if x.text {
		n := min(len(x.g.Values), 4)
		if !x.empty {
			n = min(n, 3)
		}
		return strconv.Quote([...]string{"a", "b", "ab", ""}[x.g.Rand.IntN(n)])
	}
	for {
		if v := x.g.Any(); x.form != ofNone || v != "[1 2]" { // this may be a key and a value
			return v
		}
	}
}

func (x *smallKV) spell(v string) string {
	if x.text {
		return v
	}
	return x.g.Spell(v)
}

func (x *smallKV) Start() string {
	var pairs []string
	keys := smallKeys
	if x.form == ofNone {
		keys = []string{"nil"}
	}
	for _, key := range keys {
		if x.g.Chance(0.7) {
			x.now[key] = x.any(false)
			pairs = append(pairs, key+" "+x.spell(x.now[key]))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func (x *smallKV) set(key, value string) {
	if x.now[key] = value; value == "nil" {
		delete(x.now, key)
	}
}

func (x *smallKV) Apply(o *gen.Op) gen.Outcome {
	key := o.Args[0]
	now, found := x.now[key]
	o.Result = o.Arg
	switch o.F {
	case ":put":
		x.set(key, o.Args[1])
	case ":append":
		x.now[key] = strconv.Quote(strings.Trim(now, `"`) + strings.Trim(o.Args[1], `"`))
	case ":delete":
		delete(x.now, key)
		o.Result = x.flag(&o.Call, ":found", found)
	case ":get":
		if !found {
			now = "nil"
		}
		o.Result = x.got(&o.Call, now)
	default:
		old, next := "nil", o.Args[1]
		if o.F == ":cas" {
			old, next = o.Args[1], o.Args[2]
		}
		if !found {
			now = "nil"
		}
		if now != old {
			if o.Result = x.flag(&o.Call, ":succeeded", false); o.Result == o.Arg {
				return gen.Refused
			}
			return gen.Done
		}
		x.set(key, next)
		o.Result = x.flag(&o.Call, ":succeeded", true)
	}
	return gen.Done
}

// got prints what a get returned.
func (x *smallKV) got(c *gen.Call, value string) string {
	switch {
	case value == "nil" && x.form == ofMap && x.g.Chance(0.5):
		return "{:key " + c.Args[0] + ", :found false}"
	case value == "nil":
		return x.print(c, x.absent)
	case x.form == ofMap && x.g.Chance(0.5):
		return "{:key " + c.Args[0] + ", :found true, :value " + x.spell(value) + "}"
	}
	return x.print(c, x.spell(value))
}

// flag prints whether an operation succeeded, or its argument, which says nothing.
func (x *smallKV) flag(c *gen.Call, name string, is bool) string {
	switch {
	case x.empty || x.g.Chance(0.4) || slices.Contains(c.Args, "false") && x.form != ofMap:
		return c.Arg
	case x.form == ofMap:
		return fmt.Sprintf("{:key %s, %s %t}", c.Args[0], name, is)
	}
	return strconv.FormatBool(is)
}

func (x *smallKV) Guess(c *gen.Call) string {
	switch c.F {
	case ":get":
		return x.got(c, x.any(true))
	case ":put", ":append":
		return c.Arg
	case ":delete":
		return x.flag(c, ":found", x.g.Chance(0.5))
	}
	return x.flag(c, ":succeeded", x.g.Chance(0.5))
}
