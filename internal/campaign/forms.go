package campaign

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"clew"
	"clew/edn"
	"clew/jepsen"
	"clew/jepsen/forms"
)

// form is a way to write a history.
type form struct {
	name string
	to   forms.Form
	// dress, unless nil, changes the text in the form.
	dress func(text string) string
}

// written are all forms that can be written, and others that differ only a little.
var written = func() []form {
	all := []form{
		{"history.txt", forms.Log, func(text string) string { return strings.ReplaceAll(text, "INFO  jepsen.util - ", "") }},
		{"edn in a vector", forms.EDN, func(text string) string { return "[" + text + "]" }},
		{"edn in a list, commented", forms.EDN, func(text string) string {
			return "; a history\n(" + strings.ReplaceAll(text, "\n", " #_ {:type 1} ; }\n\n") + ")\n"
		}},
		{"jsonl in gzip", forms.JSONL, func(text string) string {
			var b bytes.Buffer
			w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
			w.Write([]byte(text))
			w.Close()
			return b.String()
		}},
	}
	for _, to := range forms.All {
		all = append(all, form{string(to), to, nil})
	}
	return all
}()

// onlyDone says whether the form cannot express a nemesis or failed operations.
func (f *form) onlyDone() bool {
	return f.ofObjects() || f.to == forms.Intervals
}

// ofObjects says whether the form names an object, and its operations in its own words.
func (f *form) ofObjects() bool {
	return slices.Contains([]forms.Form{forms.Fastlin, forms.Fptlin, forms.LiMo}, f.to)
}

// inForms says what is wrong with the verdict on a history in another form. It draws
// the form, and does so only sometimes. Forms of objects hold few histories, and are
// drawn more often.
func (c *Counts) inForms(r *rand.Rand, s subject) error {
	f := written[r.IntN(len(written))]
	if object := slices.Contains(Containers, s.spec.Name) || s.spec.Name == "lookup-set"; r.IntN(4) > 0 && !(object && f.ofObjects()) {
		return nil
	}
	if err := c.inForm(s, f); err != nil {
		return fmt.Errorf("as %s: %w", f.name, err)
	}
	return nil
}

func (c *Counts) inForm(s subject, f form) error {
	text := s.text
	if s.spec.Name == "java-queue" && f.ofObjects() {
		return nil // there its operations are those of a set
	}
	if f.ofObjects() && s.h.CrashedCount() > 0 && f.to != forms.LiMo {
		return nil // it cannot express them
	}
	if f.onlyDone() {
		var kept []string
		lines := s.lines()
		if len(lines) != s.h.Events || s.spec.ObserveFailedCAS { // a failed cas says something
			return nil
		}
		for e, op := range s.h.OpOf {
			if op != jepsen.None && s.h.Status[op] != jepsen.Failed {
				kept = append(kept, lines[s.h.Line(jepsen.Event(e))-1])
			}
		}
		text = strings.Join(kept, "\n") + "\n"
	}
	var out strings.Builder
	_, err := forms.Convert(&out, strings.NewReader(text), "", forms.EDN, f.to)
	var refused *edn.Error
	if errors.As(err, &refused) && strings.Contains(err.Error(), " cannot hold ") {
		return nil
	}
	if err != nil {
		return err
	}
	read := out.String()
	if f.dress != nil {
		read = f.dress(read)
	}
	h, err := clew.Read(strings.NewReader(read), "", jepsen.Options{})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, read)
	}
	got, err := Checked(h, s.spec, "auto")
	if err != nil {
		return fmt.Errorf("%w\n%s", err, read)
	}
	fails, before := returned(h, got.FailEvent.OrNone()), returned(s.h, s.auto.FailEvent.OrNone())
	if got.Verdict != s.auto.Verdict || fails != before {
		return fmt.Errorf("%s at completion %d, and %s at completion %d as EDN:\n%s", got.Verdict, fails, s.auto.Verdict, before, read)
	}
	c.Forms.note(f.name, got.Verdict)
	return nil
}

// returned returns how many operations have succeeded up to an event, or 0 if e
// is not an event.
func returned(h *jepsen.History, e jepsen.Event) (n int) {
	for _, t := range h.Type[:e+1] {
		if t == jepsen.OK {
			n++
		}
	}
	return n
}
