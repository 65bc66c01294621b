// Package peers has the histories that porcupine's users know, in the form that
// porcupine takes. Tests and benchmarks judge the drop-in replacement by them.
package peers

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/anishathalye/porcupine"

	"clew/jepsen"
	"clew/jepsen/forms"
)

// Case is a history with its model.
type Case struct {
	Name   string
	Model  porcupine.Model
	Events []porcupine.Event
}

// Operations returns the case's operations with the positions of their events as times.
func (c *Case) Operations() []porcupine.Operation {
	var ops []porcupine.Operation
	place := map[int]int{}
	for at, e := range c.Events {
		if e.Kind == porcupine.CallEvent {
			place[e.Id] = len(ops)
			ops = append(ops, porcupine.Operation{ClientId: e.ClientId, Input: e.Value, Call: int64(at)})
			continue
		}
		o := &ops[place[e.Id]]
		o.Output, o.Return = e.Value, int64(at)
	}
	return ops
}

// Etcd reads a log of etcd's register that Jepsen recorded.
func Etcd(file string) (*Case, error) {
	return read(file, Register, func(o jepsen.Op) (input any) {
		args, _ := o.Value.([]any)
		switch {
		case o.F == "write":
			return RegisterInput{F: o.F, New: o.Value}
		case o.F == "cas":
			return RegisterInput{F: o.F, Old: args[0], New: args[1]}
		}
		return RegisterInput{F: o.F}
	}, func(o jepsen.Op) any {
		out := RegisterOutput{Known: o.Status == jepsen.Succeeded || o.Status == jepsen.Failed && o.F == "cas", OK: o.Status == jepsen.Succeeded}
		if o.F == "read" {
			out.Read = o.Value
		}
		return out
	})
}

// KV reads a history of a map of strings, split by key or with the whole map as
// one state.
func KV(file string, split bool) (*Case, error) {
	model := Whole
	if split {
		model = ByKey
	}
	return read(file, model, func(o jepsen.Op) any {
		in := MapInput{F: o.F, Key: o.Key.(string)}
		if o.F != "get" {
			in.Value = o.Value.(string)
		}
		return in
	}, func(o jepsen.Op) any {
		if o.F == "get" && o.Status == jepsen.Succeeded {
			return o.Value.(string)
		}
		return ""
	})
}

// read reads a history's text. Operations that crashed return at the end.
func read(file string, model porcupine.Model, input, output func(jepsen.Op) any) (*Case, error) {
	h, err := forms.ReadFile(file, jepsen.Options{})
	if err != nil {
		return nil, err
	}
	c := &Case{Name: filepath.Base(file), Model: model}
	var open []porcupine.Event
	for at, t := range h.Type {
		id := h.OpOf[at]
		if id == jepsen.None {
			continue
		}
		o := h.Op(id)
		e := porcupine.Event{ClientId: int(h.Process[at]), Id: int(id)}
		switch {
		case t == jepsen.Invoke:
			e.Value = input(o)
			c.Events = append(c.Events, e)
			if o.Status == jepsen.Crashed {
				e.Kind, e.Value = porcupine.ReturnEvent, output(o)
				open = append(open, e)
			}
		case t != jepsen.Info:
			e.Kind, e.Value = porcupine.ReturnEvent, output(o)
			c.Events = append(c.Events, e)
		}
	}
	c.Events = append(c.Events, open...)
	return c, nil
}

// RegisterInput and RegisterOutput describe an operation on a register. F is
// read, write or cas. If its outcome is not Known, anything may have happened.
type (
	RegisterInput struct {
		F        string
		Old, New any
	}
	RegisterOutput struct {
		Known, OK bool
		Read      any
	}
)

// Register is a register that starts as nil. A cas that did not succeed saw
// another value.
var Register = porcupine.Model{
	Init: func() any { return nil },
	Step: func(state, input, output any) (bool, any) {
		in, out := input.(RegisterInput), output.(RegisterOutput)
		switch in.F {
		case "read":
			return !out.Known || out.Read == state, state
		case "write":
			return true, in.New
		}
		if in.Old == state {
			return !out.Known || out.OK, in.New
		}
		return !out.Known || !out.OK, state
	},
}

// MapInput is an operation on a map of strings. F is get, put or append.
type MapInput struct{ F, Key, Value string }

// after returns the string that an operation leaves in place of now.
func (in MapInput) after(now string) string {
	switch in.F {
	case "put":
		return in.Value
	case "append":
		return now + in.Value
	}
	return now
}

// ByKey is a map of strings that is split by key: a state is one string.
var ByKey = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		return parts(history, func(o porcupine.Operation) string { return o.Input.(MapInput).Key })
	},
	PartitionEvent: func(history []porcupine.Event) [][]porcupine.Event {
		keys := map[int]string{}
		return parts(history, func(e porcupine.Event) string {
			if e.Kind == porcupine.CallEvent {
				keys[e.Id] = e.Value.(MapInput).Key
			}
			return keys[e.Id]
		})
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		in, now := input.(MapInput), state.(string)
		return in.F != "get" || output == state, in.after(now)
	},
}

// Whole is the same map as one state, which == cannot compare.
var Whole = porcupine.Model{
	Init: func() any { return map[string]string{} },
	Step: func(state, input, output any) (bool, any) {
		in, all := input.(MapInput), state.(map[string]string)
		if in.F == "get" {
			return output == all[in.Key], state
		}
		next := maps.Clone(all)
		next[in.Key] = in.after(all[in.Key])
		return true, next
	},
	Equal: func(a, b any) bool { return maps.Equal(a.(map[string]string), b.(map[string]string)) },
}

// parts splits a history by key. The parts are in order of their keys.
func parts[T any](history []T, key func(T) string) [][]T {
	byKey := map[string][]T{}
	for _, x := range history {
		k := key(x)
		byKey[k] = append(byKey[k], x)
	}
	var parts [][]T
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		parts = append(parts, byKey[k])
	}
	return parts
}
