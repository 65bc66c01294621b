package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode"

	"github.com/klauspost/compress/zstd"
	"github.com/urfave/cli/v2"

	"clew/internal/batch"
	"clew/internal/certificate"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/outputs"
	"clew/internal/store"
	"clew/internal/text"
	"clew/jepsen"
	"clew/report"
)

// open opens a file, or "-" for standard input, and returns the name by which messages call it. Standard input stays
// open.
func (r *runner) open(path string) (in io.ReadCloser, name string, err error) {
	if path == "-" {
		return io.NopCloser(r.stdin), "standard input", nil
	}
	in, err = files.Open(path)
	return in, path, err
}

// notEmpty returns a standard input, unpacked, whose end is an error if nothing but white space came before it. A plain file
// that begins with something else is itself.
func notEmpty(in io.Reader) io.Reader {
	if f, is := in.(*os.File); is {
		head := make([]byte, 4)
		if n, err := f.ReadAt(head, 0); err == nil && !isBlank(head[:n]) && !files.IsPacked(head) {
			return in
		}
	}
	return &nonEmpty{packed: in}
}

type nonEmpty struct {
	packed, in io.Reader // in is nil before the first read
	some       bool
}

// Whole returns what the input is, so that a file that is written to is noticed.
func (r *nonEmpty) Whole() files.Stamp { return files.StampOf(r.packed) }

func (r *nonEmpty) Read(p []byte) (n int, err error) {
	if r.in == nil {
		if r.in, _, err = files.Decompress(bufio.NewReaderSize(r.packed, 64<<10)); err != nil {
			return 0, err
		}
	}
	n, err = r.in.Read(p)
	if r.some = r.some || !isBlank(p[:n]); err == io.EOF && !r.some {
		err = errEmpty
	}
	return n, err
}

// isBlank reports whether a text has nothing but what EDN takes for white space, and a byte order mark.
func isBlank(text []byte) bool {
	return len(bytes.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == '\ufeff' })) == 0
}

var errEmpty = errors.New("it is empty: perhaps what should write the history is dead; expected a history, or --empty pass")

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
	*batch.Folders
	files []*proof // one for each flag that was given
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

// proof is one kind of evidence and the file for it.
type proof struct {
	outputs.Evidence
	flag, path string
	to         *files.Output
	lost       error // why it cannot be written
}

func givenEvidence(c *cli.Context, stdout, stderr io.Writer) *evidence {
	style := c.String("html-style")
	e := &evidence{Folders: batch.NewFolders(c.String("evidence"), c.String("html-dir"), style), how: outputs.EvidenceOptions{Style: style}}
	for _, kind := range outputs.AllEvidence {
		if path := c.String(kind.Name); path != "" {
			e.files = append(e.files, &proof{Evidence: kind, flag: "--" + kind.Name, path: path, to: files.To(path, stdout, stderr)})
		}
	}
	return e
}

func (e *evidence) anyAsked() bool { return e.Asked() || len(e.files) > 0 }

// toStdout reports whether standard output is for evidence, and not for results.
func (e *evidence) toStdout() bool {
	return slices.ContainsFunc(e.files, func(p *proof) bool { return p.to.Descriptor("1") })
}

// check returns an error if an output would destroy something: a file that is read, or another output.
func (e *evidence) check(paths []string, jobs []*batch.Job, models string, stdout io.Writer) error {
	if err := e.Outside(paths); err != nil {
		return err
	}
	inputs, read := batch.Inputs(jobs)
	inputs.Add(models)
	results := files.To("-", stdout, stdout)
	to := map[string]string{} // what goes to which file
	for i, p := range e.files {
		to[p.to.File()] = p.flag
		var others []*files.Output
		for _, other := range e.files {
			others = append(others, other.to)
		}
		if err := cmp.Or(batch.Apart(p.flag+" "+p.path, p.to, inputs), batch.Alien(p.flag+" "+p.path, p.to, slices.Clip(read), others...), batch.Foreign(p.flag+" "+p.path, p.to, p.Head)); err != nil {
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
	return e.Check(jobs, inputs, to)
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
	return errors.Join(append(all, e.Probe())...)
}

// of returns what writes a result's evidence, or nil if nothing is to be written. If there are many results, it does
// not hold on to their histories.
func (e *evidence) of(j *job, r *report.Result, stderr io.Writer) writing {
	core := e.Core(j.Job, r)
	if len(e.files) == 0 {
		return core
	}
	how := e.how
	how.Certificate = certificate.Options{AllClients: j.AllClients, Keyless: j.Keyless}
	how.SHA256 = func(ctx context.Context) (string, error) { return fingerprint(ctx, j.From(r.History)) }
	return func(ctx context.Context) error {
		var failed []error
		if core != nil {
			failed = append(failed, core(ctx))
		}
		for _, p := range e.files {
			failed = append(failed, p.put(ctx, r, &how, stderr))
		}
		return errors.Join(failed...)
	}
}

// checkStyle returns an error if the style does not exist, or if it is given and no page is written.
func (e *evidence) checkStyle(given bool) error {
	pages := e.HavePages() || slices.ContainsFunc(e.files, func(p *proof) bool { return p.Name == outputs.HTML.Name })
	if err := batch.CheckStyle(e.how.Style); err != nil || !given || pages {
		return err
	}
	return errors.New("--html-style requires --html FILE or --html-dir DIR")
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

// put writes the evidence in a result. If the result does not have it, put says so on stderr.
func (p *proof) put(ctx context.Context, r *report.Result, how *outputs.EvidenceOptions, stderr io.Writer) error {
	if p.lost != nil {
		return nil // already reported
	}
	if nothing := p.Lacks(r, how); nothing != "" {
		if batch.IsFile(p.path) {
			nothing += "; " + p.path + " is unchanged"
		}
		fmt.Fprintf(stderr, "clew: %s: nothing to write for %s: %s\n", text.Line(r.File), p.flag, nothing)
		return nil
	}
	if err := batch.WriteEvidence(ctx, p.to, &p.Evidence, r, how); err != nil {
		return fmt.Errorf("%s %s: %w", p.flag, p.path, err)
	}
	return nil
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
