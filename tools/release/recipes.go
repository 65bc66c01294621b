package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"clew/tools/licenses"
)

//go:embed clew.rb.tmpl
var formula string

//go:embed clew.nix.tmpl
var nix string

// archive is an archive of a release, as recipes name it.
type archive struct {
	File, Sum string
	System    string // as Nix names it
}

// archives are those of a release, by system and processor.
type archives map[string]map[string]archive

func (a archives) add(p licenses.Platform, f file) {
	if p.OS == "windows" {
		return
	}
	if a[p.OS] == nil {
		a[p.OS] = map[string]archive{}
	}
	processor := strings.NewReplacer("amd64", "x86_64", "arm64", "aarch64").Replace(p.Arch)
	a[p.OS][p.Arch] = archive{f.name, fmt.Sprintf("%x", sha256.Sum256(f.data)), processor + "-" + p.OS}
}

// recipes returns the formula for Homebrew and the expression for Nix that install the archives, which are below a URL and their tag.
func (c *common) recipes(url string, a archives) ([]file, error) {
	var files []file
	for _, r := range []struct{ name, text string }{{"clew.rb", formula}, {"clew.nix", nix}} {
		t, err := template.New(r.name).Parse(r.text)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = t.Execute(&b, map[string]any{"URL": strings.TrimSuffix(url, "/") + "/" + c.version, "Version": strings.TrimPrefix(c.version, "v"), "Archives": a})
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: r.name, data: b.Bytes()})
	}
	return files, nil
}

// notes returns what the changelog says of the version, or of what is not released yet.
func (c *common) notes() (file, error) {
	log := ""
	for _, f := range c.docs {
		if f.name == "CHANGELOG.md" {
			log = string(f.data)
		}
	}
	for _, title := range []string{c.version, "Unreleased"} {
		for _, section := range strings.Split(log, "\n## ")[1:] {
			if head, text, _ := strings.Cut(section, "\n"); head == title || strings.HasPrefix(head, title+" ") {
				return file{name: "NOTES.md", data: []byte(strings.TrimSpace(text) + "\n")}, nil
			}
		}
	}
	return file{}, fmt.Errorf("CHANGELOG.md has no section for %s", c.version)
}

// readme returns the README as the folder of an archive has it, where the program is there and its sources are not.
func readme(text []byte, program string) ([]byte, error) {
	s := string(text)
	for _, r := range []struct{ from, to, with string }{
		{"With Go installed, check", "testdata/", "Check a history:\n\n    " + program + " check testdata/"},
		{"The first `go run`", "| if you |", "Exit status 1 means that the history is not linearizable. [Installing](docs/install.md) says how to have `clew` everywhere.\n\n| if you |"},
	} {
		before, rest, found := strings.Cut(s, r.from)
		_, after, also := strings.Cut(rest, r.to)
		if !found || !also {
			return nil, fmt.Errorf("README.md does not have %q and then %q", r.from, r.to)
		}
		s = before + r.with + after
	}
	return []byte(s), nil
}
