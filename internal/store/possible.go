package store

import (
	"path"
	"slices"
	"strings"

	"clew/internal/files"
)

// A run may have its history under a name or in a form that Jepsen does not use. Such
// files are not read, and a warning says so.

// endingsOfCopies are endings of copies, and of compressed files that clew does not read.
var endingsOfCopies = []string{".xz", ".bz2", ".lz4", ".7z", "~", ".bak", ".old", ".orig"}

// originalName returns a file's name in lower case, without what copies and compressed files add.
func originalName(name string) string {
	name = strings.ToLower(path.Base(name))
	for before := ""; name != before; {
		before = name
		name, _ = files.PackedName(name)
		for _, ending := range endingsOfCopies {
			name = strings.TrimSuffix(name, ending)
		}
		if number := path.Ext(name); strings.Trim(number, ".-0123456789") == "" {
			name = strings.TrimSuffix(name, number)
		}
	}
	return name
}

// mayBeHistory says whether a file's name suggests a history. named says that it is
// the name of a run's history, in any form.
func mayBeHistory(name string) (named, maybe bool) {
	name = originalName(name)
	stem, form, _ := strings.Cut(name, ".")
	isPicture := slices.Contains([]string{"html", "svg", "png"}, form)
	named = name == "test.jepsen" || name == "test.fressian" || stem == "history" && !isPicture
	kind := kindByName(name)
	return named, named || IsArchive(name) || kind != "" && kind != ".log" && kind != ".txt"
}

// possible returns the files that may be histories, although they are not read. All
// files below the folder of a run belong to it, unless they have the name of another history.
func (r runs) possible(paths, histories []string) (maybe []string) {
	folders := map[string]bool{}
	for _, f := range histories {
		folders[path.Dir(f)] = true
	}
	below := func(dir string) bool {
		for !folders[dir] && dir != "." && dir != "/" {
			dir = path.Dir(dir)
		}
		return folders[dir]
	}
	for _, f := range paths {
		named, may := mayBeHistory(f)
		dir := path.Dir(f)
		ofRun := folders[dir] && (hasTest(f) || isTest(f) || path.Base(f) == "test.fressian")
		if may && !ofRun && (named || !below(dir)) && !r.part(f) {
			maybe = append(maybe, f)
		}
	}
	return maybe
}
