package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew/internal/campaign"
	"clew/jepsen"
)

// begin returns a run with a log of some quick units.
func begin(t *testing.T, log string, configs ...campaign.Config) *runner {
	t.Helper()
	r := &runner{configs: configs, seed: 1, rounds: 2, commit: "abc", cases: t.TempDir(), done: map[campaign.Unit]bool{}}
	if err := r.open(log); err != nil {
		t.Fatal(err)
	}
	return r
}

func quick(t *testing.T) (configs []campaign.Config) {
	t.Helper()
	all, err := campaign.All("../../testdata/models")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Name == "mutex, long" || c.Name == "mutex in Go functions" {
			configs = append(configs, c)
		}
	}
	return configs
}

func TestARunGoesOnWhereTheLogEnds(t *testing.T) {
	log := filepath.Join(t.TempDir(), "campaign.jsonl")
	configs := quick(t)
	if err := begin(t, log, configs...).run(context.Background()); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(first, []byte("\n")); n != 4 {
		t.Fatalf("%d units of 2 configurations in 2 rounds", n)
	}
	r := begin(t, log, configs...)
	r.commit = "def"
	before := r.tally.sum()
	if err := r.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if after := r.tally.sum(); after.Valid != before.Valid || after.Invalid != before.Invalid {
		t.Errorf("units were done again: %+v, %+v before", after, before)
	}
	r = begin(t, log, configs...)
	r.commit, r.seed = "def", 2 // one of them is done already
	if err := r.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := len(r.done); n != 6 {
		t.Errorf("%d units are done", n)
	}
	var b strings.Builder
	if err := r.tally.markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"| `abc` | 4 | ", "| `def` | 2 | ", "| mutex | 18 | ", "| mutex in Go functions | 120 | ", "| window | "} {
		if !strings.Contains(b.String(), row) {
			t.Errorf("no row %q in\n%s", row, &b)
		}
	}
}

func TestCountsOfATable(t *testing.T) {
	var y tally
	one := finished{Unit: campaign.Unit{Config: "stack, knossos", Seed: 1}, Model: "stack", Commit: "abc"}
	one.Valid, one.Invalid = 1200, 34
	one.Engines = campaign.Compared{"window": {Valid: 1200, Invalid: 34}}
	y.add(one)
	var b strings.Builder
	if err := y.markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"| `abc` | 1 | 1,234 | 1,234 | 0 |", "| stack | 1,234 | 1,200 | 34 | 0 | 1,234 | 0 |", "| window | 1,234 | 1,200 | 34 |"} {
		if !strings.Contains(b.String(), row) {
			t.Errorf("no row %q in\n%s", row, &b)
		}
	}
}

// A mismatch becomes a case that can be read.
func TestAMismatchBecomesACase(t *testing.T) {
	folder := t.TempDir()
	m := &campaign.Mismatch{Text: "{:process 0, :type :invoke, :f :read}\n", Err: jepsen.ErrNoHistory}
	m.Spec.Name, m.Spec.Init = "register", "[1 2]"
	for _, m.Keys = range []bool{false, true} {
		if err := writeCase(folder, campaign.Unit{Config: "register, knossos", Seed: 7}, m); err != nil {
			t.Fatal(err)
		}
		args := "register init=[1,2]"
		if m.Keys {
			args += " independent=true"
		}
		got, err := os.ReadFile(filepath.Join(folder, "campaign-register-knossos-7.txt"))
		if want := "# " + jepsen.ErrNoHistory.Error() + "\ncheck " + args + "\n" + m.Text + "----\n"; err != nil || string(got) != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
}
