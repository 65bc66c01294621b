package forms

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/internal/gen"
)

// genModels returns the models that have generated histories.
func genModels() (names []string) {
	for _, kind := range gen.LongKinds() {
		names = append(names, gen.ModelsOf(kind)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sharesReader reports whether a form is detected as another one by design: it has no detection, and the other one's
// reader reads both.
func sharesReader(f, seen *form) bool {
	return f.detect == nil && fmt.Sprintf("%p", f.read) == fmt.Sprintf("%p", seen.read)
}

// cameBack converts a history to a form, unless the form cannot hold it. What is written must be detected as this form,
// and be the same history if nothing else says which form it is.
func cameBack(t *testing.T, history string, to *form) (held bool) {
	t.Helper()
	var out bytes.Buffer
	if _, err := Convert(&out, strings.NewReader(history), "h", EDN, to.name); err != nil || !strings.Contains(history, "{") {
		return false // nothing was written, or there are no events, so nothing shows a form
	}
	written := out.String()
	if seen := detect(out.Bytes()); seen != to && !sharesReader(to, seen) {
		t.Errorf("what %s writes is detected as %s:\n%s", to.name, seen.name, written)
		return true
	}
	const asEDN = "; neither a log nor JSON\n"
	if !to.wholeOps && to != &limoForm {
		same(t, string(to.name), events(t, written, to != &logForm), events(t, asEDN+history, to != &logForm))
		return true
	}
	// Each conversion numbers times again.
	first := converted(t, written, EDN)
	again := converted(t, converted(t, asEDN+first, to.name), EDN)
	if timeKey.ReplaceAllString(again, "") != timeKey.ReplaceAllString(first, "") {
		t.Errorf("what %s writes comes back as something else:\n%s\nis\n%s\nand then\n%s", to.name, written, first, again)
	}
	return true
}

var timeKey = regexp.MustCompile(`, :time \d+`)

// What a form writes is detected as this form, for each model's histories, also for those of one operation.
func TestFormsDetectWhatTheyWrite(t *testing.T) {
	held := map[Form]int{}
	for _, model := range genModels() {
		r := gen.Rand(7)
		for i := range 24 {
			if effort.Few() && i%5 > 0 {
				continue
			}
			o := gen.Options{Model: model, Permits: 2, MaxHolds: 2, Operations: 1 + i%4*2, Numbers: i%8 < 4}
			history := gen.New(r, o).Text
			for _, f := range table {
				if f.write.event != nil && cameBack(t, history, f) {
					held[f.name]++
				}
			}
		}
	}
	for _, name := range All {
		if held[name] == 0 {
			t.Errorf("%s holds no generated history", name)
		}
	}
	t.Log(held)
}

// Other keys of an op do not change the form, even if other forms have the same ones.
func TestFormsDetectWhatTheyWriteWithAnyKeys(t *testing.T) {
	keys := []string{":call", ":return", ":request", ":responses", ":clientid", ":input", ":output", ":error", ":time", ":index", `"a"`, `"edn"`, ":type2"}
	// A keyword after a string that is like a value of JSON after a colon is taken for one (docs/formats.md): so strings
	// have no such values here.
	likeJSON := []string{":true", ":null"}
	values := []string{"1", ":b", "nil", `"range"`, `{:type "range"}`, "true", ":true", ":null", `[1 {:call 1}]`, "enq", "-1"}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		if !effort.Takes(i) {
			continue
		}
		var history strings.Builder
		for _, kind := range []string{":invoke", ":ok"} {
			fields := []string{":process 0", ":type " + kind, ":f :write", ":value " + values[r.IntN(2)]}
			for _, key := range keys {
				if value := values[r.IntN(len(values))]; r.IntN(4) == 0 && !(key[0] == '"' && slices.Contains(likeJSON, value)) {
					fields = append(fields, key+" "+value)
				}
			}
			r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
			fmt.Fprintf(&history, "{%s}\n", strings.Join(fields, ", "))
		}
		for _, f := range table {
			if f.write.event != nil {
				cameBack(t, history.String(), f)
			}
		}
	}
}
