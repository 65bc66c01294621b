package verdicts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	olympos "olympos.io/encoding/edn"

	"clew"
	"clew/edn"
	"clew/internal/fuzzing"
	"clew/internal/goedn"
	"clew/internal/store"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// FuzzResult checks a text as a history, and reads what clew prints of it. clew and go-edn read the result map;
// encoding/json reads its line of JSON. It also reads the failure that pictures show, and the claim that clew compare
// compares.
func FuzzResult(f *testing.F) {
	specs := everyModel(10, 3, func(model uint8, text string) { f.Add(model, text, "h.edn", false) })
	f.Add(uint8(0), "{:process 0 :type :invoke :f :write :value [1 [:a \"\\\"\"]]}{:process 0 :type :ok :f :write :value [1 (:a \"\\n\")]}"+
		"{:process 0 :type :invoke :f :read :value [1 nil] :error #error {:x \"}\"}}{:process 0 :type :ok :f :read :value [1 \\a]}", "a\"b\\\n", true)
	f.Fuzz(func(t *testing.T, model uint8, text, name string, independent bool) {
		defer fuzzing.Guard(t)()
		spec := specs[int(model)%len(specs)]
		h, err := clew.Read(strings.NewReader(text), name, jepsen.Options{})
		if err != nil || h.Operations() > 12 {
			return
		}
		o := clew.Options{TimeLimit: 300 * time.Millisecond, Independent: independent}
		r, err := clew.Check(context.Background(), h, spec, o)
		if err != nil {
			return // the model cannot read it
		}
		r.File = name
		readsAsEDN(t, r)
		readsAsJSON(t, r, utf8.ValidString(text+name))
		readsAsClaims(t, h, spec, o, r)
		if r.Keys == nil {
			readsAsResult(t, h, r)
		}
	})
}

// readsAsEDN reads the result map.
func readsAsEDN(t *testing.T, r *report.Result) {
	t.Helper()
	text := r.EDN()
	v := edn.NewValues()
	id, err := v.ParseLenient([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if again := v.Text(id); again != text {
		t.Fatalf("printed as\n%s\nand once it was read as\n%s", text, again)
	}
	if !forGoEDN(text) {
		return
	}
	var theirs any
	if err := olympos.Unmarshal([]byte(text), &theirs); err != nil {
		if strings.Contains(err.Error(), "unhashable type") {
			return // a set or a key of a map, such as 1N
		}
		t.Fatalf("go-edn: %v\n%s", err, text)
	}
	if their := goedn.Value(t, v, theirs); v.Same(their) != v.Same(id) {
		t.Fatalf("printed as\n%s\nand go-edn reads\n%s", text, v.Text(their))
	}
}

// Strings, and what go-edn reads differently from Clojure or not at all outside of strings: unusual characters in
// names, and numbers other than integers.
var (
	inQuotes = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	unusual  = regexp.MustCompile(`[^a-zA-Z0-9 ,:?./_#(){}\[\]"-]|[0-9][a-zA-MO-Z/]|(^|[^0-9a-zA-Z.])0[0-9]|[0-9]\.([^0-9]|$)|(^|[^0-9])\.[0-9]|##|-0|/[^a-z]|[^a-z]/|[^ (\[{]:`)
)

// forGoEDN reports whether go-edn can read a text.
func forGoEDN(text string) bool {
	_, err := edn.NewValues().Parse([]byte(text), edn.Pos{})
	return err == nil && utf8.ValidString(text) && depth(text) < 50 && !unusual.MatchString(inQuotes.ReplaceAllString(text, `""`))
}

// depth returns how deep brackets are nested, those in strings included.
func depth(text string) (deepest int) {
	at := 0
	for _, c := range text {
		switch {
		case strings.ContainsRune("([{", c):
			at++
		case strings.ContainsRune(")]}", c):
			at--
		}
		deepest = max(deepest, at)
	}
	return deepest
}

// readsAsJSON reads the line of JSON. Text that is not UTF-8 is spelled differently the second time.
func readsAsJSON(t *testing.T, r *report.Result, isUTF8 bool) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var line report.Line
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	again, err := json.Marshal(line)
	var keys, keysAgain map[string]any
	if err := errors.Join(err, json.Unmarshal(text, &keys), json.Unmarshal(again, &keysAgain)); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if !reflect.DeepEqual(keys, keysAgain) || isUTF8 && !bytes.Equal(again, text) {
		t.Fatalf("printed as\n%s\nand once it was read as\n%s", text, again)
	}
	if valid := map[jepsen.Verdict]any{jepsen.Valid: true, jepsen.Invalid: false, jepsen.Unknown: "unknown"}[r.Verdict]; keys["valid"] != valid {
		t.Fatalf("a result that is %s is %v in %s", r.Verdict, keys["valid"], text)
	}
}

// readsAsResult reads the result map as that of its history.
func readsAsResult(t *testing.T, h *jepsen.History, r *report.Result) {
	t.Helper()
	for e := range h.Type {
		if index, _ := h.EventMap(jepsen.Event(e)).Get("index"); !isInt(index) {
			return // it is repeated as it stands, and cannot be found by it
		}
	}
	text := r.EDN()
	again, err := report.ReadEDN(strings.NewReader(text), "r", h)
	if _, strict := edn.NewValues().Parse([]byte(text), edn.Pos{}); strict != nil {
		return // it repeats text that is not EDN
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again.Verdict != r.Verdict || r.Verdict == jepsen.Invalid && again.FailingIndex() != r.FailingIndex() {
		t.Fatalf("read as %s, failing at %d\n%s", again.Verdict, again.FailingIndex(), text)
	}
	if len(again.Core) != len(r.Core) || len(again.Paths) != len(r.Paths) || len(again.Configs) != len(r.Configs) {
		t.Fatalf("read with %d operations in the core, %d paths and %d configurations\n%s", len(again.Core), len(again.Paths), len(again.Configs), text)
	}
}

// readsAsClaims reads the result map as another checker's claims about the history: clew must agree with itself.
func readsAsClaims(t *testing.T, h *jepsen.History, spec models.Spec, o clew.Options, r *report.Result) {
	t.Helper()
	text := r.EDN()
	claims, err := store.ReadClaims(strings.NewReader(text), "results.edn", h.Values)
	if _, strict := edn.NewValues().Parse([]byte(text), edn.Pos{}); strict != nil {
		return // it repeats text that is not EDN
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if r.Keys == nil && len(claims) != 1 || r.Keys != nil && len(claims) != len(r.Keys) {
		t.Fatalf("%d claims\n%s", len(claims), text)
	}
	compared, err := clew.Compare(context.Background(), h, spec, o, claims)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range compared {
		if c.Err != nil || c.Agreement == report.Disagree {
			t.Fatalf("clew disagrees with itself: %v, %s\n%s", c.Err, c.Why, text)
		}
	}
}

func isInt(x edn.Value) bool {
	_, fits := x.Int()
	return fits
}
