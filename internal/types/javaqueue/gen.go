package javaqueue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clew/internal/gen"
	"clew/internal/types/queue"
)

// printed are values that every program prints in the same way, as toString requires.
var printed = gen.Values{{"1", "1N"}, {"2", "2N", "+2"}, {"3"}, {`"a"`}, {":b"}, {"-7", "-7N"}, {"false"}, {`"d"`}, {"12"}, {":x/y"}, {"0"}, {"true"}}

// generated has what a java.util.Queue shares with other queues.
var generated = queue.Generated{Add: []string{":offer"}, Remove: []string{":poll"}, Order: queue.Oldest, Java: true}

// object is a java.util.Queue in generated histories. Long ones only have :offer, :poll, :peek
// and :size.
type object struct{ *queue.Object }

func newObject(m *gen.Maker) gen.Object { return &object{generated.New(m)} }

func (x *object) Read(*gen.Thread) gen.Op {
	if x.Rand.IntN(2) == 0 {
		return gen.Op{F: ":size"}
	}
	return gen.Op{F: ":peek"}
}

func (x *object) Call(*gen.Thread) gen.Op {
	o := gen.Op{Changes: true, F: x.OneOf(":offer", ":poll", ":peek", ":size", ":isEmpty", ":clear", ":contains", ":remove", ":addAll",
		":containsAll", ":removeAll", ":retainAll", ":toArray", ":toString")}
	if x.Chance(0.3) {
		o.F = x.OneOf(":offer", ":poll", ":addAll")
	}
	switch {
	case one(&o):
		o.A = x.Write()
	case several(&o) && !x.Chance(0.05):
		for range 1 + x.Rand.IntN(3) {
			o.List = append(o.List, x.Write())
		}
	}
	return o
}

// one says whether an operation has an element, and several whether it has some.
func one(o *gen.Op) bool     { return o.F == ":offer" || o.F == ":contains" || o.F == ":remove" }
func several(o *gen.Op) bool { return strings.HasSuffix(o.F, "All") }

func (x *object) Name(*gen.Op) {}

func (x *object) Apply(o *gen.Op) gen.Outcome {
	here := func(e int) bool { return slices.Contains(x.Now, e) }
	named := func(e int) bool { return slices.Contains(o.List, e) }
	before := len(x.Now)
	switch o.F {
	case ":size":
		o.A = before
	case ":isEmpty":
		o.Ok = before == 0
	case ":clear":
		x.Now = nil
	case ":contains":
		o.Ok = here(o.A)
	case ":containsAll":
		o.Ok = !slices.ContainsFunc(o.List, func(e int) bool { return !here(e) })
	case ":toArray", ":toString":
		o.List = slices.Clone(x.Now)
	default:
		switch o.F {
		case ":remove":
			if i := slices.Index(x.Now, o.A); i >= 0 {
				x.Now = slices.Delete(x.Now, i, i+1)
			}
		case ":addAll":
			x.Now = append(x.Now, o.List...)
		case ":removeAll":
			x.Now = slices.DeleteFunc(x.Now, named)
		case ":retainAll":
			x.Now = slices.DeleteFunc(x.Now, func(e int) bool { return !named(e) })
		default:
			return x.Object.Apply(o)
		}
		o.Ok = len(x.Now) != before
	}
	return gen.Done
}

func (x *object) Err(o *gen.Op) {
	if !x.Small {
		x.Maker.Err(o)
		return
	}
	o.Ok = x.Chance(0.5)
	some := x.Rand.IntN(3)
	switch o.F {
	case ":poll", ":peek":
		if o.A = x.Write(); some == 0 {
			o.A = -1
		}
	case ":size":
		o.A = x.Rand.IntN(4)
	case ":toArray", ":toString":
		o.List = nil
		for range some {
			o.List = append(o.List, x.Write())
		}
	}
}

func (x *object) Value(b []byte, o *gen.Op, returned bool) []byte {
	switch {
	case !returned && one(o), returned && (o.F == ":poll" || o.F == ":peek"):
		return x.Print(b, o.A)
	case !returned && several(o), o.F == ":toArray" && returned:
		return x.Sequence(b, o.List...)
	case !returned, o.F == ":clear":
		return append(b, "nil"...)
	case o.F == ":offer":
		return append(b, "true"...)
	case o.F == ":size":
		return strconv.AppendInt(b, int64(o.A), 10)
	case o.F == ":toString":
		var texts []string
		for _, e := range o.List {
			texts = append(texts, strings.Trim(x.Spelling(e), `"`))
		}
		return fmt.Appendf(b, "%q", "["+strings.Join(texts, ", ")+"]")
	}
	return strconv.AppendBool(b, o.Ok)
}
