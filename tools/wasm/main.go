// Command wasm builds clew for WebAssembly: clew.wasm, which is package api, and clew-cli.wasm, which is the command
// line, with Go's wasm_exec.js, which loads them. With -page it builds the page of docs/try instead, with clew in it. Run it in
// the project's folder (make wasm, make try).
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"clew/tools/licenses"
)

func main() {
	to := flag.String("o", "bin", "write to this `FOLDER`")
	page := flag.Bool("page", false, "build the page that checks what is dropped on it")
	flag.Parse()
	of := func(to string) error { return build(to, programs) }
	if *page {
		of = buildPage
	}
	if err := of(*to); err != nil {
		fmt.Fprintln(os.Stderr, "wasm:", err)
		os.Exit(1)
	}
}

// program is a package that is built into a file.
type program struct{ file, of string }

var programs = []program{{"clew.wasm", "./cmd/wasm"}, {"clew-cli.wasm", "./cmd/clew"}}

// hot are the packages with the loops over histories. Inlining makes them faster. It makes all others only larger: by a sixth.
var hot = strings.Fields(`clew/edn/... clew/jepsen/... clew/internal/opmap clew/internal/digits clew/internal/bitset
	clew/internal/radix clew/internal/blocks clew/internal/layouts clew/internal/files clew/internal/limits clew/fastpath/...
	clew/internal/families/... clew/internal/engines/... clew/models clew/fallback
	runtime internal/runtime/... slices cmp bytes strings bufio io sync sync/atomic unicode/utf8 math math/bits strconv
	internal/strconv internal/bytealg`)

// thirdParty is the file with the texts of others' licenses.
const thirdParty = "THIRD_PARTY_LICENSES.txt"

// build builds programs, and copies what loads them. The last program is made of whatever the others are made of: its licenses
// stand beside them.
func build(to string, programs []program) error {
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	module, err := output("go", "list", "-m")
	if err != nil {
		return err
	}
	flags := []string{"build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, p := range hot {
		if below, is := strings.CutPrefix(p, "clew/"); is {
			p = module + "/" + below
		}
		flags = append(flags, "-gcflags="+p+"=")
	}
	for _, p := range programs {
		c := exec.Command("go", append(slices.Clip(flags), "-o", filepath.Join(to, p.file), p.of)...)
		c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("go build %s: %w", p.of, err)
		}
		if err := weigh(filepath.Join(to, p.file)); err != nil {
			return err
		}
	}
	modules, err := licenses.Used(".", programs[len(programs)-1].of, licenses.Platform{OS: "js", Arch: "wasm"})
	if err != nil {
		return err
	}
	var texts bytes.Buffer
	if err := licenses.WriteTexts(&texts, modules); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, thirdParty), texts.Bytes(), 0o666); err != nil {
		return err
	}
	loader, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "wasm_exec.js"), loader, 0o666)
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

// weigh prints how large a file is.
func weigh(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	z.Write(text)
	z.Close()
	fmt.Printf("%s: %.1f MB, compressed %.2f MB\n", file, float64(len(text))/1e6, float64(b.Len())/1e6)
	return nil
}
