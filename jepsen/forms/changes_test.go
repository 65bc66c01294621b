package forms

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"clew/internal/effort"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/internal/feed"
)

// inPlace writes a text over the beginning of a file.
func inPlace(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(text), 0)
	return errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)))
}

// changes are ways in which a file may change while it is read.
var changes = map[string]func(path string) error{
	"nothing":   func(string) error { return nil },
	"shorter":   func(path string) error { return os.Truncate(path, 98) },
	"longer":    func(path string) error { return inPlace(path, strings.Repeat(" ", 1000)) },
	"rewritten": func(path string) error { return inPlace(path, "{:process 7, :type :invoke") },
	"touched":   func(path string) error { return inPlace(path, "") },
	"rewritten in secret": func(path string) error { // with its old time
		before, err := os.Stat(path)
		if err != nil {
			return err
		}
		return errors.Join(effort.Tick(filepath.Dir(path)), inPlace(path, "{:process 7, :type :invoke"), os.Chtimes(path, time.Time{}, before.ModTime()))
	},
	"deleted": os.Remove,
	"replaced": func(path string) error {
		return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
	},
}

const fourEvents = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n" +
	"{:process 1, :type :invoke, :f :write, :value 2}\n{:process 1, :type :ok, :f :write, :value 2}\n"

func TestAFileThatChangesWhileItIsReadIsToldOf(t *testing.T) {
	want := map[string]string{
		"nothing": "", "shorter": "h.edn: it changed while it was read: it had 188 bytes before and 98 after",
		"longer": "h.edn: it changed while it was read: it had 188 bytes before and 1000 after", "rewritten": "h.edn: it changed while it was read: it was written to at",
		"touched":             "h.edn: it changed while it was read: it was written to at",
		"rewritten in secret": "h.edn: it changed while it was read: it was written to, or its time was set, at",
		"deleted":             "warning: the file was deleted while it was read; this is what it held before", "replaced": "warning: the file was replaced while it was read; this is what it held before",
	}
	for name, change := range changes {
		if name == "rewritten in secret" && runtime.GOOS == "windows" {
			continue
		}
		path := filepath.Join(t.TempDir(), "h.edn")
		if err := os.WriteFile(path, []byte(fourEvents), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := jepsen.NewBuilder(jepsen.Options{File: "h.edn"})
		to := feed.Of(b)
		in := newInput(context.Background(), taker{eventwise{to}, func(e *opmap.Event) error {
			if change != nil {
				if err := change(path); err != nil {
					t.Skip(err)
				}
				change = nil
			}
			return to.Add(e, feed.ByProcess)
		}}, "h.edn", jepsen.Options{})
		got := ""
		if err := in.read(f, nil); err != nil {
			got = err.Error()
		} else if said := to.Warnings(); len(said) > 0 {
			got = "warning: " + strings.Join(said, "; ")
		}
		if !strings.HasPrefix(got, want[name]) || (got == "") != (want[name] == "") {
			t.Errorf("%s: %q, want %q", name, got, want[name])
		}
	}
}

func TestAFileThatChangesWhileItIsFollowedIsToldOf(t *testing.T) {
	for name, want := range map[string]error{
		"nothing": nil, "touched": nil, "shorter": errShorter, "longer": errRewritten, "rewritten": errRewritten, "rewritten in secret": errRewritten, "deleted": errDeleted, "replaced": errReplaced,
	} {
		if name == "rewritten in secret" && runtime.GOOS == "windows" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "h.edn")
			if err := os.WriteFile(path, []byte(fourEvents), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			change, looks := changes[name], 0
			_, err = Follow(t.Context(), f, "h.edn", jepsen.Options{}, Following{Idle: 500 * time.Millisecond, Look: func(h *jepsen.History) bool {
				if looks++; looks == 3 { // by then its end has been seen
					if err := change(path); err != nil {
						t.Skip(err)
					}
				}
				return true
			}})
			if !errors.Is(err, want) || want != nil && !strings.HasPrefix(err.Error(), "h.edn") {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
}

// A file that is written again may be longer than before, and its beginning and end may be the same.
func TestAFileThatIsWrittenAgainAndGrowsIsNotFollowed(t *testing.T) {
	comments := strings.Repeat("; a comment\n", 1000)
	long, other := fourEvents+comments+"; b"+comments, fourEvents+comments+"; c"+comments+fourEvents
	for name, c := range map[string]struct {
		then func(stop func()) bool // after it is written again
		want string
	}{
		"and followed on":       {func(func()) bool { return true }, "h.edn: the part that was read has been overwritten"},
		"and nothing is wanted": {func(func()) bool { return false }, "h.edn: the part that was read has been overwritten"},
		"and a signal comes":    {func(stop func()) bool { stop(); return true }, "h.edn: the part that was read has been overwritten"},
	} {
		path := filepath.Join(t.TempDir(), "h.edn")
		if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ctx, stop := context.WithCancel(t.Context())
		written := false
		_, err = Follow(ctx, f, "h.edn", jepsen.Options{}, Following{Idle: 500 * time.Millisecond, Look: func(h *jepsen.History) bool {
			if len(h.Type) < 4 || written {
				return true
			}
			written = true
			if err := inPlace(path, other); err != nil {
				t.Error(err)
			}
			return c.then(stop)
		}})
		if stop(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// After a signal there may be no time to read the file again.
func TestAFileThatWasNotComparedIsToldOf(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "internal", "testfile", "testdata", "chunks.jepsen"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g := newGrowth(f)
	g.read([]byte("JEPSEN"))
	ended, end := context.WithCancel(t.Context())
	end()
	pumped := make(chan struct{})
	if err := g.compare(ended, pumped); err != errUncompared {
		t.Errorf("while it is being read: %v", err)
	}
	if close(pumped); g.compare(t.Context(), pumped) != nil {
		t.Error("it has not changed")
	}
	if err := g.same(ended); err != errUncompared {
		t.Errorf("once it has been read: %v", err)
	}
}
