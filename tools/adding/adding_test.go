// Package adding does what the section "Adding things" of CONTRIBUTING.md says. For each
// kind of thing that the page knows, testdata has a toy: the files that it adds, the lines
// that it adds to other files, and the commands that must pass then. A test adds all toys
// to a copy of the repository. So nothing else may be necessary, and what a toy touches
// must be named on the page.
//
// A toy begins with lines such as these, followed by its files:
//
//	title: A command
//	line: cmd/clew/main.go >> versionCommand(stdout), >> countCommand(stdout),
//	run: go test -run Malformed ./cmd/clew
//
// A line goes below the first one that contains the text in the middle, as deeply indented.
// The toys are added by the names of their files, so one may add a line to another's file.
package adding

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"clew/tools/internal/tree"
)

const root = "../.."

// toy is a thing to be added.
type toy struct {
	title string
	lines []line
	runs  []string
	files []txtar.File
}

// line is a line that a toy adds to a file that there is.
type line struct{ file, below, text string }

// toys returns what testdata has.
func toys(t *testing.T) (all []toy) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no toys in testdata: %v", err)
	}
	for _, p := range paths {
		archive, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		x := toy{files: archive.Files}
		for text := range strings.Lines(string(archive.Comment)) {
			what, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), ": ")
			switch parts := strings.Split(rest, " >> "); {
			case what == "title":
				x.title = rest
			case what == "run":
				x.runs = append(x.runs, rest)
			case what == "line" && len(parts) == 3:
				x.lines = append(x.lines, line{parts[0], parts[1], parts[2]})
			case what != "":
				t.Fatalf("%s: expected title:, run: or line: FILE >> BELOW >> TEXT, found %s", p, text)
			}
		}
		all = append(all, x)
	}
	return all
}

// add adds a line to a file's text.
func (l line) add(t *testing.T, text string) string {
	t.Helper()
	before, after, found := strings.Cut(text, l.below)
	if !found {
		t.Fatalf("%s has no line with %s, below which a toy adds its own", l.file, l.below)
	}
	rest, below, _ := strings.Cut(after, "\n")
	start := before[strings.LastIndexByte(before, '\n')+1:]
	indent := start[:len(start)-len(strings.TrimLeft(start, "\t "))]
	return before + l.below + rest + "\n" + indent + l.text + "\n" + below
}

// section returns what the page says about each kind of thing, by its title.
func section(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## Adding things\n")
	rest, _, ended := strings.Cut(rest, "\n## ")
	if !found || !ended {
		t.Fatal(`CONTRIBUTING.md has no section "Adding things"`)
	}
	kinds := map[string]string{}
	for _, m := range regexp.MustCompile(`(?ms)^\* \*\*(.*?)\*\*:(.*?)\n(?:\*|\n|$)`).FindAllStringSubmatch(strings.ReplaceAll(rest, "\n* ", "\n\n* "), -1) {
		kinds[m[1]] = m[2]
	}
	return kinds
}

// The page names every file or folder that a toy touches, and every kind of thing has a toy.
func TestThePageNamesWhatToysTouch(t *testing.T) {
	kinds, added, shown := section(t), map[string]bool{}, map[string]bool{}
	for _, x := range toys(t) {
		page := kinds[x.title]
		if page == "" {
			t.Errorf("the page does not say how to add %q; it knows %q", x.title, kinds)
		}
		shown[x.title] = true
		for _, l := range x.lines {
			if !names(page, l.file) && !(added[l.file] && namesFolderOf(page, l.file)) {
				t.Errorf("%s adds a line to %s, which the page does not name there", x.title, l.file)
			}
		}
		for _, f := range x.files {
			if added[f.Name] = true; !namesFolderOf(page, f.Name) {
				t.Errorf("%s adds %s, which the page does not name there, nor a folder of it", x.title, f.Name)
			}
		}
	}
	for title := range kinds {
		if shown[title] {
			continue
		}
		t.Errorf("%s has no toy in testdata", title)
	}
}

// names reports whether a page names a file or folder by its whole path, or a file of a
// folder that it names.
func names(page, name string) bool {
	quoted := func(name string) bool { return strings.Contains(page, "`"+name+"`") }
	return quoted(name) || quoted(path.Dir(name)) && quoted(path.Base(name))
}

// namesFolderOf reports whether a page names a file or a folder of it.
func namesFolderOf(page, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if names(page, name) {
			return true
		}
	}
	return false
}

// All that the toys name passes in a copy to which they were added.
func TestAddingToys(t *testing.T) {
	dir := tree.Copy(t, root)
	runs := []string{"gofmt -l .", "go build ./..."}
	for _, x := range toys(t) {
		for _, f := range x.files {
			name := filepath.Join(dir, filepath.FromSlash(f.Name))
			if _, err := os.Stat(name); err == nil {
				t.Fatalf("%s adds %s, which is there already", x.title, f.Name)
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, l := range x.lines {
			name := filepath.Join(dir, filepath.FromSlash(l.file))
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(l.add(t, string(text))), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		runs = append(runs, x.runs...)
	}
	slices.Sort(runs) // go build and go generate come first
	for _, run := range append(slices.Compact(runs), "go test ./internal/house") {
		begun := time.Now()
		cmd := tree.Command(t, dir, "", "sh", "-c", run)
		cmd.Env = append(cmd.Env, "CLEW_FULL=") // whatever is added is added in the short mode, too
		if out, err := cmd.CombinedOutput(); err != nil || run == "gofmt -l ." && len(out) > 0 {
			t.Errorf("%s: %v\n%s", run, err, out)
		}
		t.Logf("%5.1f s: %s", time.Since(begun).Seconds(), run)
	}
}
