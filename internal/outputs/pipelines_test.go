package outputs_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/option"
	"clew/internal/outputs"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

func init() { option.AsFlags() } // as in clew check

// recordOf returns the record of a history in EDN, as clew check makes it.
func recordOf(t *testing.T, file, history string, independent bool) outputs.Record {
	t.Helper()
	var r *report.Result
	h, err := clew.Read(strings.NewReader(history), file, jepsen.Options{})
	if err == nil {
		r, err = clew.Check(context.Background(), h, models.Spec{Name: "register"}, clew.Options{Independent: independent})
	}
	if err != nil {
		return unreadable(file, err)
	}
	r.File = file
	return outputs.Record{Line: r.Line(), Details: outputs.NewDetails(r, nil)}
}

// unreadable returns the record of a history that could not be read or checked.
func unreadable(file string, err error) outputs.Record {
	r := &report.Result{File: file, Cause: jepsen.Unreadable, Error: err.Error()}
	return outputs.Record{Line: r.Line(), Details: outputs.NewDetails(r, err)}
}

const (
	written = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	stale   = written + "{:process 1, :type :invoke, :f :read, :value nil}\n  {:process 1, :type :ok, :f :read, :value nil}\n" +
		"{:process 0, :type :invoke, :f :write, :value 2}\n{:process 0, :type :ok, :f :write, :value 2}\n" +
		"{:process 1, :type :invoke, :f :read, :value nil}\n  {:process 1, :type :ok, :f :read, :value 1}\n"
	readBack = written + "{:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value 1}\n"
)

// undecided returns the record of a history for which no time was left.
func undecided(file string) outputs.Record {
	return outputs.Record{Line: (&report.Result{File: file, Cause: jepsen.Timeout, Explanation: "it had passed 3 of 5"}).Line()}
}

// told returns a whole report.
func told(form string, o outputs.Options, records ...outputs.Record) string {
	as, err := outputs.Find(outputs.Check(), form)
	if err != nil {
		return err.Error()
	}
	if as.All != nil {
		return as.All(records, &o)
	}
	out := ""
	for i := range records {
		out += as.Each(&records[i], &o)
	}
	return out
}

func TestAnnotationsAreEscaped(t *testing.T) {
	named := recordOf(t, "a b/100%,x:y\n.edn", stale, false)
	named.Explanation = "50% of it\r\n::error::and a line that looks like a command"
	escaping := recordOf(t, "a\x1b[31m.edn", stale, false)
	escaping.Explanation = "red \x1b[31m and \u009b31m"
	for _, c := range []struct {
		name   string
		record outputs.Record
		pass   bool
		want   string
	}{
		{"valid", recordOf(t, "h.edn", readBack, false), false, ""},
		{"a failure with its place", recordOf(t, "h.edn", stale, false), false,
			"::error file=h.edn,line=8,col=3,title=clew%3A stale-read::"},
		{"what a command may not hold", named, false, "::error file=a b/100%25%2Cx%3Ay%0A.edn,line=8,col=3,title=clew%3A stale-read::" +
			"Stale read: 50%25 of it%0D%0A::error::and a line that looks like a command\n"},
		{"what a terminal obeys", escaping, false, "::error file=a\ufffd[31m.edn,line=8,col=3,title=clew%3A stale-read::" +
			"Stale read: red \ufffd[31m and \ufffd31m\n"},
		{"an error of syntax", recordOf(t, "h.edn", written+"  #{1}", false), false,
			"::error file=h.edn,line=3,col=3,title=clew%3A unreadable::expected an op map, found a set\n"},
		{"standard input is not a file", recordOf(t, "-", "#{1}", false), false, "::error title=clew%3A unreadable::"},
		{"an error of another file, such as a model", unreadable("h.edn", edn.Pos{File: "m.star", Line: 4, Col: 5}.Errorf("in add: no")), false,
			"::error file=m.star,line=4,col=5,title=clew%3A unreadable::"},
		{"undecided", undecided("h.edn"), false, "::error file=h.edn,title=clew%3A unknown-timeout::unknown: timeout: it had passed 3 of 5\n"},
		{"undecided, which is to pass", undecided("h.edn"), true, "::warning file=h.edn,title=clew%3A unknown-timeout::unknown: timeout: it had passed 3 of 5\n"},
	} {
		got := told("github", outputs.Options{PassUnknown: c.pass}, c.record)
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") || strings.Count(got, "\n") > 1 || strings.Contains(got, "\r") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// suites holds JUnit's XML as other programs read it.
type suites struct {
	Suites []struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Class   string   `xml:"classname,attr"`
			Name    string   `xml:"name,attr"`
			Line    int      `xml:"line,attr"`
			Failure *problem `xml:"failure"`
			Error   *problem `xml:"error"`
			Skipped *problem `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func TestJUnitCountsWhatItHolds(t *testing.T) {
	odd := recordOf(t, "<&\"'\x1b\n.edn", stale, false)
	odd.Run.Test = "etcd"
	records := []outputs.Record{recordOf(t, "h.edn", readBack, false), odd, recordOf(t, "bad.edn", "#{1}", false), undecided("slow.edn")}
	for _, pass := range []bool{false, true} {
		text := told("junit", outputs.Options{PassUnknown: pass}, records...)
		var all suites
		if err := xml.Unmarshal([]byte(text), &all); err != nil || len(all.Suites) != 1 {
			t.Fatal(err, text)
		}
		s := all.Suites[0]
		if want := [4]int{4, 1, map[bool]int{false: 2, true: 1}[pass], map[bool]int{false: 0, true: 1}[pass]}; [4]int{s.Tests, s.Failures, s.Errors, s.Skipped} != want || len(s.Cases) != 4 {
			t.Errorf("pass %t: %d tests, %d failures, %d errors, %d skipped; want %v", pass, s.Tests, s.Failures, s.Errors, s.Skipped, want)
		}
		if c := s.Cases[0]; c.Class != "clew" || c.Name != "h.edn" || c.Failure != nil || c.Error != nil || c.Skipped != nil {
			t.Errorf("%+v", c)
		}
		if c := s.Cases[1]; c.Class != "etcd" || c.Name != "<&\"'\uFFFD\n.edn" || c.Line != 8 || c.Failure == nil || c.Failure.Type != "stale-read" ||
			c.Failure.Message != "Stale read: "+string(odd.Explanation) || !strings.Contains(c.Failure.Text, ":8:3\n") || !strings.Contains(c.Failure.Text, "{:f :read, :index 7, :process 1, :type :ok, :value 1}") {
			t.Errorf("%+v %+v", c, c.Failure)
		}
		if c := s.Cases[2]; c.Error == nil || c.Error.Type != "unreadable" || c.Error.Message != "expected an op map, found a set" {
			t.Errorf("%+v", c)
		}
		if c := s.Cases[3]; pass != (c.Skipped != nil) || pass == (c.Error != nil) {
			t.Errorf("pass %t: %+v", pass, c)
		}
	}
}

func TestALargeCoreIsOnlyCounted(t *testing.T) {
	// One more than all permits is acquired.
	text := strings.Repeat("{:process 0, :type :invoke, :f :acquire}\n{:process 0, :type :ok, :f :acquire}\n", 1001)
	h, err := clew.Read(strings.NewReader(text), "permits.edn", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(t.Context(), h, models.Spec{Name: "semaphore", Permits: 1000}, clew.Options{})
	if err != nil || len(r.Core) < 1000 {
		t.Fatal(len(r.Core), err)
	}
	d := outputs.NewDetails(r, nil)
	if len(d.Core) > 0 || d.Large != len(r.Core) {
		t.Errorf("%d op maps, large %d", len(d.Core), d.Large)
	}
	said := told("junit", outputs.Options{}, outputs.Record{Line: r.Line(), Details: d})
	if want := fmt.Sprintf("%d operations fail by themselves (--core FILE has them)", len(r.Core)); !strings.Contains(said, want) || len(said) > 2000 {
		t.Error(said)
	}
}

// object is a JSON object. Its methods fail the test where it violates SARIF 2.1.0.
type object map[string]any

// list returns the objects of an array, which must be there.
func (o object) list(t *testing.T, key string) (all []object) {
	t.Helper()
	items, ok := o[key].([]any)
	if !ok {
		t.Fatalf("%s is no array in %v", key, o)
	}
	for _, x := range items {
		all = append(all, object(x.(map[string]any)))
	}
	return all
}

func (o object) sub(t *testing.T, key string) object {
	t.Helper()
	x, ok := o[key].(map[string]any)
	if !ok {
		t.Fatalf("%s is no object in %v", key, o)
	}
	return x
}

// only fails if the object has other keys, or lacks one of the required ones.
func (o object) only(t *testing.T, required string, others string) {
	t.Helper()
	for _, key := range strings.Fields(required) {
		if o[key] == nil || o[key] == "" {
			t.Errorf("there is no %s in %v", key, o)
		}
	}
	for key := range o {
		if !slices.Contains(strings.Fields(required+" "+others), key) {
			t.Errorf("SARIF has no %s in %v", key, o)
		}
	}
}

// sarif checks what SARIF's schema and GitHub require, and returns the run.
func sarif(t *testing.T, text string) object {
	t.Helper()
	var log object
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err, text)
	}
	log.only(t, "$schema version runs", "")
	runs := log.list(t, "runs")
	if log["version"] != "2.1.0" || len(runs) != 1 {
		t.Fatalf("version %v, %d runs", log["version"], len(runs))
	}
	run := runs[0]
	run.only(t, "tool invocations results columnKind originalUriBaseIds", "")
	driver := run.sub(t, "tool").sub(t, "driver")
	driver.only(t, "name rules notifications", "version")
	rules := map[string][]string{}
	for _, kind := range []string{"rules", "notifications"} {
		for _, rule := range driver.list(t, kind) {
			rule.only(t, "id shortDescription fullDescription help", "")
			rule.sub(t, "help").only(t, "text", "")
			if id := rule["id"].(string); slices.Contains(rules[kind], id) {
				t.Errorf("the rule %s is there twice", id)
			}
			rules[kind] = append(rules[kind], rule["id"].(string))
		}
	}
	place := func(l object) {
		l.only(t, "physicalLocation", "id message")
		p := l.sub(t, "physicalLocation")
		p.only(t, "artifactLocation", "region")
		a := p.sub(t, "artifactLocation")
		a.only(t, "uri", "uriBaseId")
		u, err := url.Parse(a["uri"].(string))
		if err != nil || (a["uriBaseId"] != nil) && u.IsAbs() {
			t.Errorf("the URI %v: %v", a, err)
		}
		if base, ok := a["uriBaseId"].(string); ok {
			run.sub(t, "originalUriBaseIds").sub(t, base)
		}
		if p["region"] != nil {
			r := p.sub(t, "region")
			if r.only(t, "startLine startColumn", ""); r["startLine"].(float64) < 1 || r["startColumn"].(float64) < 1 {
				t.Errorf("lines and columns begin with 1: %v", r)
			}
		}
	}
	levels := []any{"error", "warning"}
	for _, r := range run.list(t, "results") {
		r.only(t, "ruleId message level", "ruleIndex locations relatedLocations")
		r.sub(t, "message").only(t, "text", "")
		if rules["rules"][int(r["ruleIndex"].(float64))] != r["ruleId"] || !slices.Contains(levels, r["level"]) {
			t.Errorf("rule or level of %v", r)
		}
		ids := map[any]bool{}
		for _, key := range []string{"locations", "relatedLocations"} {
			if r[key] == nil {
				continue
			}
			for _, l := range r.list(t, key) {
				if place(l); key == "relatedLocations" && (l["id"] == nil || ids[l["id"]]) {
					t.Errorf("an id that others have: %v", l)
				}
				ids[l["id"]] = true
			}
		}
	}
	for _, i := range run.list(t, "invocations") {
		i.only(t, "executionSuccessful toolExecutionNotifications", "")
		for _, n := range i.list(t, "toolExecutionNotifications") {
			n.only(t, "descriptor level message", "locations")
			d := n.sub(t, "descriptor")
			if rules["notifications"][int(d["index"].(float64))] != d["id"] || !slices.Contains(levels, n["level"]) {
				t.Errorf("descriptor or level of %v", n)
			}
			if n["locations"] != nil {
				for _, l := range n.list(t, "locations") {
					place(l)
				}
			}
		}
	}
	return run
}

func TestSARIFNamesTheLevelThatWasAskedFor(t *testing.T) {
	const skew = "{:process 0, :type :invoke, :f :txn, :value [[:r :x nil] [:append :y 1]]}\n{:process 1, :type :invoke, :f :txn, :value [[:r :y nil] [:append :x 2]]}\n" +
		"{:process 0, :type :ok, :f :txn, :value [[:r :x []] [:append :y 1]]}\n{:process 1, :type :ok, :f :txn, :value [[:r :y []] [:append :x 2]]}\n"
	for level, want := range map[models.Level][2]string{
		"":                        {"Not linearizable: cycle", "The history is not linearizable. The message says "},
		models.StrictSerializable: {"Not linearizable: cycle", "The history is not linearizable. The message says "},
		models.Serializable:       {"Not serializable: G2-item", "The level serializable does not hold. The message says "},
	} {
		h, err := clew.Read(strings.NewReader(skew), "skew.edn", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(t.Context(), h, models.Spec{Name: "list-append"}, clew.Options{Consistency: level})
		if err != nil {
			t.Fatal(err)
		}
		run := sarif(t, told("sarif", outputs.Options{}, outputs.Record{Line: r.Line(), Details: outputs.NewDetails(r, nil)}))
		rule := run.sub(t, "tool").sub(t, "driver").list(t, "rules")[0]
		short, full := rule.sub(t, "shortDescription")["text"].(string), rule.sub(t, "fullDescription")["text"].(string)
		if short != want[0] || !strings.HasPrefix(full, want[1]) {
			t.Errorf("%q: %q, %q, want %q", level, short, full, want)
		}
	}
}

func TestSARIFHasWhatItsSchemaAsksFor(t *testing.T) {
	if run := sarif(t, told("sarif", outputs.Options{Version: "v1"})); len(run.list(t, "results")) != 0 {
		t.Error("there is a result of nothing")
	}
	records := []outputs.Record{
		recordOf(t, "h.edn", readBack, false), recordOf(t, "a b/100%:é.edn", stale, false), recordOf(t, "a:b.edn", stale, false),
		recordOf(t, "/root/h.edn", stale, false), recordOf(t, "../h.edn", stale, false), recordOf(t, "-", stale, false),
		recordOf(t, "bad.edn", "#{1}", false), recordOf(t, "-", "#{1}", false), undecided("slow.edn"),
		recordOf(t, "keys.edn", keyed(5), true), recordOf(t, "many.edn", keyed(2*outputs.MaxKeys), true),
	}
	for _, pass := range []bool{false, true} {
		run := sarif(t, told("sarif", outputs.Options{PassUnknown: pass}, records...))
		results := run.list(t, "results")
		var uris []string
		for _, r := range results[:4] {
			l := r.list(t, "locations")[0].sub(t, "physicalLocation")
			uris = append(uris, fmt.Sprint(l.sub(t, "artifactLocation")["uri"], l.sub(t, "region")))
			if related := r.list(t, "relatedLocations"); len(related) != 2 {
				t.Errorf("%d related locations of %v", len(related), r)
			}
		}
		const at = "map[startColumn:3 startLine:8]"
		if want := []string{"a%20b/100%25:%C3%A9.edn" + at, "./a:b.edn" + at, "file:///root/h.edn" + at, "../h.edn" + at}; !slices.Equal(uris, want) {
			t.Errorf("%v, want %v", uris, want)
		}
		if results[4]["locations"] != nil || results[4]["relatedLocations"] != nil {
			t.Error("standard input is a file")
		}
		if r := results[5]; r["ruleId"] != "unknown-timeout" || r["level"] != map[bool]string{false: "error", true: "warning"}[pass] {
			t.Errorf("pass %t: %v", pass, r)
		}
		if i := run.list(t, "invocations")[0]; i["executionSuccessful"] != false || len(i.list(t, "toolExecutionNotifications")) != 2 {
			t.Error(i)
		}
	}
}

// keyed returns a history of n keys; every second one is not linearizable.
func keyed(n int) string {
	var b strings.Builder
	for key := range n {
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :write, :value [%d 1]}\n{:process 0, :type :ok, :f :write, :value [%[1]d 1]}\n", key)
		fmt.Fprintf(&b, "{:process 0, :type :invoke, :f :read, :value [%d nil]}\n{:process 0, :type :ok, :f :read, :value [%[1]d %d]}\n", key, 1+key%2)
	}
	return b.String()
}

func TestFewKeysAreToldOneByOneAndOfManyThoseThatFail(t *testing.T) {
	cases := func(keys int) (cases, failures int, last string) {
		var all suites
		if err := xml.Unmarshal([]byte(told("junit", outputs.Options{}, recordOf(t, "h.edn", keyed(keys), true))), &all); err != nil {
			t.Fatal(err)
		}
		s := all.Suites[0]
		return len(s.Cases), s.Failures, s.Cases[len(s.Cases)-1].Name
	}
	for _, c := range []struct {
		keys, cases, failures int
		last                  string
	}{
		{1, 1, 0, "h.edn key 0"},
		{5, 5, 2, "h.edn key 4"},
		{outputs.MaxKeys, outputs.MaxKeys, outputs.MaxKeys / 2, "h.edn key 999"},
		{outputs.MaxKeys + 2, 1 + outputs.MaxKeys/2 + 1, outputs.MaxKeys/2 + 1, "h.edn and 501 more keys"},
		{3 * outputs.MaxKeys, outputs.MaxKeys + 1, outputs.MaxKeys + 1, "h.edn and 2000 more keys"},
	} {
		if n, failures, last := cases(c.keys); n != c.cases || failures != c.failures || last != c.last {
			t.Errorf("%d keys: %d cases, %d failures, last %s; want %d, %d, %s", c.keys, n, failures, last, c.cases, c.failures, c.last)
		}
	}
}

// A key that is ambiguous to the fast path is neither valid nor a failure.
func TestKeysAreCounted(t *testing.T) {
	var b strings.Builder
	for key, lines := range []string{
		"w 1 r 1", "w 1 r 2", "w 1 r 2", "w 1 w 2 w 1 r 2 r 1 r 2",
	} {
		words := strings.Fields(lines)
		for i := 0; i < len(words); i += 2 {
			f := map[string]string{"w": "write", "r": "read"}[words[i]]
			fmt.Fprintf(&b, "{:process %d, :type :invoke, :f :%s, :value [%d %s]}\n", i, f, key, words[i+1])
		}
		for i := 0; i < len(words); i += 2 {
			f := map[string]string{"w": "write", "r": "read"}[words[i]]
			fmt.Fprintf(&b, "{:process %d, :type :ok, :f :%s, :value [%d %s]}\n", i, f, key, words[i+1])
		}
	}
	h, err := clew.Read(strings.NewReader(b.String()), "h", jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Spec{Name: "register", Init: "nil"}, clew.Options{Independent: true, Algorithm: "fast"})
	if err != nil {
		t.Fatal(err)
	}
	k := outputs.NewDetails(r, nil).Keys
	if k.Total != 4 || k.Invalid != 2 || k.Unknown != 1 || len(k.List) != 4 || k.List[3].Cause != report.Text(jepsen.Ambiguous) || k.List[1].Failure == nil || k.List[0].Failure != nil || k.List[3].Failure != nil {
		t.Errorf("%+v", k)
	}
}

// TestPartsOfKeysAreTogetherWhatAllAre: the parts are JSON, as those of shards.
func TestPartsOfKeysAreTogetherWhatAllAre(t *testing.T) {
	for _, n := range []int{0, 1, 7, outputs.MaxKeys, outputs.MaxKeys + 1, 3 * outputs.MaxKeys} {
		part := func(of func(row int) bool) *outputs.Keys {
			var k outputs.Keys
			for row := range n {
				if !of(row) {
					continue
				}
				x := outputs.Key{Row: row, Key: fmt.Sprint(row), Valid: []jepsen.Verdict{jepsen.Valid, jepsen.Invalid, jepsen.Unknown}[row%3]}
				k.Total++
				k.Invalid += map[bool]int{true: 1}[row%3 == 1]
				k.Unknown += map[bool]int{true: 1}[row%3 == 2]
				k.List = append(k.List, x)
			}
			// A shard bounds them in the same way.
			return (&outputs.Keys{}).Join(&k)
		}
		want := part(func(int) bool { return true })
		var got *outputs.Keys
		for i := range 4 {
			text, err := json.Marshal(part(func(row int) bool { return row*row%5%4 == i }))
			var read outputs.Keys
			if err = errors.Join(err, json.Unmarshal(text, &read)); err != nil {
				t.Fatal(err)
			}
			got = got.Join(&read)
		}
		if len(got.List) == 0 && len(want.List) == 0 {
			got.List, want.List = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d keys: %d told of %d, want %d of %d", n, len(got.List), got.Total, len(want.List), want.Total)
		}
	}
}
