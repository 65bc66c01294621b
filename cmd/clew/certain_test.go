package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"clew/internal/effort"
)

// certain fails at its fourth event, whatever follows.
const certain = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 0, :type :invoke, :f :read, :value nil}
{:process 0, :type :ok, :f :read, :value 2}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 1}
`

// A register whose label and description fail.
const unsayable = `init = 0
def write(state, op):
    return op.value
def read(state, op):
    return state if op.out == state else inconsistent("it is another value")
ops = {"write": write, "read": read}
def label(op):
    return 1 // 0
def describe(state):
    return 1 // 0
`

// disturbance is something beside a failure that must not take it away.
type disturbance struct {
	name  string
	flags []string // instead of --model register
	more  []string // flags beside these
	tail  string   // behind the history
	close bool     // standard output is closed
	full  bool     // standard output is on a full disk
	kill  syscall.Signal
}

var disturbances = []disturbance{
	{name: "none"},
	{name: "a torn tail", tail: `{:process 1, :type :inv`},
	{name: "a torn string", tail: `{:process 1, :type :invoke, :f :write, :value "a`},
	{name: "a label and a description that fail", flags: []string{"--model-file", "unsayable.star"}},
	{name: "a full disk", full: true},
	{name: "evidence for a full disk", more: []string{"--core", "/dev/full"}},
	{name: "evidence for no folder", more: []string{"--html", "none/page.html"}},
	{name: "a closed output", close: true},
	{name: "little memory", more: []string{"--memory-limit", "64M"}},
	{name: "SIGTERM", kill: syscall.SIGTERM},
	{name: "SIGINT", kill: syscall.SIGINT},
	{name: "SIGHUP", kill: syscall.SIGHUP},
}

// Once a failure is certain, it is the verdict that comes out, on whatever path and whatever else goes wrong. Where a cell is
// empty, the path has no such flag, or ends before there is anything to disturb.
func TestNothingTakesACertainFailureAway(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, p := range []struct {
		name   string
		args   string // H is the history, D a folder with it
		input  bool   // the history comes from standard input, which stays open until a signal
		single bool   // it writes the evidence of one history
	}{
		{name: "check", args: "check FLAGS H", single: true},
		{name: "check -", args: "check FLAGS -", input: true, single: true},
		{name: "follow -", args: "check FLAGS --follow -", input: true, single: true},
		{name: "check as JSON", args: "check FLAGS --output json H", single: true},
		{name: "check as EDN", args: "check FLAGS --output edn H", single: true},
		{name: "check as JUnit", args: "check FLAGS --output junit H"},
		{name: "check as SARIF", args: "check FLAGS --output sarif H"},
		{name: "check quietly", args: "check FLAGS --quiet H", single: true},
		{name: "all anomalies", args: "check FLAGS --all H"},
		{name: "follow", args: "check FLAGS --follow --idle 200ms H"},
		{name: "monitor", args: "monitor FLAGS H"},
		{name: "monitor -", args: "monitor FLAGS -", input: true},
		{name: "a store", args: "check FLAGS D"},
		{name: "pages", args: "check FLAGS --html-dir pages D"},
		{name: "evidence", args: "check FLAGS --evidence cores D"},
		{name: "a shard", args: "check FLAGS --shard 1/1 D"},
	} {
		for _, d := range disturbances {
			switch {
			case len(d.more) > 0 && d.more[0] != "--memory-limit" && !p.single:
				continue // it writes no evidence, or only to a folder
			case d.kill != 0 && (!p.input || p.name == "check -"):
				continue // it has ended by then, or does not know all of its input
			}
			t.Run(p.name+" and "+d.name, func(t *testing.T) {
				dir := t.TempDir()
				for name, text := range map[string]string{"h/h.edn": certain + d.tail, "unsayable.star": unsayable} {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				flags := d.flags
				if flags == nil {
					flags = []string{"--model", "register", "--init", "0"}
				}
				var args []string
				for _, arg := range strings.Fields(p.args) {
					if arg == "FLAGS" {
						args = append(append(args, flags...), d.more...)
					} else {
						args = append(args, strings.NewReplacer("H", "h/h.edn", "D", "h").Replace(arg))
					}
				}
				status, said := disturbed(t, dir, args, d, p.input)
				if ran++; status != exitInvalid {
					t.Errorf("clew %s: status %d\n%s", strings.Join(args, " "), status, said)
				}
				if shown := !d.close && !d.full && p.name != "evidence"; shown && !strings.Contains(strings.ToLower(said), "another value") &&
					!strings.Contains(strings.ReplaceAll(strings.ToLower(said), "-", " "), "never written") {
					t.Errorf("clew %s: the failure is not told in\n%s", strings.Join(args, " "), said)
				}
			})
		}
	}
	if t.Logf("%d cells", ran); ran < 100 {
		t.Error("too few")
	}
}

// disturbed runs clew in a folder. It returns its status and what it printed.
func disturbed(t *testing.T, dir string, args []string, d disturbance, input bool) (status int, said string) {
	for wait := 200 * time.Millisecond; ; wait *= 3 {
		cmd := exec.Command("patientclew", args...)
		cmd.Dir = dir
		out, err := os.Create(filepath.Join(dir, "said"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = out, out
		switch {
		case d.full:
			if cmd.Stdout, err = os.OpenFile("/dev/full", os.O_WRONLY, 0); err != nil {
				t.Fatal(err)
			}
		case d.close:
			unread, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			unread.Close()
			cmd.Stdout = writer
			defer writer.Close()
		}
		if input {
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				in.Write([]byte(certain + d.tail))
				if d.kill == 0 {
					in.Close()
				}
			}()
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if d.kill != 0 {
			time.Sleep(wait)
			if err := cmd.Process.Signal(d.kill); err != nil {
				t.Fatal(err)
			}
		}
		ended(t, cmd)
		out.Close()
		printed, err := os.ReadFile(filepath.Join(dir, "said"))
		if err != nil {
			t.Fatal(err)
		}
		if status = cmd.ProcessState.ExitCode(); d.kill == 0 || status == exitInvalid || wait > effort.Hang/4 {
			return status, string(printed)
		}
	}
}

// So it is with requests on a pipe, and where shards are merged.
func TestNothingTakesACertainFailureFromAnAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := asking(t, nil)
	for i, d := range disturbances {
		if len(d.more) > 0 && d.more[0] != "--memory-limit" || d.kill != 0 || d.close || d.full || d.flags != nil {
			continue
		}
		c.ask(i, certain+d.tail, append([]string{"--model", "register", "--init", "0", "--output", "json"}, d.more...)...)
		if a := c.answer(i); a.Status != exitInvalid {
			t.Errorf("%s: %+v", d.name, a)
		}
	}
	c.close()
	history := filepath.Join(dir, "h.edn")
	if err := os.WriteFile(history, []byte(certain+`{:process 1, :type :inv`), 0o644); err != nil {
		t.Fatal(err)
	}
	status, lines, said := clewRun("check", "--model", "register", "--init", "0", "--shard", "1/1", dir)
	if status != exitInvalid {
		t.Fatalf("%d, %s", status, said)
	}
	shard := filepath.Join(dir, "shard.jsonl")
	if err := os.WriteFile(shard, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	status, merged, said := clewRun("merge", "--output", "json", shard)
	var line struct{ Warnings []string }
	if err := json.Unmarshal([]byte(merged), &line); err != nil || status != exitInvalid || !slices.ContainsFunc(line.Warnings, func(w string) bool { return strings.Contains(w, "cut off") }) {
		t.Error(fmt.Sprint(status, merged, said, err))
	}
}

// A torn history that does not fail stays unreadable, also if its model is not known or a limit ends its decision: neither may pass.
func TestATornHistoryPassesOnNoPath(t *testing.T) {
	t.Parallel()
	for name, history := range map[string]string{
		"of an unknown kind": "{:process 0, :type :invoke, :f :frob, :value 1}\n{:process 0, :type :ok, :f :frob, :value 1}\n",
		"that holds":         strings.ReplaceAll(certain, ":value 2", ":value 1"),
		"that is hard":       hard(40),
	} {
		dir := t.TempDir()
		run := filepath.Join(dir, "store", "a-test", "20260102T030405.000Z")
		if err := os.MkdirAll(run, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run, "history.edn"), []byte(history+"{:process 1, :type :inv"), 0o644); err != nil {
			t.Fatal(err)
		}
		holds := filepath.Join(dir, "store", "a-test", "20260103T030405.000Z")
		if err := errors.Join(os.MkdirAll(holds, 0o755), os.WriteFile(filepath.Join(holds, "history.edn"), []byte(write), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{filepath.Join(dir, "store"), filepath.Join(run, "history.edn")} {
			status, said, complained := clewRun("check", "--unknown", "pass", "--time-limit", "300ms", path)
			if status != exitUsage || !strings.Contains(complained, "found end of input") {
				t.Errorf("%s, %s: status %d\n%s%s", name, path, status, said, complained)
			}
		}
	}
}

// Nor does a file that shrinks while a monitor reads it, once the monitor has printed the failure.
func TestAFileThatShrinksTakesNoAnomalyFromAMonitor(t *testing.T) {
	t.Parallel()
	const more = "{:process 2, :type :invoke, :f :write, :value 1}\n{:process 2, :type :ok, :f :write, :value 1}\n"
	history := filepath.Join(t.TempDir(), "h.edn")
	if err := os.WriteFile(history, []byte(certain+strings.Repeat(more, 200_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("patientclew", "monitor", "--model", "register", "--init", "0", history)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "never-written") {
	}
	if err := os.Truncate(history, int64(len(certain))); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	ends(t, cmd, exitInvalid)
}
