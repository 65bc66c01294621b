package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"clew/tools/licenses"
)

// library makes the library for C, its bill of materials, and the package for Python, which holds the library. They need a
// compiler of C, so they are for this machine's platform alone. lacks says what was not made, if a program was missing.
func (c *common) library(work string) (files []file, lacks string, err error) {
	here := licenses.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	compiler, err := output(c.repository, "go", "env", "CC")
	if err != nil {
		return nil, "", err
	}
	if _, err := exec.LookPath(strings.Fields(string(compiler))[0]); err != nil {
		return nil, fmt.Sprintf("without the library for C and the package for Python: %v", err), nil
	}
	work = filepath.Join(work, "c")
	name := cmp.Or(map[string]string{"darwin": "libclew.dylib", "windows": "clew.dll"}[here.OS], "libclew.so") // as package clew in Python has it
	shared, static := filepath.Join(work, name), filepath.Join(work, "libclew.a")
	for path, mode := range map[string]string{shared: "c-shared", static: "c-archive"} {
		if err := compile(c.repository, path, here, "CGO_ENABLED=1", "-tags=library", "-buildmode="+mode, "./packages/c"); err != nil {
			return nil, "", err
		}
	}
	program, b, err := read(shared)
	if err != nil {
		return nil, "", err
	}
	if err := c.same(b); err != nil {
		return nil, "", err
	}
	whole, err := os.ReadFile(static)
	if err != nil {
		return nil, "", err
	}
	sources, err := c.tracked("LICENSE", "packages/c/clew.h")
	if err != nil {
		return nil, "", err
	}
	folder := fmt.Sprintf("%s_%s_%s_library", c.name(), here.OS, here.Arch)
	contents := []file{{name, program, false}, {"libclew.a", whole, false}, {thirdPartyName, c.thirdParty, false}}
	for _, f := range sources {
		contents = append(contents, file{filepath.Base(f.name), f.data, false})
	}
	for i := range contents {
		contents[i].name = folder + "/" + contents[i].name
	}
	archive, err := c.packed(folder, contents, here)
	if err != nil {
		return nil, "", err
	}
	bom, err := c.bom("./api", program, b, here) // all that the library is made of, and needs no cgo
	if err != nil {
		return nil, "", err
	}
	files = []file{{name: folder + ".cdx.json", data: bom}, archive}
	python, err := exec.LookPath("python3")
	if err != nil {
		return files, fmt.Sprintf("without the package for Python: %v", err), nil
	}
	wheel, err := c.wheel(python, shared)
	return append(files, wheel), "", err
}

// wheel makes the package for Python. It has the release's version, since it asks the library.
func (c *common) wheel(python, library string) (wheel file, err error) {
	if err := os.WriteFile(filepath.Join(filepath.Dir(library), thirdPartyName), c.thirdParty, 0o666); err != nil {
		return wheel, err
	}
	cmd := exec.Command(python, "-B", filepath.Join("packages", "python", "backend.py"), filepath.Dir(library))
	cmd.Dir, cmd.Env = c.repository, append(os.Environ(), "CLEW_LIBRARY="+library)
	if out, err := cmd.CombinedOutput(); err != nil {
		return wheel, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	made, err := filepath.Glob(filepath.Join(filepath.Dir(library), "*.whl"))
	if err != nil || len(made) != 1 {
		return wheel, fmt.Errorf("%s made %q: expected one wheel", cmd, made)
	}
	wheel.name = filepath.Base(made[0])
	wheel.data, err = os.ReadFile(made[0])
	return wheel, err
}
