package forms

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"clew/internal/blocks"
	"clew/internal/effort"
	"clew/jepsen"
)

// lengths are lengths of blocks, the usual one last. Texts of a few hundred bytes have many blocks of 64 bytes. A few op maps fit into one of
// 300, so that quick readers find some.
var lengths = []int{64, 1, 2, 7, 16, 63, 65, 300, 0}

// asRead reads a text as a form, in blocks of at most n bytes unless n is 0. If eager, it comes in small pieces.
func asRead(t *testing.T, form Form, text string, n int, eager bool) string {
	t.Helper()
	defer blocks.AtMost(n)()
	if eager {
		return readAs(t, form, iotest.OneByteReader(strings.NewReader(text)), false)
	}
	return readAs(t, form, strings.NewReader(text), true)
}

// blocksDiffer fails if the length of blocks makes a difference.
func blocksDiffer(t *testing.T, form Form, text string, n int) {
	t.Helper()
	want := asRead(t, form, text, 0, false)
	for _, eager := range []bool{false, true} {
		if eager && form.row().binary { // only its file can grow
			continue
		}
		if got := asRead(t, form, text, n, eager); got != want {
			t.Fatalf("as %s, in blocks of %d (eager: %v): %q\n%s\nin blocks as usual:\n%s", form, n, eager, text, got, want)
		}
	}
}

// manyBlocks returns texts in a form. Most are longer than a few short blocks.
func manyBlocks(t testing.TB, form Form) []string {
	texts := slices.Clone(formTexts[form])
	register := strings.Repeat("{:type :invoke, :process 0, :f :write, :value 12, :time 3, :index 0}\n{:type :ok, :process 0, :f :write, :value 12, :time 4, :index 1}\n", 6)
	queue := strings.Repeat("{:type :invoke, :process 0, :f :enqueue, :value 12}\n{:type :ok, :process 0, :f :enqueue, :value 12}\n", 6)
	for _, text := range []string{everyValue, register, queue} {
		var out bytes.Buffer
		if form.row().write.event != nil {
			if _, err := Convert(&out, strings.NewReader(text), "h", "", form); err == nil {
				texts = append(texts, out.String())
			}
		}
	}
	switch form {
	case EDN:
		texts = append(texts, "["+register+"]", "; é\r\n(\n"+register, "\ufeff#a "+queue)
	case Etcd:
		range1 := `{"ClientID":7,"Input":{"Type":"range","Range":{"Start":"a"}},"Call":12,"Output":{"Range":{"KVs":[],"Count":0},"Revision":1},"Return":19}` + "\n"
		texts = append(texts, range1+range1+`{"ClientId":3,"Input":{"Type":"range","Range":{"Start":"é"}},"Call":5,"Output":{"Error":"timeout"},"Return":9}`)
	case Test:
		for _, name := range []string{"chunks", "killed"} {
			text, err := os.ReadFile("../../internal/testfile/testdata/" + name + ".jepsen")
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
	}
	if len(texts) == 0 {
		t.Errorf("there is no text as %s", form)
	}
	for _, text := range texts {
		if crlf := strings.ReplaceAll(text, "\n", "\r\n"); crlf != text && form != Test {
			texts = append(texts, crlf)
		}
	}
	return texts
}

// behind is what may follow a text, or its beginning: comments, brackets and quotes that stay open, and more than a block of each.
var behind = []string{"", "; ]", "# ]", "\x00", " [", " {", `"`, "]", "; " + strings.Repeat("long ", 30), `"` + strings.Repeat("long ", 30), "[" + strings.Repeat("(", 80), strings.Repeat("\n", 80) + ";"}

// Every text, cut anywhere, is the same history or the same error however long blocks are.
func TestTheLengthOfBlocksMakesNoDifference(t *testing.T) {
	for _, form := range Readable {
		for k, text := range manyBlocks(t, form) {
			step := 1 + len(text)/200
			if effort.Few() {
				step = 1 + len(text)/10
			}
			if k == 0 && !effort.Race {
				for cut := range text {
					if effort.Takes(cut) {
						everyByte(t, form, text[:cut])
					}
				}
			}
			for _, end := range behind {
				blocksDiffer(t, form, text+end, lengths[0])
			}
			for i, cut := 0, k%step; cut <= len(text); i, cut = i+1, cut+step {
				blocksDiffer(t, form, text[:cut]+behind[i%len(behind)], lengths[(i+k)%len(lengths)])
				blocksDiffer(t, form, text[:cut]+behind[i%3], lengths[0])
			}
		}
	}
}

// everyByte fails if blocks of 64 bytes make a difference to a text, which is cut at one of its bytes.
func everyByte(t *testing.T, form Form, text string) {
	t.Helper()
	if want, got := asRead(t, form, text, 0, false), asRead(t, form, text, lengths[0], false); got != want {
		t.Fatalf("as %s, in blocks of %d: %q\n%s\nin blocks as usual:\n%s", form, lengths[0], text, got, want)
	}
}

// packed returns a text in a packing, by the ending of the name.
func packed(t *testing.T, ending, text string) []byte {
	var out bytes.Buffer
	switch ending {
	case ".gz":
		w := gzip.NewWriter(&out)
		w.Write([]byte(text))
		w.Close()
	case ".zst":
		w, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
		w.Close()
	default:
		out.WriteString(text)
	}
	return out.Bytes()
}

// Files are read ahead, packed or not. That is the same, too.
func TestTheLengthOfBlocksOfFilesMakesNoDifference(t *testing.T) {
	read := func(path string, n int) string {
		defer blocks.AtMost(n)()
		h, err := ReadFile(path, jepsen.Options{AllClients: true, AnyFailedF: true})
		if err != nil {
			return err.Error()
		}
		return strings.Join(slices.Concat(whole(h), h.Warnings), "\n")
	}
	some := lengths[:5]
	if effort.Few() {
		some = lengths[:1]
	}
	for _, form := range Readable {
		for k, text := range manyBlocks(t, form) {
			for e, ending := range []string{"", ".gz", ".zst"} {
				if !effort.Takes(k + e) {
					continue
				}
				for _, content := range [][]byte{packed(t, ending, text), packed(t, ending, text+" ; ]"), packed(t, ending, text[:len(text)/2]), cutOff(packed(t, ending, text))} {
					path := filepath.Join(t.TempDir(), "history"+ending)
					if err := os.WriteFile(path, content, 0o600); err != nil {
						t.Fatal(err)
					}
					want := read(path, 0)
					for _, n := range some {
						if got := read(path, n); got != want {
							t.Fatalf("%s as %s, in blocks of %d: %q\n%s\nin blocks as usual:\n%s", ending, form, n, text, got, want)
						}
					}
				}
			}
		}
	}
}

// cutOff returns most of a file.
func cutOff(file []byte) []byte { return file[:len(file)*3/4] }

// pieces are put into texts: what opens, closes or escapes something in one of the forms, and what ends a line.
var pieces = []string{"[", "]", "{", "}", "(", ")", `"`, `\`, ";", "#", "#_", "^", "\n", "\r\n", "\x00", "\xff", "é", ",", ":", " ", "\t", "-", "0", "12345678901234567890", "nil", "null", "; ]", "; ]\n"}

// mutated returns a piece of a text with a few changes.
func mutated(r *rand.Rand, text string) string {
	if most := 300 + r.IntN(200); len(text) > most {
		text = text[:most]
	}
	changed := []byte(text)
	for range r.IntN(4) {
		if len(changed) == 0 {
			break
		}
		at := r.IntN(len(changed))
		switch r.IntN(5) {
		case 0:
			changed[at] = byte(r.Uint32())
		case 1:
			changed = slices.Delete(changed, at, min(at+1+r.IntN(9), len(changed)))
		case 2:
			from := r.IntN(len(text))
			changed = slices.Insert(changed, at, []byte(text[from:min(from+r.IntN(40), len(text))])...)
		default:
			changed = slices.Insert(changed, at, []byte(pieces[r.IntN(len(pieces))])...)
		}
	}
	return string(changed[:len(changed)-r.IntN(len(changed)+1)*r.IntN(2)]) + behind[r.IntN(len(behind))]
}

// Texts with errors are the same in short blocks, too. In its long mode this takes a million texts, half of them in blocks of 64 bytes.
func TestTheLengthOfBlocksMakesNoDifferenceToErrors(t *testing.T) {
	texts := effort.Histories(600, 1_000_000)
	for k, form := range Readable {
		samples := manyBlocks(t, form)
		r := rand.New(rand.NewPCG(uint64(k), 1))
		for i := range texts / uint64(len(Readable)) {
			n := lengths[0]
			if i%2 == 1 {
				n = lengths[r.IntN(len(lengths))]
			}
			blocksDiffer(t, form, mutated(r, samples[r.IntN(len(samples))]), n)
		}
	}
	t.Logf("%d texts", texts)
}
