package reading_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/archive"
	"clew/internal/checking"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// Histories that other programs write, which were refused, or judged as what they do not say.
func TestInputsOfOtherProgramsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, model, init, want, warning string }{
		{"bank_json_integer_accounts_INVALID.json", "bank", "{0 10}", "linearizable", "the accounts :0, :1 of reads are the numbers 0, 1"},
		{"bank_reads_as_vectors_refused.edn", "bank", "", "not linearizable", ""}, // its last read lacks 2
		{"set_read_of_nil_refuses_whole_history.edn", "set", "", "linearizable", "process 0's :read (index 1) returned nil, which says nothing"},
		{"elle_op_without_f_refused.edn", "", "", "linearizable", ""},
		{"elle_op_without_f_refused.edn", "list-append", "", "linearizable", ""},
		{"elle_op_without_f_refused.json", "", "", "linearizable", "vacuous"},
		{"elle_op_without_f_refused.json", "list-append", "", "linearizable", "vacuous"},
	} {
		file := filepath.Join(archive.Path(t, "turn4", "reading"), c.file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkInput(t, c.file, string(text), models.Spec{Name: c.model, Init: c.init}, c.want, c.warning)
	}
}

// Elle takes transactions without :f.
func TestOpsWithoutFAreTransactions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, model, want, warning string }{
		{"registers", "{:process 0, :type :invoke, :value [[:w :x 1]]}\n{:process 0, :type :ok, :value [[:w :x 1]]}\n{:process 1, :type :invoke, :value [[:r :x nil]]}\n{:process 1, :type :ok, :value [[:r :x nil]]}\n", "", "not linearizable", ""},
		{"registers, named", `{"process":0,"type":"invoke","value":[["w",0,1]]}` + "\n" + `{"process":0,"type":"ok","value":[["w",0,1]]}`, "multi-register", "linearizable", "vacuous"},
		{"a crash without a value", "{:process 0, :type :invoke, :value [[:append :x 1]]}\n{:process 0, :type :info, :error :timeout}\n{:process 1, :type :invoke, :value [[:r :x nil]]}\n{:process 1, :type :ok, :value [[:r :x [1]]]}\n", "", "linearizable", ""},
		{"some without", "{:process 0, :type :invoke, :f :txn, :value [[:append :x 1]]}\n{:process 0, :type :ok, :value [[:append :x 1]]}\n", "list-append", "linearizable", "vacuous"},
		{"an :f of nil", "{:process 0, :type :invoke, :f nil, :value [[:w :x 1]]}\n{:process 0, :type :ok, :f nil, :value [[:w :x 1]]}\n{:process 1, :type :invoke, :f nil, :value [[:r :x nil]]}\n{:process 1, :type :ok, :f nil, :value [[:r :x nil]]}\n", "", "not linearizable", ""},
		{"an f of null", `{"process":0,"type":"invoke","f":null,"value":[["append",0,1]]}` + "\n" + `{"process":0,"type":"ok","f":null,"value":[["append",0,1]]}`, "", "linearizable", "vacuous"},
		{"named reads and writes", `{"process":0,"type":"invoke","f":"write","value":[["write",0,1]]}` + "\n" + `{"process":0,"type":"ok","f":"write","value":[["write",0,1]]}` + "\n" +
			`{"process":0,"type":"invoke","f":"read","value":[["read",0,null]]}` + "\n" + `{"process":0,"type":"ok","f":"read","value":[["read",0,2]]}`, "", "not linearizable", ""},
		{"no steps", "{:process 0, :type :invoke, :value [1 2 3]}\n", "list-append", "does not know :f nil", ""},
		{"another name", "{:process 0, :type :invoke, :op :read, :value nil}\n", "register", ":op", ""},
	} {
		checkInput(t, c.name, c.text, models.Spec{Name: c.model}, c.want, c.warning)
	}
}

// A read of the whole that returned nil says nothing, as in a register.
func TestReadsOfNilSayNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, ops string
		knossos    bool
		want       string
	}{
		{"set", "add 1; read nil; read nil -> #{1}", false, "linearizable"},
		{"set", "add 1; read nil; read nil -> #{}", false, "not linearizable"},
		{"set", "add 1; read nil", true, "not linearizable"},
		{"log", "append 1 -> 0; read nil; read nil -> [1]", false, "linearizable"},
		{"log", "append 1 -> 0; read nil; read nil -> [2]", false, "not linearizable"},
		{"bank", "transfer {:from 0 :to 1 :amount 0}; read nil; read nil -> {0 0}", false, "linearizable"},
	} {
		warning := "which says nothing of what was there"
		if c.knossos {
			warning = ""
		}
		checkInput(t, c.ops, kit.Sequential(c.ops), models.Spec{Name: c.model, Knossos: c.knossos}, c.want, warning)
	}
}

// The accounts of reads are matched with those of transfers, once for the whole history.
func TestAccountsOfReadsAreThoseOfTransfers(t *testing.T) {
	t.Parallel()
	const (
		numbers = `{"process":0,"type":"invoke","f":"transfer","value":{"from":0,"to":1,"amount":5}}` + "\n" + `{"process":0,"type":"ok","f":"transfer","value":{"from":0,"to":1,"amount":5}}` + "\n"
		called  = `{"process":0,"type":"invoke","f":"read","value":null}` + "\n"
	)
	names := strings.NewReplacer(`"from":0`, `"from":"a"`, `"to":1`, `"to":"b"`).Replace(numbers)
	digits := strings.NewReplacer(`"from":0`, `"from":"0"`).Replace(numbers)
	read := func(value string) string {
		return called + `{"process":0,"type":"ok","f":"read","value":` + value + "}\n"
	}
	for _, c := range []struct{ name, text, init, accounts, want, warning string }{
		{"numbers", numbers + read(`{"0":5,"1":5}`), "{0 10}", "", "linearizable", "are the numbers 0, 1"},
		{"numbers of an initial value in JSON's words", numbers + read(`{"0":5,"1":5}`), "{:0 10}", "", "linearizable", "are the numbers 0, 1"},
		{"a number that only reads and the initial value have", numbers + read(`{"0":5,"1":5,"2":3}`), "{0 10, 2 3}", "", "linearizable", "are the numbers 0, 1, 2"},
		{"strings", names + read(`{"a":5,"b":5}`), `{"a" 10}`, "", "linearizable", `are the strings "a", "b"`},
		{"strings of an initial value in JSON's words", names + read(`{"a":5,"b":5}`), `{:a 10}`, "", "linearizable", `are the strings "a", "b"`},
		{"names that no keyword has", strings.ReplaceAll(names, `"a"`, `"a b"`) + read(`{"a b":5,"b":5}`), `{"a b" 10}`, "", "linearizable", `are the strings "b"`},
		{"both spellings", numbers + digits + read(`{"0":0,"1":10}`), `{0 5, "0" 5}`, "", "not linearizable", ""},
		{"kept apart", numbers + read(`{"0":5,"1":5}`), "{0 10}", "as-written", "not linearizable", ""},
		{"one account twice", numbers + read(`{"0":5,"1":5}`) + read(`{"edn":"{0 5, :0 5, 1 5}"}`), "{0 10}", "", "expected each account once, found 0 and :0", ""},
		{"by place", numbers + read(`[5,5]`), "{0 10}", "", "linearizable", ""},
		{"an initial value by place", numbers + read(`[5,5]`), "[10 0]", "", "must be a map of balances", ""},
		{"by place, from 1", strings.NewReplacer(`"from":0`, `"from":2`).Replace(numbers) + read(`[5,5]`), "{0 10}", "", "accounts are from 0 to 1; found 2", ""},
		{"by place, with names", names + read(`[5,5]`), "{0 10}", "", `accounts are from 0 to 1; found "a"`, ""},
	} {
		checkInput(t, c.name, c.text, models.Spec{Name: "bank", Init: c.init, Accounts: c.accounts}, c.want, c.warning)
	}
}

// checkInput checks a history, and compares its verdict, or the error, and looks for a warning.
func checkInput(t *testing.T, name, text string, spec models.Spec, want, warning string) {
	t.Helper()
	r, err := checkText(text, spec)
	switch {
	case err != nil && !strings.Contains(err.Error(), want), err == nil && r.Verdict.String() != want:
		t.Errorf("%s: found %v, %v, expected %s", name, r, err, want)
	case err != nil:
	case warning == "" && len(checking.Warnings(r)) > 0, warning != "" && !strings.Contains(strings.Join(checking.Warnings(r), "\n"), warning):
		t.Errorf("%s: found the warnings %q, expected %q", name, checking.Warnings(r), warning)
	}
}

func checkText(text string, spec models.Spec) (*report.Result, error) {
	h, err := clew.Read(strings.NewReader(text), "h", spec.Pairing())
	if err != nil {
		return nil, err
	}
	return clew.Check(context.Background(), h, spec, clew.Options{})
}

// A history in JSON, as programs in other languages write it, has the verdict of the same history in EDN.
func TestNaturalJSONMeansWhatEDNMeans(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"bank", "kv", "list-append", "log"} {
		invalid := 0
		for seed := range kit.Histories(60, 400, 4000) {
			g := gen.New(gen.Rand(seed), gen.Options{Model: model})
			h, err := clew.Read(strings.NewReader(g.Text), "h", jepsen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			spec := models.Spec{Name: model, Init: g.Init}
			if strings.Contains(g.Text, "#{") {
				continue // a set is not a pair and has no order, but an array is a vector
			}
			inJSON := naturalJSON(h)
			got, want := outcome(inJSON, spec), outcome(g.Text, spec)
			if strings.HasPrefix(want, "not ") {
				invalid++
			}
			if strings.Contains(got+want, "…") { // strings are longer than keywords
				got, want = strings.SplitAfter(got, " process")[0], strings.SplitAfter(want, " process")[0]
			}
			if got != want {
				t.Fatalf("%s, seed %d: found %s, expected %s\n%s", model, seed, got, want, inJSON)
			}
		}
		if invalid < 5 {
			t.Errorf("%s: only %d histories are not linearizable", model, invalid)
		}
	}
}

// outcome returns the verdict, where it fails, and the sentence.
func outcome(text string, spec models.Spec) string {
	r, err := checkText(text, spec)
	if err != nil {
		return err.Error()
	}
	failing := int64(-1)
	if e, fails := r.FailEvent.Get(); fails {
		failing = r.History.Index(e)
	}
	return fmt.Sprint(r.Verdict, " ", failing, " ", ofForm.Replace(r.Explanation))
}

// ofForm removes what shows the kind of a value: JSON has neither keywords nor sets, and one kind of integers.
var ofForm = strings.NewReplacer(`"`, "", ":", "", "+", "", "#{", "[", "{", "[", "}", "]", "(", "[", ")", "]", "0N", "0", "1N", "1", "2N", "2", "3N", "3", "4N", "4", "5N", "5", "6N", "6", "7N", "7", "8N", "8", "9N", "9")

// naturalJSON writes the events of clients as Python's json.dumps writes dicts, lists, strings and numbers.
func naturalJSON(h *jepsen.History) string {
	var b strings.Builder
	for e := range h.Type {
		ev := jepsen.Event(e)
		fmt.Fprintf(&b, `{"index":%d,"process":%s,"type":%q,"f":%q,"value":`, h.Index(ev), strings.Trim(h.Values.Text(h.Processes[h.Process[e]]), "+N"), h.Type[e].Name(), h.Values.Str(h.F[e]))
		naturalValue(&b, h.Values, h.Value[e])
		if key := h.Key(ev); key != edn.Nil {
			b.WriteString(`,"key":`)
			naturalValue(&b, h.Values, key)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func naturalValue(b *strings.Builder, v *edn.Values, id edn.ID) {
	items := v.Items(id)
	separate := func(i int) {
		if i > 0 {
			b.WriteString(", ")
		}
	}
	switch v.Kind(id) {
	case edn.KindNil:
		b.WriteString("null")
	case edn.KindKeyword, edn.KindString:
		fmt.Fprintf(b, "%q", v.Str(id))
	case edn.KindMap:
		b.WriteByte('{')
		for i := 0; i < len(items); i += 2 {
			separate(i)
			name := v.Text(items[i])
			if kind := v.Kind(items[i]); kind == edn.KindKeyword || kind == edn.KindString {
				name = v.Str(items[i])
			}
			fmt.Fprintf(b, "%q: ", name)
			naturalValue(b, v, items[i+1])
		}
		b.WriteByte('}')
	case edn.KindVector, edn.KindList, edn.KindSet:
		b.WriteByte('[')
		for i, item := range items {
			separate(i)
			naturalValue(b, v, item)
		}
		b.WriteByte(']')
	default:
		b.WriteString(strings.Trim(v.Text(id), "+N"))
	}
}
