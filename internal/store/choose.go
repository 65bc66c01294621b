package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"clew/internal/files"
	"clew/internal/text"
)

// isRun says whether a file is the history of a run as Jepsen or clew.watch stores it.
// Before 2017 a run had only a history.txt.
func isRun(name string) bool {
	switch path.Base(name) {
	case "history.edn", "test.jepsen", "history.txt", RecorderFile:
		return true
	}
	return false
}

func isEDN(name string) bool { return kindByName(name) == ".edn" }

// kindByName returns the ending of a file's name without .gz or .zst, or "". Files
// with such endings are histories unless others take precedence. JSON lines count
// as JSON, and the results of checkers are not histories.
func kindByName(name string) string {
	name, _ = files.PackedName(path.Base(name))
	switch ending := path.Ext(name); ending {
	case ".edn", ".json":
		if strings.TrimSuffix(name, ending) != "results" {
			return ending
		}
	case ".jsonl":
		return ".json"
	case ".log", ".hist", ".jepsen", ".txt":
		return ending
	}
	return ""
}

// choice holds the histories among the files of a directory or archive.
type choice struct {
	chosen   []string
	tests    map[string]string   // the test.jepsen beside the history of a run
	results  map[string]string   // the results.edn beside the history of a run
	packed   []string            // compressed histories of runs, where others are not compressed
	bare     []string            // the results.edn of runs that have no history
	logs     []string            // of runs that have nothing else, where other runs do
	possible []string            // those that may be histories by their names
	others   []string            // those that would be chosen if they were the only ones
	reports  map[string][]string // folders that are reports of etcd's tests, each with its files
	strays   []string            // files below reports that may be a part, and are not by their names
}

// choose chooses among the files of a directory or archive. It takes the history.edn
// of each run, otherwise the test.jepsen, the history.txt or the clew.jsonl. The
// independent/ folder of a run is part of it. Without a run, all files of one form
// are histories: those that end in .edn, or otherwise those of the only other form.
// It takes .txt files only if there is no other form. All of them may be compressed.
func choose(paths []string) choice {
	var c choice
	r := runs{}
	for _, f := range paths {
		r[f] = true
	}
	c.reports = reportsAmong(paths)
	c.strays = strays(c.reports, paths)
	of := map[string][]string{}
	for _, f := range paths {
		dir, base := path.Split(f)
		switch {
		case r.part(f), reportOf(c.reports, f) != "":
		case base == "history.edn":
			c.chosen = append(c.chosen, f)
		case base == "test.jepsen":
			if !r[dir+"history.edn"] {
				c.chosen = append(c.chosen, f)
			}
		case base == "history.txt" && !r.has(dir, "history.edn", "test.jepsen", "history.edn.gz", "history.edn.zst"):
			c.chosen = append(c.chosen, f)
		case base == RecorderFile:
			if !r.has(dir, "history.edn", "test.jepsen", "history.txt", "history.edn.gz", "history.edn.zst") {
				c.chosen = append(c.chosen, f)
			}
		default:
			of[kindByName(f)] = append(of[kindByName(f)], f)
		}
	}
	if len(c.chosen) == 0 && len(c.reports) == 0 {
		c.byKind(of, r)
		c.results = r.results(c.chosen)
		c.bare = r.bare(paths, c.reports)
		return c
	}
	c.bare = r.bare(paths, c.reports)
	c.tests, c.results = r.tests(c.chosen), r.results(c.chosen)
	for _, f := range of[".edn"] {
		dir, base := path.Split(f)
		if (base == "history.edn.gz" || base == "history.edn.zst") && !r.has(dir, "history.edn", "test.jepsen") {
			c.packed = append(c.packed, f)
		}
	}
	for _, f := range of[".log"] {
		if dir, base := path.Split(f); base == logFile && !r.has(dir, "history.edn", "test.jepsen", "history.txt", RecorderFile, "history.edn.gz", "history.edn.zst") {
			c.logs = append(c.logs, f)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(paths), func(f string) bool { return reportOf(c.reports, f) != "" })
	c.possible = r.possible(rest, slices.Concat(c.chosen, c.packed, c.logs))
	return c
}

func (c *choice) byKind(of map[string][]string, r runs) {
	c.chosen = of[".edn"]
	c.tests = r.tests(c.chosen)
	used := slices.Collect(maps.Values(c.tests))
	of[".jepsen"] = slices.DeleteFunc(of[".jepsen"], func(f string) bool { return slices.Contains(used, f) })
	kinds := [][]string{of[".json"], of[".log"], of[".hist"], of[".jepsen"]}
	several := 0
	for _, files := range kinds {
		c.others = append(c.others, files...)
		if len(files) > 0 {
			several++
		}
	}
	if len(c.chosen) == 0 && several == 1 {
		c.chosen, c.others = c.others, nil
		if logs := slices.DeleteFunc(slices.Clone(c.chosen), func(f string) bool { return path.Base(f) != logFile }); len(logs) > 0 {
			c.chosen = logs // the rest are the logs of a system's nodes
		}
	}
	if c.others = append(c.others, of[".txt"]...); len(c.chosen)+several == 0 {
		c.chosen, c.others = c.others, nil
	}
	slices.Sort(c.others)
	ofRuns := slices.DeleteFunc(slices.Clone(c.chosen), func(f string) bool { return !IsOfRun(f) })
	c.possible = r.possible(of[""], ofRuns)
}

func (c *choice) skipped() (said []string) {
	say := func(names []string, shown int, one, many string) {
		switch n := len(names); {
		case n == 1:
			said = append(said, fmt.Sprintf("1 %s: give %s by name", one, names[0]))
		case n > 1:
			some := names[:min(n, shown)]
			last := len(some) - 1
			list := strings.Join(some[:last], ", ") + " and " + some[last]
			said = append(said, fmt.Sprintf("%d %s, such as %s: give them by name", n, many, strings.TrimPrefix(list, " and ")))
		}
	}
	say(c.packed, 1, "compressed history was skipped, since others are not compressed", "compressed histories were skipped, since others are not compressed")
	say(c.logs, 1, "run has a jepsen.log but no history, and was skipped", "runs have a jepsen.log but no history, and were skipped")
	if n := len(c.strays); n > 0 {
		said = append(said, fmt.Sprintf("skipped %s of a report, such as %s: only client-N/operations.json and client-N/watch.json are read",
			text.Count(n, "file"), text.AllOf(c.strays[:min(n, 3)])))
	}
	say(c.possible, 3, "file that may be a history was skipped", "files that may be histories were skipped")
	if n := len(c.others); n > 0 && len(c.chosen) == 0 {
		return append(said, fmt.Sprintf("it has files of several forms, such as %s and %s: give those of one form by name", c.others[0], c.others[n-1]))
	}
	say(c.others, 1, "file of another form was skipped", "files of other forms were skipped")
	return said
}

// runs holds all files of a directory or archive.
type runs map[string]bool

func (r runs) has(dir string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return r[dir+name] })
}

// tests returns the test.jepsen beside the histories of runs.
func (r runs) tests(histories []string) map[string]string {
	beside := map[string]string{}
	for _, f := range histories {
		dir, _ := path.Split(f)
		if i := slices.IndexFunc(testNames, func(test string) bool { return r[dir+test] }); i >= 0 && hasTest(f) {
			beside[f] = dir + testNames[i]
		}
	}
	return beside
}

// results returns the results.edn beside the histories of runs.
func (r runs) results(histories []string) map[string]string {
	beside := map[string]string{}
	for _, f := range histories {
		if dir, _ := path.Split(f); IsOfRun(f) && r.has(dir, resultsFile) {
			beside[f] = dir + resultsFile
		}
	}
	return beside
}

// bare returns the results.edn of the runs without a history. Without one, only its name shows that a folder is that of a run.
func (r runs) bare(files []string, reports map[string][]string) (bare []string) {
	for _, f := range files {
		dir, base := path.Split(f)
		if base == resultsFile && IsRunFolder(path.Base(dir)) && !r.part(f) && reportOf(reports, f) == "" &&
			!slices.ContainsFunc(files, func(other string) bool {
				return path.Dir(other) == path.Clean(dir) && IsHistory(other) || other == dir+logFile
			}) {
			bare = append(bare, f)
		}
	}
	return bare
}

// part says whether a file is in the independent/ folder of a run.
func (r runs) part(f string) bool {
	for dir := path.Dir(f); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if whole, base := path.Split(dir); base == "independent" && r.has(whole, "history.edn", "test.jepsen", "history.txt", RecorderFile) {
			return true
		}
	}
	return false
}

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
		ofRun := folders[dir] && (hasTest(f) || isTest(f) || isRecorder(f) || path.Base(f) == "test.fressian")
		if may && !ofRun && (named || !below(dir)) && !r.part(f) {
			maybe = append(maybe, f)
		}
	}
	return maybe
}

// A report of etcd's robustness tests is a folder in which each client has a folder, with its operations, its watches,
// or both. All of a report is one history.
var (
	ofClient     = text.Pattern(`^(?:.*/)?client-[0-9]+/(?:operations|watch)\.json$`)
	clientFolder = text.Pattern(`^client-[0-9]+$`)
)

// reportsAmong returns the folders that are reports, with a / behind unless it is the root, each with its files.
func reportsAmong(names []string) map[string][]string {
	reports := map[string][]string{}
	for _, name := range names {
		if ofClient().MatchString(name) {
			dir, _ := path.Split(path.Dir(name))
			reports[path.Clean(dir)] = append(reports[path.Clean(dir)], name)
		}
	}
	return reports
}

// reportOf returns the report that a file is in, or "".
func reportOf(reports map[string][]string, name string) string {
	for dir := path.Dir(name); len(reports) > 0; dir = path.Dir(dir) {
		if _, is := reports[dir]; is {
			return dir
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	return ""
}

// strays returns the files below reports that are not read, although they have the name of a file that is, or of a copy
// of one, or are JSON in the folder of a client.
func strays(reports map[string][]string, names []string) (all []string) {
	for _, name := range names {
		if dir := reportOf(reports, name); dir == "" || ofClient().MatchString(name) && path.Dir(path.Dir(name)) == dir {
			continue
		}
		if mayBeOfReport(name) || kindByName(name) == ".json" && clientFolder().MatchString(path.Base(path.Dir(name))) {
			all = append(all, name)
		}
	}
	return all
}

// mayBeOfReport says whether a file has the name of one of a report, or of a copy of one.
func mayBeOfReport(name string) bool {
	base := originalName(name)
	return base == "operations.json" || base == "watch.json"
}

// reported returns the source of a report, whose files are read as one text. A client whose files are not there, or not
// regular ones, is an error when it is read.
func reported(dir string, names []string, others []hidden, source func(name string) Source) Source {
	slices.SortFunc(names, func(a, b string) int { return compareClients(a, b) })
	s := source(names[0])
	root := strings.TrimSuffix(s.Path, names[0])
	s = Source{Path: strings.TrimSuffix(root, "/"), archive: s.archive, InOrder: s.InOrder}
	if dir != "." {
		s.Path, s.Test, s.Below = root+dir, dir, dir
	} else if s.Path == "" {
		s.Path = "."
	}
	missing := missingClients(dir, names, others)
	s.open = func(ctx context.Context) (io.ReadCloser, error) {
		if missing != nil {
			return nil, missing
		}
		joined := &files.Joined{}
		for _, name := range names {
			part := source(name)
			joined.Parts = append(joined.Parts, files.Part{Name: part.Path, Open: func() (io.ReadCloser, error) { return part.OpenWithin(ctx) }})
		}
		return joined, nil
	}
	return s
}

// compareClients puts files of clients in the order of their numbers.
func compareClients(a, b string) int {
	if la, lb := len(path.Dir(a)), len(path.Dir(b)); la != lb {
		return la - lb
	}
	return strings.Compare(a, b)
}

// missingClients returns an error about clients of a report that have no file, or something else in its place.
func missingClients(dir string, names []string, others []hidden) error {
	var wrong []error
	for _, o := range others {
		switch client := path.Dir(o.name); {
		case ofClient().MatchString(o.name) && path.Dir(client) == dir:
			wrong = append(wrong, fmt.Errorf("%s is a %s and not a file", o.name, o.kind.one))
		case o.kind == kinds[5] && client == dir && clientFolder().MatchString(path.Base(o.name)) &&
			!slices.ContainsFunc(names, func(name string) bool { return path.Dir(name) == o.name }):
			wrong = append(wrong, fmt.Errorf("%s has no operations.json and no watch.json", o.name))
		}
	}
	return errors.Join(wrong...)
}
