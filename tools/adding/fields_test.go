package adding

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// table is a struct whose values are what is added.
type table struct {
	file, name string
	titles     []string // of the toys that may set its fields
	// house: a field that no toy sets must be set by a model in the house. That is its example, and models/laws_test.go has
	// its promise.
	house bool
	// others are the fields that no toy sets, with the reason.
	others map[string]string
}

const testJepsen = "only test.jepsen, which is binary, has it; a toy would be a second binary form"

var ofModels = []string{"A model", "A kind of failure", "A near-linear decision"}

var tables = []table{
	{file: "internal/outputs/outputs.go", name: "Output", titles: []string{"An output"},
		others: map[string]string{"Compare": "the messages in cmd/clew/malformed_test.go list the outputs of clew compare by name"}},
	{file: "jepsen/forms/forms.go", name: "form", titles: []string{"A text form"},
		others: map[string]string{"binary": testJepsen, "rewritten": testJepsen}},
	{file: "jepsen/forms/forms.go", name: "writing", titles: []string{"A text form"}},
	{file: "internal/engines/engines.go", name: "Entry", titles: []string{"An engine"}, others: map[string]string{
		"Also": "a name of Knossos's, which has no more engines", "among": "only beam takes turns as another engine", "part": "an engine that no algorithm asks for"}},
	{file: "internal/home/home.go", name: "Home", titles: ofModels},
	{file: "internal/home/home.go", name: "Type", titles: ofModels},
	{file: "internal/gen/bug.go", name: "Model", titles: ofModels, house: true},
	{file: "models/definition.go", name: "Definition", titles: ofModels, house: true},
	{file: "models/traits.go", name: "Traits", titles: ofModels, house: true, others: map[string]string{
		"StepNumber": "only contrib/porcupine's models number their states", "Expects": "only internal/asked asks another program"}},
}

// fields returns the fields of a struct.
func (x table) fields(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, x.file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == x.name {
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				for _, name := range f.Names {
					names = append(names, name.Name)
				}
			}
		}
		return true
	})
	if len(names) == 0 {
		t.Fatalf("%s has no struct %s", x.file, x.name)
	}
	return names
}

// sets reports whether a text of Go sets a field, in a literal or by an assignment.
func sets(text, field string) bool {
	return regexp.MustCompile(`\b` + field + `:\s|\.` + field + ` = `).MatchString(text)
}

// source returns the Go files of the house's models, and of what makes models.
func source(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "internal/types", "internal/home", "models").Output()
	if err != nil {
		t.Skip(err)
	}
	var all strings.Builder
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if strings.HasSuffix(name, "_test.go") || path.Ext(name) != ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// A toy sets each field of what may be added, or the test says why not.
func TestToysSetEveryField(t *testing.T) {
	house := source(t)
	for _, x := range tables {
		var toy strings.Builder
		for _, y := range toys(t) {
			if !slices.Contains(x.titles, y.title) {
				continue
			}
			for _, f := range y.files {
				if path.Ext(f.Name) == ".go" {
					toy.Write(f.Data)
				}
			}
			for _, l := range y.lines {
				toy.WriteString(l.text + "\n")
			}
		}
		names := x.fields(t)
		for _, name := range names {
			_, other := x.others[name]
			switch set := sets(toy.String(), name); {
			case set && other:
				t.Errorf("a toy sets %s.%s, which is listed as one that none sets", x.name, name)
			case !set && !other && !(x.house && sets(house, name)):
				t.Errorf("no toy sets %s.%s", x.name, name)
			}
		}
		for name := range x.others {
			if !slices.Contains(names, name) {
				t.Errorf("%s has no field %s", x.name, name)
			}
		}
	}
}
