package store

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"clew/jepsen"
)

// store makes empty files and returns their folder.
func store(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		path := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestADirectoryStandsForItsHistories(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"every history.edn below it, and no other file",
			"a/1/history.edn a/1/results.edn b/history.edn c.edn", "a/1/history.edn b/history.edn"},
		{"not the parts of a history beside it",
			"a/history.edn a/independent/1/history.edn", "a/history.edn"},
		{"the parts alone, where there is no whole",
			"independent/1/history.edn", "independent/1/history.edn"},
		{"a test.jepsen, where there is no history.edn beside it",
			"a/1/history.edn a/1/test.jepsen b/test.jepsen b/independent/1/history.edn c.edn", "a/1/history.edn b/test.jepsen"},
		{"every .edn, where there is no history.edn",
			"b.edn.gz a.edn c/d.edn.zst e.log results.edn f/results.edn.gz", "a.edn b.edn.gz c/d.edn.zst"},
		{"a history.txt, where there is nothing else of its run",
			"a/history.edn a/history.txt b/history.txt b/results.edn b/independent/1/history.txt c/history.txt c/test.jepsen d/history.txt d/history.edn.gz", "a/history.edn b/history.txt c/test.jepsen"},
		{"a clew.jsonl, where there is nothing else of its run",
			"a/clew.jsonl a/results.edn a/jepsen.log a/independent/1/history.edn b/clew.jsonl b/history.edn c/clew.jsonl c/test.jepsen", "a/clew.jsonl b/history.edn c/test.jepsen"},
		{"all of another form", "a.jsonl b/c.json d.jsonl.gz README.md results.edn results.json", "a.jsonl b/c.json d.jsonl.gz"},
		{"all logs", "a.log b.log.zst notes.txt", "a.log b.log.zst"},
		{"the logs of tests, and not of their nodes", "a/jepsen.log a/n1/db.log b/jepsen.log.gz b/jepsen.log", "a/jepsen.log b/jepsen.log"},
		{"all that other monitors read", "a.hist b.hist", "a.hist b.hist"},
		{"what was test.jepsen", "a.jepsen b.jepsen", "a.jepsen b.jepsen"},
		{"texts, where there is nothing else", "a.txt b.txt", "a.txt b.txt"},
	} {
		root := store(t, strings.Fields(c.files)...)
		found, err := Find(t.Context(), root, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var below []string
		for _, s := range found {
			path, _ := filepath.Rel(root, s.Path)
			below = append(below, path)
		}
		if got := strings.Join(below, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// There is a message about every skipped file that could be a history.
func TestWhatIsNotLookedAtIsTold(t *testing.T) {
	for _, c := range []struct{ files, said, failed string }{
		{"a/history.edn b/jepsen.log b/n1/db.log", "1 run has a jepsen.log but no history, and was skipped: give b/jepsen.log by name", ""},
		{"a/history.edn b/jepsen.log c/jepsen.log", "2 runs have a jepsen.log but no history, and were skipped, such as b/jepsen.log: give them by name", ""},
		{"a/history.edn a/jepsen.log a/notes.jsonl b/history.txt b/jepsen.log c/test.jepsen c/jepsen.log", "", ""},
		{"a.edn b.jsonl", "1 file of another form was skipped: give b.jsonl by name", ""},
		{"a.edn b.log c.txt README", "2 files of other forms were skipped, such as b.log: give them by name", ""},
		{"a.log b.txt", "1 file of another form was skipped: give b.txt by name", ""},
		{"a.log b.jsonl c.txt", "", "it has files of several forms, such as a.log and c.txt: give those of one form by name"},
		{"t1/r/history.edn t2/r/history.jsonl", "1 file that may be a history was skipped: give t2/r/history.jsonl by name", ""},
		{"t1/r/history.edn t2/r/history.json", "1 file that may be a history was skipped: give t2/r/history.json by name", ""},
		{"t1/r/history.edn t2/r/history.edn.xz", "1 file that may be a history was skipped: give t2/r/history.edn.xz by name", ""},
		{"t1/r/history.edn t2/r/history.edn.bz2", "1 file that may be a history was skipped: give t2/r/history.edn.bz2 by name", ""},
		{"t1/r/history.edn t2/r/h.edn", "1 file that may be a history was skipped: give t2/r/h.edn by name", ""},
		{"t1/r/history.edn t2/r/test.fressian", "1 file that may be a history was skipped: give t2/r/test.fressian by name", ""},
		{"t1/r/history.edn t2/r/run.tar", "1 file that may be a history was skipped: give t2/r/run.tar by name", ""},
		{"t1/r/history.edn t2/r/test.jepsen.gz", "1 file that may be a history was skipped: give t2/r/test.jepsen.gz by name", ""},
		{"t1/r/history.edn t2/r/History.edn", "1 file that may be a history was skipped: give t2/r/History.edn by name", ""},
		{"t1/r/history.edn t2/r/history.edn.1", "1 file that may be a history was skipped: give t2/r/history.edn.1 by name", ""},
		{"t1/r/history.edn t2/r/history.edn~", "1 file that may be a history was skipped: give t2/r/history.edn~ by name", ""},
		{"t1/r/history.edn t1/r/history.edn.1 b/c.json d.tar.gz e/history.json f.txt", "4 files that may be histories were skipped, such as b/c.json, d.tar.gz and e/history.json: give them by name", ""},
		{"a.edn b.edn.xz README", "1 file that may be a history was skipped: give b.edn.xz by name", ""},
		{"a/history.edn a/history.edn.gz a/history.txt a/test.jepsen.zst a/test.fressian a/results.edn a/results.json a/jepsen.log a/history.html a/linear.svg a/n1/data.tar.gz a/n1/config.json a/independent/1/history.json latency-raw.png", "", ""},
		{"a/history.edn.gz a/test.fressian a/results.edn.gz a/n1/data.tar", "", ""},
		{"results.edn", "", "no history.edn or test.jepsen, and no .edn, .edn.gz or .edn.zst file below it"},
	} {
		root := store(t, strings.Fields(c.files)...)
		said := ""
		_, err := Find(t.Context(), root, Options{Warn: func(what string) { said += what }})
		if said != c.said || (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
			t.Errorf("%s: %q, %v; want %q, %q", c.files, said, err, c.said, c.failed)
		}
	}
}

// What is below a folder does not depend on the spelling of the folder.
func TestAFolderMayBeSpelledInAnyWay(t *testing.T) {
	root := store(t, "store/a/history.edn")
	t.Chdir(root)
	for _, spelled := range []string{"store", "store/", "./store/", "store//", ".//store", "store/../store/", "store/a/..", "..//" + filepath.Base(root) + "/store/", root + "/store/", ".", "./", "./."} {
		found, err := Find(t.Context(), spelled, Options{})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", spelled, found, err)
			continue
		}
		want := "a/history.edn"
		if strings.Trim(spelled, "./") == "" {
			want = "store/" + want
		}
		if _, err := os.Stat(found[0].Path); err != nil || found[0].Below != want {
			t.Errorf("%s: %s, of which %s is below it, %v", spelled, found[0].Path, found[0].Below, err)
		}
	}
}

func TestSymbolicLinksAreFollowedOnlyWhereTheyAreGiven(t *testing.T) {
	root := store(t, "real/history.edn")
	if err := os.Symlink("real", filepath.Join(root, "latest")); err != nil {
		t.Skip(err)
	}
	if found, err := Find(t.Context(), root, Options{}); err != nil || len(found) != 1 {
		t.Errorf("%v (%v): a link below the folder was followed", found, err)
	}
	if found, err := Find(t.Context(), filepath.Join(root, "latest"), Options{}); err != nil || len(found) != 1 {
		t.Errorf("%v (%v): the given link was not followed", found, err)
	}
}

// What would count beside a history, and is no regular file there, is told of in a folder and in archives.
func TestWhatLiesBesideAHistoryAndIsNoFileIsToldOf(t *testing.T) {
	for _, beside := range []string{"history.txt", "jepsen.log", "test.edn", "results.edn"} {
		root := store(t, "t/20250101T000000.000Z/history.edn", "elsewhere.log")
		link := "t/20250101T000000.000Z/" + beside
		if err := os.Symlink("../../elsewhere.log", filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
		said := ""
		_, err := Find(t.Context(), root, Options{Warn: func(what string) { said += what }})
		if want := "1 symbolic link is not followed, such as " + link; err != nil || said != want {
			t.Errorf("%v, %q; want %q", err, said, want)
		}
	}
}

func TestLinksInAZipArchiveAreToldOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, mode := range map[string]os.FileMode{"a/history.edn": 0o644, "b/history.edn": os.ModeSymlink, "latest": os.ModeSymlink} {
		header := &zip.FileHeader{Name: name}
		header.SetMode(mode)
		if _, err := z.CreateHeader(header); err != nil {
			t.Fatal(err)
		}
	}
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("no archive")
	}
	said := ""
	found, err := Find(t.Context(), file, Options{Warn: func(what string) { said += what }})
	if want := "1 symbolic link is not followed, such as b/history.edn"; err != nil || len(found) != 1 || said != want {
		t.Errorf("%v, %v, %q; want %q", found, err, said, want)
	}
}

func TestAFolderThatIsCalledTestJepsenMayOnlyHaveMembers(t *testing.T) {
	found := FindAmong("s", []string{"a/history.edn", "a/test.jepsen/x"}, nil)
	if len(found) != 1 || !strings.Contains(found[0].notKnown(), "beside it is a folder, which is not a history") {
		t.Error(found)
	}
}

// A link in an archive or a file system may lead to the events that a history lacks.
func TestATestFileThatIsNotReadIsToldBesideItsHistory(t *testing.T) {
	const text = "{:process 0, :type :invoke, :f :write, :value 1}"
	fsys := fstest.MapFS{"a/history.edn": {Data: []byte(text)}, "a/test.jepsen": {Mode: fs.ModeSymlink}, "b/history.edn": {Data: []byte(text)}}
	found, err := FindFS(t.Context(), fsys, ".", Options{})
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	file := filepath.Join(t.TempDir(), "store.zip")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, mode := range map[string]os.FileMode{"a/history.edn": 0o644, "a/test.jepsen": os.ModeSymlink, "b/history.edn": 0o644} {
		header := &zip.FileHeader{Name: name}
		header.SetMode(mode)
		w, err := z.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if z.Close() != nil || os.WriteFile(file, b.Bytes(), 0o666) != nil {
		t.Fatal("no archive")
	}
	zipped, err := Find(t.Context(), file, Options{})
	if err != nil || len(zipped) != 2 {
		t.Fatal(zipped, err)
	}
	for i, s := range append(found, zipped...) {
		h, err := s.Read(t.Context(), jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(strings.Join(h.Warnings, "; "), "the test.jepsen beside it is a symbolic link, which is not followed, so it is not known")
		if told != (i%2 == 0) {
			t.Errorf("%s: %q", s.Path, h.Warnings)
		}
	}
}

func TestAStoresLayoutTellsTestAndTime(t *testing.T) {
	const time = "20250623T184232.292Z"
	for _, c := range []struct{ root, below, test, time string }{
		{"store", "redis/" + time + "/history.edn", "redis", time},
		{"store/redis", time + "/history.edn", "redis", time},
		{"store/redis/" + time, "history.edn", "redis", time},
		{"old.tar.gz", "archive/store/redis/" + time + "/history.edn", "redis", time},
		{"store", "redis/latest/history.edn", "redis/latest", ""},
		{"store", "redis/" + time + "/test.jepsen", "redis", time},
		{"tests", "history.edn", "tests", ""},
		{"tests", "a/b.edn.gz", "a/b.edn.gz", ""},
	} {
		if s := stored(c.root, c.below); s.Test != c.test || s.Time != c.time || s.Path != c.root+"/"+c.below {
			t.Errorf("%s, %s: %+v", c.root, c.below, s)
		}
	}
}

func TestAnEncryptedMemberOfAZipArchiveSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.zip")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	_, err = z.CreateRaw(&zip.FileHeader{Name: "a/history.edn", Method: zip.Deflate, Flags: encrypted})
	if err != nil || z.Close() != nil || f.Close() != nil {
		t.Fatal("no archive: ", err)
	}
	found, err := Find(t.Context(), file, Options{})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	const want = "it is encrypted; unpack the archive with its password, and check the folder"
	if _, err := found[0].Read(context.Background(), jepsen.Options{}); err == nil || err.Error() != file+"/a/history.edn: "+want {
		t.Error(err)
	}
}
