package testfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"

	"clew/edn"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// read reads a history as a stream.
func read(data []byte) (*jepsen.History, error) {
	return forms.Read(bytes.NewReader(data), "test.jepsen", jepsen.Options{AllClients: true})
}

func content(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// events returns the op maps of a history, as text.
func events(h *jepsen.History) []string {
	var all []string
	printer := h.OpPrinter()
	for e := range h.Type {
		all = append(all, string(printer.AppendEvent(nil, jepsen.Event(e))))
	}
	return all
}

// compare says where two histories differ. It compares each event's op map, whose values
// must be equal as Clojure's are.
func compare(t *testing.T, got, want *jepsen.History) {
	t.Helper()
	if got.Events != want.Events || got.Skipped != want.Skipped || len(got.Type) != len(want.Type) || got.Operations() != want.Operations() {
		t.Fatalf("%d events (%d skipped), %d operations; want %d (%d), %d", got.Events, got.Skipped, got.Operations(), want.Events, want.Skipped, want.Operations())
	}
	if !slices.Equal(got.Status, want.Status) || !slices.Equal(got.OpOf, want.OpOf) || !slices.Equal(got.Type, want.Type) || !slices.Equal(got.Process, want.Process) {
		t.Error("the operations differ")
	}
	theirs, ours := events(want), events(got)
	for e := range ours {
		if got.Index(jepsen.Event(e)) != want.Index(jepsen.Event(e)) {
			t.Errorf("event %d has index %d, want %d", e, got.Index(jepsen.Event(e)), want.Index(jepsen.Event(e)))
		}
		v := edn.NewValues()
		same := func(a, b string) bool {
			x, err := v.ParseLenient([]byte(a))
			y, err2 := v.ParseLenient([]byte(b))
			return err == nil && err2 == nil && v.Same(x) == v.Same(y)
		}
		if !same(ours[e], theirs[e]) || !same(got.EventMap(jepsen.Event(e)).String(), theirs[e]) {
			t.Errorf("event %d:\ngot  %.300s\nwant %.300s", e, ours[e], theirs[e])
		}
	}
}

// alike reads a test.jepsen, as a file and as a stream, and an EDN file that should hold
// the same history.
func alike(t *testing.T, test, text string) {
	t.Helper()
	o := jepsen.Options{AllClients: true}
	want, err := forms.ReadFile(text, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := forms.ReadFile(test, o)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, want)
	if !slices.Equal(got.Warnings, want.Warnings) {
		t.Errorf("warnings: %q", got.Warnings)
	}
	streamed, err := read(content(t, test))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, streamed, want)
}

// jepsen/clojure/test/clew/testfile_test.clj wrote the files with Debian's Fressian.
func TestFilesHoldWhatTheirEDNHolds(t *testing.T) {
	for test, text := range map[string]string{"values": "values", "chunks": "chunks", "version0": "chunks"} {
		t.Run(test, func(t *testing.T) { alike(t, "testdata/"+test+".jepsen", "testdata/"+text+".edn") })
	}
}

// refused checks that a file is refused in which an op has two values for a key, as a Maelstrom run of kafka wrote it:
// the topics of :assign as strings, and again as numbers, which alone stand in its history.edn.
func refused(t *testing.T, file string) {
	t.Helper()
	if _, err := read(content(t, file)); err == nil || !strings.Contains(err.Error(), `expected an op map with different keys, found {`) ||
		!strings.Contains(err.Error(), `:value ["0" `) || !strings.Contains(err.Error(), `:value [0 `) {
		t.Errorf("%v", err)
	}
}

func TestRealFilesHoldWhatTheirHistoriesHold(t *testing.T) {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "*", "test.jepsen"))
	if err != nil || len(files) < 5 {
		t.Fatalf("only %d files, %v", len(files), err)
	}
	for _, file := range files {
		beside := filepath.Join(filepath.Dir(file), "history.edn")
		info, err := os.Stat(file)
		if _, alone := os.Stat(beside); err != nil || alone != nil || info.Size() > 350_000 && effort.Few() {
			continue // long ones are for CLEW_FULL
		}
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(file))), func(t *testing.T) {
			if filepath.Base(filepath.Dir(filepath.Dir(file))) == "27-kafka" {
				refused(t, file)
				return
			}
			alike(t, file, beside)
		})
	}
}

// damaged checks the result of reading a file that was cut or changed. It must be the whole
// history, or whole chunks of it with a warning, or an error with the offset.
func damaged(t *testing.T, how string, data []byte, want []string, chunk int) (whole, part, refused int) {
	t.Helper()
	h, err := read(data)
	if err != nil {
		if !strings.Contains(err.Error(), "test.jepsen: offset ") && bytes.HasPrefix(data, []byte("JEPSEN\x00")) {
			t.Errorf("%s: an error without an offset: %v", how, err)
		}
		return 0, 0, 1
	}
	got := events(h)
	n := len(got)
	switch {
	case n > len(want) || !slices.Equal(got, want[:n]):
		t.Errorf("%s: %d events, not those of the history, with warnings %q", how, n, h.Warnings)
	case n == len(want):
		return 1, 0, 0
	case len(h.Warnings) == 0:
		t.Errorf("%s: %d of %d events without a word", how, n, len(want))
	case n > 0 && (h.Events%chunk != 0 || !strings.Contains(h.Warnings[0], fmt.Sprintf("after %d events", h.Events))):
		t.Errorf("%s: %d events, with warnings %q", how, n, h.Warnings)
	}
	return 0, 1, 0
}

// places returns 2,000 places in a file, and those where blocks begin.
func places(data []byte) (all []int) {
	r := rand.New(rand.NewPCG(5, 6))
	for kind := uint16(1); kind <= 5; kind++ {
		for _, at := range offsets(data, kind) {
			all = append(all, at, at-1, at+27, at+28)
		}
	}
	for range 2000 {
		all = append(all, r.IntN(len(data)))
	}
	return all
}

func TestACutFileHasItsWholeChunks(t *testing.T) {
	data := content(t, "testdata/chunks.jepsen")
	h, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	want := events(h)
	var whole, part, refused int
	for _, n := range places(data) {
		w, p, r := damaged(t, fmt.Sprintf("cut at %d", n), data[:n:n], want, 80)
		whole, part, refused = whole+w, part+p, refused+r
	}
	if whole == 0 || part == 0 || refused == 0 {
		t.Errorf("%d whole, %d in part, %d refused", whole, part, refused)
	}
}

func TestAChangedByteIsNoticed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, file := range []string{"chunks", "killed", "values", "version0"} {
		data := content(t, "testdata/"+file+".jepsen")
		h, err := read(data)
		if err != nil {
			t.Fatal(err)
		}
		want := events(h)
		for i, at := range places(data) {
			if file != "chunks" && i%8 > 0 {
				continue
			}
			changed := slices.Clone(data)
			changed[at] ^= byte(1 + r.IntN(255))
			damaged(t, fmt.Sprintf("%s changed at %d", file, at), changed, want, 80)
		}
	}
}

// A real file of more than one chunk, at 2,000 places each.
func TestRealFilesAreCutAndChanged(t *testing.T) {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	times := 2000
	if effort.Few() {
		times = 50
	}
	files, _ := filepath.Glob(filepath.Join(root, "redis-store", "redis-intensive-test", "*", "test.jepsen"))
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	data := content(t, files[0])
	h, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	want := events(h)
	r := rand.New(rand.NewPCG(3, 4))
	for range times {
		at := r.IntN(len(data))
		damaged(t, fmt.Sprintf("cut at %d", at), data[:at:at], want, 16384)
		changed := slices.Clone(data)
		changed[at] ^= byte(1 + r.IntN(255))
		damaged(t, fmt.Sprintf("changed at %d", at), changed, want, 16384)
	}
}

func TestAKilledTestHasItsWholeChunks(t *testing.T) {
	h, err := read(content(t, "testdata/killed.jepsen"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "the file ends in an unfinished chunk: the test was killed or is still running (offset 3140); " +
		"the history ends with its last whole chunk, after 160 events"
	if len(h.Type) != 160 || !slices.Equal(h.Warnings, []string{want}) {
		t.Errorf("%d events, warnings %q", len(h.Type), h.Warnings)
	}
}

// offsets returns where the blocks of a type begin in a file.
func offsets(data []byte, kind uint16) (all []int) {
	for at := 18; at+28 <= len(data) && binary.BigEndian.Uint64(data[at:]) > 0; at += int(binary.BigEndian.Uint64(data[at:])) {
		if binary.BigEndian.Uint16(data[at+12:]) == kind {
			all = append(all, at)
		}
	}
	return all
}

// A test may have been killed before the header pointed to the last index, or before that
// index was written. Nothing in the file is lost.
func TestWhatIsBehindTheIndexCounts(t *testing.T) {
	data := content(t, "testdata/chunks.jepsen")
	want, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	indices := offsets(data, 1)
	if len(indices) != 6 {
		t.Fatalf("indices at %v", indices)
	}
	for _, at := range append(indices, 0, len(data), len(data)+1) {
		changed := slices.Clone(data)
		binary.BigEndian.PutUint64(changed[10:], uint64(at))
		got, err := read(changed)
		if err != nil {
			t.Errorf("index at %d: %v", at, err)
			continue
		}
		compare(t, got, want)
		if found := slices.Contains(indices, at); found != (len(got.Warnings) == 0) {
			t.Errorf("index at %d: warnings %q", at, got.Warnings)
		}
	}
	// The vector of chunks and the index that have a chunk come behind it.
	last := offsets(data, 5)[2]
	got, err := read(data[:last])
	if err != nil || len(got.Type) != 200 || len(got.Warnings) != 1 {
		t.Errorf("%d events, %v", len(got.Type), err)
	}
}

// A test may be killed just when a chunk is whole.
func TestAFileMayEndBetweenChunks(t *testing.T) {
	data := content(t, "testdata/chunks.jepsen")
	for i, want := range []int{80, 160, 200} {
		index := offsets(data, 1)[1+i]
		end := index + int(binary.BigEndian.Uint64(data[index:]))
		killed := slices.Clone(data[:end])
		binary.BigEndian.PutUint64(killed[10:], uint64(index))
		h, err := read(killed)
		if err != nil {
			t.Fatal(err)
		}
		warning := fmt.Sprintf("the file ends before the test did: the test was killed or is still running (offset %d); "+
			"the history ends with its last whole chunk, after %d events", end, want)
		if len(h.Type) != want || !slices.Equal(h.Warnings, []string{warning}) {
			t.Errorf("%d events, want %d; warnings %q, want %q", len(h.Type), want, h.Warnings, warning)
		}
	}
}

// Jepsen's garbage collection writes the index first, and short blocks before long ones.
func TestTheIndexMayComeFirst(t *testing.T) {
	data, _ := register(60, 20)
	want, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	starts := append(offsets(data, 4), offsets(data, 5)[0], offsets(data, 2)[0])
	moved := slices.Clone(data[:18])
	binary.BigEndian.PutUint64(moved[10:], 18)
	var index, rest []byte
	index = binary.BigEndian.AppendUint32(nil, uint32(len(starts)))
	size := 28 + 4 + 12*len(starts)
	for _, id := range []int{5, 4, 1, 2, 3} {
		at := starts[id-1]
		index = binary.BigEndian.AppendUint32(index, uint32(id))
		index = binary.BigEndian.AppendUint64(index, uint64(18+size+len(rest)))
		rest = append(rest, data[at:at+int(binary.BigEndian.Uint64(data[at:]))]...)
	}
	moved = append(append(moved, block(1, index)...), rest...)
	got, err := read(moved)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, want)
	if len(got.Warnings) > 0 {
		t.Errorf("warnings: %q", got.Warnings)
	}
	for n := range moved {
		damaged(t, fmt.Sprintf("cut at %d", n), moved[:n:n], events(want), 20)
	}
}

// A test that was over before any client did anything still has a history.
func TestAFinishedHistoryMayBeEmpty(t *testing.T) {
	h, err := read(file(1, 2, vector(0), test(1)))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"no operations of clients (processes that are integers): nothing to check"}; h.Events != 0 || !slices.Equal(h.Warnings, want) {
		t.Errorf("%d events, warnings %q", h.Events, h.Warnings)
	}
	if h, err := read(file(1, 2, vector(1), test(1))); err == nil {
		t.Errorf("a history of one event that has none: %v", h)
	}
}
