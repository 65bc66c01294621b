package store

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"clew/jepsen"
)

// streamed is a file that can only be read from front to back.
type streamed struct{ fs.File }

func (f streamed) Read(p []byte) (int, error) { return f.File.Read(p) }

// streams is a file system of such files.
type streams struct{ fs.FS }

func (s streams) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if _, isDir := f.(fs.ReadDirFile); err != nil || isDir {
		return f, err
	}
	return streamed{f}, nil
}

// readAll returns the sources with the number of events of each, or why it cannot be read.
func readAll(found []Source, err error, root string) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "%v\n", strings.ReplaceAll(err.Error(), root, ""))
	}
	for _, s := range found {
		h, err := s.Read(context.Background(), jepsen.Options{})
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			said = fmt.Sprint(h.Events, h.Warnings)
		}
		fmt.Fprintf(&b, "%s below %s of %s at %q: %s\n", s.Path, s.Below, s.Test, s.Time, said)
	}
	return strings.ReplaceAll(b.String(), root, "")
}

// archived returns an archive of files, of the kind that its name says.
func archived(t *testing.T, name string, files fs.FS) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	if strings.HasSuffix(name, ".zip") {
		z := zip.NewWriter(&b)
		err = errors.Join(z.AddFS(files), z.Close())
	} else {
		var out io.WriteCloser = struct {
			io.Writer
			io.Closer
		}{&b, io.NopCloser(nil)}
		if strings.HasSuffix(name, ".gz") {
			out = gzip.NewWriter(&b)
		}
		z := tar.NewWriter(out)
		err = errors.Join(z.AddFS(files), z.Close(), out.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// aStore returns a folder with a store and archives of it.
func aStore(t *testing.T) string {
	t.Helper()
	op := "{:process 0, :type :invoke, :f :write, :value 1}\n"
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"etcd/20250102T000000.000Z/history.edn":     op,
		"etcd/20250103T000000.000Z/history.edn":     op + op,
		"etcd/20250104T000000.000Z/history.edn":     "",
		"etcd/20250104T000000.000Z/notes.txt":       "no history",
		"lock/independent/3/history.edn":            op,
		"queue/independent/3/history.edn":           op,
		"queue/history.edn":                         op,
		"queue/.hidden/20250104T000000/history.edn": op,
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "store"), files); err != nil {
		t.Fatal(err)
	}
	for _, archive := range []string{"store.zip", "store.tar", "store.tar.gz"} {
		if err := os.WriteFile(filepath.Join(dir, archive), archived(t, archive, files), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.zip"), []byte("no zip"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAFileSystemIsFoundAsThisMachinesFilesAre: FindFS finds and reads the same as
// Find, even if files can only be read from front to back.
func TestAFileSystemIsFoundAsThisMachinesFilesAre(t *testing.T) {
	dir := aStore(t)
	for _, path := range []string{"store", "store/etcd", "store/queue", "store/etcd/20250103T000000.000Z/history.edn", "store/etcd/20250104T000000.000Z/notes.txt",
		"store.zip", "store.tar", "store.tar.gz", "broken.zip", "nowhere", "nowhere.tar"} {
		found, err := Find(t.Context(), filepath.Join(dir, path), Options{})
		want := readAll(found, err, dir+"/")
		for name, fsys := range map[string]fs.FS{"files": os.DirFS(dir), "streams": streams{os.DirFS(dir)}} {
			found, err := FindFS(t.Context(), fsys, path, Options{})
			if got := readAll(found, err, dir+"/"); got != want {
				t.Errorf("%s of %s: got\n%swant\n%s", path, name, got, want)
			}
		}
	}
	found, err := FindFS(t.Context(), os.DirFS(filepath.Join(dir, "store")), ".", Options{})
	if got, want := readAll(found, err, dir), "queue/.hidden/20250104T000000/history.edn below queue/.hidden/20250104T000000/history.edn of .hidden at \"20250104T000000\": 1 []\n"; !strings.Contains(got, want) {
		t.Errorf("in the root:\n%s", got)
	}
	if _, err := FindFS(t.Context(), nil, ".", Options{}); err == nil {
		t.Error("there is no file system")
	}
}

func TestListedNamesAreChosenFromLikeThoseOfADirectory(t *testing.T) {
	op := "{:process 0, :type :invoke, :f :write, :value 1}\n"
	open := func(name string) (io.ReadCloser, error) {
		if strings.HasPrefix(name, "gone") {
			return nil, errors.New("no such object")
		}
		return io.NopCloser(strings.NewReader(op)), nil
	}
	names := []string{"etcd/20250102T000000/history.edn", "etcd/20250102T000000/results.edn", "gone/20250102T000000/history.edn"}
	const want = `s3://bucket/nightly/etcd/20250102T000000/history.edn below etcd/20250102T000000/history.edn of etcd at "20250102T000000": 1 []
s3://bucket/nightly/gone/20250102T000000/history.edn below gone/20250102T000000/history.edn of gone at "20250102T000000": s3://bucket/nightly/gone/20250102T000000/history.edn: no such object
`
	if got := readAll(FindAmong("s3://bucket/nightly", names, open), nil, ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	found, err := FindIn(t.Context(), "s3://bucket/gone.tar.gz", func() (io.ReadCloser, error) { return open("gone") }, Options{})
	if err == nil || err.Error() != "s3://bucket/gone.tar.gz: no such object" || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := FindIn(t.Context(), "x", nil, Options{}); err == nil {
		t.Error("nothing opens it")
	}
	found, err = FindIn(t.Context(), "s3://bucket/h.edn", func() (io.ReadCloser, error) { return open("h") }, Options{})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	in, err := found[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(in); err != nil || text.String() != op {
		t.Errorf("%q, %v", text.String(), err)
	}
}

// TestWhatIsKeptOfAnArchiveReadsTheSame keeps all of it, what there is room for,
// or what is chosen.
func TestWhatIsKeptOfAnArchiveReadsTheSame(t *testing.T) {
	dir := aStore(t)
	for _, archive := range []string{"store.tar.gz", "store.tar", "store.zip"} {
		path := filepath.Join(dir, archive)
		found, err := Find(t.Context(), path, Options{})
		want := readAll(found, err, dir+"/")
		for _, c := range []struct {
			keep    int64
			own     func(Source) bool
			inOrder int
		}{
			{1 << 20, nil, 0},
			{100, nil, 3},
			{0, nil, 5},
			{1 << 20, func(s Source) bool { return s.Test == "etcd" }, 3},
		} {
			found, err := Find(t.Context(), path, Options{Keep: &c.keep, Own: c.own})
			inOrder := 0
			for _, s := range found {
				if s.InOrder {
					inOrder++
				}
			}
			if got := readAll(found, err, dir+"/"); got != want || archive == "store.tar.gz" && inOrder != c.inOrder {
				t.Errorf("%s, %d left: %d are read in order, want %d\n%s", archive, c.keep, inOrder, c.inOrder, got)
			}
		}
	}
}

// What lies beside a history counts in a folder and in an archive of any kind. Where it cannot be read, a warning says so.
func TestWhatLiesBesideAHistoryCountsInAnArchive(t *testing.T) {
	event := func(process, typ, f, value string) string {
		return fmt.Sprintf("{:process %s, :type :%s, :f :%s, :value %s}\n", process, typ, f, value)
	}
	short := event("0", "invoke", "write", "1") + event("0", "ok", "write", "1")
	whole := short + event("1", "invoke", "read", "nil") + event("1", "ok", "read", "7")
	const line = "INFO [2025-01-02 00:00:00,000] jepsen worker 0 - jepsen.util "
	log := ""
	for _, e := range []string{"0\t:invoke\t:write\t1", "0\t:ok\t:write\t1", "1\t:invoke\t:read\tnil", "1\t:ok\t:read\t7"} {
		log += line + e + "\n"
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(whole)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	printed := strings.ReplaceAll(log, line, "")
	for name, run := range map[string]map[string]string{
		"longer history.txt":   {"history.edn": short, "history.txt": printed},
		"longer jepsen.log":    {"history.edn": short, "jepsen.log": log},
		"another .edn.gz":      {"history.edn": short, "history.edn.gz": packed.String()},
		"empty, history.txt":   {"history.edn": "", "history.txt": printed},
		"nothing but a log":    {"jepsen.log": log},
		"history.txt is alone": {"history.txt": printed},
	} {
		files := fstest.MapFS{}
		for file, text := range run {
			files["etcd/20250102T000000.000Z/"+file] = &fstest.MapFile{Data: []byte(text)}
		}
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "store"), files); err != nil {
			t.Fatal(err)
		}
		found, err := Find(t.Context(), filepath.Join(dir, "store"), Options{})
		want := readAll(found, err, dir+"/store/")
		if !strings.Contains(want, ": 4 [") {
			t.Errorf("%s: %s", name, want)
		}
		for _, archive := range []string{"store.tar", "store.tar.gz", "store.zip"} {
			path := filepath.Join(dir, archive)
			if err := os.WriteFile(path, archived(t, archive, files), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, keep := range []int64{1 << 20, 0} {
				found, err := Find(t.Context(), path, Options{Keep: &keep})
				got := readAll(found, err, path+"/")
				if said := strings.Contains(got, "not looked at: the ") && archive == "store.tar.gz" && keep == 0; got != want && !said {
					t.Errorf("%s in %s:\n%s, in a folder:\n%s", name, archive, got, want)
				}
			}
		}
	}
}

// Histories of an archive may be read in any order, and again.
func TestMembersAreReadInAnyOrder(t *testing.T) {
	dir := aStore(t)
	for _, archive := range []string{"store.tar.gz", "store.tar", "store.zip"} {
		found, err := Find(t.Context(), filepath.Join(dir, archive), Options{})
		if err != nil || len(found) < 3 {
			t.Fatalf("%d histories, %v", len(found), err)
		}
		read := func(s Source) string {
			in, err := s.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var text bytes.Buffer
			if _, err := text.ReadFrom(in); err != nil {
				t.Fatal(err)
			}
			return text.String()
		}
		var want []string
		for _, s := range found {
			want = append(want, read(s))
		}
		n := len(found)
		for _, i := range []int{n - 1, n - 1, 0, 2, 1, 1, n - 1, 0} {
			if got := read(found[i]); got != want[i] {
				t.Errorf("%s: %s holds %q, at first %q", archive, found[i].Path, got, want[i])
			}
		}
	}
}

// TestAHardLinkInATarIsTheMemberThatItNames uses the member as it was when the link was made.
func TestAHardLinkInATarIsTheMemberThatItNames(t *testing.T) {
	op, two := "{:process 0, :type :invoke, :f :write, :value 1}\n", "{:process 1, :type :invoke, :f :write, :value 2}\n"
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	for _, m := range []struct{ name, link, text string }{
		{"a/data", "", op},
		{"b/history.edn", "./a/data", ""},
		{"c/history.edn", "", op + two},
		{"d/history.edn", "c/history.edn", ""},
		{"c/history.edn", "", op},
		{"e/history.edn", "f/history.edn", ""},
		{"g/history.edn", "g/history.edn", ""},
		{"notes.txt", "f/notes.txt", ""},
	} {
		header := &tar.Header{Name: m.name, Linkname: m.link, Mode: 0o644, Size: int64(len(m.text)), Typeflag: tar.TypeReg}
		if m.link != "" {
			header.Typeflag = tar.TypeLink
		}
		if err := z.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write([]byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `s.tar/b/history.edn below b/history.edn of b at "": 1 []
s.tar/c/history.edn below c/history.edn of c at "": s.tar/c/history.edn: 2 members have this name but different content; unpack the archive, which keeps one of them, and check the folder
s.tar/d/history.edn below d/history.edn of d at "": 2 []
s.tar/e/history.edn below e/history.edn of e at "": s.tar/e/history.edn: it is a hard link to f/history.edn, and no such member comes before it
s.tar/g/history.edn below g/history.edn of g at "": s.tar/g/history.edn: it is a hard link to g/history.edn, and no such member comes before it
`
	t.Chdir(t.TempDir())
	var packed bytes.Buffer
	if err := gzipped(func(w io.Writer, _ []string) error { _, err := w.Write(b.Bytes()); return err })(&packed, nil); err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{b.Bytes(), packed.Bytes()} {
		if err := os.WriteFile("s.tar", text, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, keep := range []int64{1 << 20, 60, 0} {
			found, err := Find(t.Context(), "s.tar", Options{Keep: &keep})
			if got := readAll(found, err, ""); got != want {
				t.Errorf("%d left: got\n%swant\n%s", keep, got, want)
			}
		}
	}
}
