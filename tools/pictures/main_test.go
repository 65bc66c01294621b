package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDocumentsShowWhatClewDraws(t *testing.T) {
	root := filepath.Join("..", "..")
	drawn, err := draw(root)
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, p := range pictures {
		text, err := os.ReadFile(filepath.Join(root, p.document))
		if err != nil {
			t.Fatal(err)
		}
		shown += string(text)
	}
	for name, want := range drawn {
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what clew draws (%v); make pictures draws it", name, err)
		}
		if !strings.Contains(shown, filepath.Base(name)) {
			t.Errorf("no document shows %s", name)
		}
	}
}
