package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/urfave/cli/v2"

	"clew/internal/batch"
	"clew/internal/certificate"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
	"clew/internal/page"
	"clew/internal/store"
	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// open opens a file, or "-" for standard input, and returns the name by which messages call it. Standard input stays
// open.
func open(path string) (in io.ReadCloser, name string, err error) {
	if path == "-" {
		return io.NopCloser(os.Stdin), "standard input", nil
	}
	in, err = files.Open(path)
	return in, path, err
}

// newFile writes a new file into the folder that clew runs in, and returns its name. The name has a number if the
// name without one is taken.
func newFile(name, ext string, write func(io.Writer) error) (file string, err error) {
	for n := 1; ; n++ {
		if file = name + ext; n > 1 {
			file = fmt.Sprintf("%s-%d%s", name, n, ext)
		}
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case errors.Is(err, os.ErrExist):
			continue
		case err != nil:
			return "", err
		}
		return file, errors.Join(write(f), f.Close())
	}
}

// readWitness reads an order of a history's operations.
func readWitness(ctx context.Context, memory int64, path string, h *jepsen.History) ([]jepsen.Operation, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.ReadWitness(limits.Reader(ctx, f, memory), path, h)
}

// evidence says what to write to prove a verdict.
type evidence struct {
	files []*proof // one for each flag that was given
	cores folder   // of every history that is invalid
	pages folder   // of every history that is not valid, and an index of all
	how   outputs.EvidenceOptions
}

// noHistory returns the error of a check without a history. An output may have been given the history for its file.
func (e *evidence) noHistory() error {
	for _, p := range e.files {
		if info, err := os.Stat(p.path); err == nil && info.Mode().IsRegular() {
			return fmt.Errorf("no history given: %s is the FILE that %s writes, and the history comes after it", p.path, p.flag)
		}
	}
	return errors.New("no history given; clew check --help shows how")
}

// folder is a folder that gets a file for each of several histories.
type folder struct {
	flag, dir string // the dir is "" if none is asked for
	ext       string // the extension of its files
	first     string // a file that it gets in any case, or ""
	listed    bool   // a list says which of its files clew wrote
	lost      error  // why it cannot be written
}

// proof is one kind of evidence and the file for it.
type proof struct {
	outputs.Evidence
	flag, path string
	to         *files.Output
	lost       error // why it cannot be written
}

// givenEvidence returns the evidence that the flags ask for.
func givenEvidence(c *cli.Context, stdout, stderr io.Writer) *evidence {
	e := &evidence{
		cores: folder{flag: "--evidence", dir: c.String("evidence"), ext: ".edn", listed: true},
		pages: folder{flag: "--html-dir", dir: c.String("html-dir"), ext: outputs.HTML.Extension, first: indexPage},
		how:   outputs.EvidenceOptions{Style: c.String("html-style")},
	}
	for _, kind := range outputs.AllEvidence {
		if path := c.String(kind.Name); path != "" {
			e.files = append(e.files, &proof{Evidence: kind, flag: "--" + kind.Name, path: path, to: files.To(path, stdout, stderr)})
		}
	}
	return e
}

// asked reports whether any evidence is to be written.
func (e *evidence) asked() bool { return e.cores.dir != "" || e.pages.dir != "" || len(e.files) > 0 }

// toStdout reports whether standard output is for evidence, and not for results.
func (e *evidence) toStdout() bool {
	return slices.ContainsFunc(e.files, func(p *proof) bool { return p.to.Descriptor("1") })
}

// check returns an error if an output would destroy something: a file that is read, or another output.
func (e *evidence) check(paths []string, jobs []*job, models string, stdout io.Writer) error {
	if err := e.cores.outside(paths); err != nil {
		return err
	}
	inputs := files.Set{}
	inputs.Add(models)
	var read []string // files that are not archives
	for _, j := range jobs {
		if !j.Member() {
			read = append(read, j.File())
		}
		inputs.Add(j.File())
		inputs.Add(j.ModelFile)
	}
	results := files.To("-", stdout, stdout)
	to := map[string]string{} // what goes to which file
	for i, p := range e.files {
		to[p.to.File()] = p.flag
		var others []*files.Output
		for _, other := range e.files {
			others = append(others, other.to)
		}
		if err := cmp.Or(apart(p.flag+" "+p.path, p.to, inputs), alien(p.flag+" "+p.path, p.to, slices.Clip(read), others...)); err != nil {
			return err
		}
		if !p.to.Descriptor("1") && !p.to.Through() && p.to.Same(results) {
			return fmt.Errorf("%s %s: that is standard output, where the results go; expected another file, or -", p.flag, p.path)
		}
		for _, other := range e.files[:i] {
			if p.to.Same(other.to) {
				return fmt.Errorf("%s and %s both go to %s; expected a file for each", other.flag, p.flag, p.path)
			}
		}
	}
	asRuns(jobs)
	for _, f := range []folder{e.cores, e.pages} {
		if err := f.check(jobs, inputs, to, stdout); err != nil {
			return err
		}
	}
	return nil
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
				return fmt.Errorf("%s %s: clew reads %s, and would read evidence in it as histories next time; expected a folder outside of it", f.flag, f.dir, path)
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
func (f folder) check(jobs []*job, inputs files.Set, to map[string]string, stdout io.Writer) error {
	if f.dir == "" {
		return nil
	}
	if f.first != "" {
		path := filepath.Join(f.dir, f.first)
		out := files.To(path, stdout, stdout)
		if err := apart(f.flag+" "+path, out, inputs); err != nil {
			return err
		}
		if other := to[out.File()]; other != "" {
			return fmt.Errorf("%s and %s both go to %s; expected a file for each", other, f.flag, path)
		}
		to[out.File()] = f.first
	}
	for _, j := range jobs {
		if j.Missing != nil {
			continue
		}
		path := f.fileOf(j)
		out := files.To(path, stdout, stdout)
		if other, taken := to[out.File()]; taken && other != filepath.Clean(j.Path) {
			return fmt.Errorf("%s %s: %s and %s both go to %s; expected paths that differ below a folder", f.flag, f.dir, other, j.Path, path)
		}
		to[out.File()] = filepath.Clean(j.Path)
		if err := cmp.Or(apart(f.flag+" "+path, out, inputs), alien(f.flag+" "+path, out, nil)); err != nil {
			return err
		}
		if f.listed {
			if err := files.Foreign(f.dir, path); err != nil {
				return fmt.Errorf("%s %w", f.flag, err)
			}
		}
	}
	return nil
}

// apart returns an error if an output is also read.
func apart(name string, to *files.Output, inputs files.Set) error {
	if inputs.Has(to) {
		return fmt.Errorf("%s: this is an input of clew; expected another file", name)
	}
	return nil
}

// alien returns an error if a later check would take an output for a file of a run. Such an output is named like a
// file that Jepsen writes. It would be beside another file with such a name, beside what is read, or beside another
// such output.
func alien(name string, to *files.Output, read []string, with ...*files.Output) error {
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

// probe returns which outputs cannot be written, before a search takes its time for them. The check goes on all the
// same: the verdict stands without evidence.
func (e *evidence) probe() error {
	var all []error
	for _, p := range e.files {
		if err := p.to.Probe(); err != nil {
			p.lost = fmt.Errorf("%s %s: %w", p.flag, p.path, err)
			all = append(all, p.lost)
		}
	}
	for _, f := range []*folder{&e.cores, &e.pages} {
		if f.dir == "" {
			continue
		}
		err := os.MkdirAll(f.dir, 0o777)
		if err == nil {
			err = files.To(filepath.Join(f.dir, "history"+f.ext), nil, nil).Probe()
		}
		if err != nil {
			f.lost = fmt.Errorf("%s %s: %w", f.flag, f.dir, files.Reason(err))
			all = append(all, f.lost)
		}
	}
	return errors.Join(all...)
}

// of returns what writes a result's evidence, or nil if nothing is to be written. If there are many results, it does
// not hold on to their histories.
func (e *evidence) of(j *job, r *report.Result, stderr io.Writer) writing {
	var core bytes.Buffer
	var lost error
	inDir := e.cores.wanted() && r.Verdict == jepsen.Invalid && r.FirstFailing().Core != nil
	if inDir {
		lost = r.WriteCore(&core)
	}
	if len(e.files) == 0 && !inDir {
		return nil
	}
	how := e.how
	how.Certificate = certificate.Options{AllClients: j.AllClients, Keyless: j.Keyless}
	how.SHA256 = func(ctx context.Context) (string, error) { return fingerprint(ctx, j.From(r.History)) }
	path, result := e.cores.fileOf(j), r
	if len(e.files) == 0 {
		result = nil
	}
	return func(ctx context.Context) error {
		var failed []error
		switch {
		case lost != nil:
			failed = append(failed, fmt.Errorf("%s: %w", path, lost))
		case inDir:
			failed = append(failed, e.cores.put(ctx, path, core.Bytes()))
		}
		for _, p := range e.files {
			failed = append(failed, p.put(ctx, result, &how, stderr))
		}
		return errors.Join(failed...)
	}
}

// writeWithin lets a function write an output until the context is done.
func writeWithin(ctx context.Context, to *files.Output, write func(io.Writer) error) error {
	return batch.UnlessBlocked(ctx, func() error {
		return to.Write(func(w io.Writer) error { return write(limits.Writer(ctx, w)) })
	})
}

// put writes a core and creates the folders above it.
func (f folder) put(ctx context.Context, path string, content []byte) error {
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = batch.UnlessBlocked(ctx, func() error { return files.List(f.dir, path, content) })
	}
	if err == nil {
		err = writeWithin(ctx, files.To(path, nil, nil), func(w io.Writer) error { _, err := w.Write(content); return err })
	}
	if err != nil {
		return fmt.Errorf("--evidence %s: %w", path, files.Reason(err))
	}
	return nil
}

// stale names the files of an earlier run about a history for which this run writes none.
func (e *evidence) stale(j *job, r *report.Result) (said []string) {
	for _, f := range []struct {
		folder
		written bool
	}{{e.cores, r.Verdict == jepsen.Invalid}, {e.pages, j.link != ""}} {
		if f.written || !f.wanted() {
			continue
		}
		if path := f.fileOf(j); isFile(path) {
			said = append(said, fmt.Sprintf("%s is from an earlier run: the history is now %s", path, r.Verdict))
		}
	}
	return said
}

// isFile reports whether there is a file, such as one that an earlier run has written.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// wanted reports whether the folder gets files.
func (f folder) wanted() bool { return f.dir != "" && f.lost == nil }

// fileOf returns the file in the folder for a history. Its path below the folder is the history's path below the
// root, or below the folder that clew runs in. So the evidence of a store is a store.
func (f folder) fileOf(j *job) string {
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
func asRuns(jobs []*job) {
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

// indexPage is the file that lists the pages of a folder.
const indexPage = "index.html"

// checkStyle returns an error if the style does not exist, or if it is given and no page is written.
func (e *evidence) checkStyle(given bool) error {
	pages := e.pages.dir != "" || slices.ContainsFunc(e.files, func(p *proof) bool { return p.Name == outputs.HTML.Name })
	switch {
	case !slices.Contains(outputs.Styles, e.how.Style):
		return fmt.Errorf("--html-style must be %s, not %q", text.OneOf(outputs.Styles), e.how.Style)
	case given && !pages:
		return errors.New("--html-style requires --html FILE or --html-dir DIR")
	}
	return nil
}

// fingerprint returns the SHA-256 of a history's file, or "" if the file can be read only once.
func fingerprint(ctx context.Context, s store.Source) (string, error) {
	if !s.Member() {
		if info, err := os.Stat(s.Path); s.Path == "-" || err != nil || !info.Mode().IsRegular() {
			return "", nil
		}
	}
	in, err := s.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, limits.Reader(ctx, in, 0)); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// pageOf writes the page of a history into the folder of pages if it is not valid, and notes what the index says of
// it. It writes at once, since many results may wait to be printed.
func (e *evidence) pageOf(ctx context.Context, j *job, r *report.Result) (err error) {
	if !e.pages.wanted() {
		return nil
	}
	link := ""
	if file := e.pages.fileOf(j); r.Verdict == jepsen.Invalid || r.Verdict == jepsen.Unknown && r.History != nil && e.how.Style != outputs.Styles[1] {
		if err = os.MkdirAll(filepath.Dir(file), 0o777); err == nil {
			err = writeEvidence(ctx, files.To(file, nil, nil), &outputs.HTML, r, &e.how)
		}
		if err != nil {
			err = fmt.Errorf("%s %s: %w", e.pages.flag, file, files.Reason(err))
		} else if rel, relErr := filepath.Rel(e.pages.dir, file); relErr == nil {
			link = (&url.URL{Path: filepath.ToSlash(rel)}).String()
		}
	}
	j.link = link
	run := page.NewRun(report.NewRun(j.Test, j.Time, r), r.Line(), link)
	j.run = &run
	return err
}

// index writes the index of the pages.
func (e *evidence) index(ctx context.Context, jobs []*job) error {
	if !e.pages.wanted() {
		return nil
	}
	var runs []page.Run
	for _, j := range jobs {
		if j.run == nil {
			none := &report.Result{File: j.Path, Cause: "not checked"}
			run := page.NewRun(report.NewRun(j.Test, j.Time, none), none.Line(), "")
			j.run = &run
		}
		runs = append(runs, *j.run)
	}
	return e.pages.index(ctx, runs)
}

// index writes the index of the folder.
func (f folder) index(ctx context.Context, runs []page.Run) error {
	file := filepath.Join(f.dir, f.first)
	err := os.MkdirAll(f.dir, 0o777)
	if err == nil {
		err = writeWithin(ctx, files.To(file, nil, nil), func(w io.Writer) error { return page.WriteIndex(w, "histories", runs) })
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.flag, file, files.Reason(err))
	}
	return nil
}

// put writes the evidence in a result. If the result does not have it, put says so on stderr.
func (p *proof) put(ctx context.Context, r *report.Result, how *outputs.EvidenceOptions, stderr io.Writer) error {
	if p.lost != nil {
		return nil // already reported
	}
	if nothing := p.Lacks(r, how); nothing != "" {
		if isFile(p.path) {
			nothing += "; " + p.path + " is unchanged"
		}
		fmt.Fprintf(stderr, "clew: %s: nothing to write for %s: %s\n", text.Line(r.File), p.flag, nothing)
		return nil
	}
	if err := writeEvidence(ctx, p.to, &p.Evidence, r, how); err != nil {
		return fmt.Errorf("%s %s: %w", p.flag, p.path, err)
	}
	return nil
}

// writeEvidence writes one kind of evidence until the context is done.
func writeEvidence(ctx context.Context, to *files.Output, kind *outputs.Evidence, r *report.Result, how *outputs.EvidenceOptions) error {
	return writeWithin(ctx, to, func(w io.Writer) error {
		write, err := kind.Writer(ctx, r, how)
		if err != nil {
			return err
		}
		return write(w)
	})
}

// printWhole writes a text through whole or not at all. Until the text is whole, memory holds it, compressed: there
// may be no disk to write to.
func printWhole(to *files.Output, write func(io.Writer) error) error {
	var held bytes.Buffer
	in, err := zstd.NewWriter(&held, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	if err := write(in); err != nil {
		return err
	}
	if err := in.Close(); err != nil {
		return err
	}
	out, err := zstd.NewReader(&held)
	if err != nil {
		return err
	}
	defer out.Close()
	return to.Write(func(w io.Writer) error { _, err := io.Copy(w, out); return err })
}
