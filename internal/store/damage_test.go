package store

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// damagedForm is a form with two histories.
type damagedForm struct {
	name    string
	file    string // the name of a run's history
	texts   [2]string
	checked bool   // it has checksums of its own
	invokes string // what every invocation line has; "" if the form has no lines
}

// queue returns a history of a queue that every form can hold, except for crashed
// operations: one in six, with or without an :info.
func queue(from, n int, crashes bool) string {
	var b strings.Builder
	index := 0
	for i := range n {
		f, invoked := "enqueue", strconv.Itoa(from+i)
		if i%2 == 1 {
			f, invoked = "dequeue", "nil"
		}
		process := i % 3
		if crashes && i%6 == 2 {
			process = 3 + i
		}
		for j, kind := range []string{"invoke", "ok"} {
			if process > 2 && j == 1 && i%12 == 2 {
				continue
			}
			if process > 2 && j == 1 {
				kind = "info"
			}
			value := []string{invoked, strconv.Itoa(from + i/2*2)}[j]
			fmt.Fprintf(&b, "{:process %d, :type :%s, :f :%s, :value %s, :index %d}\n", process, kind, f, value, index)
			index++
		}
	}
	return b.String()
}

func damagedForms(t *testing.T) []damagedForm {
	const n = 24
	texts := [2]string{queue(10, n, true), queue(1010, n, true)}
	convert := func(to forms.Form, change ...string) (out [2]string) {
		from := texts
		if to == forms.Fastlin || to == forms.Fptlin {
			from = [2]string{queue(10, n, false), queue(1010, n, false)}
		}
		for i, text := range from {
			var b bytes.Buffer
			if _, err := forms.Convert(&b, strings.NewReader(text), "h", "", to); err != nil {
				t.Fatal(to, err)
			}
			out[i] = strings.NewReplacer(change...).Replace(b.String())
		}
		return out
	}
	var tests [2]string
	for i, name := range []string{"chunks.jepsen", "version0.jepsen"} {
		text, err := os.ReadFile(filepath.Join("..", "testfile", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		tests[i] = string(text)
	}
	index := regexp.MustCompile(`, :index \d+`)
	bare := [2]string{index.ReplaceAllString(texts[0], ""), index.ReplaceAllString(texts[1], "")}
	vector := [2]string{"[" + texts[0] + "]\n", "[" + texts[1] + "]\n"}
	const run = "history.edn"
	return []damagedForm{
		{"edn", run, texts, false, ":invoke"},
		{"edn, bare", run, bare, false, ":invoke"},
		{"edn vector", run, vector, false, ":invoke"},
		{"json", run, convert(forms.JSON), false, `"invoke"`},
		{"jsonl", run, convert(forms.JSONL), false, `"invoke"`},
		{"log", run, convert(forms.Log), false, ":invoke"},
		{"history.txt", run, convert(forms.Log, "INFO  jepsen.util - ", ""), false, ":invoke"},
		{"fastlin", run, convert(forms.Fastlin), false, " "},
		{"fptlin", run, convert(forms.Fptlin), false, " "},
		{"limo", run, convert(forms.LiMo), false, "call"},
		{"intervals", run, convert(forms.Intervals), false, `"call"`},
		{"test.jepsen", "test.jepsen", tests, true, ""},
	}
}

// outcome is the result of reading a file.
type outcome struct {
	ops  int
	all  string // everything that was read
	said string // errors and warnings
}

func outcomeOf(t *testing.T, path string, text []byte) (o outcome) {
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	keep := int64(1 << 20)
	found, err := Find(t.Context(), path, Options{Keep: &keep, Warn: func(what string) { o.said += what + "\n" }})
	if err != nil {
		o.said += err.Error() + "\n"
	}
	all := sha256.New()
	for _, s := range found {
		h, err := s.Read(t.Context(), jepsen.Options{Memory: 64 << 20})
		if err != nil {
			o.said += err.Error() + "\n"
			continue
		}
		o.said += strings.Join(h.Warnings, "\n")
		o.ops += h.Operations()
		fmt.Fprintln(all, s.Below)
		printer := h.OpPrinter()
		for e := range jepsen.Event(len(h.Type)) {
			all.Write(printer.AppendEvent(nil, e))
		}
	}
	o.all = string(all.Sum(nil))
	return o
}

// container is a way in which histories come.
type container struct {
	name    string // of a file, if it is packed
	pack    packing
	checked bool
	archive bool
}

var containers = []container{
	{"h", one, false, false}, {"h.gz", gzipped(one), true, false}, {"h.zst", zstandard(one), true, false},
	{"s.tar", inTar, false, true}, {"s.tar.gz", gzipped(inTar), true, true}, {"s.tar.zst", zstandard(inTar), true, true}, {"s.zip", inZip, true, true},
}

// specimen is a file that will be damaged, and what is known about it.
type specimen struct {
	container
	form damagedForm
	path string
	file [2][]byte  // the file, and another one of the same kind
	was  [3]outcome // of each, and of both joined, if the joined ones can be read at all
}

// specimens returns all forms in all containers.
func specimens(t *testing.T, names []string) (all []*specimen) {
	dir := t.TempDir()
	for _, form := range damagedForms(t) {
		for _, c := range containers {
			s := &specimen{container: c, form: form, path: filepath.Join(dir, c.name)}
			for i := range s.file {
				for j := range members {
					members[j] = strings.Replace(names[2*i+j], "history.edn", form.file, 1)
				}
				var b bytes.Buffer
				if err := c.pack(&b, []string{form.texts[i], form.texts[1-i]}); err != nil {
					t.Fatal(err)
				}
				s.file[i] = b.Bytes()
				if s.was[i] = outcomeOf(t, s.path, s.file[i]); s.was[i].said != "" || s.was[i].ops == 0 {
					t.Fatalf("%s in %s: %d operations, %s", form.name, c.name, s.was[i].ops, s.was[i].said)
				}
			}
			s.was[2] = outcomeOf(t, s.path, slices.Concat(s.file[0], s.file[1]))
			all = append(all, s)
		}
	}
	return all
}

// damage returns a damaged copy of a specimen. It also says how many operations
// must be there if there is no error or warning.
func (s *specimen) damage(r *rand.Rand) (what string, text []byte, atLeast int) {
	a, b := s.file[0], s.file[1]
	text = slices.Clone(a)
	flip := func(n int) (string, []byte, int) {
		at := []string{}
		for range n {
			i, bit := r.IntN(len(text)), r.IntN(8)
			text[i] ^= 1 << bit
			at = append(at, fmt.Sprintf("bit %d of byte %d", bit, i))
		}
		return strings.Join(at, ", "), text, s.was[0].ops
	}
	switch k := r.IntN(20); {
	case k < 10:
		return flip(1)
	case k < 12:
		return flip(2 + r.IntN(3))
	case k < 16:
		i := r.IntN(len(a))
		return fmt.Sprintf("cut at %d of %d", i, len(a)), text[:i], s.left(text[:i])
	case k < 18:
		return "joined with another", slices.Concat(a, b), s.was[0].ops + s.was[1].ops
	}
	i, j := r.IntN(len(a)), r.IntN(len(b))
	if s.archive && !s.checked { // A tar archive neither counts its members nor sums them up.
		return "parts of two", slices.Concat(a[:i], b[j:]), 0
	}
	return fmt.Sprintf("cut at %d of %d, and another from %d on behind it", i, len(a), j), slices.Concat(a[:i], b[j:]), s.left(slices.Concat(a[:i], b[j:]))
}

// left returns how many operations a text that was cut must have. It counts the
// lines that are left, including one that is cut.
func (s *specimen) left(text []byte) int {
	if s.form.invokes == "" || s.archive || s.checked {
		return s.was[0].ops
	}
	n := 0
	for line := range bytes.Lines(text) {
		if whole := bytes.HasSuffix(line, []byte("\n")); bytes.Contains(line, []byte(s.form.invokes)) && !bytes.HasPrefix(line, []byte("#")) &&
			(whole && (bytes.Contains(s.file[0], line) || bytes.Contains(s.file[1], line)) || !whole) {
			n++
		}
	}
	return n
}

// commented matches op maps whose brace became a semicolon, which begins a comment in EDN.
var commented = regexp.MustCompile(`(?m)^;.*:invoke`)

// TestNoDamageTakesOperationsAwayInSilence flips bits, and cuts files off or joins
// them, in every form and container. Either there is an error or a warning, or no
// operation is missing. With checksums, what is read must also be unchanged.
func TestNoDamageTakesOperationsAwayInSilence(t *testing.T) {
	before := slices.Clone(members)
	defer func() { copy(members, before) }()
	n := 770
	if os.Getenv("CLEW_LONG") != "" {
		n = 100_000
	}
	if given, err := strconv.Atoi(os.Getenv("CLEW_DAMAGES")); err == nil {
		n = given
	}
	all := specimens(t, []string{"store/a/20250101T000000.000Z/history.edn", "store/b/history.edn", "store/c/history.edn", "store/d/history.edn"})
	type count struct{ runs, said, same, other int }
	counts := make([]count, len(all))
	wrong := 0
	for i := range n {
		r := gen.Rand(uint64(i))
		s, c := all[i%len(all)], &counts[i%len(all)]
		what, text, atLeast := s.damage(r)
		if strings.HasPrefix(s.form.name, "edn") {
			atLeast -= len(commented.FindAll(text, -1))
		}
		got := outcomeOf(t, s.path, text)
		known := slices.ContainsFunc(s.was[:], func(was outcome) bool { return was.all == got.all })
		c.runs++
		switch {
		case got.said != "":
			c.said++
			continue
		case known:
			c.same++
		default:
			c.other++
		}
		if got.ops < atLeast || !known && (s.checked || s.form.checked && !s.archive) {
			if wrong++; wrong <= 40 {
				t.Errorf("%d: %s in %s, %s: %d operations, expected at least %d; the same: %t", i, s.form.name, s.name, what, got.ops, atLeast, known)
			}
		}
	}
	for i, s := range all {
		c := counts[i]
		t.Logf("%-12s %-10s %5d: %5d said, %5d the same, %5d another with as many operations", s.form.name, s.name, c.runs, c.said, c.same, c.other)
	}
	if wrong > 0 {
		t.Errorf("%d of %d", wrong, n)
	}
}
