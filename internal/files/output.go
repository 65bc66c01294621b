package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clew/internal/text"
)

// Output is where something is to be written. A regular file is written whole or not at all: nothing changes until
// all of it is there. The file then keeps its mode, and symbolic links still lead to it. A device, a pipe or an open
// descriptor is never replaced: it is written through.
type Output struct {
	file    string                         // what the path leads to
	there   os.FileInfo                    // what is there, nil if nothing is
	through func() (io.WriteCloser, error) // opens what is written through, else nil
	err     error                          // why it cannot be written
}

// To returns the output that a path stands for; "-" is standard output. The writers stand for what the process has
// open as standard output and error.
func To(path string, stdout, stderr io.Writer) *Output {
	if path == "-" {
		return throughWriter("1", stdout)
	}
	file, descriptor, err := follow(path)
	switch {
	case err != nil:
		return &Output{file: path, err: Reason(err)}
	case descriptor == "1":
		return throughWriter(descriptor, stdout)
	case descriptor == "2":
		return throughWriter(descriptor, stderr)
	case descriptor != "":
		n, _ := strconv.Atoi(descriptor)
		return throughWriter(descriptor, os.NewFile(uintptr(n), path))
	}
	o := &Output{file: file}
	switch o.there, err = os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		o.there = nil
	case err != nil:
		o.err = Reason(err)
	case o.there.IsDir():
		o.err = errors.New("is a directory")
	case !o.there.Mode().IsRegular():
		o.through = func() (io.WriteCloser, error) {
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			if err != nil || o.there.Mode()&os.ModeCharDevice == 0 { // not a terminal
				return f, err
			}
			return struct {
				io.Writer
				io.Closer
			}{text.NewWriter(f), f}, nil
		}
	}
	return o
}

// throughWriter returns the output to an open descriptor.
func throughWriter(descriptor string, w io.Writer) *Output {
	o := &Output{file: "descriptor " + descriptor, through: func() (io.WriteCloser, error) { return open{w}, nil }}
	if f, ok := w.(*os.File); ok {
		if o.there, o.err = f.Stat(); o.err != nil {
			o.there, o.err = nil, Reason(o.err)
		} else if wasClosed(f, o.there) {
			o.err = errors.New("it is closed (or " + os.DevNull + ", opened for reading as well); expected a file, a pipe, or > " + os.DevNull)
		}
	}
	return o
}

// wasClosed reports whether a stream was closed when the program began, on Linux. Go opens the null device in its place,
// for reading and writing; a shell's > /dev/null is for writing alone.
func wasClosed(f *os.File, there os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(null, there) {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	return err == nil && readAndWritten.Match(text)
}

var readAndWritten = regexp.MustCompile(`(?m)^flags:\s*[0-7]*2$`)

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// maxLinks bounds how many symbolic links a path may lead through.
const maxLinks = 40

// follow returns where a path leads through symbolic links: to a file that may not exist yet, or to a descriptor that
// the process has open.
func follow(path string) (file, descriptor string, err error) {
	for range maxLinks {
		dir, name := filepath.Split(path)
		if dir == "" {
			dir = "."
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", "", err
		}
		if _, err := strconv.Atoi(name); err == nil && (dir == "/dev/fd" || dir == fmt.Sprintf("/proc/%d/fd", os.Getpid())) {
			return "", name, nil
		}
		file = filepath.Join(dir, name)
		to, err := os.Readlink(file)
		if err != nil { // not a link
			file, err = filepath.Abs(file)
			return file, "", err
		}
		if path = to; !filepath.IsAbs(to) {
			path = dir + string(filepath.Separator) + to // not cleaned: ".." is relative to where a link leads
		}
	}
	return "", "", errors.New("too many symbolic links")
}

// Reason returns what an error about a file says, without the file's name.
func Reason(err error) error {
	var p *os.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// File returns what the path leads to.
func (o *Output) File() string { return o.file }

// Same reports whether two outputs are the same.
func (o *Output) Same(p *Output) bool {
	if o.there != nil && p.there != nil {
		return os.SameFile(o.there, p.there)
	}
	return o.there == nil && p.there == nil && o.file == p.file
}

// Descriptor reports whether the output is the open descriptor with this name: "1" is standard output.
func (o *Output) Descriptor(name string) bool { return o.file == "descriptor "+name }

// Through reports whether the output is written through.
func (o *Output) Through() bool { return o.through != nil }

// Probe returns why the output cannot be written, as far as that shows without writing. It does not open a pipe or a
// device, since something may be waiting there.
func (o *Output) Probe() error {
	if o.err != nil || o.Through() {
		return o.err
	}
	f, err := o.begin()
	if err != nil {
		return err
	}
	f.Close()
	return Reason(end(f.Name()))
}

// begin creates a file beside the output's. The caller removes it with end.
func (o *Output) begin() (*os.File, error) {
	begun.Lock()
	defer begun.Unlock()
	dir := filepath.Dir(o.file)
	if !begun.tidied[dir] {
		begun.tidied[dir] = true
		tidy(dir)
	}
	if begun.over.Load() {
		return nil, errors.New("the process is ending")
	}
	f, err := os.CreateTemp(dir, unfinished+"*")
	if err == nil {
		hold(f)
		begun.names[f.Name()] = true
	}
	return f, Reason(err)
}

// unfinished begins the names of files that are not whole yet. Digits follow.
const unfinished = ".clew-"

// longAgo is how old a file must be to count as left by a killed process. A process that lives holds its files, but
// not from the very instant at which it makes them.
const longAgo = time.Minute

// maxTidied bounds how many names of a folder tidy looks at.
const maxTidied = 100_000

// tidy removes the unfinished files that a killed process has left in a folder. A process that lives holds its own.
func tidy(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxTidied)
	for _, name := range names {
		number, ours := strings.CutPrefix(name, unfinished)
		if !ours || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > longAgo && isLeft(path, info) {
			os.Remove(path)
		}
	}
}

// end removes a file that has been begun. That fails if it has been renamed.
func end(name string) error {
	err := os.Remove(name)
	begun.Lock()
	defer begun.Unlock()
	delete(begun.names, name)
	return err
}

// begun holds which files have been begun and are not whole yet.
var begun = struct {
	sync.Mutex
	names  map[string]bool
	tidied map[string]bool // the folders where nothing is left of other processes
	over   atomic.Bool     // nothing is begun anymore
}{names: map[string]bool{}, tidied: map[string]bool{}}

// Tidy removes the files that are not whole yet. It is for a process that ends now.
func Tidy() {
	begun.over.Store(true) // before a lock that may have to wait for a slow folder
	begun.Lock()
	defer begun.Unlock()
	for name := range begun.names {
		os.Remove(name)
	}
}

// Write calls write with a writer to the output. Its errors do not name the file.
func (o *Output) Write(write func(io.Writer) error) error {
	if o.err != nil {
		return o.err
	}
	if o.Through() {
		w, err := o.through()
		if err != nil {
			return Reason(err)
		}
		err = write(w)
		if closed := w.Close(); err == nil {
			err = closed
		}
		return Reason(err)
	}
	f, err := o.begin()
	if err != nil {
		return err
	}
	defer end(f.Name())
	mode := fs.FileMode(0o644)
	if o.there != nil {
		mode = o.there.Mode()
	}
	if err = write(f); err == nil {
		err = f.Chmod(mode)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), o.file)
	}
	return Reason(err)
}

// Set is a set of files by identity, not by name: a link is the file itself.
type Set map[uint64][]os.FileInfo

// Add adds the file at a path, or standard input for "-", unless it does not exist.
func (s Set) Add(path string) {
	info, err := os.Stat(path)
	if path == "-" {
		info, err = os.Stdin.Stat()
	}
	// A terminal or a socket may be read and written at the same time.
	if err == nil && info.Mode()&(fs.ModeCharDevice|fs.ModeSocket) == 0 {
		s[inode(info)] = append(s[inode(info)], info)
	}
}

// Has reports whether an output is one of the files.
func (s Set) Has(o *Output) bool {
	if o.there == nil {
		return false
	}
	for _, info := range s[inode(o.there)] {
		if os.SameFile(info, o.there) {
			return true
		}
	}
	return false
}
