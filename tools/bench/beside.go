package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"clew/edn"
	"clew/internal/gen"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// beside measures other programs beside clew, each in a process of its own. They
// are the engine of porcupine, which clew has, on registers with few values, and
// go-edn on op maps only. It also measures the commands that $FASTLIN and $KNOSSOS
// name. These get a file as their last argument (KNOSSOS gets --model MODEL before
// it). Ratios are of processor time.
func beside(b *bench, most int) error {
	fmt.Fprintln(b.out)
	t := newTable(b.out, column{"", "beside others", len("porcupine, 100k operations of cas-register, 5 values")},
		column{"it", "wall", 8}, column{"it", "cpu", 8}, column{"it", "memory", 8}, column{"clew", "wall", 8}, column{"clew", "cpu", 8}, column{"clew", "memory", 8},
		column{"clew", "faster", 7}, column{"clew", "smaller", 7}, column{"", "verdict", 8})
	if err := b.besidePorcupine(t); err != nil {
		return err
	}
	if err := b.besideGoEDN(t); err != nil {
		return err
	}
	for _, model := range []string{"fifo-queue", "stack", "priority-queue", "lookup-set"} {
		if err := b.besideFastlin(t, model, most); err != nil {
			return err
		}
	}
	for _, model := range []string{"register", "cas-register"} {
		if err := b.besideKnossos(t, model); err != nil {
			return err
		}
	}
	return nil
}

// pairRow prints a line with another program and clew.
func (b *bench) pairRow(t *table, name string, it, clew measurement, want string) {
	b.progress("")
	found := map[string]bool{}
	for _, m := range []measurement{it, clew} {
		if m.verdict != "" {
			found[m.verdict] = true
		}
	}
	ratios := against(it, clew, b.limits)
	t.row(append(append(append([]string{name}, it.cells()...), clew.cells()...), ratios[0], ratios[1], b.verdict(found, want))...)
}

func (b *bench) besidePorcupine(t *table) error {
	for _, n := range []int{1e4, 1e5} {
		name := fmt.Sprintf("porcupine, %s operations of cas-register, 5 values", thousands(n))
		if !b.only.MatchString(name) {
			continue
		}
		o := gen.LongOptions{Model: "cas-register", Operations: n, Processes: 10, Values: fewValues, Seed: 1}
		file, _, err := b.file(o)
		if err != nil {
			return err
		}
		b.progress("%s", name)
		var both [2]measurement
		for i, engine := range []string{"porcupine", "auto"} {
			if both[i], err = b.measure(file, "--model", o.Model, "--algorithm", engine); err != nil {
				return err
			}
		}
		b.pairRow(t, name, both[0], both[1], "valid")
	}
	return nil
}

func (b *bench) besideGoEDN(t *table) error {
	const name = "go-edn, 100k operations of register, scanned"
	if !b.only.MatchString(name) {
		return nil
	}
	file, _, err := b.file(gen.LongOptions{Model: "register", Operations: 1e5, Processes: 10, Seed: 1})
	if err != nil {
		return err
	}
	b.progress(name)
	s, err := b.stagesOf(file, models.Spec{Name: "register"}, true)
	if err != nil {
		return err
	}
	b.progress("")
	t.row(name, "", duration(s.GoEDN), "", "", duration(s.Scan), "", times(s.GoEDN.Seconds()/s.Scan.Seconds()), "", "")
	return nil
}

// besideFastlin measures fastlin and clew on a file in fastlin's form.
func (b *bench) besideFastlin(t *table, model string, n int) error {
	name := fmt.Sprintf("fastlin, %s operations of %s", thousands(n), model)
	command := os.Getenv("FASTLIN")
	if command == "" || !b.only.MatchString(name) {
		return nil
	}
	file, _, err := b.file(gen.LongOptions{Model: model, Operations: n, Processes: 10, Seed: 1})
	if err != nil {
		return err
	}
	theirs := filepath.Join(b.dir, "history.fastlin")
	defer os.Remove(theirs)
	if model == "lookup-set" {
		err = fastlinSet(theirs, file)
	} else if out, e := exec.CommandContext(b.ctx, b.clew, "convert", "--to", "fastlin", "-o", theirs, file).CombinedOutput(); e != nil {
		err = fmt.Errorf("clew convert: %w\n%s", e, out)
	}
	if err != nil {
		return err
	}
	b.progress("%s", name)
	it, err := b.external(command, theirs)
	if err != nil {
		return err
	}
	clew, err := b.measure(theirs)
	if err != nil {
		b.progress("")
		first, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(b.out, "%s: %s\n", name, first)
		b.wrong++
		return nil
	}
	b.pairRow(t, name, it, clew, "valid")
	return nil
}

// fastlinSet writes a set as fastlin reads it: only what was inserted or removed for
// the first time, and whether the set contains it.
func fastlinSet(to, from string) error {
	h, err := forms.ReadFile(from, jepsen.Options{})
	if err != nil {
		return err
	}
	inserted := map[edn.ID]bool{}
	var rows []string
	for pass := range 2 {
		for op := range jepsen.Operation(h.Operations()) {
			if h.Status[op] != jepsen.Succeeded {
				continue
			}
			call, back := h.Invocation[op], h.Completion[op]
			answer := h.Values.Items(h.Value[back])
			f, v, yes := h.Values.Text(h.F[call])[1:], answer[0], answer[1] == edn.True
			switch {
			case pass == 0 && f == "insert" && yes:
				inserted[v] = true
			case pass == 0 || !inserted[v] || f != "contains" && !yes:
			case f == "contains":
				rows = append(rows, fmt.Sprintf("contains_%t %s %d %d\n", yes, h.Values.Text(v), call, back))
			default:
				rows = append(rows, fmt.Sprintf("%s %s %d %d\n", f, h.Values.Text(v), call, back))
			}
		}
	}
	return os.WriteFile(to, []byte("# set\n"+strings.Join(rows, "")), 0o666)
}

// besideKnossos measures Knossos on a history that it can decide.
func (b *bench) besideKnossos(t *table, model string) error {
	const n = 1000
	name := fmt.Sprintf("Knossos, %s operations of %s, 5 values", thousands(n), model)
	command := os.Getenv("KNOSSOS")
	if command == "" || !b.only.MatchString(name) {
		return nil
	}
	file, _, err := b.file(gen.LongOptions{Model: model, Operations: n, Processes: 5, Values: fewValues, Seed: 1})
	if err != nil {
		return err
	}
	b.progress("%s", name)
	it, err := b.external(command, "--model", model, file)
	if err != nil {
		return err
	}
	clew, err := b.measure(file, "--model", model)
	if err != nil {
		return err
	}
	b.pairRow(t, name, it, clew, "valid")
	return nil
}

// external measures another program. It does not read that program's verdict.
func (b *bench) external(command string, args ...string) (m measurement, err error) {
	ctx, stop := context.WithTimeout(b.ctx, b.limits.time)
	defer stop()
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", command + ` "$@"`, "sh"}, args...)...)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return m, err
	}
	watched := make(chan bool)
	go func() { watched <- outgrows(ctx, cmd.Process.Pid, b.limits.memory, kill) }()
	err = cmd.Wait()
	m.wall, m.cpu = time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	kill()
	outgrew := <-watched
	m.memory = peak(cmd.ProcessState)
	switch {
	case b.ctx.Err() != nil:
		return m, b.ctx.Err()
	case outgrew:
		m.over = b.limits.tooMuch()
	case late:
		m.over = b.limits.tooLong()
	case err != nil:
		return m, fmt.Errorf("%s: %w", command, err)
	}
	return m, nil
}
