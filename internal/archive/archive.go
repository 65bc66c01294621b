// Package archive finds the real histories that tests use. They are not part of
// the project: the environment variable CLEW_HISTORIES names their folder.
package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Path returns a file or folder of the archive. It skips the test if
// CLEW_HISTORIES is not set.
func Path(t testing.TB, elements ...string) string {
	t.Helper()
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES names no folder of real histories")
	}
	path := filepath.Join(append([]string{root}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the archive of real histories is incomplete: %v", err)
	}
	return path
}

// Table returns the rows of a tab-separated file, without the heading if it has one.
func Table(t testing.TB, path string, heading bool) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	if heading {
		rows = rows[1:]
	}
	return rows
}
