package files

import (
	"errors"
	"io"
	"os"
	"testing"
)

// written writes a text to a path.
func written(path, text string) error {
	return To(path, nil, nil).Write(func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

func TestAnOutputIsWhereItsPathLeads(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, err := range []error{
		os.MkdirAll("a/b", 0o755), os.Symlink("a/b", "ab"), os.Symlink("../x", "a/b/up"), os.Symlink("loop", "loop"),
	} {
		if err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct{ path, file string }{
		{"ab/../y", "a/y"}, // and not y
		{"ab/up", "a/x"},
		{"ab/z", "a/b/z"},
	} {
		if err := written(c.path, c.path); err != nil {
			t.Errorf("%s: %v", c.path, err)
		}
		if text, err := os.ReadFile(c.file); string(text) != c.path {
			t.Errorf("%s: %s holds %q (%v)", c.path, c.file, text, err)
		}
	}
	if !To("ab/../y", nil, nil).Same(To("a/y", nil, nil)) || !To("ab/new", nil, nil).Same(To("./a/b/new", nil, nil)) {
		t.Error("one file is two outputs")
	}
	for path, want := range map[string]string{"loop": "too many symbolic links", "ab": "is a directory", "no/x": "no such file or directory", "ab/": "is a directory"} {
		if err := To(path, nil, nil).Probe(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestAFileThatIsNotWrittenWholeIsAsItWas(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(written("x", "old"), os.Chmod("x", 0o640)); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space")
	err := To("x", nil, nil).Write(func(w io.Writer) error { io.WriteString(w, "new"); return full })
	text, _ := os.ReadFile("x")
	info, _ := os.Stat("x")
	if below, _ := os.ReadDir("."); err != full || string(text) != "old" || info.Mode() != 0o640 || len(below) != 1 {
		t.Errorf("%v, %q, %v, %d files", err, text, info.Mode(), len(below))
	}
}
