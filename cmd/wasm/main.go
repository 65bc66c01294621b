//go:build js && wasm

// Command wasm is package api for JavaScript. packages/js has what loads it.
package main

import (
	"os"
	"syscall/js"

	"clew/api"
)

// main hands a function to the one whose name is the first argument, and waits for calls. The function takes a request
// in a Uint8Array, and maybe a function that is told of the progress. It returns a promise of the response in a Uint8Array.
func main() {
	js.Global().Call(os.Args[1], js.FuncOf(func(_ js.Value, args []js.Value) any {
		request := make([]byte, args[0].Length())
		js.CopyBytesToGo(request, args[0])
		var told js.Value
		if len(args) > 1 {
			told = args[1]
		}
		return promise(func() any { return answer(request, told) })
	}))
	select {}
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
