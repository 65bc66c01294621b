package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"clew/internal/gen"
)

// testBench returns a bench with its own build of clew. It prints its table to out.
func testBench(t *testing.T, out *strings.Builder, l bounds) *bench {
	t.Helper()
	dir := t.TempDir()
	program, err := buildClew(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{ctx: context.Background(), limits: l, only: regexp.MustCompile(""), out: out, clew: program, dir: dir}
}

func TestMeasurementsOfATinyHistory(t *testing.T) {
	var out strings.Builder
	b := testBench(t, &out, bounds{time.Minute, 8 << 30})
	c := b.compare(20, "porcupine", "window")
	for _, want := range []string{"invalid", "", "valid"} {
		if err := c.row("said to be <"+want+">", want, badRead(2), "--model", "register", "--init", "nil"); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 5 || b.wrong != 1 {
		t.Fatalf("%d lines, %d wrong verdicts, want 5 and 1:\n%s", len(lines), b.wrong, &out)
	}
	for i, verdict := range []string{"verdict", "invalid", "invalid", "WRONG"} {
		if !strings.HasSuffix(lines[i+1], " "+verdict) {
			t.Errorf("line %d ends otherwise than in %s:\n%s", i+1, verdict, &out)
		}
	}
	file, err := b.history(badRead(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.measure(file, "--init", "nil", "--algorithm", "window")
	if err != nil || m.verdict != "invalid" || m.over != "" || m.wall <= 0 || m.cpu <= 0 || m.memory < 1<<20 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestARowThatDoesNotMatchIsNotMeasured(t *testing.T) {
	var out strings.Builder
	b := &bench{ctx: context.Background(), only: regexp.MustCompile("^b"), out: &out, clew: "no such program", dir: t.TempDir()}
	c := b.compare(5, "window")
	if err := c.row("a", "", badRead(1)); err != nil {
		t.Error(err)
	}
	if err := c.row("b", "", badRead(1)); err == nil {
		t.Error("b was not measured, or without an error")
	}
}

func TestEntriesOverALimitSaySo(t *testing.T) {
	var out strings.Builder
	b := &bench{ctx: context.Background(), limits: bounds{time.Minute, 8 << 30}, only: regexp.MustCompile(""), out: &out, dir: t.TempDir()}
	c := b.compare(20, "window")
	row := func(cause, said string) {
		t.Helper()
		b.clew = script(t, `echo '{"valid": "unknown", "cause": "`+cause+`"}'; exit 2`)
		out.Reset()
		if err := c.row("a", "valid", badRead(1)); err != nil || !strings.Contains(out.String(), said) {
			t.Errorf("%q, %v; want%sin it", &out, err, said)
		}
	}
	c.series()
	row("out-of-memory", " > 8 GB ")
	row("timeout", " lost ")
	c.series("another")
	row("timeout", " > 60 s ")
	row("timeout", " > 60 s ")
	c.alone()
	row("timeout", " > 60 s ")
	if b.wrong > 0 {
		t.Error("no verdict was taken for a wrong one")
	}
}

func TestAnotherBuildComesRightBefore(t *testing.T) {
	var out strings.Builder
	old := `case "$*" in *window*) echo '{"valid": false}';; *) echo '{"valid": "unknown", "cause": "timeout"}';; esac; exit 1`
	b := &bench{ctx: context.Background(), limits: bounds{time.Minute, 8 << 30}, only: regexp.MustCompile(""), out: &out, dir: t.TempDir(),
		clew: script(t, `echo '{"valid": false}'; exit 1`), before: script(t, old)}
	c := b.compare(5, "window", "auto")
	if err := c.row("a", "invalid", badRead(1)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if heads, cells := len(strings.Fields(lines[1])), strings.Fields(lines[2]); heads != 1+2*(3+5)+1 || strings.Count(lines[2], "60 s") != 1 || cells[len(cells)-1] != "invalid" {
		t.Errorf("%d columns in\n%s", heads, &out)
	}
	for _, heading := range []string{"before: window ", "before: auto "} {
		if !strings.Contains(lines[0], heading) {
			t.Errorf("%q lacks %q", lines[0], heading)
		}
	}
}

func TestAProcessThatOutgrowsItsLimitIsKilled(t *testing.T) {
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip(err)
	}
	var out strings.Builder
	b := testBench(t, &out, bounds{10 * time.Second, 1 << 12})
	// It never ends on its own, and no Go program is as small as the limit.
	b.clew = script(t, "exec sleep 20")
	m, err := b.measure("h")
	if err != nil || m.over != "> 0 GB" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAProcessThatPrintsNoVerdictIsAnError(t *testing.T) {
	b := &bench{ctx: context.Background(), limits: bounds{time.Minute, 8 << 30}, clew: script(t, "echo what; exit 255")}
	if m, err := b.measure("h"); err == nil || !strings.Contains(err.Error(), "what") {
		t.Errorf("%+v, %v", m, err)
	}
}

func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestTheTableOfSpeed(t *testing.T) {
	var out strings.Builder
	b := testBench(t, &out, bounds{time.Minute, 8 << 30})
	for _, o := range []gen.LongOptions{{Model: "stack", Operations: 50}, {Model: "semaphore", Operations: 50, Kind: gen.TwoHolders}, {Model: "bank", Operations: 50}} {
		file, size, err := b.file(o)
		if err != nil || size < 1000 {
			t.Fatal(size, err)
		}
		m, err := b.measure(file, o.Flags()...)
		if err != nil || m.verdict == "" || (m.verdict == "valid") != (o.Kind == gen.Linearizable) {
			t.Errorf("%s: %+v, %v", o.Model, m, err)
		}
	}
	b.only = regexp.MustCompile("nothing")
	if over, err := b.speedOf(nil, gen.LongOptions{Model: "stack", Operations: 50}, false); over || err != nil {
		t.Error(over, err)
	}
	for list, want := range map[string]string{"10k,1M": "[10000 1000000]", "500": "[500]", "1.5M": "[]", "": "[]", "1000": "[]", "k": "[]"} {
		if sizes, err := sizesOf(list); fmt.Sprint(sizes) != want || (err == nil) != (want != "[]") {
			t.Errorf("%q: %v, %v", list, sizes, err)
		}
	}
}

func TestASetAsFastlinReadsIt(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "h.edn"), filepath.Join(dir, "h.fastlin")
	var b strings.Builder
	for _, op := range [][3]string{{":insert", "1", "true"}, {":contains", "1", "true"}, {":remove", "1", "true"}, {":remove", "1", "false"}, {":contains", "1", "false"}, {":contains", "2", "false"}} {
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f %s, :value %s}\n{:process 0, :type :ok, :f %[1]s, :value [%[2]s %[3]s]}\n", op[0], op[1], op[2])
	}
	if err := os.WriteFile(from, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fastlinSet(to, from); err != nil {
		t.Fatal(err)
	}
	const want = "# set\ninsert 1 0 1\ncontains_true 1 2 3\nremove 1 4 5\ncontains_false 1 8 9\n"
	if got, err := os.ReadFile(to); string(got) != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestRatiosNeedTwoFigures(t *testing.T) {
	l := bounds{time.Minute, 8 << 30}
	quick, slow := measurement{verdict: "valid", cpu: time.Second, memory: 1 << 30}, measurement{verdict: "valid", cpu: 3 * time.Second, memory: 2 << 30}
	late, large := measurement{over: l.tooLong(), cpu: time.Minute}, measurement{over: l.tooMuch(), cpu: time.Second}
	for _, c := range []struct {
		name            string
		first, m        measurement
		faster, smaller string
	}{
		{"both decide", slow, quick, "3.0", "2.0"},
		{"the first is better", quick, slow, "0.3", "0.5"},
		{"the first takes too long", late, quick, "> 60", "-"},
		{"the first takes too much", large, quick, "-", "> 8.0"},
		{"only the first decides", quick, late, "-", "-"},
		{"neither decides", late, large, "-", "-"},
		{"the first was not asked", measurement{}, quick, "-", "-"},
	} {
		if got := against(c.first, c.m, l); got[0] != c.faster || got[1] != c.smaller {
			t.Errorf("%s: %v, want %s and %s", c.name, got, c.faster, c.smaller)
		}
	}
}

func TestFiguresAsTheyPrint(t *testing.T) {
	for got, want := range map[string]string{
		duration(1234 * time.Microsecond): "1.2 ms", duration(123 * time.Millisecond): "123 ms",
		duration(1234 * time.Millisecond): "1.2 s", duration(time.Minute): "60 s", duration(10 * time.Second): "10 s",
		megabytes(3e6): "3 MB", megabytes(1.5e9): "1.5 GB",
		thousands(5): "5", thousands(1000): "1k", thousands(1_000_000): "1M", thousands(1500): "1500",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestEveryWitnessOfTheHittingTableReplays(t *testing.T) {
	var out strings.Builder
	b := &bench{ctx: context.Background(), only: regexp.MustCompile("little"), out: &out}
	if err := b.hitting(30, 2); err != nil || b.wrong != 0 {
		t.Errorf("%d are wrong, %v", b.wrong, err)
	}
	for _, line := range []string{"java-queue, little overlap", "the paper, all containers", "schedules, mean"} {
		if !strings.Contains(out.String(), "\n"+line) {
			t.Errorf("no %s in\n%s", line, &out)
		}
	}
}
