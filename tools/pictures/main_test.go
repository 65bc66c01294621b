package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheReadmeShowsWhatClewDraws(t *testing.T) {
	root := filepath.Join("..", "..")
	drawn, err := draw(root)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range drawn {
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what clew draws (%v); make pictures draws it", name, err)
		}
		if !strings.Contains(string(readme), "docs/"+filepath.Base(name)) {
			t.Errorf("the README does not show %s", name)
		}
	}
}
