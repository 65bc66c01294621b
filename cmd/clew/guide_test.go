package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The guide to models of one's own is run: its files are written, every model's
// examples are checked, and every session says what it says there.
func TestTheGuideToModels(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "own-models.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	clew := func(args string) string {
		var out bytes.Buffer
		run(context.Background(), strings.Fields(args), &out, &out)
		return regexp.MustCompile(`[0-9.]+ ms`).ReplaceAllString(out.String(), "N ms")
	}
	models, sessions := 0, 0
	for _, block := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(guide), -1) {
		kind, text := block[1], block[2]
		switch kind {
		case "python", "clojure":
			first, _, _ := strings.Cut(text, "\n")
			name := strings.TrimLeft(first, "#; ")
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if kind == "python" && strings.Contains(text, "\nexamples = ") {
				models++
				if said := clew("clew models --check " + name); !strings.Contains(said, ", 0 wrong\n") {
					t.Errorf("%s: %s", name, said)
				}
			}
		case "console":
			for _, session := range strings.Split(text, "$ ")[1:] {
				sessions++
				command, want, _ := strings.Cut(session, "\n")
				if said := clew(command); said != want {
					t.Errorf("%s says\n%s\nand in the guide\n%s", command, said, want)
				}
			}
		}
	}
	if models < 3 || sessions < 3 {
		t.Errorf("only %d models and %d sessions were found", models, sessions)
	}
}
