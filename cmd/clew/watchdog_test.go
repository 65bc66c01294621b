//go:build unix

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"clew/internal/batch"
	"clew/internal/effort"
	"clew/internal/gen"
)

// A hang is a run of clew that would go on forever, or for longer than a test may take: at a stage, with a kind of
// input.
type hang struct {
	stage, input string
	args         string // arguments of clew; FIFO is one without a writer, LIMIT is as long as a signal takes
	status       int    // the status that it ends with, by a limit or by a signal
	says         string // a pattern of what is on standard output or standard error then, "" if nothing is
	stdin        string // "hard": a history; "open": a pipe that nothing is written to; "endless": one that is written to forever
	full         string // "stdout" or "stderr": a pipe that is full and is not read
	unlimited    bool   // the command has no --time-limit
}

// A hoard is a run of clew that would take more memory than it may, at a stage with a kind of input.
const (
	exhausted  = `unknown: out-of-memory`
	memoryMost = 16 << 20
	// What else the process may hold: itself, the garbage that the keeper of the memory leaves, and pages that Go has
	// not given back.
	memoryBeside = 96 << 20
)

var hoards = []hang{
	{stage: "arguments", input: "models file", args: "check --models large.edn store", status: exitUnknown, says: `: out-of-memory\n`},
	{stage: "arguments", input: "model file", args: "check --model-file large.edn v.edn", status: exitUsage, says: "a model file has at most 1048576 bytes"},
	{stage: "skipping", input: "tar.gz", args: "check --time-limit 300ms huge.tar.gz", status: exitUnknown, says: "unknown: timeout"},
	{stage: "reading", input: "file", args: "check large.edn", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "gz", args: "check large.edn.gz", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "zst", args: "check large.edn.zst", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "zip", args: "check large.zip", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "folder", args: "check larges", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "standard input", args: "check -", stdin: "large", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "file, --follow", args: "check --model register --follow large.edn", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "standard input, --follow", args: "check --model register --follow -", stdin: "large", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "file, convert", args: "convert --to json large.edn", status: exitUsage, says: `: out-of-memory\n|: out of memory\n`},
	{stage: "reading", input: "file, render", args: "render -o large.svg large.edn", status: exitUsage, says: `: out-of-memory\n`},
	{stage: "reading", input: "witness", args: "verify v.edn large.edn", status: exitUnknown, says: exhausted},
	{stage: "reading", input: "results.edn", args: "compare claimed", status: exitUnknown, says: `not comparable`},
	{stage: "deciding", input: "file", args: "check --algorithm porcupine hard.edn", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "gz", args: "check --algorithm porcupine hard.edn.gz", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "zst", args: "check --algorithm porcupine hard.edn.zst", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "standard input", args: "check --algorithm porcupine -", stdin: "hard", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "test.jepsen", args: "check --model-file hoarding.star test.jepsen", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "folder", args: "check --algorithm porcupine hards", status: exitUnknown, says: `out-of-memory`},
	{stage: "deciding", input: "tar", args: "check --algorithm porcupine hard.tar", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "tar.gz", args: "check --algorithm porcupine hard.tar.gz", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "zip", args: "check --algorithm porcupine hard.zip", status: exitUnknown, says: exhausted},
	{stage: "deciding", input: "a history with a claim", args: "compare --algorithm porcupine --verdicts hard.tsv", status: exitUnknown, says: `not comparable`},
	{stage: "deciding", input: "file, render", args: "render --algorithm porcupine -o x.svg hard.edn", status: exitUsage, says: `out-of-memory`},
	{stage: "deciding", input: "--follow", args: "check --follow --idle 1s --algorithm porcupine --model multi-register hard.edn", status: exitUnknown, says: exhausted},
}

// keeps runs clew until it ends with its memory limit, and checks that it keeps within the limit.
func (h hang) keeps(t *testing.T, dir string) {
	args := strings.Fields(h.args)
	cmd := exec.Command("clew", append([]string{args[0], "--memory-limit", fmt.Sprintf("%dMB", memoryMost>>20)}, args[1:]...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if h.stdin != "" {
		in, err := os.Open(filepath.Join(dir, h.stdin+".edn"))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	over, peaked := make(chan struct{}), make(chan int)
	go func() { peaked <- peakOf(cmd.Process.Pid, over) }()
	ended(t, cmd)
	close(over)
	peak := <-peaked
	if got := cmd.ProcessState.ExitCode(); got != h.status || !regexp.MustCompile(h.says).Match(said.Bytes()) {
		t.Errorf("status %d, want %d\n%.1000s", got, h.status, said.Bytes())
	}
	if t.Logf("ended with %d MB", peak>>20); peak > memoryMost+memoryBeside && !effort.Race {
		t.Errorf("it held %d MB", peak>>20)
	}
}

// peakOf returns the most memory that a process has held, or 0 if the system does not say. What the system says at
// the end of the process includes what its parent held at its beginning.
func peakOf(pid int, over <-chan struct{}) (peak int) {
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, rest, found := strings.Cut(string(status), "\nVmHWM:"); found {
			kb := 0
			fmt.Sscan(rest, &kb)
			peak = max(peak, kb<<10)
		}
		select {
		case <-over:
			return peak
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// makeHoards makes the files of the hoards.
func makeHoards(t *testing.T) {
	const begun = `{:process 0, :type :invoke, :f :write, :value "`
	putFile(t, "hoarding.star", `init = 0

def write(state, op):
    held = []
    for i in range(1 << 18):
        held.append([i] * (1 << 17))
    return op.value

def read(state, op):
    return state if op.out == state else inconsistent("read")

ops = {"write": write, "read": read}
reads = ["read"]
`)
	if err := os.MkdirAll("larges/a/1", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"large.edn", "larges/a/1/history.edn"} { // with a gigabyte of nothing, which takes no room
		putFile(t, name, begun)
		if err := os.Truncate(name, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	packBlanks(t, "large", begun, "", false)
}

const stopped = `(timeout|interrupted)\n`

var hangs = []hang{
	{stage: "arguments", input: "model file", args: "check --model-file FIFO v.edn", status: exitUnknown, says: stopped},
	{stage: "arguments", input: "models file", args: "check --models FIFO store", status: exitUnknown, says: stopped},
	{stage: "arguments", input: "table of verdicts", args: "compare --verdicts FIFO", status: exitUnknown, says: stopped},
	{stage: "arguments", input: "model file, verify", args: "verify --model-file FIFO v.edn order.edn", status: exitUnknown, says: stopped},
	{stage: "arguments", input: "model file, render", args: "render --model-file FIFO -o x.svg v.edn", status: exitUsage, says: stopped},
	{stage: "arguments", input: "model file, models", args: "models --check FIFO", status: exitUsage, says: stopped, unlimited: true},
	{stage: "opening", input: "FIFO", args: "check FIFO", status: exitUnknown, says: "unknown: " + stopped},
	{stage: "opening", input: "--follow", args: "check --model register --follow FIFO", status: exitUnknown, says: "unknown: " + stopped},
	{stage: "opening", input: "archive", args: "check fifo.tar.gz", status: exitUnknown, says: "unknown: " + stopped},
	{stage: "opening", input: "merge's shards", args: "merge FIFO", status: exitUnknown, says: stopped, unlimited: true},
	{stage: "opening", input: "witness", args: "verify v.edn FIFO", status: exitUnknown, says: "unknown: " + stopped},
	{stage: "opening", input: "FIFO, convert", args: "convert --to json FIFO", status: exitUsage, says: stopped},
	{stage: "opening", input: "FIFO, render", args: "render -o x.svg FIFO", status: exitUsage, says: stopped},
	{stage: "skipping", input: "tar.gz", args: "check huge.tar.gz", status: exitUnknown, says: "huge.tar.gz: unknown: " + stopped},
	{stage: "skipping", input: "tar.zst", args: "check huge.tar.zst", status: exitUnknown, says: "huge.tar.zst: unknown: " + stopped},
	{stage: "reading", input: "standard input that nothing is written to", args: "check -", stdin: "open", status: exitUnknown, says: "-: unknown: " + stopped},
	{stage: "reading", input: "standard input without end", args: "check -", stdin: "endless", status: exitUnknown, says: "-: unknown: " + stopped},
	{stage: "reading", input: "gz", args: "check huge.edn.gz", status: exitUnknown, says: "unknown: " + stopped},
	{stage: "reading", input: "zst", args: "check huge.edn.zst", status: exitUnknown, says: "unknown: " + stopped},
	{stage: "reading", input: "zip", args: "check huge.zip", status: exitUnknown, says: "unknown: " + stopped},
	{stage: "reading", input: "results.edn", args: "compare claimed", status: exitUnknown, says: "clew: (timeout|interrupted)"},
	{stage: "reading", input: "merge's shards", args: "merge -", stdin: "open", status: exitUnknown, says: stopped, unlimited: true},
	{stage: "deciding", input: "file", args: "check hard.edn", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "gz", args: "check hard.edn.gz", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "zst", args: "check hard.edn.zst", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "standard input", args: "check -", stdin: "hard", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "test.jepsen", args: "check --model-file slow.star test.jepsen", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "folder", args: "check hards", status: exitUnknown, says: `(timeout|interrupted)`},
	{stage: "deciding", input: "tar", args: "check hard.tar", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "tar.gz", args: "check hard.tar.gz", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "zip", args: "check hard.zip", status: exitUnknown, says: `unknown: (timeout|interrupted)`},
	{stage: "deciding", input: "a history with a claim", args: "compare --verdicts hard.tsv", status: exitUnknown, says: `not comparable`},
	{stage: "deciding", input: "file, render", args: "render -o x.svg hard.edn", status: exitUsage, says: `(timeout|interrupted)`},
	{stage: "deciding", input: "--follow", args: "check --follow --model multi-register --time-limit LIMIT hard.edn", status: exitUnknown, says: `unknown: (timeout|interrupted)`, unlimited: true},
	{stage: "reading", input: "test.jepsen, --follow", args: "check --follow --model register --time-limit LIMIT killed.jepsen", status: exitValid, says: "valid", unlimited: true},
	{stage: "evidence", input: "file, a valid history", args: "check --witness FIFO v.edn", status: exitUsage, says: `(?s)v.edn: valid\n.*not written to its end: ` + stopped},
	{stage: "evidence", input: "file, an invalid history", args: "check --core FIFO bad.edn", status: exitInvalid, says: `(?s)bad.edn: INVALID\n.*not written to its end: ` + stopped},
	{stage: "evidence", input: "folder", args: "check --html FIFO --evidence cores badstore", status: exitInvalid, says: `(?s)INVALID\n.*not written to its end: ` + stopped},
	{stage: "writing", input: "results, a valid history", args: "check v.edn", full: "stdout", status: exitUsage, says: "not written to its end: " + stopped},
	{stage: "writing", input: "results, an invalid history", args: "check --output edn bad.edn", full: "stdout", status: exitInvalid, says: "not written to its end: " + stopped},
	{stage: "writing", input: "a table", args: "check badstores", full: "stdout", status: exitInvalid, says: "not written to its end: " + stopped},
	{stage: "writing", input: "a comparison", args: "compare --verdicts v.tsv", full: "stdout", status: exitUsage, says: "not written to its end: " + stopped},
	{stage: "writing", input: "what came of a witness", args: "verify v.edn order.edn", full: "stdout", status: exitUsage, says: "not written to its end: " + stopped},
	{stage: "writing", input: "messages, an invalid history", args: "check --quiet bad.edn", full: "stderr", status: exitInvalid},
	{stage: "writing", input: "messages, what cannot be read", args: "check --output json v.edn none.edn", full: "stderr", status: exitUsage, says: `"valid":true`},
	{stage: "writing", input: "warnings", args: "check warned.edn", full: "stderr", status: exitUsage},
	{stage: "writing", input: "help", args: "check --help", full: "stdout", status: exitUsage, says: stopped, unlimited: true},
	{stage: "writing", input: "a generated history", args: "gen --model register --operations 1000000", full: "stdout", status: exitUsage, says: stopped, unlimited: true},
	{stage: "writing", input: "a history in another form", args: "convert --to json v.edn", full: "stdout", status: exitUsage, says: stopped},
	{stage: "writing", input: "that the lifeline is cut", args: "check --stdin-is-lifeline hard.edn", full: "stderr", status: exitUnknown, unlimited: true},
	{stage: "writing", input: "an error in the arguments", args: "check --bogus v.edn", full: "stderr", status: exitUsage, unlimited: true},
	{stage: "writing", input: "messages and results", args: "check bad.edn none.edn", full: "stdout stderr", status: exitInvalid},
}

// Whatever hangs or takes memory, clew ends with its limits and with a signal, and its status is that of what it
// knows by then. docs/limits.md says how soon: a test of that would depend on what else the machine does.
func TestWhateverHangsALimitOrASignalEndsIt(t *testing.T) {
	tests := readTests(t)
	dir := t.TempDir()
	t.Chdir(dir)
	makeHangs(t, tests)
	makeHoards(t)
	for i, h := range hangs {
		for j, by := range []string{"a limit", "a signal"} {
			if by == "a limit" && h.unlimited || h.rests(i+j) {
				continue
			}
			t.Run(h.stage+"/"+h.input+"/"+by, func(t *testing.T) {
				t.Parallel()
				h.run(t, dir, by == "a limit", 300*time.Millisecond)
			})
		}
	}
	for i, h := range hoards {
		if h.rests(i) {
			continue
		}
		t.Run(h.stage+"/"+h.input+"/memory", func(t *testing.T) {
			t.Parallel()
			h.keeps(t, dir)
		})
	}
}

// rests reports whether a run is left to CLEW_FULL=1: seven in eight of those that can end in another way, too, and eleven
// in twelve of those that would use the processor until they are stopped.
func (h hang) rests(i int) bool {
	switch {
	case !effort.Few() || h.unlimited:
		return false
	case h.stage == "deciding" || h.stage == "skipping":
		return i%12 > 0
	}
	return i%8 > 0
}

// run runs clew until the limit, or until a signal comes, which is sent after a time. If clew had not reached the
// hang by then, run tries again with a longer time.
func (h hang) run(t *testing.T, dir string, limited bool, after time.Duration) {
	fifo := "FIFO" + strings.NewReplacer("/", "-", " ", "-", "'", "-").Replace(t.Name()) + after.String()
	if err := syscall.Mkfifo(filepath.Join(dir, fifo), 0o600); err != nil {
		t.Skip(err)
	}
	args := strings.Fields(h.args)
	for i, arg := range args {
		if arg == "FIFO" {
			args[i] = fifo
		} else if arg == "LIMIT" {
			args[i] = after.String()
		}
	}
	if limited {
		limit := after
		if h.input == "results.edn" {
			limit = 100 * time.Millisecond // it is read in half a second
		}
		args = append(args[:1:1], append([]string{"--time-limit", limit.String()}, args[1:]...)...)
	}
	cmd := exec.Command("clew", args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if strings.Contains(h.full, "stdout") {
		cmd.Stdout = fullPipe(t)
	}
	if strings.Contains(h.full, "stderr") {
		cmd.Stderr = fullPipe(t)
	}
	if h.stdin == "hard" {
		cmd.Stdin = strings.NewReader(hard(60))
	} else if h.stdin != "" {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if h.stdin == "endless" {
			go func() {
				for _, err := io.WriteString(in, write); err == nil; time.Sleep(time.Millisecond) {
					_, err = io.WriteString(in, strings.Repeat(" ", 1<<10))
				}
			}()
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if !limited {
		time.Sleep(after) // It may be anywhere by then.
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	ended(t, cmd)
	got, says := cmd.ProcessState.ExitCode(), regexp.MustCompile(h.says)
	if after < effort.Hang/6 && (got != h.status || !says.Match(said.Bytes())) {
		h.run(t, dir, limited, 3*after) // the signal may have come too early
		return
	}
	if got != h.status {
		t.Errorf("status %d, want %d (%s)", got, h.status, cmd.ProcessState)
	}
	if !says.Match(said.Bytes()) {
		t.Errorf("%s", said.Bytes())
	}
}

// fullPipe returns the end of a pipe that takes no more.
func fullPipe(t *testing.T) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	w.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := w.Write(make([]byte, 2<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return w
}

// readTests reads tests as Jepsen stores them.
func readTests(t *testing.T) map[string]string {
	tests := map[string]string{}
	for name, of := range map[string]string{"test.jepsen": "chunks.jepsen", "killed.jepsen": "killed.jepsen"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "internal", "testfile", "testdata", of))
		if err != nil {
			t.Fatal(err)
		}
		tests[name] = string(text)
	}
	return tests
}

// slow is a model that takes a good while for each step.
const slow = `init = 0

def write(state, op):
    for i in range(4):
        for j in range(1 << 17):
            pass
    return op.value

def read(state, op):
    return state if op.out == state else inconsistent("read")

ops = {"write": write, "read": read}
reads = ["read"]
`

// makeHangs makes the files of the hangs.
func makeHangs(t *testing.T, tests map[string]string) {
	for name, text := range tests {
		putFile(t, name, text)
	}
	if err := syscall.Mkfifo("fifo.tar.gz", 0o600); err != nil {
		t.Skip(err)
	}
	history := write + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 1}\n"
	bad := strings.ReplaceAll(history, ":read, :value 1", ":read, :value 2")
	for name, text := range map[string]string{
		"v.edn": history, "bad.edn": bad, "hard.edn": hard(60), "hard.edn.gz": gzipped(hard(60)), "hard.edn.zst": zstandard(hard(60)), "slow.star": slow, "warned.edn": "{:index 7, :process 1, :type :info, :f :write}\n" + history,
		"v.tsv": "v.edn\ttrue\n", "order.edn": "{:index 1, :process 0, :type :ok}\n{:index 3, :process 0, :type :ok}\n", "hard.tsv": "hard.edn\tfalse\n",
		"store/a/1/history.edn": history, "badstore/a/1/history.edn": bad, "badstores/a/1/history.edn": bad, "badstores/b/1/history.edn": history,
		"hards/a/1/history.edn": hard(60), "hards/b/1/history.edn": hard(60),
		"claimed/a/1/history.edn": history, "claimed/a/1/results.edn": "{:linear {:valid? true, :configs (" + strings.Repeat("{:model #knossos.model.Register{:value {7 [8 9]}}} ", 1<<20) + ")}}",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		putFile(t, name, text)
	}
	for _, name := range []string{"hard.tar", "hard.tar.gz", "hard.zip"} {
		text, err := archived(name, os.DirFS("hards/a"))
		if err != nil {
			t.Fatal(err)
		}
		putFile(t, name, text)
	}
	packBlanks(t, "huge", "", history, true)
}

// hugeBlock is a number of blanks. packBlanks repeats their packed form hugeBlocks times.
const (
	hugeBlock  = 64 << 20
	hugeBlocks = 160 // 10 GiB, which take ten seconds
)

// packedBlanks holds the 10 GiB in every packed form so far.
var packedBlanks = map[string][]byte{}

// packBlanks writes 10 GiB of blanks, packed in every way, between two texts. In a tar archive they are in a member
// of their own before the one with the history, or in that one.
func packBlanks(t *testing.T, name, before, history string, own bool) {
	blanks := bytes.Repeat([]byte(" "), hugeBlock)
	var header, member bytes.Buffer
	z, size := tar.NewWriter(&header), int64(hugeBlock*hugeBlocks)
	if !own {
		size += int64(len(before))
	}
	if err := z.WriteHeader(&tar.Header{Name: map[bool]string{true: "a/1/latency.bin", false: "a/1/history.edn"}[own], Mode: 0o600, Size: size}); err != nil {
		t.Fatal(err)
	}
	header.WriteString(before)
	z = tar.NewWriter(&member)
	err := z.WriteHeader(&tar.Header{Name: "b/1/history.edn", Mode: 0o600, Size: int64(len(history))})
	io.WriteString(z, history)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for form, pack := range map[string]func([]byte) []byte{
		"gz": func(text []byte) []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write(text)
			w.Close()
			return b.Bytes()
		},
		"zst": func(text []byte) []byte {
			w, _ := zstd.NewWriter(nil)
			return w.EncodeAll(text, nil)
		},
	} {
		if packedBlanks[form] == nil {
			packedBlanks[form] = bytes.Repeat(pack(blanks), hugeBlocks)
		}
		packed := packedBlanks[form]
		putFile(t, name+".edn."+form, string(pack([]byte(before)))+string(packed)+string(pack([]byte(history))))
		putFile(t, name+".tar."+form, string(pack(header.Bytes()))+string(packed)+string(pack(member.Bytes())))
	}
	zipBlanks(t, name+".zip", blanks, before, history)
}

// zipBlanks writes a zip archive with a history that has 10 GiB of blanks between two texts.
func zipBlanks(t *testing.T, name string, blanks []byte, before, history string) {
	var b, text bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, before)
	w.Flush()
	text.Write(b.Bytes())
	b.Reset()
	w.Reset(&b)
	w.Write(blanks)
	w.Flush()
	text.Write(bytes.Repeat(b.Bytes(), hugeBlocks))
	b.Reset()
	w.Reset(&b)
	io.WriteString(w, history)
	w.Close()
	text.Write(b.Bytes())
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	member, err := z.CreateRaw(&zip.FileHeader{Name: "a/1/history.edn", Method: zip.Deflate, CompressedSize64: uint64(text.Len()), UncompressedSize64: uint64(len(before)+len(history)) + hugeBlock*hugeBlocks})
	if err == nil {
		_, err = member.Write(text.Bytes())
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	putFile(t, name, out.String())
}

// A program that reads results, such as head, may stop: status and evidence are as if it had not.
func TestAClosedOutputTakesNeitherVerdictNorEvidence(t *testing.T) {
	t.Chdir(t.TempDir())
	history := write + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 1}\n"
	putFile(t, "v.edn", history)
	putFile(t, "bad.edn", strings.ReplaceAll(history, ":read, :value 1", ":read, :value 2"))
	for _, c := range []struct {
		args     string
		status   int
		evidence string
	}{
		{"check v.edn", exitValid, ""},
		{"check --witness w1.edn v.edn", exitValid, "w1.edn"},
		{"check --output edn --witness w2.edn v.edn", exitValid, "w2.edn"},
		{"check --core c.edn bad.edn", exitInvalid, "c.edn"},
		{"check --evidence cores v.edn v.edn bad.edn", exitInvalid, "cores/bad.edn"},
		{"check --output json v.edn none.edn", exitUsage, ""},
		{"check --output junit --html-dir pages v.edn bad.edn", exitInvalid, "pages/bad.html"},
	} {
		closed, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		closed.Close()
		cmd := exec.Command("clew", strings.Fields(c.args)...)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = out, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		ended(t, cmd)
		if got := cmd.ProcessState.ExitCode(); got != c.status || strings.Contains(said.String(), "pipe") {
			t.Errorf("%s: %s, want %d\n%s", c.args, cmd.ProcessState, c.status, said.String())
		}
		if c.evidence != "" && !batch.IsFile(c.evidence) {
			t.Errorf("%s: there is no %s", c.args, c.evidence)
		}
	}
}

// A run that is left behind leaves no files behind.
func TestWhatIsNotWholeIsRemovedWhateverHangs(t *testing.T) {
	t.Chdir(t.TempDir())
	cmd := exec.Command("clew", "gen", "--model", "register", "--operations", "1000000000", "-o", "h.edn")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	effort.Await(t, "it writes", func() bool {
		begun, _ := filepath.Glob(".clew-*")
		return len(begun) > 0
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd, exitUsage)
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestASignalLeavesNoUnfinishedPages: a page that takes longer to make than clew waits for it is left behind. Its
// file must not be.
func TestASignalLeavesNoUnfinishedPages(t *testing.T) {
	t.Chdir(t.TempDir())
	var history bytes.Buffer
	operations, tries := 200_000, 4 // a page may also be finished in time
	if effort.Few() {
		operations, tries = 100_000, 2
	}
	if _, err := gen.Long(&history, gen.LongOptions{Model: "register", Operations: operations, Processes: 5, Kind: gen.StaleRead, Seed: 1, At: 0.8}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"st/a/history.edn", "st/b/history.edn"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		putFile(t, name, history.String())
	}
	for range tries {
		cmd := exec.Command("clew", "check", "--model", "register", "--html-dir", "pages", "st")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		effort.Await(t, "it writes a page, or has written all", func() bool {
			begun, _ := filepath.Glob("pages/st/*/.clew-*")
			whole, _ := filepath.Glob("pages/st/*/*.html")
			return len(begun) > 0 || len(whole) == 2
		})
		cmd.Process.Signal(syscall.SIGTERM) // unless it has ended
		ended(t, cmd)
		if left, _ := filepath.Glob("pages/st/*/.clew-*"); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
		if err := os.RemoveAll("pages"); err != nil {
			t.Fatal(err)
		}
	}
}
