package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"clew/api"
	"clew/internal/effort"
	"clew/internal/outputs"
	"clew/internal/text"
)

// takenMs matches the times of results, in JSON, in pages, in JUnit's seconds and in what people read.
var takenMs = regexp.MustCompile(`"ms":[0-9.e-]+|:ms [0-9.e-]+|[0-9.]+ ms|time="[0-9.]+"|"(startTimeUtc|endTimeUtc)":"[^"]*"`)

// sameButMs compares texts line by line, since most lines of a page are long and the same.
func sameButMs(x, y string) bool {
	for x != "" || y != "" {
		lineOfX, restOfX, endX := strings.Cut(x, "\n")
		lineOfY, restOfY, endY := strings.Cut(y, "\n")
		if endX != endY || lineOfX != lineOfY && takenMs.ReplaceAllString(lineOfX, "N") != takenMs.ReplaceAllString(lineOfY, "N") {
			return false
		}
		x, y = restOfX, restOfY
	}
	return true
}

// alike are histories to compare by, with their flags.
func alike(t *testing.T) (all []struct{ flags, history string }) {
	t.Helper()
	add := func(flags, history string) { all = append(all, struct{ flags, history string }{flags, history}) }
	for file, flags := range map[string]string{
		"cas-lost": "--model=cas-register", "crashed-write": "--model=register", "mutex-twice": "--model=mutex", "queue-reordered": "--model=fifo-queue",
		"stale-read": "--model=register", "valid-register": "",
	} {
		history, err := os.ReadFile(filepath.Join("..", "..", "testdata", "histories", file+".edn"))
		if err != nil {
			t.Fatal(err)
		}
		add(flags, string(history))
		add(flags+" --how-far", string(history))
	}
	add("--model=register", "{:process 0")
	add("--model=register", "")
	add("--model=register", "{:process 0, :type :invoke, :f :frob}\n")
	seeds := 20 // of six models
	if effort.Few() {
		seeds = 10
	}
	bugs := []string{"", "--bug=stale-read"}
	for seed := range seeds {
		for i, model := range []string{"register", "cas-register", "kv", "mutex", "set", "fifo-queue"} {
			flags := fmt.Sprintf("--model=%s", model)
			gen := strings.Fields(fmt.Sprintf("clew gen %s --operations=40 --crash-rate=0.05 --seed=%d", flags, seed))
			if bug := bugs[seed%2]; bug != "" && i < 2 {
				gen = append(gen, bug)
			}
			var history, stderr bytes.Buffer
			if status := run(t.Context(), gen, nil, &history, &stderr); status != 0 {
				t.Fatal(gen, stderr.String())
			}
			add(flags, history.String())
		}
	}
	return all
}

// Package api answers with what the command line prints and writes.
func TestAPIIsTheCommandLine(t *testing.T) {
	histories := alike(t)
	t.Chdir(t.TempDir())
	found := map[int]int{}
	for _, x := range histories {
		putFile(t, "h.edn", x.history)
		options := map[string]any{"output": outputs.Names(outputs.Check())}
		for _, flag := range strings.Fields(x.flags) {
			name, value, is := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			if options[name] = value; !is {
				options[name] = true
			}
		}
		for _, e := range outputs.AllEvidence {
			options[e.Name] = true
		}
		request, _ := json.Marshal(map[string]any{"api": 1, "call": "check", "file": "h.edn", "bytes": len(x.history), "options": options})
		said := askedOf(t, append(append(request, '\n'), x.history...))
		found[said.Status]++
		compareAPI(t, strings.Fields(x.flags), said)
	}
	for _, status := range []int{exitValid, exitInvalid, exitUsage} {
		if found[status] == 0 {
			t.Errorf("no history with status %d was compared", status)
		}
	}
}

// apiResult is a result of package api.
type apiResult struct {
	Status                  int
	Line                    json.RawMessage
	Warnings                []string
	Output, Evidence, Lacks map[string]string
	unreadable              string
}

func askedOf(t *testing.T, request []byte) (r apiResult) {
	t.Helper()
	var response struct {
		Result *apiResult
		Error  struct {
			Message string
			Result  apiResult
		}
	}
	if err := json.Unmarshal(api.Call(request), &response); err != nil {
		t.Fatal(err)
	}
	if response.Result != nil {
		return *response.Result
	}
	response.Error.Result.unreadable = response.Error.Message
	return response.Error.Result
}

// compareAPI compares a result of package api with what the command line says of h.edn.
func compareAPI(t *testing.T, flags []string, said apiResult) {
	t.Helper()
	check := func(more ...string) (status int, out, complained string) {
		var stdout, stderr bytes.Buffer
		status = run(t.Context(), append(append([]string{"clew", "check"}, append(flags, more...)...), "h.edn"), nil, &stdout, &stderr)
		return status, stdout.String(), stderr.String()
	}
	for _, form := range outputs.Names(outputs.Check()) {
		status, out, complained := check("--output=" + form)
		if status != said.Status || !sameButMs(out, said.Output[form]) {
			t.Errorf("%v --output=%s: %d\n%s\nand by package api: %d\n%s", flags, form, status, out, said.Status, said.Output[form])
		}
		if form == "json" && !sameButMs(out, string(said.Line)+"\n") {
			t.Errorf("%v: %s\nand by package api\n%s", flags, out, said.Line)
		}
		want := ""
		if said.unreadable != "" {
			want = "clew: " + text.Line(said.unreadable) + "\n"
		}
		for _, w := range said.Warnings {
			want += "clew: h.edn: warning: " + text.Line(text.Brief(w)) + "\n"
		}
		if complained != want {
			t.Errorf("%v: standard error has\n%s\nand package api\n%s", flags, complained, want)
		}
	}
	for _, e := range outputs.AllEvidence {
		file := "evidence" + e.Extension
		_, _, complained := check("--output=json", "--"+e.Name, file)
		written, err := os.ReadFile(file)
		os.Remove(file)
		of, has := said.Evidence[e.Name]
		if has != (err == nil) || !sameButMs(string(written), of) {
			t.Errorf("%v --%s: %v\n%.2000s\nand by package api\n%.2000s", flags, e.Name, err, written, of)
		}
		if lacks := said.Lacks[e.Name]; lacks != "" && !strings.Contains(complained, lacks) {
			t.Errorf("%v --%s: package api says %q, and the command line\n%s", flags, e.Name, lacks, complained)
		}
	}
}

// aPause matches what depends on when a monitor looked, and so on pauses: how much was held, and how much an explanation
// can tell, and with it the kind.
var aPause = regexp.MustCompile(`"(held|most-held)":[0-9]+|"(explanation|anomaly)":"([^"\\]|\\.)*"|"kinds":\{[^}]*\}`)

func withoutPauses(lines string) string { return aPause.ReplaceAllString(lines, "P") }

// A monitor of package api prints what clew monitor prints, whatever the pieces.
func TestAPIMonitorsAsTheCommandLine(t *testing.T) {
	histories := alike(t)
	t.Chdir(t.TempDir())
	compared := 0
	for i, x := range histories {
		if !effort.Takes(i) || !strings.HasPrefix(x.flags, "--model=") || strings.Contains(x.flags, "--how-far") {
			continue
		}
		compared++
		putFile(t, "h.edn", x.history)
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), []string{"clew", "monitor", "--output=json", x.flags, "h.edn"}, nil, &stdout, &stderr)
		call := func(name string, more map[string]any) (r struct {
			Result, Error struct {
				Handle, Status int
				Lines          string
				Result         struct {
					Status int
					Lines  string
				}
			}
		}) {
			more["api"], more["call"] = 1, name
			request, _ := json.Marshal(more)
			if err := json.Unmarshal(api.Call(request), &r); err != nil {
				t.Fatal(err)
			}
			return r
		}
		model := strings.TrimPrefix(x.flags, "--model=")
		handle := call("monitor.open", map[string]any{"file": "h.edn", "options": map[string]any{"model": model}}).Result.Handle
		said := ""
		for rest, size := x.history, 1+i%97; rest != ""; {
			piece := rest[:min(size, len(rest))]
			rest = rest[len(piece):]
			said += call("monitor.feed", map[string]any{"handle": handle, "text": piece}).Result.Lines
		}
		end := call("monitor.close", map[string]any{"handle": handle})
		said += end.Result.Lines + end.Error.Result.Lines
		if got := end.Result.Status + end.Error.Result.Status; got != status || withoutPauses(said) != withoutPauses(stdout.String()) {
			t.Errorf("%s: %d\n%s%s\nand by package api: %d\n%s", x.flags, status, stdout.String(), stderr.String(), got, said)
		}
	}
	if compared < 20 {
		t.Errorf("only %d histories were compared", compared)
	}
}
