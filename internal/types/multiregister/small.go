package multiregister

import (
	"strings"

	"clew/internal/gen"
)

// smallRegisters is multi-register.
type smallRegisters struct {
	gen.Unnamed
	g   *gen.SmallHistory
	now map[string]string
}

var microNames = map[bool][]string{true: {":write", ":w"}, false: {":read", ":r"}}

func (x *smallRegisters) Call() gen.Call {
	g := x.g
	c := gen.Call{F: [...]string{":txn", ":txn", ":read", ":write"}[g.Rand.IntN(4)]}
	for range g.Rand.IntN(4) {
		m := [3]string{"w", [...]string{":x", ":y", "[1 2]"}[g.Rand.IntN(3)], g.Any()}
		if g.Chance(0.5) {
			m[0], m[2] = "r", "nil"
		} else if g.Chance(0.05) {
			m[2] = "nil"
		}
		if g.Options.OneKey && len(c.Args) > 0 {
			m[1] = c.Args[1]
		}
		c.Args = append(c.Args, m[:]...)
	}
	c.Arg = x.print(c.Args, func(string) string { return "nil" })
	return c
}

// print writes a transaction. read gives the values that it reads.
func (x *smallRegisters) print(args []string, read func(key string) string) string {
	if len(args) == 0 && x.g.Chance(0.5) {
		return "nil"
	}
	var parts []string
	for m := args; len(m) > 0; m = m[3:] {
		names, v := microNames[m[0] == "w"], m[2]
		if m[0] == "r" {
			v = read(m[1])
		}
		key := m[1]
		if key == "[1 2]" && x.g.Chance(0.5) {
			key = "(1 2N)"
		}
		parts = append(parts, "["+names[x.g.Rand.IntN(2)]+" "+key+" "+x.g.Spell(v)+"]")
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func (x *smallRegisters) Start() string {
	var pairs []string
	for _, key := range []string{":x", ":y", "[1 2]"} {
		if x.g.Chance(0.7) {
			x.now[key] = x.g.Any()
			pairs = append(pairs, key+" "+x.g.Spell(x.now[key]))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func (x *smallRegisters) Apply(o *gen.Op) gen.Outcome {
	// Reads inside the transaction see its own writes, in order.
	var saw []string
	for m := o.Args; len(m) > 0; m = m[3:] {
		if m[0] == "w" {
			x.now[m[1]] = m[2]
		} else {
			v, ok := x.now[m[1]]
			if !ok || !x.g.Options.NilReadsExact && x.g.Chance(0.1) {
				v = "nil"
			}
			saw = append(saw, v)
		}
	}
	i := -1
	o.Result = x.print(o.Args, func(string) string { i++; return saw[i] })
	return gen.Done
}

func (x *smallRegisters) Guess(c *gen.Call) string {
	return x.print(c.Args, func(string) string {
		if x.g.Chance(0.1) {
			return "nil"
		}
		return x.g.Any()
	})
}
