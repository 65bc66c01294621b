package forms

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"runtime"

	"clew/edn"
	"clew/edn/opmap"
	"clew/internal/files"
	"clew/internal/limits"
	"clew/jepsen"
	"clew/jepsen/forms/internal/jsonops"
	"clew/jepsen/testfile"
)

// Read reads one history in any of the forms, plain or compressed with gzip or
// zstd, and recognizes the form by the content. Errors call the history by
// name. They are *edn.Error with file, line and column, or I/O errors. Linear
// time.
func Read(r io.Reader, name string, opts jepsen.Options) (*jepsen.History, error) {
	return ReadWithin(context.Background(), r, name, opts)
}

// ReadWithin is Read until the context is done. The error is its cause then.
func ReadWithin(ctx context.Context, r io.Reader, name string, opts jepsen.Options) (*jepsen.History, error) {
	if r == nil {
		return nil, fmt.Errorf("%s: expected a reader, found nil", name)
	}
	opts.File = name
	b := jepsen.NewBuilder(opts)
	in := input{ctx: ctx, memory: opts.Memory, b: b, file: name, values: b.Values(), take: b.Add, timed: b.AddTimed, timedOps: b.AddTimedOps, clockError: opts.ClockError}
	if opts.Fingerprint {
		in.hash = sha256.New()
	}
	if err := in.read(r, ""); err != nil {
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

// ReadFileWithin is ReadFile until the context is done.
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
	ctx    context.Context
	memory int64
	b      *jepsen.Builder
	file   string
	values *edn.Values
	take   func(*opmap.Event) error // gets each event, which is valid until it returns

	timed      func(e *opmap.Event, op int32) error                            // likewise, of operations with times
	timedOps   func(context.Context, *jepsen.TimedOps) (added bool, err error) // unless nil, gets the whole history of a form with times, instead of take
	clockError int64                                                           // see jepsen.Options

	eager bool      // events are wanted as soon as their text is there
	whole bool      // the form holds whole operations, of which none is an event before the end of the text
	hash  hash.Hash // of all that is read, nil if nothing asks for it
	exact bool      // op maps are wanted with the keys of all maps in order of the text
}

// at is a place in the text.
func (in *input) at(line, col int) edn.Pos {
	return edn.Pos{File: in.file, Line: line, Col: col}
}

// read reads the events of a history, compressed or not, in the given form, or
// in the one that its content shows if form is "". A file must not change meanwhile.
func (in *input) read(r io.Reader, form Form) error {
	before := files.StampOf(r)
	err := in.events(r, form)
	if changed := before.Changed(r); changed != nil {
		return fmt.Errorf("%s: %w", in.file, changed)
	}
	if moved := before.Moved(); moved != "" {
		in.b.Warn("the file was %s while it was read; this is what it held before", moved)
	}
	return err
}

// events reads the events of a history.
func (in *input) events(r io.Reader, form Form) error {
	size := 1 << 16
	if short, is := r.(interface{ Len() int }); is { // as the text of a key is
		size = min(size, short.Len()+1)
	}
	text := limits.Counted(in.ctx, r)
	if in.hash != nil {
		text = io.TeeReader(text, in.hash)
	}
	buffered := bufio.NewReaderSize(limits.Reader(in.ctx, text, in.memory), size)
	unpacked, packed, err := files.Decompress(buffered)
	if err != nil {
		return fmt.Errorf("%s: %w", in.file, err)
	}
	plain, packing := files.PackedName(in.file)
	if packing != "" && !packed {
		if _, err := buffered.Peek(1); err == io.EOF {
			return fmt.Errorf("%s: expected %s data, as the name says, found an empty file", in.file, packing)
		}
	}
	if _, isFile := r.(*os.File); packed && isFile && runtime.GOMAXPROCS(0) > 1 {
		unpacked = files.Ahead(unpacked) // A file, unlike other readers, may still be read once nobody wants it.
	}
	defer unpacked.Close()
	if packed {
		buffered = bufio.NewReaderSize(limits.Reader(in.ctx, unpacked, in.memory), 1<<16)
	}
	if head, _ := buffered.Peek(testfile.Head); form == Test || form == "" && (testfile.Is(head) || path.Ext(plain) == ".jepsen" && len(bytes.TrimSpace(head)) == 0) {
		if packed {
			r = nil
		}
		return in.test(r, buffered)
	}
	if what := foreign(buffered); what != "" {
		return in.at(1, 1).Errorf("expected EDN or log lines, found %s", what)
	}
	if form == "" {
		head, err := in.head(buffered)
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", in.file, err)
		}
		form = detect(head)
	}
	if in.clockError != 0 && form != Intervals {
		return in.at(1, 1).Errorf("a clock error goes with interval records, and this is %s", form)
	}
	switch form {
	case Intervals:
		in.whole = true
		return in.intervals(settled{buffered}, files.Size(r), in.clockError)
	case JSON, JSONL:
		in.b.Expect(files.Size(r))
		return in.each(in.json(buffered).Next)
	case Fastlin, Fptlin, LiMo:
		in.whole = form != LiMo
		return in.textForm(settled{buffered}, form, files.Size(r))
	case Log:
		in.b.Expect(files.Size(r))
		return in.log(buffered)
	}
	length := files.Size(r)
	in.b.Expect(length)
	return in.edn(buffered, !packed && length > 0)
}

// head is the beginning of a text, by which its form is recognized. If events are
// wanted at once it may be as short as a line that is no comment.
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

// json is the reader of a history in JSON.
func (in *input) json(r io.Reader) *jsonops.Reader {
	return jsonops.NewReader(r, jsonops.Options{File: in.file, Values: in.values, Eager: in.eager, Exact: in.exact, Warn: in.b.Warn})
}

// each takes the events that next reads.
func (in *input) each(next func(*opmap.Event) error) error {
	var e opmap.Event
	for {
		if err := next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := in.take(&e); err != nil {
			return err
		}
	}
}

// edn reads a history in EDN. A file is always ready.
func (in *input) edn(r *bufio.Reader, ready bool) error {
	reader := opmap.NewReader(r, in.file, in.values)
	reader.First(r.Size()) // less for a short text
	if in.eager {
		reader.Eager()
	} else {
		reader.ReadAhead(runtime.GOMAXPROCS(0)-1, ready)
	}
	defer reader.Close()
	var e opmap.Event
	for {
		if err := reader.Next(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := in.take(&e); err != nil {
			return err
		}
	}
}

// foreign names the kind of a text that begins like neither EDN nor a log, or
// is "".
func foreign(r *bufio.Reader) string {
	head, _ := r.Peek(8)
	if more, err := r.Peek(min(r.Buffered(), tarBlock)); err == nil && len(more) == tarBlock && string(more[257:262]) == "ustar" {
		return "a tar archive, which is one if its name ends in .tar, .tar.gz, .tgz or .tar.zst"
	}
	switch {
	case isFressian(head):
		return "a test.fressian, as Jepsen kept tests before test.jepsen; check the history.edn or history.txt beside it"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "a zip archive, which is one if its name ends in .zip"
	case bytes.HasPrefix(head, []byte("BZh")) && len(head) > 3 && head[3] >= '1' && head[3] <= '9':
		return "bzip2; unpack it first, as bzcat FILE | clew check - does"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		return "xz; unpack it first, as xzcat FILE | clew check - does"
	case singleQuoted(head):
		return "single quotes; JSON has double quotes, as json.dumps of Python writes them"
	case isUTF16(head):
		return "UTF-16; convert it to UTF-8 first, as iconv -f UTF-16 -t UTF-8 does"
	case bytes.HasPrefix(head, []byte("<")):
		return "HTML or XML"
	case bytes.HasPrefix(head, []byte("\x1b[")): // a colored log
	case bytes.ContainsFunc(head, func(c rune) bool { return c < '\t' || c > '\r' && c < 0x1c || c == 0x7f }):
		return "binary data"
	}
	return ""
}

// isFressian says whether a text begins as a map does in Fressian: with its code and
// that of a list.
func isFressian(head []byte) bool {
	return len(head) > 1 && head[0] == 0xc0 && head[1] >= 0xe4 && head[1] <= 0xed
}

// tarBlock is how many bytes the header of a member of a tar archive has.
const tarBlock = 512

// singleQuoted says whether a text begins as what Python prints of a dict, or of a list
// of them.
func singleQuoted(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimLeft(head, "[ \r\n"), " "), []byte("{'"))
}

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
