package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"clew/tools/licenses"
)

// bill is a bill of materials in CycloneDX 1.6, as far as it applies to a program in
// Go. The modules and versions are those that Go recorded in the program. go list
// knows which module imports which, and docs/licenses.md knows the licenses.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses"`
	Copyright  string     `json:"copyright,omitempty"`
	Package    string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type (
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	license struct {
		Expression string `json:"expression"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref  string   `json:"ref"`
		Upon []string `json:"dependsOn,omitempty"`
	}
)

// purl returns the name of a module's version that vulnerability scanners use.
func purl(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + url.QueryEscape(version)
}

// bom returns the bill of what was built from a package.
func (c *common) bom(of string, program []byte, b built, p licenses.Platform) ([]byte, error) {
	modules, err := licenses.Used(c.repository, of, p)
	if err != nil {
		return nil, err
	}
	goVersion := strings.TrimPrefix(b.GoVersion, "go")
	refs := map[string]string{"": purl(b.Main.Path, b.version), licenses.Go: purl(licenses.Go, goVersion)}
	sums := map[string]string{}
	for _, d := range b.Deps {
		refs[d.Path], sums[d.Path] = purl(d.Path, d.Version), d.Sum
	}
	if len(refs) != len(modules) {
		return nil, fmt.Errorf("the program is of %d modules, but go list knows %d", len(refs), len(modules))
	}
	kind, name := "application", "clew"
	if of != "./cmd/clew" {
		kind, name = "library", "libclew"
	}
	digest := sha256.Sum256(program)
	bom := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Serial: serial(digest),
		Metadata: metadata{c.time.UTC().Format("2006-01-02T15:04:05Z"), component{
			Ref: refs[""], Type: kind, Name: name, Version: b.version, Package: refs[""],
			Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", digest)}}, Licenses: []license{{"Apache-2.0"}},
			Properties: []property{{"goos", p.OS}, {"goarch", p.Arch}},
		}},
	}
	for _, m := range modules {
		d := dependency{Ref: refs[m.Path]}
		for _, i := range m.Imports {
			d.Upon = append(d.Upon, refs[i])
		}
		bom.Dependencies = append(bom.Dependencies, d)
		if m.Path == "" {
			continue
		}
		at := slices.IndexFunc(c.licenses, func(e licenses.Entry) bool { return e.Module == m.Path && e.Version == m.Version && e.Hash == m.Hash() })
		if at < 0 {
			return nil, fmt.Errorf("docs/licenses.md does not have %s %s as it is", m.Path, m.Version)
		}
		part := component{Ref: refs[m.Path], Type: "library", Name: m.Path, Version: m.Version, Package: refs[m.Path],
			Licenses: []license{{c.licenses[at].License}}, Copyright: c.licenses[at].Owner}
		if m.Path == licenses.Go {
			part.Version = goVersion
		} else {
			part.Properties = []property{{"go.sum", sums[m.Path]}}
		}
		bom.Components = append(bom.Components, part)
	}
	data, err := json.MarshalIndent(bom, "", "  ")
	return append(data, '\n'), err
}

// serial returns a number that only this program has: a UUID of a hash.
func serial(digest [32]byte) string {
	u := digest[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
