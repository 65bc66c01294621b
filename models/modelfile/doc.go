// Package modelfile reads models from files in Starlark, a small language that looks like
// Python. Starlark is deterministic, has no input or output, and its steps can be counted.
//
//	file, err := modelfile.Load("counter.star")
//	...
//	r, err := clew.Check(ctx, h, models.Own(file.Definition()), clew.Options{})
//
// A file says what a history's operations do to a state:
//
//	init = 0
//
//	def add(state, op):
//	    return state + op.value
//
//	def read(state, op):
//	    return state if op.out == state else inconsistent("read %s from %s" % (op.out, state))
//
//	ops = {"add": add, "read": read}
//	reads = ["read"]
//
// docs/own-models.md is the guide for people who write them.
//
// # How it works
//
// The file is read once. For each history it becomes a models.Func whose states are numbers
// of a table. The table numbers values by their contents and shares common parts. So equal
// states are one state, in whatever order their dicts were filled, and a list that grows is
// not copied.
//
// # What bounds it
//
// The steps of a call, the length of strings and lists, and the digits of integers have
// bounds. Starlark bounds the steps. For the others, the operators of a file become calls
// (bounds.go) that check their operands first. There is no recursion.
package modelfile
