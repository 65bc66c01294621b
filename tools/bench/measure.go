package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// bounds are the limits for one entry of a table.
type bounds struct {
	time   time.Duration
	memory int64 // bytes
}

func (l bounds) tooLong() string { return "> " + duration(l.time) }
func (l bounds) tooMuch() string { return fmt.Sprintf("> %d GB", l.memory>>30) }

// measurement is the result of one run of clew.
type measurement struct {
	verdict string // "valid" or "invalid"; "" if there is none
	over    string // if there is no verdict, the limit that was reached
	wall    time.Duration
	cpu     time.Duration // user and system
	memory  int64         // resident bytes at the peak
}

// grace is how far past its time limit clew may be before it is killed.
const grace = 5 * time.Second

// poll is how often the memory of a running clew is looked at.
const poll = 20 * time.Millisecond

// measure runs clew check on a file. clew keeps to its limits, and is killed if
// it does not. Its own budget counts what a search holds. The limit here is for
// what the process holds.
func (b *bench) measure(file string, args ...string) (measurement, error) {
	return b.measureBuild(b.clew, file, args...)
}

// measureBuild measures a given build of clew.
func (b *bench) measureBuild(clew, file string, args ...string) (measurement, error) {
	args = append([]string{"check", "--output", "json", "--time-limit", b.limits.time.String(),
		"--memory-limit", strconv.FormatInt(b.limits.memory, 10) + "B"}, args...)
	ctx, stop := context.WithTimeout(b.ctx, b.limits.time+grace)
	defer stop()
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	cmd := exec.CommandContext(ctx, clew, append(args, file)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return measurement{}, err
	}
	watched := make(chan bool)
	go func() { watched <- outgrows(ctx, cmd.Process.Pid, b.limits.memory, kill) }()
	err := cmd.Wait()
	m := measurement{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	kill()
	outgrew := <-watched
	m.memory = peak(cmd.ProcessState)
	switch {
	case b.ctx.Err() != nil:
		return m, b.ctx.Err()
	case outgrew:
		m.over = b.limits.tooMuch()
		return m, nil
	case cmd.ProcessState.ExitCode() < 0: // killed
		m.over = b.limits.tooLong()
		return m, nil
	}
	if m.read(stdout.Bytes(), b.limits) {
		return m, nil
	}
	return m, fmt.Errorf("%s: %v\n%s%s", cmd, err, stdout.Bytes(), stderr.Bytes())
}

// read takes the verdict or, if there is none, the limit from a line of clew's
// JSON. It says whether it found either.
func (m *measurement) read(line []byte, l bounds) bool {
	var result struct {
		Valid any
		Cause string
	}
	if json.Unmarshal(line, &result) != nil {
		return false
	}
	switch {
	case result.Valid == true:
		m.verdict = "valid"
	case result.Valid == false:
		m.verdict = "invalid"
	case result.Cause == "timeout":
		m.over = l.tooLong()
	case result.Cause == "out-of-memory":
		m.over = l.tooMuch()
	case result.Cause == "ambiguous" || result.Cause == "depth-exhausted":
		m.over = result.Cause
	}
	return m.verdict != "" || m.over != ""
}

// outgrows kills a process once it holds more than its limit, and says whether
// it did. It returns when the context is done. If the machine runs out of
// memory before that, it kills this process first. Without /proc nothing is
// watched.
func outgrows(ctx context.Context, pid int, limit int64, kill func()) bool {
	proc := fmt.Sprintf("/proc/%d/", pid)
	os.WriteFile(proc+"oom_score_adj", []byte("1000"), 0)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		text, err := os.ReadFile(proc + "statm")
		if err != nil {
			continue // it is ending
		}
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil && pages*int64(os.Getpagesize()) > limit {
				kill()
				return true
			}
		}
	}
}
