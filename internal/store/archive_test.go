package store

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"clew/jepsen"
	"clew/jepsen/forms"
)

// twoStores returns an archive each of two stores, with a history of one event and one of two.
func twoStores(t *testing.T, name string) (a, b string) {
	op := "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	pack := func(at, text string) string {
		return string(archived(t, name, fstest.MapFS{at: &fstest.MapFile{Data: []byte(text)}}))
	}
	return pack("a/history.edn", op), pack("b/history.edn", op+op)
}

// tarOf returns a tar archive of members, without its end.
func tarOf(t *testing.T, members ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	for _, h := range members {
		text := strings.Repeat("{:process 0, :type :invoke, :f :write, :value 1}\n", int(h.Size))
		h.Mode, h.Size = 0o644, int64(len(text))
		if err := z.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// foundIn returns what is found in an archive, and all messages about it.
func foundIn(t *testing.T, name, text string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var warned strings.Builder
	found, err := Find(t.Context(), name, Options{Warn: func(what string) { warned.WriteString("warning: " + what + "\n") }})
	var b strings.Builder
	for _, s := range found {
		h, err := s.Read(context.Background(), jepsen.Options{})
		if err != nil {
			b.WriteString(err.Error() + "\n")
			continue
		}
		b.WriteString(s.Below + strings.Repeat(" op", h.Operations()) + "\n")
	}
	if err != nil {
		b.WriteString("error: " + err.Error() + "\n")
	}
	return b.String() + warned.String()
}

func TestNothingInAnArchiveIsLeftOutInSilence(t *testing.T) {
	end := strings.Repeat("\x00", 1024)
	reg := func(name string, events int64) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: events}
	}
	one := tarOf(t, reg("a/history.edn", 1))
	tarA, tarB := twoStores(t, "s.tar")
	gzA, gzB := twoStores(t, "s.tar.gz")
	zipA, zipB := twoStores(t, "s.zip")
	const cut = "error: s.tar: the archive is cut off, and members may be lost: expected two blocks of zeros at its end, found the end of the file\n"
	const joined = "members may be lost, as when two archives are joined"
	differently := func(old, now string, n int) string { return strings.Replace(zipA, old, now, n) }
	for _, c := range []struct{ name, file, text, want string }{
		{"two tar archives", "s.tar", tarA + tarB, "a/history.edn op\nb/history.edn op op\n"},
		{"two compressed tar archives", "s.tar.gz", gzA + gzB, "a/history.edn op\nb/history.edn op op\n"},
		{"a tar archive with other bytes behind it", "s.tar", tarA + strings.Repeat("x", 512), "error: s.tar: archive/tar: invalid tar header\n"},
		{"a tar archive with a few other bytes behind it", "s.tar", tarA + "x", "a/history.edn op\n" + cut},
		{"a tar archive with more zeros than it needs", "s.tar", tarA + strings.Repeat("\x00", 10000), "a/history.edn op\n"},
		{"a tar archive without its end", "s.tar", one, "a/history.edn op\n" + cut},
		{"a tar archive with half of its end", "s.tar", one + end[:512], "a/history.edn op\n" + cut},
		{"no tar archive at all", "s.tar", "", cut},
		{"a damaged checksum of a compressed tar archive", "s.tar.gz", gzA[:len(gzA)-8] + "\x00\x00\x00\x00" + gzA[len(gzA)-4:],
			"error: s.tar.gz: the gzip data is damaged: its checksum does not match\n"},
		{"a damaged length of a compressed tar archive", "s.tar.gz", gzA[:len(gzA)-1] + "\x01",
			"error: s.tar.gz: the gzip data is damaged: its checksum does not match\n"},
		{"bytes behind a compressed tar archive", "s.tar.gz", gzA + "more than ten bytes", "error: s.tar.gz: the gzip data is damaged: something that is not gzip follows it\n"},
		{"backslashes in a tar archive", "s.tar", tarOf(t, reg(`a\history.edn`, 1)) + end, "a/history.edn op\n"},
		{"doubled members that differ", "s.tar", tarOf(t, reg("a/history.edn", 2), reg("./a/history.edn", 1)) + end,
			"s.tar/a/history.edn: 2 members have this name but different content; unpack the archive, which keeps one of them, and check the folder\n"},
		{"doubled members that are the same", "s.tar", one + one + end,
			"a/history.edn op\nwarning: 2 members have the name a/history.edn and the same content\n"},
		{"other things with names of histories", "s.tar", one + tarOf(t, tar.Header{Name: "b/history.edn", Typeflag: tar.TypeFifo}, tar.Header{Name: "c/history.edn", Typeflag: tar.TypeDir},
			tar.Header{Name: "d/history.edn", Typeflag: tar.TypeSymlink, Linkname: "../a/history.edn"}, tar.Header{Name: "e", Typeflag: tar.TypeSymlink, Linkname: "/mnt/e"},
			tar.Header{Name: "f", Typeflag: tar.TypeSymlink, Linkname: "a"}, tar.Header{Name: "latest", Typeflag: tar.TypeSymlink, Linkname: "/mnt/e"}) + end,
			"a/history.edn op\nwarning: 1 symbolic link is not followed, such as d/history.edn\n" +
				"warning: 1 symbolic link that leads to other folders is not followed, such as e\n" +
				"warning: 1 FIFO is not read, such as b/history.edn\nwarning: 1 folder is not a history, such as c/history.edn\n"},
		{"a zip archive whose list has another name", "s.zip", differently("history.edn", "histery.edn", 1),
			"error: s.zip: the archive is damaged: the list of members has \"a/history.edn\" where the member says \"a/histery.edn\"\n"},
		{"two zip archives", "s.zip", zipA + zipB, "b/history.edn op op\nerror: s.zip: 279 bytes from offset 0 on belong to no member: " + joined + "; unpack it and check the folder\n"},
		{"two zip archives, the second cut off", "s.zip", zipA + zipB[:len(zipB)-30], "a/history.edn op\nerror: s.zip: data follows its end: " + joined + "\n"},
		{"backslashes in a zip archive", "s.zip", differently("a/history.edn", `a\history.edn`, -1), "a/history.edn op\n"},
		{"doubled members of a zip archive that differ", "s.zip", zipWith(t, "a/history.edn", "[]", "a/history.edn", "[{}]"),
			"s.zip/a/history.edn: 2 members have this name but different content; unpack the archive, which keeps one of them, and check the folder\n"},
		{"doubled members of a zip archive that are the same", "s.zip", zipWith(t, "a/history.edn", "[]", "a/history.edn", "[]"),
			"a/history.edn\nwarning: 2 members have the name a/history.edn and the same content\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := foundIn(t, c.file, c.text); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// zipWith returns a zip archive of names, each with its text.
func zipWith(t *testing.T, namesAndTexts ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for ; len(namesAndTexts) > 0; namesAndTexts = namesAndTexts[2:] {
		w, err := z.Create(namesAndTexts[0])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, namesAndTexts[1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWhatHidesAHistoryInAFolderIsToldOf(t *testing.T) {
	root, elsewhere := store(t, "a/history.edn", "b/history.edn/notes.txt"), store(t, "c/history.edn")
	listener, err := net.Listen("unix", filepath.Join(root, "test.jepsen"))
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	for from, to := range map[string]string{"c": elsewhere, "here": "a", "latest": filepath.Join(root, "a"), "empty": t.TempDir()} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Skip(err)
		}
	}
	var got []string
	found, err := Find(t.Context(), root, Options{Warn: func(what string) { got = append(got, what) }})
	want := "1 symbolic link that leads to other folders is not followed, such as c; 1 socket is not read, such as test.jepsen; 1 folder is not a history, such as b/history.edn"
	if strings.Join(got, "; ") != want || len(found) != 1 || err != nil {
		t.Errorf("%d found, %v: %s", len(found), err, strings.Join(got, "; "))
	}
}

func TestAnArchiveThatChangesIsNotTheOneThatWasFound(t *testing.T) {
	for _, name := range []string{"s.tar", "s.tar.gz", "s.zip"} {
		a, b := twoStores(t, name)
		for how, change := range map[string]func(path string) error{
			"longer": func(path string) error { return os.WriteFile(path, []byte(b+b), 0o666) },
			"replaced": func(path string) error {
				return errors.Join(os.WriteFile("new", []byte(a), 0o666), os.Rename("new", path))
			},
			"rewritten": func(path string) error {
				info, err := os.Stat(path)
				return errors.Join(err, os.WriteFile(path, []byte(a), 0o666), os.Chtimes(path, info.ModTime(), info.ModTime().Add(1)))
			},
		} {
			t.Chdir(t.TempDir())
			if err := os.WriteFile(name, []byte(a), 0o666); err != nil {
				t.Fatal(err)
			}
			found, err := Find(t.Context(), name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := change(name); err != nil {
				t.Fatal(err)
			}
			_, err = found[0].Read(context.Background(), jepsen.Options{})
			if name == "s.zip" && how == "replaced" { // it has stayed open and unchanged
				if err != nil {
					t.Errorf("%s, %s: %v", name, how, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), "it changed while it was read") && !strings.Contains(err.Error(), "the archive is damaged") {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}

// What was open is read, but the archive may be another one by then.
func TestAnArchiveThatIsDeletedOrReplacedIsToldOf(t *testing.T) {
	for _, name := range []string{"s.tar", "s.tar.gz", "s.tar.zst", "s.zip"} {
		for want, change := range map[string]func(path string) error{
			"": func(string) error { return nil }, "deleted": os.Remove, "replaced": func(path string) error {
				return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
			},
		} {
			path := filepath.Join(t.TempDir(), name)
			data, _ := twoStores(t, name)
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			keep := int64(1 << 20)
			found, err := Find(t.Context(), path, Options{Keep: &keep})
			if err != nil || len(found) != 1 {
				t.Fatal(name, err)
			}
			in, err := found[0].Open() // a plain tar archive is opened again
			if err != nil {
				t.Fatal(name, err)
			}
			if err := change(path); err != nil {
				t.Skip(err)
			}
			h, err := forms.ReadWithin(t.Context(), in, path, jepsen.Options{})
			if err != nil {
				t.Fatal(name, err)
			}
			in.Close()
			if got := strings.Join(h.Warnings, "; "); got == "" != (want == "") || !strings.HasPrefix(got, "the file was "+want) && want != "" {
				t.Errorf("%s: warnings %q, want %q", name, got, want)
			}
		}
	}
}
