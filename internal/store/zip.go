package store

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"clew/internal/files"
	"clew/internal/limits"
)

// encrypted is the flag of a zip archive's member that needs a password.
const encrypted = 1

// findInZip returns the histories in a zip archive, by name. The archive stays open.
func findInZip(ctx context.Context, file string, open opener) (found []Source, skipped []string, err error) {
	f, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	stamp := files.StampOf(f)
	z, lost, err := readZip(ctx, f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", file, files.Reason(err))
	}
	members := map[string][]*zip.File{}
	list := newListing()
	for _, f := range z.File {
		name := memberName(f.Name)
		if mode := f.Mode(); mode.IsRegular() {
			list.file(name)
			members[name] = append(members[name], f)
		} else if list.other(name, mode); mode&fs.ModeSymlink != 0 {
			list.links[name] = linkTarget(f)
		}
	}
	slices.Sort(list.names)
	source := func(name string) Source {
		s := stored(file, name)
		s.archive = file
		member := members[name][0]
		s.open = func(context.Context) (io.ReadCloser, error) {
			if member.Flags&encrypted != 0 {
				return nil, errors.New("it is encrypted; unpack the archive with its password, and check the folder")
			}
			in, err := member.Open()
			if err != nil {
				return nil, err
			}
			return inside{damaged{struct {
				io.Reader
				io.Closer
			}{stamp.Steady(in, f), in}}, stamp}, nil
		}
		return s
	}
	found = sources(list.names, list.hidden, source)
	said, _ := list.doubled(found, func(name string) (bool, error) {
		first := members[name][0]
		return !slices.ContainsFunc(members[name], func(f *zip.File) bool {
			return f.CRC32 != first.CRC32 || f.UncompressedSize64 != first.UncompressedSize64
		}), nil
	})
	if lost != nil {
		lost = fmt.Errorf("%s: %w", file, lost)
	}
	return found, append(list.skipped(), said...), lost
}

func linkTarget(f *zip.File) string {
	in, err := f.Open()
	if err != nil {
		return ""
	}
	defer in.Close()
	to, _ := io.ReadAll(io.LimitReader(in, 1<<12))
	return string(to)
}

// readZip reads the list of an archive's members. It reads pieces of a file, and
// holds in memory an archive that can only be read from front to back. lost says
// what the list omits from the archive.
func readZip(ctx context.Context, f io.ReadCloser) (z *zip.Reader, lost, err error) {
	var at io.ReaderAt
	var size int64
	if file, ok := f.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	}); ok {
		info, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		at, size = file, info.Size()
	} else {
		all, err := io.ReadAll(limits.Reader(ctx, f, 0))
		if err != nil {
			return nil, nil, err
		}
		at, size = bytes.NewReader(all), int64(len(all))
	}
	h := &headers{ReaderAt: at}
	if z, err = zip.NewReader(h, size); err != nil {
		return nil, nil, err
	}
	if lost, err = h.account(ctx, z, size); err != nil {
		return nil, nil, err
	}
	h.last = nil
	return z, lost, nil
}

// headers notes the local header of a member, which zip.File.DataOffset reads. The
// standard library neither returns it nor compares it with the list at the end.
type headers struct {
	io.ReaderAt
	at   int64  // of the header that was read last
	last []byte // unless nil, that header
}

// headerLength is the length of a local header up to the name.
const headerLength = 30

func (h *headers) ReadAt(p []byte, at int64) (int, error) {
	n, err := h.ReaderAt.ReadAt(p, at)
	if h.last != nil && len(p) == headerLength {
		h.at = at
		copy(h.last, p)
	}
	return n, err
}

// extent says where a member lies in an archive.
type extent struct {
	from, to   int64
	descriptor bool // its sizes come after it
}

// account compares the list of members with the header before each of them. lost
// is an error if parts of the archive do not belong to any member, such as the
// whole first one of two joined archives.
func (h *headers) account(ctx context.Context, z *zip.Reader, size int64) (lost, err error) {
	h.last = make([]byte, headerLength)
	var all []extent
	for _, f := range z.File {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		body, err := f.DataOffset()
		if err != nil {
			return nil, fmt.Errorf("the archive is damaged: %s: %w", f.Name, err)
		}
		name := make([]byte, binary.LittleEndian.Uint16(h.last[26:]))
		if _, err := h.ReaderAt.ReadAt(name, h.at+headerLength); err != nil {
			return nil, fmt.Errorf("the archive is damaged: %s: %w", f.Name, err)
		}
		flags := binary.LittleEndian.Uint16(h.last[6:])
		e := extent{h.at, body + int64(f.CompressedSize64), flags&sizesFollow != 0}
		switch {
		case string(name) != f.Name:
			return nil, fmt.Errorf("the archive is damaged: the list of members has %q where the member says %q", f.Name, name)
		case binary.LittleEndian.Uint16(h.last[8:]) != f.Method,
			differs(h.last[14:], uint64(f.CRC32), e), differs(h.last[18:], f.CompressedSize64, e), differs(h.last[22:], f.UncompressedSize64, e):
			return nil, fmt.Errorf("the archive is damaged: the list of members has another method, checksum or size of %s than the member says", f.Name)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b extent) int { return int(min(max(a.from-b.from, -1), 1)) })
	return h.gaps(all, size-endLength-int64(len(z.Comment))), nil
}

const sizesFollow = 8

// differs says whether a number in a local header differs from the one in the list. It ignores
// 0 if the number comes after the member, and all ones, which say that the number does not fit.
func differs(local []byte, listed uint64, e extent) bool {
	n := binary.LittleEndian.Uint32(local)
	return uint64(n) != listed && n != 1<<32-1 && !(n == 0 && e.descriptor)
}

// endLength is the length of an archive's last record without its comment.
const endLength = 22

// gaps returns an error if the members, which are in order, and their list do not
// make up the whole of an archive. The last record of the archive stands at end.
func (h *headers) gaps(members []extent, end int64) error {
	at, before := int64(0), extent{}
	belongs := func(next int64) bool {
		gap := next - at
		return gap == 0 || before.descriptor && slices.Contains([]int64{12, 16, 20, 24}, gap)
	}
	for _, e := range members {
		if !belongs(e.from) {
			return fmt.Errorf("%d bytes from offset %d on belong to no member: members may be lost, as when two archives are joined; unpack it and check the folder", e.from-at, at)
		}
		at, before = e.to, e
	}
	list := []string{"PK\x01\x02"}
	if len(members) == 0 {
		list = []string{"PK\x05\x06", "PK\x06\x06"}
	}
	var mark [4]byte
	begins := func(at int64, marks ...string) bool {
		n, _ := h.ReaderAt.ReadAt(mark[:], at)
		return slices.Contains(marks, string(mark[:n]))
	}
	listed := false
	for _, gap := range []int64{0, 12, 16, 20, 24} {
		listed = listed || belongs(at+gap) && begins(at+gap, list...)
	}
	switch {
	case !listed:
		return fmt.Errorf("the data at offset %d belongs to no member: members may be lost, as when two archives are joined; unpack it and check the folder", at)
	case !begins(end, "PK\x05\x06"):
		return errors.New("data follows its end: members may be lost, as when two archives are joined")
	}
	return nil
}
