// Package beside calls functions side by side.
package beside

// Call calls two functions side by side. A panic in either becomes a panic of the caller.
func Call(f, g func()) {
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		g()
	}()
	defer func() {
		if <-done; panicked != nil {
			panic(panicked)
		}
	}()
	f()
}
