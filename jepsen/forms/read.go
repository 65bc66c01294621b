package forms

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"clew/edn"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/internal/option"
	"clew/internal/testfile"
	"clew/internal/text"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// Read reads one history in any of the forms, plain or compressed with gzip or
// zstd, and recognizes the form by the content. Errors use name for the history.
// They are *edn.Error with file, line and column, or I/O errors. That of a text which ends within an event is a *jepsen.CutOffError.
// Linear time.
func Read(r io.Reader, name string, opts jepsen.Options) (*jepsen.History, error) {
	return ReadWithin(context.Background(), r, name, opts)
}

// ReadWithin does the same as Read until the context is done. Then the error is its cause.
func ReadWithin(ctx context.Context, r io.Reader, name string, opts jepsen.Options) (*jepsen.History, error) {
	if r == nil {
		return nil, fmt.Errorf("%s: expected a reader, found nil", name)
	}
	opts.File = name
	b := jepsen.NewBuilder(opts)
	in := newInput(ctx, feed.Of(b), name, opts)
	if opts.Fingerprint {
		in.hash = sha256.New()
	}
	if err := in.read(r, nil); err != nil {
		if errors.Is(err, edn.ErrUnfinished) {
			if h, before := b.History(); before == nil && h.Operations() > 0 {
				return nil, &jepsen.CutOffError{Before: h, Err: err}
			}
		}
		return nil, err
	}
	h, err := b.History()
	if err == nil && in.hash != nil {
		h.SHA256 = hex.EncodeToString(in.hash.Sum(nil))
	}
	return h, err
}

// ReadFile reads the history in a file; "-" is standard input.
func ReadFile(path string, opts jepsen.Options) (*jepsen.History, error) {
	return ReadFileWithin(context.Background(), path, opts)
}

// ReadFileWithin does the same as ReadFile until the context is done.
func ReadFileWithin(ctx context.Context, path string, opts jepsen.Options) (*jepsen.History, error) {
	if path == "-" {
		return ReadWithin(ctx, os.Stdin, "standard input", opts)
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadWithin(ctx, f, path, opts)
}

// input is the text of a history that is being read.
type input struct {
	ctx        context.Context
	memory     int64
	file       string
	values     *edn.Values
	to         feed.Feed // gets the events
	clockError int64     // see jepsen.Options

	eager bool            // events are needed as soon as their text is there
	form  *form           // the form in which the text is read
	hash  hash.Hash       // of everything that is read, nil if it is not needed
	exact bool            // op maps need the keys of all maps in the order of the text
	marks *marks          // where its events end, nil if that is not needed
	from  *Place          // where the text begins, nil: at the beginning of a whole text
	mark  func(at *Place) // completes the place after the last event; nil if one cannot go on in the middle of a text
}

func newInput(ctx context.Context, to feed.Feed, file string, opts jepsen.Options) *input {
	return &input{ctx: ctx, memory: opts.Memory, to: to, file: file, values: to.Values(), clockError: opts.ClockError}
}

// source is the text of a history at its beginning.
type source struct {
	*bufio.Reader
	file   io.Reader // that the text comes from, compressed or not
	packed bool
}

func (in *input) at(line, col int) edn.Pos {
	return edn.Pos{File: in.file, Line: line, Col: col}
}

// read reads the events of a history, compressed or not, in the given form. If form is
// nil, it uses the one that the content shows. A file must not change while it is read.
func (in *input) read(r io.Reader, form *form) error {
	before := files.StampOf(r)
	err := in.events(r, form)
	if changed := before.Changed(r); changed != nil {
		return fmt.Errorf("%s: %w", in.file, changed)
	}
	if moved := before.Moved(); moved != "" {
		in.to.Warn("the file was %s while it was read; this is what it held before", moved)
	}
	return err
}

// events reads the events of a history.
func (in *input) events(r io.Reader, form *form) error {
	size := 1 << 16
	if short, is := r.(interface{ Len() int }); is { // such as the text of a key
		size = min(size, short.Len()+1)
	}
	counted := limits.Counted(in.ctx, r)
	if in.hash != nil {
		counted = io.TeeReader(counted, in.hash)
	}
	buffered := bufio.NewReaderSize(limits.Reader(in.ctx, counted, in.memory), size)
	unpacked, packed, err := files.Decompress(buffered)
	if err != nil {
		return fmt.Errorf("%s: %w", in.file, err)
	}
	plain, packing := files.PackedName(in.file)
	if packing != "" && !packed && in.from == nil {
		if _, err := buffered.Peek(1); err == io.EOF {
			return fmt.Errorf("%s: expected %s data, as the name says, found an empty file", in.file, packing)
		}
	}
	if _, isFile := r.(*os.File); packed && isFile && runtime.GOMAXPROCS(0) > 1 {
		unpacked = files.Ahead(unpacked) // A file, unlike other readers, may still be read after its result is no longer needed.
	}
	defer unpacked.Close()
	if packed {
		buffered = bufio.NewReaderSize(limits.Reader(in.ctx, unpacked, in.memory), 1<<16)
	}
	if in.marks != nil {
		return in.marked(buffered, r, packed)
	}
	return in.text(source{buffered, r, packed}, plain, form)
}

// text reads the events of a history that is not compressed anymore. plain is its name then.
func (in *input) text(text source, plain string, form *form) error {
	buffered := text.Reader
	if form == nil {
		head, _ := buffered.Peek(binaryHead)
		form = detectBinary(head, plain)
	}
	if form != nil && form.binary {
		in.form = form
		return form.read(in, text)
	}
	if in.from == nil {
		if what := foreign(buffered, in.file); what != "" {
			return in.at(1, 1).Errorf("expected EDN or log lines, found %s", what)
		}
	}
	if form == nil {
		head, err := in.head(buffered)
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", in.file, err)
		}
		form = detect(head)
	}
	if in.clockError != 0 && !form.times {
		return in.at(1, 1).Errorf("%s requires interval records, and this is %s", option.ClockError, form.name)
	}
	in.form = form
	return form.read(in, text)
}

// binaryHead is how many bytes of a file show whether it is in a binary form.
const binaryHead = testfile.Head

// head returns the beginning of a text, by which its form is recognized. If events
// are needed at once, it may be as short as one line that is not a comment.
func (in *input) head(r *bufio.Reader) ([]byte, error) {
	if !in.eager {
		return r.Peek(r.Size())
	}
	for {
		head, _ := r.Peek(r.Buffered())
		for line := range bytes.Lines(head) {
			text := bytes.TrimSpace(line)
			if len(head) == r.Size() || len(text) > 0 && text[0] != '#' && line[len(line)-1] == '\n' {
				return head, nil
			}
		}
		if head, err := r.Peek(len(head) + 1); err != nil {
			return head, err
		}
	}
}

// foreign names the kind of a text that begins like neither EDN nor a log, and says what to do. Otherwise it returns "".
func foreign(r *bufio.Reader, name string) string {
	head, _ := r.Peek(8)
	if more, err := r.Peek(min(r.Buffered(), tarBlock)); err == nil && len(more) == tarBlock && string(more[257:262]) == "ustar" {
		return anArchive("a tar archive", name, ".tar", ".tar.gz", ".tgz", ".tar.zst")
	}
	switch {
	case len(head) > 1 && head[0] == 0xc0 && head[1] >= 0xe4 && head[1] <= 0xed: // the codes of a map and of a list
		return "a test.fressian, as Jepsen kept tests before test.jepsen; check the history.edn or history.txt beside it"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return anArchive("a zip archive", name, ".zip")
	case bytes.HasPrefix(head, []byte("BZh")) && len(head) > 3 && head[3] >= '1' && head[3] <= '9':
		return "bzip2 data; unpack it first: bzcat FILE | clew check -"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		return "xz data; unpack it first: xzcat FILE | clew check -"
	case bytes.HasPrefix(bytes.TrimLeft(bytes.TrimLeft(head, "[ \r\n"), " "), []byte("{'")): // as Python prints a dict
		return "single quotes; JSON needs double quotes, such as Python's json.dumps writes"
	case isUTF16(head):
		return "UTF-16; convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8"
	case bytes.HasPrefix(head, []byte("<")):
		return "HTML or XML"
	case bytes.HasPrefix(head, []byte("\x1b[")): // a colored log
	case bytes.ContainsFunc(head, func(c rune) bool { return c < '\t' || c > '\r' && c < 0x1c || c == 0x7f }):
		return "binary data"
	}
	return ""
}

// anArchive says what to do with an archive. If it has the right name, as in a request of package api, only one history can be
// read where it is.
func anArchive(kind, name string, endings ...string) string {
	if slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) }) {
		return kind + " in place of one history; unpack it first"
	}
	return kind + "; its name must end in " + text.OneOf(endings)
}

// tarBlock is the length of the header of a member of a tar archive.
const tarBlock = 512

// isUTF16 says whether a text begins with UTF-16's byte order mark, or with an
// ASCII character in UTF-16.
func isUTF16(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	mark := head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff
	ascii := func(c byte) bool { return c >= '\t' && c < 0x7f }
	return mark || ascii(head[0]) && head[1] == 0 || head[0] == 0 && ascii(head[1])
}
