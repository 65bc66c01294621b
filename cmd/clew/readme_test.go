package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Below its first command, the README shows what that command prints, except for the time.
func TestTheREADMEShowsWhatItsFirstCommandPrints(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	sample := regexp.MustCompile("(?s)\n    go run \\./cmd/clew (check [^\n]+)\n\n```\n(.*?)```\n").FindSubmatch(text)
	if sample == nil {
		t.Fatal("the README has no first command with what it prints")
	}
	t.Chdir(filepath.Join("..", ".."))
	var out bytes.Buffer
	run(t.Context(), append([]string{"clew"}, strings.Fields(string(sample[1]))...), nil, &out, io.Discard)
	if got, want := untimed(out.String()), untimed(string(sample[2])); got != want {
		t.Errorf("the README shows\n%s\nand it prints\n%s", want, got)
	}
}
