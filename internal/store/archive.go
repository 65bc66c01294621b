package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"clew/internal/files"
)

// opener opens a file from its beginning. It may be read until the context is
// done, if the opener supports contexts.
type opener func(context.Context) (io.ReadCloser, error)

func isTar(name string) bool {
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz", ".tar.zst"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

func isZip(name string) bool { return strings.HasSuffix(name, ".zip") }

// IsArchive says whether a file of this name is an archive, whose members are histories.
func IsArchive(name string) bool { return isTar(name) || isZip(name) }

// findInArchive returns the histories in an archive, and what it skipped. If
// members may be lost, it returns those that are there and an error.
func findInArchive(ctx context.Context, file string, open opener, o Options) (found []Source, skipped []string, err error) {
	if isZip(file) {
		return findInZip(ctx, file, open)
	}
	return findInTar(ctx, file, open, o)
}

// inside is a member that is being read, with the stamp of its archive.
type inside struct {
	io.ReadCloser
	archive files.Stamp
}

// Whole returns the stamp of the archive.
func (m inside) Whole() files.Stamp { return m.archive }

// memberName returns the name of a member as a path. The names in archives from
// Windows may have backslashes.
func memberName(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

type listing struct {
	names  []string // of files, each once
	hidden []hidden
	links  map[string]string // from symbolic links to where they lead
	seen   map[string]int    // how many files have each name
}

func newListing() *listing { return &listing{links: map[string]string{}, seen: map[string]int{}} }

// file adds a file, and says whether its name is new.
func (l *listing) file(name string) bool {
	if l.seen[name]++; l.seen[name] > 1 {
		return false
	}
	l.names = append(l.names, name)
	return true
}

func (l *listing) other(name string, mode fs.FileMode) {
	l.hidden = append(l.hidden, hidden{name, kindOf(mode)})
}

// skipped says what is skipped. Symbolic links that lead out of the archive may lead
// to histories. Jepsen's own, latest and current, lead to a test that has a folder.
func (l *listing) skipped() []string {
	within := map[string]bool{}
	for _, name := range l.names {
		for ; name != "." && name != "/" && !within[name]; name = path.Dir(name) {
			within[name] = true
		}
	}
	for from, to := range l.links {
		base := path.Base(from)
		inside := !path.IsAbs(to) && within[path.Join(path.Dir(from), to)]
		if !inside && base != "latest" && base != "current" && path.Ext(base) == "" {
			l.hidden = append(l.hidden, hidden{from, linkOut})
		}
	}
	return skippedAmong(l.names, l.hidden)
}

// doubled handles histories whose names several members have. same says whether
// all of them have the same content.
func (l *listing) doubled(found []Source, same func(name string) (bool, error)) (said []string, err error) {
	for i := range found {
		s := &found[i]
		if s.results != nil && l.seen[s.results.Below] > 1 {
			s.results = nil // it is not known which one counts
		}
		n := l.seen[s.Below]
		if n < 2 {
			continue
		}
		alike, err := same(s.Below)
		switch {
		case err != nil:
			return nil, err
		case alike:
			said = append(said, fmt.Sprintf("%d members have the name %s and the same content", n, s.Below))
		default:
			s.InOrder = false
			s.open = func(context.Context) (io.ReadCloser, error) {
				return nil, fmt.Errorf("%d members have this name but different content; unpack the archive, which keeps one of them, and check the folder", n)
			}
		}
	}
	return said, nil
}

// damaged is a reader whose errors say that the archive is damaged.
type damaged struct{ io.ReadCloser }

func (d damaged) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	switch {
	case err == io.ErrUnexpectedEOF:
		err = errors.New("the archive is damaged: the member ends too soon")
	case err != nil && err != io.EOF:
		err = fmt.Errorf("the archive is damaged: %w", err)
	}
	return n, err
}
