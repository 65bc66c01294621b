package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"clew/internal/option"
)

// Stamp records what a file was: its size, its time and which file it is. Readers that are not files have the zero
// Stamp, which never changes.
type Stamp struct {
	Or   string // what the errors of Changed advise for a file that is written to; "": to follow it
	info fs.FileInfo
	file *os.File // of this machine, else nil
}

// StampOf returns the stamp of an open regular file, and the zero Stamp for anything else.
func StampOf(f any) Stamp {
	if part, ok := f.(interface{ Whole() Stamp }); ok { // such as a member of an archive
		return part.Whole()
	}
	of, ok := f.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return Stamp{}
	}
	info, err := of.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return Stamp{}
	}
	s := Stamp{info: info}
	s.file, _ = f.(*os.File)
	return s
}

// Changed returns an error if an open file is not what it was when it was stamped: another file, of another size, or
// written to since.
func (s Stamp) Changed(f any) error {
	if s.info == nil {
		return nil
	}
	now, or := StampOf(f), cmp.Or(s.Or, fmt.Sprint(option.Follow))
	switch {
	case now.info == nil:
		return errors.New("it changed while it was read: it is not a regular file anymore")
	case os.SameFile(s.info, s.info) && !os.SameFile(s.info, now.info):
		return errors.New("it changed while it was read: another file has taken its place; check it again")
	case s.info.Size() != now.info.Size():
		return fmt.Errorf("it changed while it was read: it had %d bytes before and %d after; expected a file that is not written to, or %s", s.info.Size(), now.info.Size(), or)
	case !s.info.ModTime().Equal(now.info.ModTime()):
		return fmt.Errorf("it changed while it was read: it was written to at %s; expected a file that is not written to, or %s", now.info.ModTime().Format(time.TimeOnly), or)
	case s.Moved() == "" && !inodeTime(s.info).Equal(inodeTime(now.info)): // a file that is deleted or replaced has a new time, too
		return fmt.Errorf("it changed while it was read: it was written to, or its time was set, at %s; expected a file that is left alone, or %s", inodeTime(now.info).Format(time.TimeOnly), or)
	}
	return nil
}

// Grew reports whether a file is the one that was stamped, with more in it.
func (s Stamp) Grew(f any) bool {
	now := StampOf(f)
	return s.info != nil && now.info != nil && os.SameFile(s.info, now.info) && s.info.Size() < now.info.Size()
}

// Touched reports whether a file was written to, or its times were set, between two looks at it. Programs can put
// back the time of writing, but not the system's own.
func Touched(before, now fs.FileInfo) bool {
	return !before.ModTime().Equal(now.ModTime()) || !inodeTime(before).Equal(inodeTime(now))
}

// Gone is what Moved returns of standard input, whose path is not known.
const Gone = "deleted or replaced"

// Moved returns "deleted", "replaced" or Gone if the path of the file does not lead to it anymore, and "" otherwise.
// What was open has been read nevertheless.
func (s Stamp) Moved() string {
	if s.file == nil {
		return ""
	}
	if s.file.Name() == os.Stdin.Name() {
		if now, err := s.file.Stat(); err == nil && links(now) < links(s.info) {
			return Gone
		}
		return ""
	}
	switch now, err := os.Stat(s.file.Name()); {
	case errors.Is(err, fs.ErrNotExist):
		return "deleted"
	case err == nil && !os.SameFile(s.info, now):
		return "replaced"
	}
	return ""
}

// Steady returns a reader of r, which reads from the file f. If the file has changed since it was stamped, the reader
// returns an error instead of the end of r.
func (s Stamp) Steady(r io.Reader, f any) io.Reader {
	if s.info == nil {
		return r
	}
	return steady{r, s, f}
}

type steady struct {
	io.Reader
	stamp Stamp
	file  any
}

func (s steady) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		if changed := s.stamp.Changed(s.file); changed != nil {
			err = changed
		}
	}
	return n, err
}
