package limits

import "runtime"

// yield lets timers run: WebAssembly has one thread, and does not interrupt a loop for them.
func yield() { runtime.Gosched() }
