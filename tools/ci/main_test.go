package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What go test -json prints is counted, and what a failing test printed is kept.
func TestTestsAreCounted(t *testing.T) {
	r, out := &result{}, &bytes.Buffer{}
	r.read(strings.NewReader(`a plain line
{"Action":"output","Package":"p","Test":"TestGood","Output":"not printed\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"h.go:3: what is wrong\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"skip","Package":"p","Test":"TestIdle/part"}
{"Action":"output","Package":"p","Test":"TestEnded","Output":"panic: test timed out\n"}
{"Action":"output","Package":"q","Test":"TestOther","Output":"not of p\n"}
{"ImportPath":"r","Action":"build-output","Output":"r.go:1: undefined\n"}
{"Action":"fail","Package":"p","Elapsed":1.5}
{"Action":"pass","Package":"q","Elapsed":2}
`), out)
	want := "a plain line\nh.go:3: what is wrong\nr.go:1: undefined\npanic: test timed out\nFAIL\tp\t1.500s\nok  \tq\t2.000s\n"
	if len(r.Passes) != 1 || r.Failed != 1 || !slices.Equal(r.Skips, []string{"p TestIdle/part"}) || out.String() != want {
		t.Errorf("%+v\n%s", r, out)
	}
}

// The table fails if a step did, or if a test skipped itself that is not listed.
func TestTheTableFailsOnUnlistedSkips(t *testing.T) {
	for name, c := range map[string]struct {
		r     result
		fails bool
	}{
		"all is well":        {result{OK: true, Passes: []string{"p TestGood"}}, false},
		"a listed skip":      {result{OK: true, Skips: []string{"p TestRoot"}}, false},
		"one of a listed *":  {result{OK: true, Skips: []string{"p TestAll/x"}}, false},
		"one that ran":       {result{OK: true, Passes: []string{"p TestSlow"}, Skips: []string{"p TestSlow"}}, false},
		"an unlisted skip":   {result{OK: true, Skips: []string{"p TestRootToo"}}, true},
		"another package":    {result{OK: true, Skips: []string{"q TestRoot"}}, true},
		"a step that failed": {result{Passes: []string{"p TestGood"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("CLEW_CI_RESULTS", t.TempDir())
			if err := os.Mkdir(".ci", 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(".ci", "skips"), []byte("# a remark\np TestRoot # root may\np TestAll/* # others\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			c.r.Name, c.r.Began = "a/step", time.Now()
			if err := c.r.keep(); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := table(&out); (err != nil) != c.fails {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

func TestWhatStartsOrSharesGoroutinesIsRaced(t *testing.T) {
	for text, want := range map[string]bool{
		`package p; import "fmt"; func f() { fmt.Println() }`: false,
		`package p; import "sync"; var m sync.Mutex`:          true,
		`package p; import a "sync/atomic"; var m a.Int32`:    true,
		`package p; func f() { func() { go f() }() }`:         true,
		`package p; import "synchronous"`:                     false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "f.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if races(file) != want {
			t.Errorf("%s: raced %v", text, !want)
		}
	}
}

// A step with inputs passes once for the same files, and runs again once one of them changes or comes.
func TestAHashFollowsItsFiles(t *testing.T) {
	t.Chdir("../..")
	seen := map[string]string{}
	note := func(what string, paths ...string) {
		h, err := hashOf("go1", paths)
		if err != nil {
			t.Fatal(err)
		}
		for other, before := range seen {
			if before == h {
				t.Errorf("%s and %s have one hash", what, other)
			}
		}
		seen[what] = h
	}
	note("a folder", "tools/ci")
	note("another folder", "tools/module")
	file := "tools/ci/testdata-new"
	if err := os.WriteFile(file, []byte("1"), 0o666); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	note("a new file", "tools/ci")
	if err := os.WriteFile(file, []byte("2"), 0o666); err != nil {
		t.Fatal(err)
	}
	note("a changed file", "tools/ci")
	t.Setenv("CLEW_HISTORIES", t.TempDir())
	if err := os.WriteFile(filepath.Join(os.Getenv("CLEW_HISTORIES"), "h.edn"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	note("real histories", "tools/ci")
}
