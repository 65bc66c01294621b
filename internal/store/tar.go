package store

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/testfile"
)

// findInTar returns the histories in a tar archive, in its order. It reads the
// archive once for their names. The contents are read later, unless the archive is
// compressed and they could be kept. The first time it reads the archive to its
// end: the checksum of a compressed one covers all of it.
func findInTar(ctx context.Context, file string, open opener, o Options) (found []Source, skipped []string, err error) {
	archive := &tarball{file: file, begun: open}
	t, err := archive.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer t.end()
	list := newListing()
	members := map[string][]member{}
	var lost error // error if members may be missing
	for {
		header, err := t.next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, errCut) {
			lost = fmt.Errorf("%s: %w", file, err)
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		name := memberName(header.Name)
		m := member{at: t.member}
		if m.from, err = t.dataFrom(header); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		m.size = header.Size
		switch header.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
			if t.packed && o.Keep != nil && header.Size <= *o.Keep && (isRun(name) || isEDN(name) || path.Base(name) == logFile) && (o.Own == nil || o.Own(stored(file, name))) {
				m.text = make([]byte, header.Size)
				if _, err := io.ReadFull(t.r, m.text); err != nil {
					return nil, nil, fmt.Errorf("%s: %w", file, err)
				}
				*o.Keep -= header.Size
			} else if path.Base(name) == resultsFile && !strings.Contains("/"+name, "/independent/") {
				m.checked = readChecked(limits.Reader(ctx, t.r, 0))
			} else if sort := path.Base(name); t.packed && sort != "test.jepsen" && slices.Contains(testMaps, sort) {
				m.asked = readTestMap(ctx, sort, t.r)
			} else if path.Base(name) == "test.jepsen" { // doing this later would require finding it again
				if length, err := testfile.StreamLength(ctx, t.r, name, 0); err == nil {
					m.length = &length
				} else if !errors.Is(err, testfile.ErrSkipped) {
					return nil, nil, fmt.Errorf("%s: %w", file, err)
				}
			}
		case tar.TypeLink:
			if to := members[memberName(header.Linkname)]; len(to) > 0 {
				m = to[len(to)-1]
			} else {
				m.lost = fmt.Errorf("it is a hard link to %s, and no such member comes before it", header.Linkname)
			}
		case tar.TypeXGlobalHeader:
			continue
		case tar.TypeSymlink:
			list.links[name] = header.Linkname
			fallthrough
		default:
			list.other(name, header.FileInfo().Mode())
			continue
		}
		list.file(name)
		members[name] = append(members[name], m)
	}
	found = sources(list.names, list.hidden, func(name string) Source { return archive.source(name, members[name][0]) })
	said, err := list.doubled(found, func(name string) (bool, error) { return archive.same(ctx, members[name]) })
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return found, append(list.skipped(), said...), lost
}

func (t *tarball) source(name string, m member) Source {
	s := stored(t.file, name)
	s.archive = t.file
	s.InOrder, s.length, s.checked, s.asked = m.text == nil && m.from == 0, m.length, m.checked, m.asked
	s.open = func(ctx context.Context) (io.ReadCloser, error) {
		in, err := t.read(ctx, m)
		if err != nil {
			return nil, err
		}
		return inside{in, t.stamp}, nil
	}
	return s
}

// member is a file in a tar archive. A hard link is the same as the file that it names.
type member struct {
	at      int    // the number of the member, from 1
	from    int64  // where its content begins in an archive that is not compressed, else 0
	size    int64  // of its content
	text    []byte // its content, unless nil
	lost    error  // why it cannot be read
	length  *TestLength
	checked *Checked
	asked   *TestMap
}

// tarball is a tar archive, compressed or not. It may consist of several, one
// after the end of the other, as cat joins them.
type tarball struct {
	file  string
	begun opener
	mu    sync.Mutex
	stamp files.Stamp // of the archive as it was found
	last  *tarReading // nil, or the reading that the next reader may continue
}

// tarReading reads a tar archive from front to back. It has one user at a time.
type tarReading struct {
	ctx    context.Context // of its user
	f, z   io.ReadCloser
	in     io.Reader // what r reads
	r      *tar.Reader
	packed bool
	member int // the number of the current one, from 1
}

// Read reads the file, until the context is done.
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
	t.mu.Lock()
	if t.stamp == (files.Stamp{}) {
		t.stamp = files.StampOf(f)
	}
	stamp := t.stamp
	t.mu.Unlock()
	r := &tarReading{ctx: ctx, f: f}
	z, packed, err := files.Decompress(bufio.NewReaderSize(r, 1<<16))
	if changed := stamp.Changed(f); changed != nil {
		err = changed
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	var in io.Reader = z
	if at, ok := f.(io.ReadSeeker); ok && !packed {
		if _, err := at.Seek(0, io.SeekStart); err == nil {
			in = at // members that are not requested are skipped, and not read
		}
	}
	r.z, r.packed, r.in, r.r = z, packed, in, tar.NewReader(ending(in))
	return r, nil
}

func (t *tarReading) end() {
	t.z.Close()
	t.f.Close()
}

// next goes to the next member. It returns io.EOF only at the end of the file.
func (t *tarReading) next() (*tar.Header, error) {
	for {
		if t.ctx.Err() != nil {
			return nil, context.Cause(t.ctx)
		}
		header, err := t.r.Next()
		if err == nil {
			t.member++
		}
		if err != io.EOF {
			return header, err
		}
		if err := t.behind(); err != nil {
			return nil, err
		}
	}
}

// block is the unit of a tar archive. someBlocks says how much is read at once after its end.
const (
	block      = 512
	someBlocks = 64 * block
)

// behind goes to the archive after the end of another one. It returns io.EOF if
// only zeros follow.
func (t *tarReading) behind() error {
	b := make([]byte, someBlocks)
	for {
		if t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		n, err := io.ReadFull(t.in, b)
		if err != nil && err != io.ErrUnexpectedEOF {
			return err
		}
		b = b[:n]
		zeros := n - len(bytes.TrimLeft(b, "\x00"))
		switch {
		case zeros == n && err != nil:
			return io.EOF
		case zeros == n:
			continue
		}
		rest := b[zeros/block*block:]
		if at, ok := t.in.(io.Seeker); ok {
			if _, err := at.Seek(-int64(len(rest)), io.SeekCurrent); err != nil {
				return err
			}
		} else {
			t.in = io.MultiReader(bytes.NewReader(rest), t.in)
		}
		t.r = tar.NewReader(ending(t.in))
		return nil
	}
}

// errCut is the error for an archive that ends before its end marker.
var errCut = errors.New("the archive is cut off, and members may be lost: expected two blocks of zeros at its end, found the end of the file")

// ending returns a reader that replaces the end of the file with errCut, because
// an archive must end before it.
func ending(r io.Reader) io.Reader {
	if s, ok := r.(io.Seeker); ok {
		return struct {
			cutOff
			io.Seeker
		}{cutOff{r}, s}
	}
	return cutOff{r}
}

type cutOff struct{ io.Reader }

func (c cutOff) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		err = nil
		if n == 0 && len(p) > 0 {
			err = errCut
		}
	}
	return n, err
}

func (t *tarball) read(ctx context.Context, m member) (io.ReadCloser, error) {
	switch {
	case m.lost != nil:
		return nil, m.lost
	case m.text != nil:
		return io.NopCloser(bytes.NewReader(m.text)), nil
	case m.from > 0:
		return t.openAt(ctx, m)
	}
	return t.open(ctx, m.at)
}

// dataFrom returns where the content of the current member begins in the file, or 0 if the file does not have it as it is.
func (t *tarReading) dataFrom(header *tar.Header) (int64, error) {
	at, ok := t.in.(io.Seeker)
	if !ok || header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeCont {
		return 0, nil
	}
	for name := range header.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return 0, nil
		}
	}
	return at.Seek(0, io.SeekCurrent)
}

// openAt goes straight to a member of an archive that is not compressed.
func (t *tarball) openAt(ctx context.Context, m member) (io.ReadCloser, error) {
	f, err := t.begun(ctx)
	if err != nil {
		return nil, err
	}
	if err = t.stamp.Changed(f); err == nil {
		_, err = f.(io.Seeker).Seek(m.from, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	in := &tarReading{ctx: ctx, f: f}
	return struct {
		io.Reader
		io.Closer
	}{t.stamp.Steady(io.LimitReader(cutOff{in}, m.size), f), f}, nil
}

// open goes to a member. If it lies behind, or if the archive is still
// being read, open starts again from the front.
func (t *tarball) open(ctx context.Context, at int) (io.ReadCloser, error) {
	t.mu.Lock()
	r := t.last
	t.last = nil
	t.mu.Unlock()
	if r != nil && r.member >= at {
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
	for r.member < at {
		if _, err := r.next(); err != nil {
			r.end()
			return nil, err
		}
	}
	return &tarMember{t.stamp.Steady(r.r, r.f), t, r}, nil
}

type tarMember struct {
	io.Reader
	archive *tarball
	reading *tarReading
}

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

// same says whether all members have the same content.
func (t *tarball) same(ctx context.Context, all []member) (bool, error) {
	var first [sha256.Size]byte
	for i, m := range all {
		in, err := t.read(ctx, m)
		if err != nil {
			return false, context.Cause(ctx) // reading it reports other errors
		}
		hash := sha256.New()
		_, err = io.Copy(hash, limits.Reader(ctx, in, 0))
		in.Close()
		if err != nil {
			return false, err
		}
		if sum := [sha256.Size]byte(hash.Sum(nil)); i == 0 {
			first = sum
		} else if sum != first {
			return false, nil
		}
	}
	return true, nil
}
