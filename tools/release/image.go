package main

import (
	_ "embed"
	"strings"
)

//go:embed Dockerfile
var container string

// dockerfile returns the container file with a release's name in it.
func dockerfile(name string) []byte {
	return []byte(strings.Replace(container, "RELEASE=\n", "RELEASE="+name+"\n", -1))
}
