package forms_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// names are names that people give to the result of a read. None of them may be
// taken for nil without a message.
var names = []string{"result", "Result", "results", "res", "ret", "retval", "returned", "return-value", "out", "Output", "OUTPUT", "response", "resp", "reply",
	"answer", "val", "Value", "VALUE", "my/value", "vlaue", "valu", "values", "outptu", "got", "resultat", "ergebnis", "x"}

// TestNoResultIsLostUnderAnotherName writes a read that a register does not allow,
// in every form that names its keys. It also writes it after other ops with the
// same keys, which are read by layout.
func TestNoResultIsLostUnderAnotherName(t *testing.T) {
	for _, name := range names {
		op := func(form, value string) string {
			return fmt.Sprintf(form, fmt.Sprintf(value, name))
		}
		edn := `{:process 0, :type :invoke, :f :read, :value nil}` + "\n" + `{:process 0, :type :ok, :f :read, %s}` + "\n"
		json := `{"process":0,"type":"invoke","f":"read","value":null}` + "\n" + `{"process":0,"type":"ok","f":"read",%s}` + "\n"
		record := `{"process":0,"f":"read",%s,"call":30,"return":40}` + "\n"
		for form, text := range map[string]string{
			"EDN": op(edn, ":%s 7"), "EDN over lines": op(edn, ":%s \n7"), "JSON": op(json, `"%s":7`),
			"a record": op(record, `"%s":7`), "a record with a value": op(record, `"value":null,"%s":7`),
		} {
			for n := 1; n <= 3; n++ {
				h, err := forms.Read(strings.NewReader(strings.Repeat(text, n)), "h", jepsen.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range []string{"register", "cas-register", "set", "fifo-queue"} {
					spec := models.Spec{Name: m}
					if m == "fifo-queue" {
						h, err = forms.Read(strings.NewReader(strings.ReplaceAll(strings.Repeat(text, n), "read", "dequeue")), "h", jepsen.Options{})
						if err != nil {
							t.Fatal(err)
						}
					}
					if err := spec.Admits(h); err == nil || !strings.Contains(err.Error(), name) {
						t.Errorf("%s, %d times, %s: %v for\n%s", form, n, m, err, text)
					}
				}
			}
		}
	}
}

// A key beside a value of nil only causes a warning, since Jepsen's ops may have any keys.
func TestAResultBesideAValueOfNilIsToldOf(t *testing.T) {
	for text, want := range map[string]string{
		"{:process 0 :type :invoke :f :read :value nil}\n{:process 0 :type :ok :f :read :value nil :result 5}\n":                               "line 2: process 0's :ok :read (index 1) has :result, but its :value is nil, and that counts",
		"{:process 0 :type :invoke :f :read :value nil}\n{:process 0 :type :ok :f :read :value nil :output 5}\n":                               "line 2: process 0's :ok :read (index 1) has :output, but its :value is nil, and that counts",
		`{"process":0,"type":"invoke","f":"read","value":null}` + "\n" + `{"process":0,"type":"ok","f":"read","value":null,"output":5}` + "\n": "line 2: process 0's :ok :read (index 1) has :output, but its :value is nil, and that counts",
		"{:process 0 :type :invoke :f :read :value nil}\n{:process 0 :type :ok :f :read :value nil :return 5}\n":                               "line 2: process 0's :ok :read (index 1) has :return, but its :value is nil, and that counts",
		"{:process 0 :type :invoke :f :read :value nil}\n{:process 0 :type :ok :f :read :value nil :Value 5}\n":                                "line 2: process 0's :ok :read (index 1) has :Value, but its :value is nil, and that counts",
		`{"process":0,"f":"read","output":null,"ret":5,"call":1,"return":2}`:                                                                   `line 1: process 0's :ok :read (index 1) has "ret", but its "output" is nil, and that counts`,
	} {
		for n := 1; n <= 3; n++ {
			h, err := forms.Read(strings.NewReader(strings.Repeat(text, n)), "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Warnings) != 1 || !strings.HasPrefix(h.Warnings[0], want[:20]) || !strings.HasSuffix(h.Warnings[0], want[len(want)-30:]) || len(h.Misread) > 0 {
				t.Errorf("%d times %s: %q", n, text, h.Warnings)
			}
		}
	}
}

// The meaning of other keys does not matter where nothing is missing, and where
// the model requires nothing.
func TestOtherKeysGoOnWorking(t *testing.T) {
	invoked := "{:process 0 :type :invoke :f :read :value nil :result 5 :out 6 :foo 7}\n"
	for text, model := range map[string]string{
		invoked + "{:process 0 :type :ok :f :read :value 1 :result 5 :output 6 :val 7 :args 8}\n":                                                "register",
		invoked + "{:process 0 :type :fail :f :read :result 5 :error :timeout}\n":                                                                "register",
		invoked + "{:process 0 :type :info :f :read :result 5 :error :timeout}\n":                                                                "register",
		invoked + "{:process 0 :type :ok :f :read :value nil :error 5 :node \"n1\" :debug {:value 5} :op-index 3 :final? true :exception nil}\n": "register",
		invoked + "{:process 0 :type :ok :f :read :error 5 :node \"n1\" :debug {:value 5} :op-index 3 :final? true :exception nil}\n":            "register",
		"{:process 0 :type :invoke :f :acquire :token 1}\n{:process 0 :type :ok :f :acquire :token 5 :result :ok}\n":                             "mutex",
		"{:process 0 :type :invoke :f :acquire}\n{:process 0 :type :ok :f :acquire :result :ok}\n":                                               "owner-mutex",
		"{:process :nemesis :type :info :f :kill :result 5}\n":                                                                                   "register",
		`{"process":0,"f":"acquire","call":1,"return":2,"result":"OK"}`:                                                                          "mutex",
		`{"process":0,"f":"write","value":3,"call":1,"return":2,"shard":3}`:                                                                      "register",
		`{"process":0,"f":"write","value":3,"call":1,"return":2,"result":"OK","output":null}`:                                                    "register",
		`{"process":0,"f":"write","value":3,"call":1,"error":"end of file","attempt":9}`:                                                         "register",
		`{"process":0,"f":"write","value":3,"call":1,"return":null,"end":9}`:                                                                     "register",
		`{"process":0,"f":"read","value":null,"output":3,"call":1,"return":2,"k":9,"input":null}`:                                                "register",
	} {
		for n := 1; n <= 3; n++ {
			h, err := forms.Read(strings.NewReader(strings.Repeat(text, n)), "h", jepsen.Options{})
			if err == nil {
				_, err = models.Spec{Name: model}.Read(h)
			}
			if err != nil || strings.Contains(fmt.Sprint(h.Warnings), "which counts") {
				t.Errorf("%d times %s: %v, %q", n, text, err, h.Warnings)
			}
		}
	}
}

// TestTheTimeOfAReturnIsNotLost reads records after others with the same keys.
func TestTheTimeOfAReturnIsNotLost(t *testing.T) {
	const crashed = `{"process":0,"f":"write","value":1,"call":10,"foo":"bar"}` + "\n"
	for _, name := range []string{"end", "End", "end_time", "finish", "returned", "ret", "retrun", "completed-at", "foo", "fin"} {
		text := strings.Repeat(crashed, 3) + `{"process":0,"f":"write","value":1,"call":10,"` + name + `":20}`
		_, err := forms.Read(strings.NewReader(text), "h", jepsen.Options{})
		if err == nil || !strings.Contains(err.Error(), `h:4:1: the record has "`+name+`" and no "return"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRealHistoriesNameTheirKeys reads the histories in the folder CLEW_HISTORIES.
func TestRealHistoriesNameTheirKeys(t *testing.T) {
	root := os.Getenv("CLEW_HISTORIES")
	if root == "" {
		t.Skip("CLEW_HISTORIES is not set")
	}
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".edn", ".jepsen"}, filepath.Ext(path)) {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h, err := forms.Read(f, path, jepsen.Options{})
		if err != nil {
			return nil // a result, or a file of other tests
		}
		n++
		if len(h.Misread) > 0 || strings.Contains(fmt.Sprint(h.Warnings), "which counts") {
			t.Errorf("%s: %v, %q", path, h.Misread, h.Warnings)
		}
		return nil
	})
	if err != nil || n < 250 {
		t.Errorf("%d histories: %v", n, err)
	}
}

// TestNoRecordThatSaysItFailedSucceeds reads records after others with the same keys, which
// are read by layout.
func TestNoRecordThatSaysItFailedSucceeds(t *testing.T) {
	record := `{"process":0,"f":"write","value":1,"call":1%s,"return":2}` + "\n"
	for _, c := range []struct{ field, good, bad string }{
		{"status", `"ok"`, `"failed"`}, {"status", `"OK"`, `"Timed-Out"`}, {"state", "null", `"info"`}, {"ok", "true", "false"}, {"failed", "false", "true"},
		{"success", "true", "false"}, {"crashed", "false", "true"}, {"timeout", "100", "true"}, {"error", `""`, "true"}, {"error", "null", "?"},
		{"exception", "[]", "?"}, {"err", "false", "?"},
	} {
		with := func(value string) string { return fmt.Sprintf(record, fmt.Sprintf(`,"%s":%s`, c.field, value)) }
		for n := range 3 {
			read := func(last string) (*jepsen.History, error) {
				return forms.Read(strings.NewReader(strings.Repeat(with(c.good), n)+last), "h", jepsen.Options{})
			}
			crashed := strings.ReplaceAll(with(c.bad), "2}", "null}")
			if c.bad == "?" {
				h, err := read(strings.Repeat(with(`"out of memory"`), 2))
				want := fmt.Sprintf(`line %d: the record has a "return", so it succeeded and its %q is ignored; leave out`, n+1, c.field)
				if err != nil || len(h.Warnings) != 1 || !strings.HasPrefix(h.Warnings[0], want) {
					t.Errorf("%d before %s: %v, %v", n, c.field, h, err)
				}
				crashed = strings.ReplaceAll(with(`"out of memory"`), "2}", "null}")
			} else if _, err := read(with(c.bad)); err == nil ||
				!strings.HasPrefix(err.Error(), fmt.Sprintf(`h:%d:1: the record has a "return", so it succeeded and its %q: %s is ignored; leave out`, n+1, c.field, c.bad)) {
				t.Errorf("%d before %s: %v", n, with(c.bad), err)
			}
			for _, text := range []string{with(c.good), crashed} {
				if h, err := read(text); err != nil || len(h.Warnings) > 0 {
					t.Errorf("%d before %s: %v, %v", n, text, h, err)
				}
			}
		}
	}
}
