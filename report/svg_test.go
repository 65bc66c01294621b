package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
)

// failing is a result of a history whose last event fails, with a core.
func failing(t *testing.T, history string, core ...jepsen.Operation) *Result {
	t.Helper()
	h, err := forms.Read(strings.NewReader(history), "h.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Result{File: "h.edn", History: h, Verdict: jepsen.Invalid, FailEvent: jepsen.Event(len(h.Type) - 1), LastOperation: jepsen.None, Core: core, Explanation: "because"}
}

// drawing is what an SVG picture shows.
type drawing struct{ lanes, bars, texts []string }

func draw(t *testing.T, r *Result) drawing {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	var d drawing
	decoder := xml.NewDecoder(&b)
	inText := false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return d
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inText = x.Name.Local == "text"
			for _, a := range x.Attr {
				if x.Name.Local == "rect" && a.Name.Local == "class" {
					d.bars = append(d.bars, a.Value)
				}
			}
		case xml.CharData:
			if s := string(x); inText && strings.TrimSpace(s) != "" {
				d.texts = append(d.texts, s)
				if strings.HasPrefix(s, "process ") {
					d.lanes = append(d.lanes, s)
				}
			}
		case xml.EndElement:
			inText = false
		}
	}
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
	r.FailEvent--
	d := draw(t, r)
	if got := strings.Join(d.lanes, ", "); got != "process 0, process 2, process 4" {
		t.Errorf("rows: %s", got)
	}
	if got := strings.Join(d.bars, ", "); got != "bar, bar open, bar wrong" {
		t.Errorf("bars: %s", got)
	}
	if got := strings.Join(d.texts, ", "); got != "because, process 0, :write 1, process 2, :write 8, process 4, :read 1" {
		t.Errorf("texts: %s", got)
	}
}

func TestASVGHoldsAnyText(t *testing.T) {
	r := failing(t, "{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read :value \"</text><script>&\x00\x1b\\u0001\xff]]>\"}", 0)
	r.Explanation = "1 < 2 & \x00 \xff ]]> " + strings.Repeat("long ", 1000) + strings.Repeat("x", 1000)
	d := draw(t, r)
	if n := len(d.texts); n != svgLines+2 {
		t.Errorf("%d texts: %q", n, d.texts)
	}
	if got := d.texts[len(d.texts)-1]; !strings.HasPrefix(got, `:read "</text><script>&`) {
		t.Errorf("the label is %q", got)
	}
}

func TestASVGIsBounded(t *testing.T) {
	var b strings.Builder
	var core []jepsen.Operation
	for i := range 1000 {
		fmt.Fprintf(&b, "{:process %d :type :invoke :f :write :value %d}\n{:process %d :type :info :f :write}\n", i, i, i)
		core = append(core, jepsen.Operation(i))
	}
	b.WriteString("{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read :value :x}")
	d := draw(t, failing(t, b.String(), append(core[500:], 1000)...))
	if len(d.bars) != maxDrawn {
		t.Errorf("%d bars", len(d.bars))
	}
	if want := "941 more operations of the core, or open at the failure, are not drawn"; d.texts[1] != want {
		t.Errorf("it says %q, want %q", d.texts[1], want)
	}
}

func TestASVGHasARowForWhatFollowsACrash(t *testing.T) {
	r := failing(t, `
		{:process 0 :type :invoke :f :write :value 1}
		{:process 0 :type :info   :f :write :value 1}
		{:process 1 :type :invoke :f :write :value 2}
		{:process 1 :type :ok     :f :write :value 2}
		{:process 0 :type :invoke :f :read :value nil}
		{:process 0 :type :ok     :f :read :value 3}`, 0, 1, 2)
	if got := strings.Join(draw(t, r).lanes, ", "); got != "process 0, process 0, process 1" {
		t.Errorf("rows: %s", got)
	}
}
