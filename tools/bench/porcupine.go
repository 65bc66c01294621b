package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	theirs "github.com/anishathalye/porcupine"

	ours "clew/contrib/porcupine"
	"clew/contrib/porcupine/peers"
)

// porcupine measures porcupine's own histories, by porcupine and by the package
// that takes its place. They are etcd's registers, and maps of strings, split
// by key or with the whole map as one state. Every check has a process of its
// own, which repeats it for a while and takes the best time, since most take
// less than a millisecond. The memory is that after the first time.
func porcupine(b *bench) error {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		return errors.New("CLEW_HISTORIES names no folder of real histories")
	}
	t := newTable(b.out, column{"", "history", 24},
		column{"porcupine", "wall", 8}, column{"porcupine", "cpu", 8}, column{"porcupine", "memory", 8},
		column{"its drop-in", "wall", 8}, column{"its drop-in", "cpu", 8}, column{"its drop-in", "memory", 8},
		column{"its drop-in", "faster", 7}, column{"its drop-in", "smaller", 7}, column{"", "verdict", 8})
	for _, set := range []struct{ name, files string }{{"etcd", "etcd/*.log"}, {"map", "kv/*.txt"}, {"whole", "kv/*.txt"}} {
		files, err := filepath.Glob(filepath.Join(root, "porcupine", filepath.FromSlash(set.files)))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no histories in %s", filepath.Join(root, "porcupine"))
		}
		var total [2]measurement
		for _, file := range files {
			name := set.name + " " + filepath.Base(file)
			if !b.only.MatchString(name) {
				continue
			}
			b.progress("%s", name)
			var both [2]measurement
			verdicts := map[string]bool{}
			for i, who := range []string{"porcupine", "drop-in"} {
				if both[i], err = b.peer(who, set.name, file); err != nil {
					return err
				}
				total[i].wall += both[i].wall
				total[i].cpu += both[i].cpu
				total[i].memory = max(total[i].memory, both[i].memory)
				if both[i].verdict != "" {
					verdicts[both[i].verdict] = true
				}
			}
			b.progress("")
			t.row(append(append(append([]string{name}, both[0].cells()...), append(both[1].cells(), against(both[0], both[1], b.limits)...)...), b.verdict(verdicts, ""))...)
		}
		t.row(append(append(append([]string{set.name + ", all"}, total[0].cells()...), append(total[1].cells(), against(total[0], total[1], b.limits)...)...), "")...)
	}
	return nil
}

// peer measures one check in a process of its own.
func (b *bench) peer(who, set, file string) (m measurement, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	ctx, kill := context.WithCancel(b.ctx)
	defer kill()
	cmd := exec.CommandContext(ctx, self, peerCommand, who, set, file, b.limits.time.String())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return m, err
	}
	watched := make(chan bool)
	go func() { watched <- outgrows(ctx, cmd.Process.Pid, b.limits.memory, kill) }()
	err = cmd.Wait()
	kill()
	outgrew := <-watched
	var r peerResult
	switch {
	case b.ctx.Err() != nil:
		return m, b.ctx.Err()
	case outgrew:
		return measurement{over: b.limits.tooMuch(), memory: b.limits.memory}, nil
	case err != nil:
		return m, fmt.Errorf("%s: %w\n%s", cmd, err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		return m, err
	}
	m = measurement{wall: r.Wall, cpu: r.CPU, memory: r.Memory}
	switch r.Verdict {
	case theirs.Ok:
		m.verdict = "valid"
	case theirs.Illegal:
		m.verdict = "invalid"
	default:
		m.over = b.limits.tooLong()
	}
	return m, nil
}

// peerCommand is the argument that makes this program do one check.
const peerCommand = "peer"

type peerResult struct {
	Verdict   theirs.CheckResult
	Wall, CPU time.Duration
	Memory    int64
}

// repeat is how long a check is repeated.
const repeat = 200 * time.Millisecond

// checkPeer does one check. Its arguments are WHO, SET, FILE and LIMIT. It
// prints a peerResult.
func checkPeer(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s WHO SET FILE LIMIT", peerCommand)
	}
	limit, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	var c *peers.Case
	if args[1] == "etcd" {
		c, err = peers.Etcd(args[2])
	} else {
		c, err = peers.KV(args[2], args[1] == "map")
	}
	if err != nil {
		return err
	}
	check := theirs.CheckEventsTimeout
	if args[0] == "drop-in" {
		check = ours.CheckEventsTimeout
	}
	var r peerResult
	for begin := time.Now(); r.Wall == 0 || time.Since(begin) < repeat; {
		before, _ := used()
		start := time.Now()
		verdict := check(c.Model, c.Events, limit)
		wall := time.Since(start)
		after, memory := used()
		cpu := after - before
		if r.Wall == 0 {
			r = peerResult{verdict, wall, cpu, memory}
		}
		r.Wall, r.CPU = min(r.Wall, wall), min(r.CPU, cpu)
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
