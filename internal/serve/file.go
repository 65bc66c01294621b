package serve

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"clew/internal/page"
	"clew/internal/store"
)

// maxLinks bounds how many files of a run its page leads to. A list has the others.
const maxLinks = 24

// firstFiles are the files of a run that its page leads to first. A clew.html may be for a model, as clew-register.html is.
var firstFiles = []string{resultsName, "jepsen.log", "history.edn", "history.txt", "test.jepsen", "timeline.html", "linear.svg", "clew.html", "clew.svg", "latency-raw.png", "latency-quantiles.png", "rate.png"}

// maxNames bounds how many files of a folder are looked at.
const maxNames = 10_000

// links returns the links of the page of a run.
func (s *Server) links(r *run) []page.Link {
	links := []page.Link{{Name: "all runs", Address: "/"}, {Name: "all files", Address: address("files", r.path)}}
	root, err := s.open(r)
	if err != nil {
		return links
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return links
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxNames)
	first := func(name string) int {
		if strings.HasPrefix(name, "clew-") {
			name = "clew" + path.Ext(name)
		}
		return (slices.Index(firstFiles, name) + len(firstFiles) + 1) % (len(firstFiles) + 1)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(first(a)-first(b), strings.Compare(a, b)) })
	for _, name := range names {
		if at := path.Join(r.path, name); len(links) < maxLinks && addressable(at) {
			links = append(links, page.Link{Name: name, Address: address("files", at)})
		}
	}
	return links
}

// file answers with a file of a run, or with a list of those in a folder. Links that lead out of the run are not
// followed.
func (s *Server) file(w http.ResponseWriter, r *http.Request, run *run, below []string) {
	root, err := s.open(run)
	if err != nil {
		notFound(w)
		return
	}
	defer root.Close()
	name := path.Join(append([]string{"."}, below...)...)
	info, err := root.Stat(name)
	switch {
	case err != nil:
		notFound(w)
	case info.IsDir():
		s.folder(w, run, root, name)
	case !info.Mode().IsRegular():
		refuse(w, http.StatusForbidden, "this is not a regular file")
	default:
		f, err := store.OpenRegular(root, name)
		if err != nil {
			notFound(w)
			return
		}
		defer f.Close()
		hand(w, r, path.Base(name), f)
	}
}

// hand answers with a file. A browser shows texts and pictures. It shows pages, too, but runs no script of theirs.
// Everything else is for saving.
func hand(w http.ResponseWriter, r *http.Request, name string, f *os.File) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		notFound(w)
		return
	}
	kind := "application/octet-stream"
	switch lower := strings.ToLower(name); {
	case hasName(lower, ".edn", ".log", ".txt", ".json", ".jsonl", ".csv", ".tsv", ".md", ".yml", ".yaml", ".conf", ".cfg", ".ini", ".out", ".err", ".clj"):
		kind = "text/plain; charset=utf-8"
	case hasName(lower, ".png"):
		kind = "image/png"
	case hasName(lower, ".svg"):
		kind = "image/svg+xml"
	case hasName(lower, ".html"):
		kind = "text/html; charset=utf-8"
	default:
		w.Header().Set("Content-Disposition", "attachment")
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", sandboxPolicy)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// maxFiles bounds how many files a list has.
const maxFiles = 2_000

// folder answers with a list of the files in a folder of a run.
func (s *Server) folder(w http.ResponseWriter, run *run, root *os.Root, name string) {
	dir, err := root.Open(name)
	if err != nil {
		notFound(w)
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxNames)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	at := path.Join(run.path, name)
	l := page.List{Title: path.Join(s.root.Name(), at), Columns: []string{"file", "", "bytes", "changed", ""}}
	l.Links = []page.Link{{Name: "all runs", Address: "/"}, {Name: "this run", Address: address("run", run.path)}}
	if name != "." {
		l.Links = append(l.Links, page.Link{Name: "the folder above", Address: address("files", path.Dir(at))})
	}
	left := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() && !e.Type().IsRegular() || len(l.Rows) == maxFiles {
			left++
			continue
		}
		row := page.Row{Name: e.Name(), Cells: []string{fmt.Sprint(info.Size()), info.ModTime().UTC().Format(time.DateTime)}}
		if e.IsDir() {
			row.Name, row.Cells[0] = e.Name()+"/", ""
		}
		if in := path.Join(at, e.Name()); addressable(in) {
			row.Link = address("files", in)
		}
		l.Rows = append(l.Rows, row)
	}
	if l.Summary = fmt.Sprintf("%d files and folders", len(l.Rows)); left > 0 {
		l.Note = fmt.Sprintf("%d more are links, pipes and the like, or too many, and are not listed", left)
	}
	s.list(w, l)
}
