package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"clew/internal/files"
)

// A report of etcd's robustness tests is a folder in which each client has a folder, with its operations, its watches,
// or both. All of a report is one history.
var (
	ofClient     = regexp.MustCompile(`^(?:.*/)?client-[0-9]+/(?:operations|watch)\.json$`)
	clientFolder = regexp.MustCompile(`^client-[0-9]+$`)
)

// reportsAmong returns the folders that are reports, with a / behind unless it is the root, each with its files.
func reportsAmong(names []string) map[string][]string {
	reports := map[string][]string{}
	for _, name := range names {
		if ofClient.MatchString(name) {
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

// report returns the source of a report, whose files are read as one text. A client whose files are not there, or not
// regular ones, is an error when it is read.
func report(dir string, names []string, others []hidden, source func(name string) Source) Source {
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
		case ofClient.MatchString(o.name) && path.Dir(client) == dir:
			wrong = append(wrong, fmt.Errorf("%s is a %s and not a file", o.name, o.kind.one))
		case o.kind == kinds[5] && client == dir && clientFolder.MatchString(path.Base(o.name)) &&
			!slices.ContainsFunc(names, func(name string) bool { return path.Dir(name) == o.name }):
			wrong = append(wrong, fmt.Errorf("%s has no operations.json and no watch.json", o.name))
		}
	}
	return errors.Join(wrong...)
}
