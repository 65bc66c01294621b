package licenses

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the modules of docs/licenses.md; read the licenses that it then asks for")

func TestThePageHasEveryLicense(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(root)), "LICENSE")); err != nil {
		t.Skip("this Go came without its license, as those of some distributions do: ", err)
	}
	for _, program := range []struct{ section, module, of string }{
		{"clew", "../..", "./cmd/clew"},
		{"The Beam module", "../../contrib/beam", "."},
	} {
		if err := Check("../../docs/licenses.md", program.section, program.module, program.of, *rewrite); err != nil {
			t.Error(err)
		}
	}
}

const small = "# Licenses\n\n## a\n\nText.\n\n" + head + "| x | v1 | MIT | X | `6a5b9cdd7fc0cf0d` |\n\n## b\n\n" + head

func TestComparing(t *testing.T) {
	x := Module{Path: "x", Version: "v1", Texts: []Text{{"LICENSE", "do"}}}
	small := strings.Replace(small, "6a5b9cdd7fc0cf0d", x.Hash(), 1)
	newer, other, y := x, x, x
	newer.Version, other.Texts, y.Path = "v2", []Text{{"LICENSE", "do not"}}, "y"
	for _, c := range []struct {
		modules []Module
		wrong   string
	}{
		{[]Module{{}, x}, ""},
		{nil, "x is not used"},
		{[]Module{x, y}, "y is missing"},
		{[]Module{newer}, "x is of version v2, not v1"},
		{[]Module{other}, "x has other licenses than those that were read: their hash is " + other.Hash() + ", not " + x.Hash()},
	} {
		entries, err := Entries(small, "a")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Compare(entries, c.modules), "; "); got != c.wrong {
			t.Errorf("%q, want %q", got, c.wrong)
		}
	}
	written, err := Rewritten(small, "a", []Module{{}, newer, y})
	if want := strings.Replace(small, "| v1 | MIT | X | `"+x.Hash()+"` |\n", "| v2 | MIT | X | `"+x.Hash()+"` |\n| y | v1 | ? | ? | `"+x.Hash()+"` |\n", 1); err != nil || written != want {
		t.Errorf("%v, %s\nwant %s", err, written, want)
	}
	entries, err := Entries(written, "a")
	if got := Compare(entries, []Module{newer, y}); err != nil || !slices.Equal(got, []string{"somebody must read the license of y, and say which it is and whose"}) {
		t.Error(got, err)
	}
	for _, title := range []string{"a", "b", "c"} {
		if _, err := Entries(strings.Replace(small, "| MIT | X ", "| MIT ", 1), title); (err == nil) != (title == "b") {
			t.Errorf("%s: %v", title, err)
		}
	}
}

// A license is in the folder of the code that it covers, or above it.
func TestTextsAreThoseAboveWhatIsUsed(t *testing.T) {
	modules, err := Used("../..", "./cmd/clew", Platforms[0])
	if err != nil {
		t.Skip(err)
	}
	at := slices.IndexFunc(modules, func(m Module) bool { return m.Path == "github.com/klauspost/compress" })
	if at < 0 {
		t.Fatalf("clew unpacks, but not with compress: %v", modules)
	}
	var names []string
	for _, text := range modules[at].Texts {
		names = append(names, text.Name)
	}
	if want := []string{"LICENSE", "internal/snapref/LICENSE", "zstd/internal/xxhash/LICENSE.txt"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if len(modules[at].Imports) != 1 || modules[at].Imports[0] != Go {
		t.Errorf("compress imports %q", modules[at].Imports)
	}
	var b strings.Builder
	if err := WriteTexts(&b, modules); err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		for _, text := range m.Texts {
			if !strings.Contains(b.String(), text.Name+"\n") || !strings.Contains(b.String(), strings.TrimSpace(text.Text)) {
				t.Errorf("%s of %s is not written", text.Name, m.Path)
			}
		}
	}
}
