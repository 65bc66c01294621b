//go:build !js

package limits

func yield() {}
