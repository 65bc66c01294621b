package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clew/internal/geometry"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// failing returns a result of a history whose last event fails, with a core.
func failing(t *testing.T, history string, core ...jepsen.Operation) *Result {
	t.Helper()
	h, err := forms.Read(strings.NewReader(history), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Result{File: "h.edn", History: h, Verdict: jepsen.Invalid, FailEvent: jepsen.Some(jepsen.Event(len(h.Type) - 1)), Core: core, Explanation: "because"}
}

// picture holds what an SVG picture shows. In every picture, no text
// overlaps another or goes beyond the edge, and the bounds hold.
type picture struct {
	geometry.Picture
	lanes, bars, texts []string
}

func draw(t *testing.T, r *Result) picture {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	d := picture{}
	var err error
	if d.Picture, err = geometry.Read(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if d.Width > svgWidth || d.Height > svgHeight || b.Len() > 60_000 {
		t.Errorf("%d x %d pixels, %d bytes", d.Width, d.Height, b.Len())
	}
	for _, overlap := range d.Overlaps() {
		t.Error(overlap)
	}
	for _, class := range d.Classes {
		if slices.Contains([]string{"bar", "bar failed", "core", "fade", "fadecore", "wrong", "wrong reason"}, class) {
			d.bars = append(d.bars, class)
		}
	}
	for _, x := range d.Texts {
		if x.Left < 0 || x.Right > float64(d.Width) || x.Base > float64(d.Height) {
			t.Errorf("%q stands at %v to %v, %v in a picture of %d x %d", x.Text, x.Left, x.Right, x.Base, d.Width, d.Height)
		}
		d.texts = append(d.texts, x.Text)
		if strings.HasPrefix(x.Text, "process ") && x.Left == svgMargin {
			d.lanes = append(d.lanes, x.Text)
		}
	}
	return d
}

func TestASVGShowsTheCoreAndWhatWasOpen(t *testing.T) {
	r := failing(t, `
		{:process 0 :type :invoke :f :write :value 1}
		{:process 0 :type :ok     :f :write :value 1}
		{:process 1 :type :invoke :f :write :value 7}
		{:process 1 :type :ok     :f :write :value 7}
		{:process 2 :type :invoke :f :write :value 8}
		{:process 3 :type :invoke :f :write :value 9}
		{:process 3 :type :fail   :f :write :value 9}
		{:process 4 :type :invoke :f :read :value nil}
		{:process 4 :type :ok     :f :read :value 1}
		{:process 2 :type :ok     :f :write :value 8}`, 0, 4)
	r.FailEvent = jepsen.Some(r.FailEvent.OrNone() - 1)
	r.Configs = []Config{{Last: 0, Pending: []jepsen.Operation{2, 4}}}
	d := draw(t, r)
	if got := strings.Join(d.lanes, ", "); got != "process 0, process 1, process 2, process 4" {
		t.Errorf("rows: %s", got)
	}
	// The bars, and the texts beside the failing one.
	if got := strings.Join(d.bars, ", "); got != "core, bar, bar, wrong, wrong, wrong reason" {
		t.Errorf("bars: %s", got)
	}
	if got := strings.Join(d.texts, ", "); got != "h.edn: not linearizable, because, process 0, process 1, process 2, process 4, write 1, write 7, write 8, read 1, ✗" {
		t.Errorf("texts: %s", got)
	}
}

func TestASVGHoldsAnyText(t *testing.T) {
	for _, value := range []string{
		`"</text><script>alert(1)</script>&"`, `"]]>"`, `"\u0000\u001b\u0001"`, `"` + strings.Repeat("x", 1<<20) + `"`,
		"\"\u05d0\u05d1\u05d2 \u202e abc \u0627\u0644\u0639\"", `"👩‍👩‍👧‍👦🏳️‍🌈 世界"`, "\"\xff\xfe\"", `{:a "` + strings.Repeat("世", 99) + `"}`,
	} {
		history := "{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read :value " + value + "}\n"
		r := failing(t, strings.Repeat(history, 5)+strings.ReplaceAll(history, " 0 ", " 1 "), 0, 1, 2, 3, 4, 5)
		r.Explanation = "1 < 2 & \x00 \xff ]]> \u202e " + value + strings.Repeat("long ", 1000)
		r.Paths = [][]Step{{{Operation: 5, Why: "can't read " + value}}}
		d := draw(t, r)
		for _, s := range slices.Concat(d.texts, d.Titles) {
			if len(s) > 4*svgTitle || strings.ContainsAny(s, "\x00\x1b\u202e") {
				t.Errorf("%.40s: it shows %.400q", value, s)
			}
		}
		labels := 0
		for _, s := range d.texts {
			if strings.HasPrefix(s, "read ") {
				labels++
			}
		}
		if labels != 6 {
			t.Errorf("%.40s: %d labels in %.400q", value, labels, d.texts)
		}
	}
}

// The last label may continue after everything else has
// ended. Beside it stands how much is omitted after it.
func TestASVGHasRoomForItsLastLabel(t *testing.T) {
	for n := range 30 {
		value := `"` + strings.Repeat("x", n) + `"`
		for _, after := range []string{"", "… 2 more"} {
			history := strings.Repeat(`
				{:process 0 :type :invoke :f :write :value 1}
				{:process 0 :type :ok :f :write :value 1}`, 9) + `
				{:process 0 :type :invoke :f :read}
				{:process 1 :type :invoke :f :write :value ` + value + `}`
			if after != "" {
				history += `
					{:process 1 :type :ok :f :write :value ` + value + `}
					{:process 1 :type :invoke :f :write :value 2}
					{:process 1 :type :ok :f :write :value 2}
					{:process 1 :type :invoke :f :write :value 2}`
			}
			r := failing(t, history+`
				{:process 0 :type :ok :f :read :value 9}`, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
			d := draw(t, r)
			if !slices.Contains(d.texts, "write "+value) && n < 20 {
				t.Errorf("the label is shortened: %q", d.texts)
			}
			if after != "" && !slices.Contains(d.texts, after) {
				t.Errorf("it does not say %q: %q", after, d.texts)
			}
		}
	}
}

func TestASVGIsBounded(t *testing.T) {
	var b strings.Builder
	var core []jepsen.Operation
	for i := range 1000 {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :write :value %d}\n{:process %d :type :info :f :write}\n", i%9, i, i%9)
		core = append(core, jepsen.Operation(i))
	}
	b.WriteString("{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read :value :x}")
	r := failing(t, b.String(), append(core[500:], 1000)...)
	d := draw(t, r)
	if n := len(d.bars); n != 2*contextOps+2 { // two of each that crashed, the failing one with its texts, and the legend
		t.Errorf("%d bars", n)
	}
	if got, want := d.texts[len(d.texts)-1], "not shown: 485 more operations of the core"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	for _, process := range []string{"… 109 earlier", "… 110 earlier"} {
		if !slices.Contains(d.texts, process) {
			t.Errorf("it does not say %q: %q", process, d.texts)
		}
	}
	r.Named = core[:100] // regardless of the bounds
	if d := draw(t, r); !slices.ContainsFunc(d.texts, func(s string) bool { return strings.Contains(s, "41 that the sentence names") }) {
		t.Errorf("it says %q", d.texts)
	}
}

// TestASVGOfManyRowsFits has the greatest number of rows, below a long sentence
// and above many relations. draw says whether the picture is too high.
func TestASVGOfManyRowsFits(t *testing.T) {
	for lines := range 20 {
		var b strings.Builder
		var core []jepsen.Operation
		for i := range 2 * DefaultRows {
			fmt.Fprintf(&b, "{:process %d :type :invoke :f :write :value %d}\n", i, i)
			core = append(core, jepsen.Operation(i))
		}
		b.WriteString("{:process 99 :type :invoke :f :read}\n{:process 99 :type :ok :f :read :value :x}")
		r := failing(t, b.String(), append(core, 2*DefaultRows)...)
		r.Explanation = strings.Repeat(strings.Repeat("because ", 20), lines)
		for op := range jepsen.Operation(lines) {
			r.Relations = append(r.Relations, Relation{Kind: models.ReturnedBefore, From: op, To: op + 1})
		}
		draw(t, r)
	}
}

func TestASVGHasOneRowForWhatFollowsACrash(t *testing.T) {
	r := failing(t, `
		{:process 0 :type :invoke :f :write :value 1}
		{:process 0 :type :info   :f :write :value 1}
		{:process 1 :type :invoke :f :write :value 2}
		{:process 1 :type :ok     :f :write :value 2}
		{:process 0 :type :invoke :f :read :value nil}
		{:process 0 :type :ok     :f :read :value 3}`, 0, 1, 2)
	if got := strings.Join(draw(t, r).lanes, ", "); got != "process 0, process 1" {
		t.Errorf("rows: %s", got)
	}
	r = failing(t, `
		{:process 0 :type :invoke :f :write :value 1}
		{:process 0 :type :info   :f :write :value 1}
		{:process 1 :type :invoke :f :write :value 2}
		{:process 1 :type :ok     :f :write :value 2}
		{:process 0 :type :invoke :f :read :value nil}
		{:process 0 :type :ok     :f :read :value 2}
		{:process 1 :type :invoke :f :read :value nil}
		{:process 1 :type :ok     :f :read :value 1}
		{:process 1 :type :invoke :f :read :value nil}
		{:process 1 :type :ok     :f :read :value 3}`, 0, 1, 2, 3, 4)
	r.Before = []jepsen.Operation{1, 2, 0, 3} // it took effect once its process had continued
	if got := strings.Join(draw(t, r).lanes, ", "); got != "process 0, process 0, process 1" {
		t.Errorf("rows: %s", got)
	}
}
