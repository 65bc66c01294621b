package forms

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"clew/internal/effort"
	"clew/jepsen"
)

// growing holds histories that can be looked at while they grow.
var growing = map[string]string{
	"EDN": `{:process 0, :type :invoke, :f :write, :value 1}
{:process 1, :type :invoke, :f :read, :value nil} {:process 0, :type :ok,
 :f :write, :value 1}
; a comment

{:process 1, :type :ok, :f :read, :value 1}
`,
	"EDN in brackets": "[{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n]\n",
	"JSON lines": `{"process":0,"type":"invoke","f":"write","value":1}
{"process":1,"type":"invoke","f":"read","value":null}
{"process":0,"type":"ok","f":"write","value":1}
{"process":1,"type":"ok","f":"read","value":1}
`,
	"a log":                  "INFO  jepsen.core - Test begins\n {:name \"x\"}\nINFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:ok\t:write\t1\n",
	"a log of several lines": "INFO  jepsen.util - 0\t:invoke\t:write\t{:a 1\n :b [2\n ]}\nINFO  jepsen.util - 0\t:info\t:write\t1\ttimed\nout\nINFO  jepsen.util - 8\t:invoke\t:read\tnil\n",
	"history.txt":            "0\t:invoke\t:write\t{:a 1\n :b [2\n ]}\n0\t:info\t:write\t1\ttimed\nout\n8\t:invoke\t:read\tnil\n",
	"fastlin":                "# register\nwrite 1 0 1\nread 1 2 3\n",
}

// opsOf returns a history as text, one event per line.
func opsOf(h *jepsen.History) string {
	var b strings.Builder
	for e := range h.Type {
		b.WriteString(h.EventMap(jepsen.Event(e)).String() + "\n")
	}
	return b.String()
}

// However the text comes, Follow reads it as Read reads the whole, and what Look sees is always a beginning of it.
func TestFollowingReadsWhatReadReads(t *testing.T) {
	readers := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "by bytes": iotest.OneByteReader, "by halves": iotest.HalfReader, "with its end": iotest.DataErrReader,
	}
	for name, text := range growing {
		want, err := Read(strings.NewReader(text), "x", jepsen.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		for how, as := range readers {
			looks, most := 0, 0
			got, err := Follow(context.Background(), as(strings.NewReader(text)), "x", jepsen.Options{}, Following{Look: func(h *jepsen.History) bool {
				if !strings.HasPrefix(opsOf(want), opsOf(h)) {
					t.Errorf("%s, %s: looked at\n%s", name, how, opsOf(h))
				}
				looks, most = looks+1, max(most, len(h.Type))
				return true
			}})
			if err != nil || opsOf(got) != opsOf(want) || looks == 0 {
				t.Errorf("%s, %s: %v after %d looks\n%s", name, how, err, looks, opsOf(got))
			}
			if how == "by bytes" && name != "fastlin" && most != len(want.Type) {
				t.Errorf("%s: at most %d of %d events were looked at", name, most, len(want.Type))
			}
		}
	}
}

// A file is followed while it is appended to. Its last line counts only once it ends.
func TestAFileGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.edn")
	lines := strings.SplitAfter(growing["JSON lines"], "\n")
	if err := os.WriteFile(path, []byte(lines[0]+lines[1][:10]), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	written := 1
	appendTo := func(text string) {
		g, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = g.WriteString(text)
			err = errors.Join(err, g.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}
	h, err := Follow(context.Background(), f, path, jepsen.Options{}, Following{Idle: 2 * time.Second, Look: func(h *jepsen.History) bool {
		switch n := len(h.Type); {
		case n > written:
			t.Errorf("%d events after %d lines", n, written)
		case n == 1 && written == 1:
			appendTo(lines[1][10:])
			written = 2
		case n == 2 && written == 2:
			appendTo(lines[2] + lines[3][:20])
			written = 3
		case n == 3 && written == 3:
			appendTo(strings.TrimSuffix(lines[3][20:], "\n")) // whole, but not ended
			written = 4
		}
		return true
	}})
	if err != nil || len(h.Type) != 4 {
		t.Fatal(err, h)
	}
}

// A file is an error if it is not the history that has been read, or if its bytes are not lines: missing operations
// could not be distinguished from ones that have not been written yet.
func TestAFileThatCannotBeFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.edn")
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte(growing["EDN"]))
	z.Close()
	for name, c := range map[string]struct{ before, then, want string }{
		"rewritten":   {growing["EDN"], "{:process 0}", "it has become shorter since it was read"},
		"compressed":  {gz.String(), "", "compressed data cannot be followed"},
		"and cut off": {gz.String()[:20], "", "compressed data cannot be followed"},
		"zstd":        {"\x28\xb5\x2f\xfd rest", "", "compressed data cannot be followed"},
	} {
		if err := os.WriteFile(path, []byte(c.before), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Follow(t.Context(), f, "h.edn", jepsen.Options{}, Following{Idle: 2 * time.Second, Look: func(h *jepsen.History) bool {
			if len(h.Type) > 0 && c.then != "" {
				os.WriteFile(path, []byte(c.then), 0o644)
			}
			return true
		}})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "h.edn") {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

func TestFollowingEnds(t *testing.T) {
	text := growing["EDN"] + "{:process 7, :type"
	r, w := io.Pipe()
	defer w.Close()
	go w.Write([]byte(text))
	ctx, stop := context.WithCancel(context.Background())
	_, err := Follow(ctx, r, "x", jepsen.Options{}, Following{Look: func(h *jepsen.History) bool {
		if len(h.Type) == 4 {
			stop()
		}
		return true
	}})
	if err == nil || !strings.Contains(err.Error(), "to close { opened at 7:1") {
		t.Errorf("once its context is done: %v", err)
	}

	r, w = io.Pipe()
	defer w.Close()
	go w.Write([]byte(text))
	h, err := Follow(context.Background(), r, "x", jepsen.Options{}, Following{Look: func(h *jepsen.History) bool { return len(h.Type) < 2 }})
	if err != nil || len(h.Type) < 2 || len(h.Warnings) > 0 {
		t.Errorf("once enough has been seen: %v, %v", err, h)
	}

	broken := errors.New("the disk is gone")
	_, err = Follow(context.Background(), io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "x", jepsen.Options{}, Following{Look: func(*jepsen.History) bool { return true }})
	if !errors.Is(err, broken) {
		t.Errorf("after an error of the input: %v", err)
	}
	_, err = Follow(context.Background(), strings.NewReader(text), "x", jepsen.Options{}, Following{Look: func(*jepsen.History) bool { return true }})
	if err == nil || !strings.HasPrefix(err.Error(), "x:") {
		t.Errorf("after half an op map at the end: %v", err)
	}
	if _, err = Follow(context.Background(), bytes.NewReader(nil), "x", jepsen.Options{}, Following{}); err == nil {
		t.Error("no function that looks")
	}
}

// What could not be read in time once the context is done is reported.
func TestWhatIsUnreadWhenTheContextIsDoneIsToldOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.edn")
	for name, c := range map[string]struct {
		moment time.Duration
		sleep  time.Duration
		want   error
	}{"more than there is time for": {time.Millisecond, 200 * time.Millisecond, ErrUnread}, "all": {effort.Hang, 0, nil}} {
		defer func(a, b time.Duration) { lastMoment, lastComparison = a, b }(lastMoment, lastComparison)
		lastMoment, lastComparison = c.moment, c.moment
		text := growing["JSON lines"][:strings.Index(growing["JSON lines"], "\n")+1] + strings.Repeat(" ", 300_000) + "\n" + growing["JSON lines"][strings.Index(growing["JSON lines"], "\n")+1:]
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ctx, stop := context.WithCancel(t.Context())
		h, err := Follow(ctx, f, path, jepsen.Options{}, Following{Look: func(h *jepsen.History) bool {
			if len(h.Type) == 1 && ctx.Err() == nil {
				stop()
				time.Sleep(c.sleep)
			}
			return true
		}})
		stop()
		if !errors.Is(err, c.want) || err == nil && len(h.Type) != 4 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Jepsen may change a test.jepsen without adding a byte, and two changes may have the same time.
func TestATestHasGrownIfItsSizeOrItsTimeHas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.jepsen")
	now := time.Unix(1e9, 0)
	write := func(text string, at time.Time) {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	write("JEPSEN", now)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g := rewrittenFile{ctx: t.Context(), file: f}
	for _, c := range []struct {
		text string // "": nothing is written
		at   time.Time
		want bool
	}{{"JEPSEN", now, true}, {"", now, false}, {"jepsen", now.Add(time.Second), true}, {"jepsen.", now.Add(time.Second), true}, {"JEPSEN.", now.Add(time.Second), runtime.GOOS != "windows"}} {
		if c.text != "" {
			if err := effort.Tick(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
			write(c.text, c.at)
		}
		if grown, err := g.grown(); grown != c.want || err != nil {
			t.Errorf("%s at %v: %t, %v", c.text, c.at, grown, err)
		}
		g.read()
	}
}

// A test.jepsen is read again whenever it has grown, and ends once its history is whole.
func TestATestGrows(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "internal", "testfile", "testdata", "chunks.jepsen"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.jepsen")
	write := func(n int) { // The file never becomes shorter on the way, unless that is the purpose.
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err == nil {
			_, err = f.Write(data[:n])
			err = errors.Join(err, f.Truncate(int64(n)), f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}
	want, err := Read(bytes.NewReader(data), path, jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(len(data) / 10) // there is no whole chunk yet
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	time.AfterFunc(300*time.Millisecond, func() { write(len(data) * 2 / 3) })
	sizes := map[int]bool{}
	h, err := Follow(context.Background(), f, path, jepsen.Options{}, Following{Look: func(h *jepsen.History) bool {
		if !strings.HasPrefix(opsOf(want), opsOf(h)) {
			t.Errorf("looked at\n%s", opsOf(h))
		}
		if sizes[len(h.Type)] = true; len(sizes) == 1 {
			write(len(data))
		}
		return true
	}})
	if err != nil || opsOf(h) != opsOf(want) || len(h.Warnings) > 0 || len(sizes) != 2 {
		t.Errorf("%v, %d events, warnings %q, looks at %v events", err, len(h.Type), h.Warnings, sizes)
	}

	write(len(data) / 10)
	if h, err := Follow(context.Background(), f, path, jepsen.Options{}, Following{Idle: 200 * time.Millisecond, Look: func(*jepsen.History) bool { return true }}); err == nil {
		t.Errorf("without a whole chunk: %d events", len(h.Type))
	}
	write(len(data) * 2 / 3)
	h, err = Follow(context.Background(), f, path, jepsen.Options{}, Following{Idle: 200 * time.Millisecond, Look: func(*jepsen.History) bool { return true }})
	if err != nil || len(h.Type) == 0 || len(h.Type) == len(want.Type) || len(h.Warnings) != 1 {
		t.Errorf("when it grows no more: %v", err)
	}
}

// What came before an event that is not whole is there, however the text ended.
func TestBeforeATornEvent(t *testing.T) {
	whole := "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 5}\n"
	for _, torn := range []string{"{:pro", "{:process 1, :type :invoke,\n", "{:process 1, :type :invoke,\n :f :re", "#", "\"", "{\"process\": 1", "1x", "{\"process\": 1,\n"} {
		for name, text := range map[string]string{"maps": whole + torn, "a vector": "[" + whole + torn, "JSON": `{"process":0,"type":"invoke","f":"read","value":null}` + "\n" + `{"process":0,"type":"ok","f":"read","value":5}` + "\n" + torn} {
			for how, f := range map[string]Following{"it ends": {}, "nothing comes": {Idle: time.Millisecond}} {
				f.Look = func(*jepsen.History) bool { return true }
				var in io.Reader = strings.NewReader(text)
				if f.Idle > 0 {
					in = io.MultiReader(in, blocked{})
				}
				h, err := Follow(t.Context(), in, "x", jepsen.Options{}, f)
				var cut *TornError
				if strings.HasSuffix(torn, "\n") && (name == "a vector" && f.Idle > 0 || (name == "JSON") != strings.Contains(torn, `"`)) {
					continue // what has come in whole lines is an open vector; the others are errors
				}
				if !errors.As(err, &cut) || h == nil || h.Operations() != 1 {
					t.Errorf("%s, %q, %s: %v, %v", name, torn, how, h, err)
				}
			}
		}
	}
	_, err := Follow(t.Context(), strings.NewReader("{:process 0, :type :invoke, :f :read, :value nil}\n{:process}\n"+whole), "x", jepsen.Options{}, Following{Look: func(*jepsen.History) bool { return true }})
	if cut := (*TornError)(nil); err == nil || errors.As(err, &cut) {
		t.Errorf("an event that is wrong: %v", err)
	}
}

// blocked is a text that does not come.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }
