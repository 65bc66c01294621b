package batch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/internal/outputs"
	"clew/internal/page"
	"clew/internal/shards"
	"clew/internal/store"
	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// Folders get files about histories. One gets the core of each history that is not linearizable, which makes it a
// store of them. The other one gets a page of each history that is not valid, and an index of all.
type Folders struct {
	cores, pages folder
	style        string // of pages
}

// folder is a folder that gets a file for each of several histories.
type folder struct {
	option option.Option
	dir    string // "" if there is none
	ext    string // the extension of its files
	first  string // a file that it gets in any case, or ""
	listed bool   // a list says which of its files clew wrote
	lost   error  // why it cannot be written
}

const indexPage = "index.html"

// NewFolders returns the folders at two paths, "" for none.
func NewFolders(cores, pages, style string) *Folders {
	return &Folders{
		cores: folder{option: option.Evidence, dir: cores, ext: ".edn", listed: true},
		pages: folder{option: option.Pages, dir: pages, ext: outputs.HTML.Extension, first: indexPage},
		style: style,
	}
}

// CheckStyle returns an error if pages do not have a style.
func CheckStyle(style string) error {
	if !slices.Contains(outputs.Styles, style) {
		return fmt.Errorf("%s must be %s, not %q", option.PageStyle, text.OneOf(outputs.Styles), style)
	}
	return nil
}

// Asked reports whether there is a folder.
func (o *Folders) Asked() bool { return o.cores.dir != "" || o.HavePages() }

// HavePages reports whether there is a folder of pages.
func (o *Folders) HavePages() bool { return o.pages.dir != "" }

// Outside returns an error if the folder of cores is one of those that are read, or is inside one.
func (o *Folders) Outside(paths []string) error { return o.cores.outside(paths) }

// Check returns an error if a file in a folder is an input, or if two histories would write it. to says what else
// goes to which file.
func (o *Folders) Check(jobs []*Job, inputs files.Set, to map[string]string) error {
	asRuns(jobs)
	for _, f := range []folder{o.cores, o.pages} {
		if err := f.check(jobs, inputs, to); err != nil {
			return err
		}
	}
	return nil
}

// Inputs returns the files that the jobs read, and those of them that are not archives.
func Inputs(jobs []*Job) (all files.Set, plain []string) {
	all = files.Set{}
	for _, j := range jobs {
		if !j.Member() {
			plain = append(plain, j.File())
		}
		all.Add(j.File())
		all.Add(j.ModelFile)
	}
	return all, plain
}

// Probe returns which folders cannot be written. They get no files then.
func (o *Folders) Probe() error {
	var all []error
	for _, f := range []*folder{&o.cores, &o.pages} {
		if f.dir == "" {
			continue
		}
		err := os.MkdirAll(f.dir, 0o777)
		if err == nil {
			err = files.To(filepath.Join(f.dir, "history"+f.ext), nil, nil).Probe()
		}
		if err != nil {
			f.lost = fmt.Errorf("%s %s: %w", f.option, f.dir, files.Reason(err))
			all = append(all, f.lost)
		}
	}
	return errors.Join(all...)
}

// Core returns what writes the core of a result, or nil if none is to be written. That does not hold on to the
// history, since many results may wait to be printed.
func (o *Folders) Core(j *Job, r *report.Result) func(context.Context) error {
	if !o.cores.wanted() || r.Verdict != jepsen.Invalid || r.FirstFailing().Core == nil {
		return nil
	}
	var core bytes.Buffer
	path, lost := o.cores.fileOf(j), r.WriteCore(&core)
	return func(ctx context.Context) error {
		if lost != nil {
			return fmt.Errorf("%s: %w", path, lost)
		}
		return o.cores.put(ctx, path, core.Bytes())
	}
}

// outside returns an error if the folder is one of those that are read or is inside one. The next check would take
// the files in it for histories.
func (f folder) outside(paths []string) error {
	if f.dir == "" {
		return nil
	}
	for _, path := range paths {
		read, err := os.Stat(path)
		if err != nil || !read.IsDir() {
			continue
		}
		dir, err := filepath.EvalSymlinks(f.dir)
		if err != nil {
			dir = f.dir // the folder does not exist yet
		}
		for dir, _ = filepath.Abs(dir); ; dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && os.SameFile(info, read) {
				return fmt.Errorf("%s %s: clew reads %s, and would read evidence in it as histories next time; expected a folder outside of it", f.option, f.dir, path)
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}

// check returns an error if a file in the folder is read, or if two histories would write it. to says what goes to
// which file.
func (f folder) check(jobs []*Job, inputs files.Set, to map[string]string) error {
	if f.dir == "" {
		return nil
	}
	if f.first != "" {
		path := filepath.Join(f.dir, f.first)
		out := files.To(path, nil, nil)
		if err := Apart(fmt.Sprint(f.option, " ", path), out, inputs); err != nil {
			return err
		}
		if other := to[out.File()]; other != "" {
			return fmt.Errorf("%s and %s both go to %s; expected a file for each", other, f.option, path)
		}
		to[out.File()] = f.first
	}
	for _, j := range jobs {
		if j.Missing != nil {
			continue
		}
		path := f.fileOf(j)
		out := files.To(path, nil, nil)
		if other, taken := to[out.File()]; taken && other != filepath.Clean(j.Path) {
			return fmt.Errorf("%s %s: %s and %s both go to %s; expected paths that differ below a folder", f.option, f.dir, other, j.Path, path)
		}
		to[out.File()] = filepath.Clean(j.Path)
		if err := cmp.Or(Apart(fmt.Sprint(f.option, " ", path), out, inputs), Alien(fmt.Sprint(f.option, " ", path), out, nil)); err != nil {
			return err
		}
		if f.listed {
			if err := files.Foreign(f.dir, path); err != nil {
				return fmt.Errorf("%s %w", f.option, err)
			}
		}
	}
	return nil
}

func (f folder) wanted() bool { return f.dir != "" && f.lost == nil }

// fileOf returns the file in the folder for a history. Its path below the folder is the history's path below the
// root, or below the folder that clew runs in. So the evidence of a store is a store.
func (f folder) fileOf(j *Job) string {
	path := text.Line(filepath.FromSlash(j.Path))
	drive := filepath.VolumeName(path) // C: cannot be the name of a folder; on Unix there are no drives
	path = filepath.Join(string(filepath.Separator), strings.TrimSuffix(drive, ":"), path[len(drive):])
	if j.Path == "-" {
		path = "standard-input"
	}
	switch {
	case f.ext != ".edn":
		path = strings.TrimSuffix(path, ".edn")
	case j.asRun:
		path = filepath.Join(filepath.Dir(path), "history.edn")
	}
	if filepath.Ext(path) != f.ext {
		path += f.ext
	}
	return filepath.Join(f.dir, path)
}

// asRuns has the core of a run without a history.edn, such as one that has a history.txt, written as the history.edn
// of its folder. A check of the folder would leave it out under another name. The first history of a folder counts.
func asRuns(jobs []*Job) {
	by := map[string]string{} // by folder: whose core its history.edn is
	for _, j := range jobs {
		if dir, name := filepath.Split(j.Path); name == "history.edn" {
			by[dir] = j.Path
		}
	}
	for _, j := range jobs {
		dir, name := filepath.Split(j.Path)
		if by[dir] == "" && store.IsRunFile(name) {
			by[dir] = j.Path
		}
		j.asRun = by[dir] == j.Path
	}
}

func (f folder) put(ctx context.Context, path string, content []byte) error {
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = UnlessBlocked(ctx, func() error { return files.List(f.dir, path, content) })
	}
	if err == nil {
		err = WriteWithin(ctx, files.To(path, nil, nil), func(w io.Writer) error { _, err := w.Write(content); return err })
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.option, path, files.Reason(err))
	}
	return nil
}

// Row is what an index of pages says about a history.
type Row struct {
	run  page.Run
	link string // to its page, "" if it has none
}

func (r *Row) page() string {
	if r == nil {
		return ""
	}
	return r.link
}

func newRow(j *Job, r *report.Result, link string) *Row {
	return &Row{page.NewRun(report.NewRun(j.Test, j.Time, r), r.Line(), link), link}
}

// Page writes the page of a history into the folder of pages if it is not valid, and returns what the index says
// about it, nil if there is no folder. It writes at once, since many results may wait to be printed. Work that was
// left behind may still call it, so it does not touch the job.
func (o *Folders) Page(ctx context.Context, j *Job, r *report.Result) (row *Row, err error) {
	if !o.pages.wanted() {
		return nil, nil
	}
	link := ""
	if r.Verdict == jepsen.Invalid || r.Verdict == jepsen.Unknown && r.History != nil && r.Cause != jepsen.NotJudged && o.style != outputs.Styles[1] {
		link, err = o.Write(j, func(file string) error {
			return WriteEvidence(ctx, files.To(file, nil, nil), &outputs.HTML, r, &outputs.EvidenceOptions{Style: o.style})
		})
	}
	return newRow(j, r, link), err
}

// Write has the page of a history written to a file in the folder of pages, and returns the link to it from the index.
func (o *Folders) Write(j *Job, write func(file string) error) (link string, err error) {
	if !o.pages.wanted() {
		return "", nil
	}
	file := o.pages.fileOf(j)
	if err = os.MkdirAll(filepath.Dir(file), 0o777); err == nil {
		err = write(file)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", o.pages.option, file, files.Reason(err))
	}
	if rel, err := filepath.Rel(o.pages.dir, file); err == nil {
		link = (&url.URL{Path: filepath.ToSlash(rel)}).String()
	}
	return link, nil
}

// IndexFrom returns the link from a page to the index.
func (o *Folders) IndexFrom(file string) string {
	rel, err := filepath.Rel(filepath.Dir(file), filepath.Join(o.pages.dir, indexPage))
	if err != nil {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(rel)}).String()
}

// WriteIndex writes an index of the pages.
func (o *Folders) WriteIndex(ctx context.Context, write func(io.Writer) error) error {
	if !o.pages.wanted() {
		return nil
	}
	return o.pages.index(ctx, write)
}

// Stale names the files of an earlier run about a history for which this run writes none.
func (o *Folders) Stale(j *Job, r *report.Result, row *Row) (said []string) {
	for _, f := range []struct {
		folder
		written bool
	}{{o.cores, r.Verdict == jepsen.Invalid}, {o.pages, row.page() != ""}} {
		if f.written || !f.wanted() {
			continue
		}
		if path := f.fileOf(j); IsFile(path) {
			said = append(said, fmt.Sprintf("%s is from an earlier run: the history is now %s", path, r.Verdict))
		}
	}
	return said
}

// Index writes the index of the pages.
func (o *Folders) Index(ctx context.Context, jobs []*Job) error {
	var runs []page.Run
	for _, j := range jobs {
		row := j.Row
		if row == nil {
			row = newRow(j, &report.Result{File: j.Path, Cause: "not checked"}, "")
		}
		runs = append(runs, row.run)
	}
	return o.WriteIndex(ctx, func(w io.Writer) error { return page.WriteIndex(w, "histories", runs) })
}

func (f folder) index(ctx context.Context, write func(io.Writer) error) error {
	file := filepath.Join(f.dir, f.first)
	err := os.MkdirAll(f.dir, 0o777)
	if err == nil {
		err = WriteWithin(ctx, files.To(file, nil, nil), write)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.option, file, files.Reason(err))
	}
	return nil
}

// Apart returns an error if an output is also read.
func Apart(name string, to *files.Output, inputs files.Set) error {
	if inputs.Has(to) {
		return fmt.Errorf("%s: this is an input of clew; expected another file", name)
	}
	return nil
}

// Foreign returns an error if an output would replace a file that clew did not write: one with another beginning. An
// empty file may be replaced.
func Foreign(name string, to *files.Output, head string) error {
	if to.Through() {
		return nil
	}
	f, err := os.Open(to.File())
	if err != nil {
		return nil // nothing is there, or writing it says why
	}
	defer f.Close()
	found := make([]byte, len(head))
	if n, _ := io.ReadFull(f, found); n > 0 && string(found[:n]) != head {
		return fmt.Errorf("%s: clew did not write this file; move it away, or give another one", name)
	}
	return nil
}

// Alien returns an error if a later check would take an output for a file of a run. Such an output is named like a
// file that Jepsen writes. It would be beside another file with such a name, beside what is read, or beside another
// such output.
func Alien(name string, to *files.Output, read []string, with ...*files.Output) error {
	dir, base := filepath.Split(to.File())
	if to.Through() || !store.IsRunFile(base) {
		return nil
	}
	beside := read
	for _, run := range store.RunFiles {
		for _, packing := range []string{"", ".gz", ".zst"} {
			if _, err := os.Lstat(dir + run + packing); err == nil && run+packing != base {
				beside = append(beside, dir+run+packing)
			}
		}
	}
	for _, other := range with {
		if store.IsRunFile(filepath.Base(other.File())) && !other.Through() && !other.Same(to) {
			beside = append(beside, other.File())
		}
	}
	for _, path := range beside {
		own, err := filepath.Abs(filepath.Dir(path))
		if real, linked := filepath.EvalSymlinks(own); linked == nil {
			own = real
		}
		if err == nil && own == filepath.Clean(dir) {
			return fmt.Errorf("%s: a later check would mistake it for Jepsen's own file beside %s; expected another name or folder", name, filepath.Base(path))
		}
	}
	return nil
}

// WriteWithin lets a function write an output until the context is done.
func WriteWithin(ctx context.Context, to *files.Output, write func(io.Writer) error) error {
	return UnlessBlocked(ctx, func() error {
		return to.Write(func(w io.Writer) error { return write(limits.Writer(ctx, w)) })
	})
}

// IsFile reports whether there is a file, such as one that an earlier run has written.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// WriteEvidence writes one kind of evidence until the context is done.
func WriteEvidence(ctx context.Context, to *files.Output, kind *outputs.Evidence, r *report.Result, how *outputs.EvidenceOptions) error {
	return WriteWithin(ctx, to, func(w io.Writer) error {
		write, err := kind.Writer(ctx, r, how)
		if err != nil {
			return err
		}
		return write(w)
	})
}

// IndexShards writes the index of the pages that shards wrote into a folder.
func IndexShards(ctx context.Context, dir string, lines []shards.Line) error {
	runs := make([]page.Run, len(lines))
	for i, l := range lines {
		runs[i] = page.NewRun(l.Run.Run, l.Line, l.Run.Page)
	}
	return NewFolders("", dir, "").WriteIndex(ctx, func(w io.Writer) error { return page.WriteIndex(w, "histories", runs) })
}
