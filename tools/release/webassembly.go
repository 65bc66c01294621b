package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// webAssembly makes what runs anywhere: the package for JavaScript, as npm pack would, and the page that checks what is
// dropped on it.
func (c *common) webAssembly(work string) ([]file, error) {
	tool := filepath.Join(work, "wasm")
	programs, page := filepath.Join(work, "js"), filepath.Join(work, "try")
	for _, args := range [][]string{{"go", "build", "-C", "tools", "-o", tool, "./wasm"}, {tool, "-o", programs}, {tool, "-page", "-o", page}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = c.repository, append(append(os.Environ(), settings...), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	pack, err := c.npm(programs)
	if err != nil {
		return nil, err
	}
	var pages []file
	entries, err := os.ReadDir(page)
	if err != nil {
		return nil, err
	}
	folder := c.name() + "_page"
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(page, e.Name()))
		if err != nil {
			return nil, err
		}
		pages = append(pages, file{name: folder + "/" + e.Name(), data: data})
	}
	archive, err := zipped(pages, c.time)
	return []file{pack, {name: folder + ".zip", data: archive}}, err
}

// npm makes the package for JavaScript of its sources and of what was built. It has the release's version.
func (c *common) npm(built string) (pack file, err error) {
	sources := filepath.Join(c.repository, "packages", "js")
	manifest, err := os.ReadFile(filepath.Join(sources, "package.json"))
	if err != nil {
		return pack, err
	}
	var about struct{ Files []string }
	if err := json.Unmarshal(manifest, &about); err != nil {
		return pack, err
	}
	version := strings.TrimPrefix(c.version, "v")
	const unreleased = `"version": "0.0.0"`
	if !bytes.Contains(manifest, []byte(unreleased)) {
		return pack, fmt.Errorf("package.json: expected %s, which becomes that of the release", unreleased)
	}
	manifest = bytes.Replace(manifest, []byte(unreleased), []byte(fmt.Sprintf("\"version\": %q", version)), 1)
	files := []file{{name: "package/package.json", data: manifest}}
	for _, name := range append(about.Files, "README.md") {
		found := false
		for _, dir := range []string{built, sources, c.repository} { // the LICENSE is that of the repository
			more, err := below(dir, name)
			if err != nil {
				return pack, err
			}
			if found = len(more) > 0; found {
				files = append(files, more...)
				break
			}
		}
		if !found {
			return pack, fmt.Errorf("the package for JavaScript lacks %s", name)
		}
	}
	pack.name = "clew-" + version + ".tgz"
	pack.data, err = tarball(files, c.time)
	return pack, err
}

// below returns a file of the package for JavaScript that is in a folder, or all files of one that ends with a slash.
func below(dir, name string) (files []file, err error) {
	paths := []string{name}
	if strings.HasSuffix(name, "/") {
		entries, _ := os.ReadDir(filepath.Join(dir, name))
		paths = nil
		for _, e := range entries {
			paths = append(paths, name+e.Name())
		}
	}
	for _, path := range paths {
		data, err := os.ReadFile(filepath.Join(dir, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		files = append(files, file{name: "package/" + path, data: data, executable: strings.HasSuffix(name, "/")})
	}
	return files, nil
}
