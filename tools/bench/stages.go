package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	olympos "olympos.io/encoding/edn"

	"clew"
	"clew/edn"
	"clew/fallback"
	"clew/fastpath"
	"clew/internal/engines"
	nearlinear "clew/internal/families"
	"clew/internal/opmap"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// stagesCommand is the argument that makes this program measure the stages of
// one check, in a process of its own.
const stagesCommand = "stages"

// stages holds the processor time of the stages of a check, on the way from bytes
// to a result, and what they allocate.
type stages struct {
	Scan    time.Duration // op maps, whose values are interned
	Pair    time.Duration // operations; 0 if they are paired while they are scanned
	Decide  time.Duration // what they mean to the model, and the verdict
	Witness time.Duration // the order, or the core; nothing if the search has found it
	Result  time.Duration // everything else that the result says about the history
	GoEDN   time.Duration // go-edn scans the file, if that was asked for
	Allocs  uint64        // of reading and checking
}

// stagesOf measures the stages of a check of a file.
func (b *bench) stagesOf(file string, spec models.Spec, goEDN bool) (s stages, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return s, err
	}
	cmd := exec.CommandContext(b.ctx, self, stagesCommand, file, string(text), fmt.Sprint(goEDN))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%s: %w", cmd, err)
	}
	return s, json.Unmarshal(out, &s)
}

// measureStages measures the stages of one check, FILE SPEC GOEDN, and prints them.
func measureStages(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s FILE SPEC GOEDN", stagesCommand)
	}
	var spec models.Spec
	if err := json.Unmarshal([]byte(args[1]), &spec); err != nil {
		return err
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var s stages
	if args[2] == "true" {
		s.GoEDN = least(func() { err = errors.Join(err, scanGoEDN(text)) })
	}
	s.Scan = least(func() { err = errors.Join(err, scan(text)) })
	var h *jepsen.History
	reading := func() {
		var e error
		h, e = forms.Read(bytes.NewReader(text), "history", jepsen.Options{})
		err = errors.Join(err, e)
	}
	s.Pair = max(0, least(reading)-s.Scan)
	if err != nil {
		return err
	}
	s.Decide = least(func() { err = errors.Join(err, decideAs(h, spec, 0)) })
	s.Witness = max(0, least(func() { err = errors.Join(err, decideAs(h, spec, fastpath.WantWitness|fastpath.WantFailure)) })-s.Decide)
	check := func() {
		r, e := clew.Check(context.Background(), h, spec, clew.Options{})
		if err = errors.Join(err, e); e == nil {
			_ = r.EDN()
		}
	}
	s.Result = max(0, least(check)-s.Decide-s.Witness)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reading()
	check()
	runtime.ReadMemStats(&after)
	s.Allocs = after.Mallocs - before.Mallocs
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// least returns the least processor time that a function takes, repeating it for a
// while. It does not count what was allocated before.
func least(f func()) time.Duration {
	best := time.Duration(0)
	for begin := time.Now(); best == 0 || time.Since(begin) < repeat; {
		runtime.GC()
		before := cpu()
		f()
		if took := max(cpu()-before, 1); best == 0 || took < best {
			best = took
		}
	}
	return best
}

func scan(text []byte) error {
	r := opmap.NewReader(bytes.NewReader(text), "history", edn.NewValues())
	for ev := (opmap.Event{}); ; {
		switch err := r.Next(&ev); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// scanGoEDN reads the same keys with go-edn.
func scanGoEDN(text []byte) error {
	var ev struct {
		Index, Process int64
		Type, F        olympos.Keyword
		Value          any
	}
	for d := olympos.NewDecoder(bytes.NewReader(text)); ; {
		ev.Value = nil
		switch err := d.Decode(&ev); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// decideAs decides a history as clew.Check does, without showing anything.
func decideAs(h *jepsen.History, spec models.Spec, want fastpath.Want) error {
	ops, err := spec.Read(h)
	if err != nil {
		return err
	}
	fast := func(part *models.Operations) bool {
		path, refusal := nearlinear.Of(part.Model)
		return path != nil && refusal == "" && path.Decide(context.Background(), &part.Columns, want).Verdict != jepsen.Unknown
	}
	if ops.Model.Traits().Partition != nil && fast(ops) {
		return nil
	}
	for _, part := range ops.Parts() {
		if !fast(part) {
			engines.New("auto", 0).Decide(context.Background(), part, fallback.Limits{})
		}
	}
	return nil
}
