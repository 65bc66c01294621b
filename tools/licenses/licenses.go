// Package licenses lists what a program of this repository is built from besides our
// own code, with the texts of its licenses. A test compares docs/licenses.md with
// them, and releases include the texts. The package reads texts. People say which
// license they are.
//
// It is our own because go-licenses guesses which license a text is, knows one platform at a time,
// leaves out Go's library, and does not notice that a text has changed.
package licenses

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Platform is what Go calls GOOS and GOARCH.
type Platform struct{ OS, Arch string }

// Platforms are the platforms for which clew is released.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// Go is the path that Go's standard library would have as a module. Its version is
// that of the Go that builds the program.
const Go = "stdlib"

// Module is others' code in a program.
type Module struct {
	Path, Version string
	Texts         []Text
	Imports       []string // the paths of the modules that it imports
}

// Text is a license file, or a file to be read with it, and its path in the module.
type Text struct{ Name, Text string }

// Hash distinguishes texts of licenses.
func (m Module) Hash() string {
	h := sha256.New()
	for _, t := range m.Texts {
		fmt.Fprintf(h, "%s\n%s\n", t.Name, t.Text)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// pkg is what go list says about a package.
type pkg struct {
	ImportPath, Dir string
	Imports         []string
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Version string }
	}
}

// module returns the path of a package's module, or "" if it belongs to this repository.
func (p pkg) module() string {
	switch {
	case p.Module == nil:
		return Go
	case p.Module.Main || p.Module.Replace != nil && p.Module.Replace.Version == "":
		return ""
	}
	return p.Module.Path
}

// Tag leaves out what prints pages of urfave/cli, with its two libraries: clew has its own pages.
const Tag = "urfave_cli_no_docs"

// Used returns the modules of others from which a package is built on any of the
// platforms, by path. dir is the folder of the package's module. The module "" is
// this repository's.
func Used(dir, path string, platforms ...Platform) ([]Module, error) {
	packages := map[string]pkg{}
	for _, p := range platforms {
		cmd := exec.Command("go", "list", "-tags="+Tag, "-deps", "-json=ImportPath,Dir,Imports,Module", path)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			return nil, fmt.Errorf("go list: %s", failed.Stderr)
		} else if err != nil {
			return nil, err
		}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var p pkg
			if err := d.Decode(&p); err != nil {
				return nil, fmt.Errorf("go list: %w", err)
			}
			packages[p.ImportPath] = p
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return collect(packages, strings.TrimSpace(string(root)))
}

func collect(packages map[string]pkg, goroot string) ([]Module, error) {
	modules, files := map[string]Module{}, map[string]map[string]string{}
	for _, p := range packages {
		path := p.module()
		m := modules[path]
		m.Path = path
		from, to := goroot, goroot
		if p.Module != nil {
			m.Version, from, to = p.Module.Version, p.Dir, p.Module.Dir
		}
		for _, i := range p.Imports {
			if to := packages[i].module(); to != path && packages[i].ImportPath != "" && !slices.Contains(m.Imports, to) {
				m.Imports = append(m.Imports, to)
			}
		}
		modules[path] = m
		if files[path] == nil {
			files[path] = map[string]string{}
		}
		if path != "" {
			if err := read(files[path], from, to); err != nil {
				return nil, err
			}
		}
	}
	var all []Module
	for path, m := range modules {
		for name, text := range files[path] {
			m.Texts = append(m.Texts, Text{name, text})
		}
		if len(m.Texts) == 0 && path != "" {
			return nil, fmt.Errorf("%s %s has no file with a license", m.Path, m.Version)
		}
		slices.SortFunc(m.Texts, func(a, b Text) int { return strings.Compare(a.Name, b.Name) })
		slices.Sort(m.Imports)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// legal matches the names of files that say what people may do with the code
// beside and below them.
var legal = regexp.MustCompile(`(?i)^(licen[cs]es?|unlicen[cs]e|copying|copyright|notice|patents)\b`)

// read reads such files from a package's folder up to its module's folder.
func read(into map[string]string, from, to string) error {
	for dir := from; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			name, err := filepath.Rel(to, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			into[filepath.ToSlash(name)] = string(text)
		}
		if dir == to || len(dir) <= len(to) {
			return nil
		}
	}
}

// WriteTexts writes all of them, each below its module's name.
func WriteTexts(w io.Writer, modules []Module) error {
	var b bytes.Buffer
	b.WriteString("clew is built from code of others, too. These are their licenses.\n")
	for _, m := range modules {
		for _, t := range m.Texts {
			rule := strings.Repeat("=", 80)
			fmt.Fprintf(&b, "\n%s\n%s, %s\n%s\n\n%s\n", rule, strings.TrimSpace(m.Path+" "+m.Version), t.Name, rule, strings.TrimSpace(t.Text))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
