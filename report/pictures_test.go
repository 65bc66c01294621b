package report_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clew"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/geometry"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// patience bounds how long one of many small histories may take.
const patience = 200 * time.Millisecond

var rewrite = flag.Bool("rewrite", false, "rewrite the pictures of testdata; look at them")

// pictured lists the histories of testdata; all of them are wrong.
var pictured = []models.Spec{
	{Name: "register"}, {Name: "fifo-queue"}, {Name: "stack"}, {Name: "mutex"}, {Name: "cas-register", Init: "0"},
	{Name: "multi-register", Init: "{:x 0 :y 0 :z 0}"}, {Name: "bank", Init: "{:a 20 :b 20 :c 20}"},
	{Name: "list-append"},
}

// failure returns the result of one of them.
func failure(t *testing.T, spec models.Spec) *report.Result {
	t.Helper()
	h, err := clew.ReadFile(filepath.Join("testdata", spec.Name+".edn"), jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, spec, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.File = spec.Name + ".edn"; r.Verdict != jepsen.Invalid {
		t.Fatalf("%s is %s", r.File, r.Verdict)
	}
	return r
}

// TestPictures compares pictures with those in testdata.
//
// To write them again, run go test -run TestPictures ./report -rewrite, and look at them.
func TestPictures(t *testing.T) {
	for _, spec := range pictured {
		r := failure(t, spec)
		compare(t, r, report.WindowOptions{}, spec.Name+".svg")
		if spec.Name == "register" {
			compare(t, r, report.WindowOptions{ByTime: true}, "register-time.svg")
			index := int64(20)
			compare(t, r, report.WindowOptions{Around: &index, Rows: 3}, "register-around.svg")
		}
	}
	valid := check(t, models.Spec{Name: "cas-register"}, clew.Options{},
		"0 invoke write 1", "1 invoke cas [1 2]", "2 invoke read", "0 ok write 1", "3 invoke write 7", "1 info cas [1 2]", "3 info write 7",
		"6 invoke read", "2 ok read 1", "6 ok read 2", "8 invoke read", "8 ok read 7")
	compare(t, valid, report.WindowOptions{}, "valid.svg")
}

// compare compares a picture with one in testdata, after look has checked it.
func compare(t *testing.T, r *report.Result, o report.WindowOptions, name string) {
	t.Helper()
	got := look(t, name, r, o)
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is another picture now; -rewrite redraws it", path)
	}
}

// look returns a picture, and checks that it keeps what pictures promise.
func look(t *testing.T, name string, r *report.Result, o report.WindowOptions) []byte {
	t.Helper()
	w, err := r.Window(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var svg bytes.Buffer
	if err := w.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	p, err := geometry.Read(svg.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	high := 900
	if w.Below != nil { // which is as high
		high *= 2
	}
	if p.Width > 1400 || p.Height > high || svg.Len() > 60_000 {
		t.Errorf("%s: %d x %d pixels, %d bytes", name, p.Width, p.Height, svg.Len())
	}
	for _, overlap := range p.Overlaps() {
		t.Errorf("%s: %s", name, overlap)
	}
	if r.Verdict == jepsen.Invalid && o.Around == nil {
		f, titles := r.FirstFailing(), strings.Join(p.Titles, "\n")
		for _, op := range append(slices.Clone(f.Named), f.History.OpOf[f.FailEvent.OrNone()]) {
			if name := f.History.Name(op); f.History.Invocation[op] <= f.FailEvent.OrNone() && !strings.Contains(titles, name) {
				t.Errorf("%s is not in %s", name, titles)
			}
		}
		if !slices.Contains(p.Classes, "wrong") {
			t.Errorf("%s: nothing is red", name)
		}
	}
	return svg.Bytes()
}

func TestPicturesOfGeneratedHistories(t *testing.T) {
	r := gen.Rand(11)
	pictures := 0
	for _, model := range []string{"register", "cas-register", "versioned-register", "multi-register", "set", "lookup-set",
		"fifo-queue", "unordered-queue", "priority-queue", "stack", "kv", "mutex", "owner-semaphore", "bank", "counter", "log", "lease", "id-generator", "list-append"} {
		for i := range 60 {
			if !effort.Takes(i) {
				continue
			}
			g := gen.New(r, gen.Options{Model: model, Permits: 2, Operations: 8 + i/2, Processes: 3 + i/6, Init: true})
			h, err := clew.Read(strings.NewReader(g.Text), "h.edn", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			spec := models.Spec{Name: model, Init: g.Init}
			if model == "owner-semaphore" {
				spec.Permits = 2
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			x, err := clew.Check(ctx, h, spec, clew.Options{})
			cancel()
			if err != nil {
				t.Fatalf("%s: %v\n%s", model, err, g.Text)
			}
			if h.Operations() == 0 || x.Verdict == jepsen.Unknown {
				continue
			}
			name := fmt.Sprintf("%s %d", model, i)
			look(t, name, x, report.WindowOptions{})
			for _, at := range []int{0, h.Operations() / 2, h.Operations() - 1} {
				index := h.Index(h.Invocation[at])
				look(t, name, x, report.WindowOptions{Around: &index})
			}
			if pictures += 4; t.Failed() {
				t.Fatalf("%s", g.Text)
			}
		}
	}
	t.Logf("%d pictures", pictures)
}
