module clew

go 1.25.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/klauspost/compress v1.20.3
	github.com/mattn/go-isatty v0.0.24
	github.com/schollz/progressbar/v3 v3.19.1
	github.com/urfave/cli/v2 v2.27.7
	go.starlark.net v0.0.0-20260908191801-89a6a09411d5
	golang.org/x/sys v0.47.0
	golang.org/x/term v0.44.0
	olympos.io/encoding/edn v0.0.0-20201019073823-d3554ca0b0a3
)

// Only tests need these: the conversations in testdata/cases and the sessions in
// testdata/script. Go has no requirements for tests alone.
require (
	github.com/cockroachdb/datadriven v1.0.3
	github.com/rogpeppe/go-internal v1.16.0
)

require (
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/xrash/smetrics v0.0.0-20240521201337-686a1a2994c1 // indirect
	golang.org/x/tools v0.48.0 // indirect
)
