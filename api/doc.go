// Package api is clew for programs in other languages: requests and responses in JSON, in memory.
//
//	response := api.Call([]byte(`{"api":1, "call":"check", "history":"..", "options":{"model":"register"}}`))
//
// docs/api.md describes the calls, and docs/api.schema.json what they take and answer. Options have the names of the
// flags of clew check and clew monitor, and results are what these print, byte for byte.
//
// A program in Go has more from package clew. This package is for what carries clew elsewhere: WebAssembly, a library
// for C. It keeps nothing but the recorders and monitors that a program has opened and not closed. No panic leaves it:
// one in clew is an error of the kind "bug".
package api
