package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"clew/internal/effort"
	"clew/internal/gen"
)

// aStore makes a store with a number of runs, and returns the verdict of each, by its path.
func aStore(t *testing.T, runs int) map[string]any {
	t.Helper()
	r := gen.Rand(5)
	verdicts := map[string]any{}
	for i := range runs {
		path := filepath.Join("store", fmt.Sprintf("test-%d", i%7), fmt.Sprintf("20250101T%06d.000Z", i), "history.edn")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		kind := []gen.LongKind{gen.Linearizable, gen.Linearizable, gen.ImpossibleRead}[i%3]
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = gen.Long(f, gen.LongOptions{Model: "register", Operations: 200 + r.IntN(200), Processes: 5, Values: 5, Kind: kind, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		verdicts[path] = kind == gen.Linearizable
	}
	return verdicts
}

func filesBelow(t *testing.T, root string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		all = append(all, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// peakMemory waits for a process to end and returns how much memory it had, in kB, or 0 if there is no /proc. What
// the system says afterwards includes the memory of the process that started it.
func peakMemory(pid int) int {
	peak := 0
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, alive := strings.Cut(string(status), "VmHWM:")
		if err != nil || !alive {
			return peak
		}
		fmt.Sscan(after, &peak)
		time.Sleep(time.Millisecond)
	}
}

func TestAStoreOfAThousandTestsIsCheckedWithinTheMemoryLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := 999
	if effort.Few() {
		runs /= 3
	}
	want := aStore(t, runs)
	cmd := exec.Command("clew", "check", "--output", "json", "--memory-limit", "256MB", "store")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := peakMemory(cmd.Process.Pid)
	err := cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitInvalid {
		t.Fatalf("status %d: %v", got, err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines for %d runs", len(lines), len(want))
	}
	last := ""
	for _, line := range lines {
		var r struct {
			File  string
			Valid any
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Valid != want[r.File] {
			t.Errorf("%s: %v, want %v", r.File, r.Valid, want[r.File])
		}
		if r.File <= last {
			t.Errorf("%s comes after %s", r.File, last)
		}
		last = r.File
	}
	if peak > 256<<10 || peak == 0 && runtime.GOOS == "linux" {
		t.Errorf("peak memory %d kB; the limit is 256 MB", peak)
	}
	_, summary, _ := clewRun("check", "store")
	if !strings.HasSuffix(summary, fmt.Sprintf("\n%d histories: %d valid, %d invalid, 0 unknown, 0 unreadable\n", runs, runs/3*2, runs/3)) {
		t.Errorf("%s", summary[max(0, len(summary)-200):])
	}
}

func TestAKilledRunLeavesWholeLinesAndNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	aStore(t, 100)
	before := filesBelow(t, ".")
	cmd := exec.Command("clew", "check", "--output", "json", "store")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for n := 0; ; n++ {
		line, err := r.ReadString('\n')
		if err != nil {
			if line != "" {
				t.Errorf("half a line: %s", line)
			}
			break
		}
		if !json.Valid([]byte(line)) {
			t.Errorf("no result: %s", line)
		}
		if n == 20 {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	if after := filesBelow(t, "."); len(after) != len(before) {
		t.Errorf("%d files, %d before", len(after), len(before))
	}
}
