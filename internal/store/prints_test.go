package store

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/edn"
	"clew/internal/prints"
	"clew/jepsen"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the answers in testdata")

// read says what is read of a print.
func read(print string) string {
	all, notes, err := prints.Read(strings.NewReader(print), "print")
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, p := range all {
		c := ClaimOf(p, edn.NewValues())
		fmt.Fprintf(&b, "%s: ", p.File)
		switch {
		case c.Lost != "":
			b.WriteString(c.Lost)
		default:
			b.WriteString(c.Verdict.String())
		}
		if c.HasOp {
			fmt.Fprintf(&b, " at %d", c.OpIndex)
		}
		for _, more := range []string{c.Model, c.Init, c.Analyzer, c.Note} {
			if more != "" {
				b.WriteString("; " + more)
			}
		}
		b.WriteString("\n")
	}
	for _, n := range notes {
		b.WriteString(n + "\n")
	}
	return b.String()
}

// Every print in the table is read as it says.
func TestWhatKnossosPrints(t *testing.T) {
	path := filepath.Join("..", "prints", "testdata", "prints.txt")
	table, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(table), "\n=== ")
	for i, c := range cases[1:] {
		name, rest, _ := strings.Cut(c, "\n")
		print, want, ok := strings.Cut(rest, "---\n")
		if !ok {
			t.Fatalf("%s: there is no answer", name)
		}
		got := read(strings.ReplaceAll(print, "~\n", ""))
		if want != got {
			t.Errorf("%s:\n%swant\n%s", name, got, want)
		}
		cases[i+1] = name + "\n" + print + "---\n" + got
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(strings.Join(cases, "\n=== ")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Wherever a print ends, its files all have a verdict or are said to have lost it, in their order.
func TestAPrintThatIsCutOffLosesNoFile(t *testing.T) {
	print := "a.edn\ttrue\nb.edn\t{:valid? false,\n :configs (),\n :op {:index 3}}\nfalse\nc.edn\t:unknown\n"
	names := []string{"a.edn", "b.edn", "c.edn"}
	for end := 1; end <= len(print); end++ {
		all, _, err := prints.Read(strings.NewReader(print[:end]), "print")
		if err != nil {
			t.Fatalf("%q: %v", print[:end], err)
		}
		want := 1 + strings.Count(print[:end], "\nb") + strings.Count(print[:end], "\nc")
		if len(all) != want {
			t.Errorf("%q: %d files, want %d", print[:end], len(all), want)
		}
		for i, p := range all {
			c := ClaimOf(p, edn.NewValues())
			if i+1 < len(all) && (p.File != names[i] || c.Lost != "") || !strings.HasPrefix(names[i], p.File) {
				t.Errorf("%q: file %d is %s, %s", print[:end], i, p.File, cmp.Or(c.Lost, "with a verdict"))
			}
		}
	}
}

// Maps that Knossos prints for real are read from its results.
func TestKnossosOwnPrintsAreRead(t *testing.T) {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	want := map[string]string{
		"broken.txt":        "lost",
		"invalid.txt":       jepsen.Invalid.String(),
		"missing.txt":       "lost",
		"mutex-invalid.txt": jepsen.Invalid.String(),
		"two-files.txt":     jepsen.Valid.String() + " " + jepsen.Invalid.String(),
		"valid.txt":         jepsen.Valid.String(),
	}
	for name, want := range want {
		f, err := os.Open(filepath.Join(root, "knossos-results", "cli", name))
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := prints.Read(f, name)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range all {
			if c := ClaimOf(p, edn.NewValues()); c.Lost != "" {
				got = append(got, "lost")
			} else {
				got = append(got, c.Verdict.String())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
}
