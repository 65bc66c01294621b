package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsGeneratedIsUpToDate(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v); run go generate ./internal/types", name, err)
		}
	}
}
