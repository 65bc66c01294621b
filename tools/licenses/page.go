package licenses

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Entry is a line of docs/licenses.md: a module's license, as a person has read it.
type Entry struct{ Module, Version, License, Owner, Hash string }

// Unread stands for a license that nobody has read yet.
const Unread = "?"

// section is a part of the page, with the text before and after its table.
type section struct {
	before, after string
	entries       []Entry
}

const head = "| module | version | license | whose | text |\n|---|---|---|---|---|\n"

func parse(page, title string) (s section, err error) {
	at := strings.Index(page, "## "+title+"\n")
	if at < 0 {
		return s, fmt.Errorf("docs/licenses.md has no section %q", title)
	}
	table := strings.Index(page[at:], head)
	if table < 0 {
		return s, fmt.Errorf("docs/licenses.md: %q has no table with the head %q", title, head)
	}
	s.before, s.after = page[:at+table+len(head)], page[at+table+len(head):]
	for strings.HasPrefix(s.after, "|") {
		line, rest, _ := strings.Cut(s.after, "\n")
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i, c := range cells {
			cells[i] = strings.Trim(c, " `")
		}
		if s.after = rest; len(cells) != 5 {
			return s, fmt.Errorf("docs/licenses.md: %q has %d cells, expected 5", line, len(cells))
		}
		s.entries = append(s.entries, Entry{cells[0], cells[1], cells[2], cells[3], cells[4]})
	}
	return s, nil
}

// Entries returns what a section of the page says.
func Entries(page, title string) ([]Entry, error) {
	s, err := parse(page, title)
	return s.entries, err
}

// Compare says what is wrong with the entries if these are the modules.
func Compare(entries []Entry, modules []Module) (wrong []string) {
	said := map[string]Entry{}
	for _, e := range entries {
		said[e.Module] = e
	}
	for _, m := range modules {
		e, found := said[m.Path]
		delete(said, m.Path)
		switch {
		case m.Path == "":
		case !found:
			wrong = append(wrong, m.Path+" is missing")
		case e.Version != m.Version:
			wrong = append(wrong, fmt.Sprintf("%s is of version %s, not %s", m.Path, m.Version, e.Version))
		case e.Hash != m.Hash():
			wrong = append(wrong, fmt.Sprintf("%s has other licenses than those that were read: their hash is %s, not %s", m.Path, m.Hash(), e.Hash))
		case e.License == Unread || e.Owner == Unread:
			wrong = append(wrong, fmt.Sprintf("somebody must read the license of %s, and say which it is and whose", m.Path))
		}
	}
	for path := range said {
		wrong = append(wrong, path+" is not used")
	}
	slices.Sort(wrong)
	return wrong
}

// Rewritten returns the page with the modules in a section. What people have said about
// a license stays as long as its text does.
func Rewritten(page, title string, modules []Module) (string, error) {
	s, err := parse(page, title)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(s.before)
	for _, m := range modules {
		if m.Path == "" {
			continue
		}
		e := Entry{m.Path, m.Version, Unread, Unread, m.Hash()}
		if at := slices.IndexFunc(s.entries, func(e Entry) bool { return e.Module == m.Path && e.Hash == m.Hash() }); at >= 0 {
			e.License, e.Owner = s.entries[at].License, s.entries[at].Owner
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | `%s` |\n", e.Module, e.Version, e.License, e.Owner, e.Hash)
	}
	b.WriteString(s.after)
	return b.String(), nil
}

// Check compares a section of the page, a file, with what a package is built from. If
// rewrite is true, it rewrites the section first.
func Check(page, title, dir, path string, rewrite bool) error {
	modules, err := Used(dir, path, Platforms...)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if rewrite {
		written, err := Rewritten(string(text), title, modules)
		if err != nil {
			return err
		}
		if text = []byte(written); os.WriteFile(page, text, 0o666) != nil {
			return fmt.Errorf("%s cannot be written", page)
		}
	}
	entries, err := Entries(string(text), title)
	if err != nil {
		return err
	}
	if wrong := Compare(entries, modules); len(wrong) > 0 {
		return fmt.Errorf("%s, %s: %s", page, title, strings.Join(wrong, "\n"))
	}
	return nil
}
