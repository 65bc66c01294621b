package store

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"clew/internal/files"
	"clew/internal/limits"
)

// opener opens a file from its beginning. It is read until the context is done, as
// far as what opens it knows of contexts.
type opener func(context.Context) (io.ReadCloser, error)

// isTar and isZip judge by the name.
func isTar(name string) bool {
	for _, end := range []string{".tar", ".tar.gz", ".tgz", ".tar.zst"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

func isZip(name string) bool { return strings.HasSuffix(name, ".zip") }

// encrypted is the flag of a zip archive's member that needs a password.
const encrypted = 1

// IsArchive says whether a file of this name is an archive, whose members are histories.
func IsArchive(name string) bool { return isTar(name) || isZip(name) }

// findInArchive is the histories in an archive, and what was passed by.
func findInArchive(ctx context.Context, file string, open opener, o Options) (found []Source, passed []string, err error) {
	if isZip(file) {
		return findInZip(ctx, file, open)
	}
	return findInTar(ctx, file, open, o)
}

// findInZip is the histories in a zip archive, by name. It stays open.
func findInZip(ctx context.Context, file string, open opener) (found []Source, passed []string, err error) {
	f, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	z, err := readZip(ctx, f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", file, files.Reason(err))
	}
	members := map[string]*zip.File{}
	var names, links []string
	for _, f := range z.File {
		switch name := path.Clean(f.Name); {
		case f.Mode().IsRegular():
			members[name] = f
			names = append(names, name)
		case f.Mode()&fs.ModeSymlink != 0:
			links = append(links, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	source := func(name string) Source {
		s := stored(file, name)
		s.archive = file
		member := members[name]
		s.open = func(context.Context) (io.ReadCloser, error) {
			if member.Flags&encrypted != 0 {
				return nil, errors.New("it is encrypted; unpack the archive with its password, and check the folder")
			}
			return member.Open()
		}
		return s
	}
	return sources(names, source), passedBy(names, links), nil
}

// readZip reads the list of an archive's members: here and there in a file, or of one
// that can only be read from front to back, in memory.
func readZip(ctx context.Context, f io.ReadCloser) (*zip.Reader, error) {
	if at, ok := f.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	}); ok {
		info, err := at.Stat()
		if err != nil {
			return nil, err
		}
		return zip.NewReader(at, info.Size())
	}
	all, err := io.ReadAll(limits.Reader(ctx, f, 0))
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(all), int64(len(all)))
}

// findInTar is the histories in a tar archive, in its order. The archive is
// read once for their names, and once more for what is in them, unless it is
// compressed and that could be kept.
func findInTar(ctx context.Context, file string, open opener, o Options) (found []Source, passed []string, err error) {
	archive := &tarball{file: file, begun: open}
	t, err := archive.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer t.end()
	var names, links []string
	members := map[string]member{}
	for {
		header, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		name := path.Clean(header.Name)
		m := member{at: t.passed}
		switch header.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
			if t.packed && o.Keep != nil && header.Size <= *o.Keep && (isRun(name) || isEDN(name)) && (o.Own == nil || o.Own(stored(file, name))) {
				m.text = make([]byte, header.Size)
				if _, err := io.ReadFull(t.r, m.text); err != nil {
					return nil, nil, fmt.Errorf("%s: %w", file, err)
				}
				*o.Keep -= header.Size
			}
		case tar.TypeLink:
			var known bool
			if m, known = members[path.Clean(header.Linkname)]; !known {
				m.lost = fmt.Errorf("it is a hard link to %s, and no such member comes before it", header.Linkname)
			}
		case tar.TypeSymlink:
			links = append(links, name)
			continue
		default:
			continue
		}
		if _, seen := members[name]; !seen {
			names = append(names, name)
		}
		members[name] = m // a later member of the same name replaces it
	}
	source := func(name string) Source {
		s := stored(file, name)
		s.archive = file
		m := members[name]
		s.InOrder = m.text == nil
		s.open = func(ctx context.Context) (io.ReadCloser, error) {
			switch {
			case m.lost != nil:
				return nil, m.lost
			case m.text == nil:
				return archive.open(ctx, m.at)
			}
			return io.NopCloser(bytes.NewReader(m.text)), nil
		}
		return s
	}
	return sources(names, source), passedBy(names, links), nil
}

// member is a file in a tar archive. A hard link is the file that it names.
type member struct {
	at   int    // which of the members it is, from 1 on
	text []byte // what is in it, unless nil
	lost error  // why it cannot be read
}

// tarball is a tar archive, compressed or not.
type tarball struct {
	file  string
	begun opener
	mu    sync.Mutex
	last  *tarReading // nil, or what the next reader may go on with
}

// tarReading reads a tar archive from front to back. One at a time uses it.
type tarReading struct {
	ctx    context.Context // of what uses it
	f, z   io.ReadCloser
	r      *tar.Reader
	packed bool
	passed int // members
}

// Read reads the file.
func (t *tarReading) Read(p []byte) (int, error) {
	if t.ctx.Err() != nil {
		return 0, context.Cause(t.ctx)
	}
	return t.f.Read(p)
}

func (t *tarball) begin(ctx context.Context) (*tarReading, error) {
	f, err := t.begun(ctx)
	if err != nil {
		return nil, err
	}
	r := &tarReading{ctx: ctx, f: f}
	z, packed, err := files.Decompress(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	var in io.Reader = z
	if at, ok := f.(io.ReadSeeker); ok && !packed {
		if _, err := at.Seek(0, io.SeekStart); err == nil {
			in = at // members that nobody reads are skipped, and not read
		}
	}
	r.z, r.packed, r.r = z, packed, tar.NewReader(in)
	return r, nil
}

func (t *tarReading) end() {
	t.z.Close()
	t.f.Close()
}

func (t *tarReading) next() (*tar.Header, error) {
	if t.ctx.Err() != nil {
		return nil, context.Cause(t.ctx)
	}
	header, err := t.r.Next()
	t.passed++
	return header, err
}

// open goes on to a member. If that one has been passed, or if the archive is still
// being read, it starts again from the front.
func (t *tarball) open(ctx context.Context, at int) (io.ReadCloser, error) {
	t.mu.Lock()
	r := t.last
	t.last = nil
	t.mu.Unlock()
	if r != nil && r.passed >= at {
		r.end()
		r = nil
	}
	if r == nil {
		var err error
		if r, err = t.begin(ctx); err != nil {
			return nil, err
		}
	}
	r.ctx = ctx
	for r.passed < at {
		if _, err := r.next(); err != nil {
			r.end()
			return nil, err
		}
	}
	return &tarMember{t, r}, nil
}

// tarMember is a member that is being read.
type tarMember struct {
	archive *tarball
	reading *tarReading
}

func (m *tarMember) Read(p []byte) (int, error) { return m.reading.r.Read(p) }

// Close leaves the archive to the next reader.
func (m *tarMember) Close() error {
	m.archive.mu.Lock()
	defer m.archive.mu.Unlock()
	if m.reading == nil {
		return nil
	}
	if m.archive.last != nil {
		m.archive.last.end()
	}
	m.archive.last, m.reading = m.reading, nil
	return nil
}
