//go:build js && wasm

// Command wasm is package api for JavaScript. packages/js has what loads it.
package main

import (
	"os"
	"syscall/js"

	"clew/api"
)

// main hands two functions to the one whose name is the first argument, and waits for calls. Both take a request in a
// Uint8Array. The first one also takes a function to call with the progress, or nothing, and returns a promise of the
// response in a Uint8Array. The second one returns the response at once; it is for calls that never wait, those about
// recorders but for their checks.
func main() {
	later := js.FuncOf(func(_ js.Value, args []js.Value) any {
		request, told := bytesOf(args[0]), js.Undefined()
		if len(args) > 1 {
			told = args[1]
		}
		return promise(func() any { return answer(request, told) })
	})
	now := js.FuncOf(func(_ js.Value, args []js.Value) any { return answer(bytesOf(args[0]), js.Undefined()) })
	js.Global().Call(os.Args[1], later, now)
	select {}
}

func bytesOf(v js.Value) []byte {
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b
}

// answer answers a request.
func answer(request []byte, told js.Value) any {
	var progress func(api.Progress)
	if told.Type() == js.TypeFunction {
		progress = func(p api.Progress) { told.Invoke(float64(p.Read), float64(p.Of), p.Operations) }
	}
	response := api.CallWith(request, progress)
	to := js.Global().Get("Uint8Array").New(len(response))
	js.CopyBytesToJS(to, response)
	return to
}

// promise returns a promise of what f returns. A callback of JavaScript must not wait, since timers come only after it.
func promise(f func() any) js.Value {
	var start js.Func
	start = js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() {
			defer start.Release()
			args[0].Invoke(f())
		}()
		return nil
	})
	return js.Global().Get("Promise").New(start)
}
