package main

import (
	"flag"
	"testing"

	"clew/internal/licenses"
)

var rewrite = flag.Bool("rewrite", false, "write the modules of docs/licenses.md anew; read the licenses that it then asks for")

func TestThePageHasEveryLicense(t *testing.T) {
	if err := licenses.Check("../docs/licenses.md", "The Beam module", ".", ".", *rewrite); err != nil {
		t.Error(err)
	}
}
