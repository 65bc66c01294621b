package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clew/internal/checking"
	"clew/internal/fuzzing"
	"clew/internal/store"
)

const wrongRead = "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 1}\n"

// ask sends a request and returns the response, both of which must fit the schema.
func ask(t *testing.T, s *schema, request string) (response string) {
	t.Helper()
	response = string(Call([]byte(request)))
	if err := s.fits("response", []byte(response)); err != nil {
		t.Errorf("%.300s\n%.300s: %v", request, response, err)
	}
	var head json.RawMessage
	if json.NewDecoder(strings.NewReader(request)).Decode(&head) == nil && !strings.Contains(response, `"kind":"request"`) && !strings.Contains(response, `"kind":"options"`) {
		if err := s.fits("request", head); err != nil {
			t.Errorf("%.300s: %v", request, err)
		}
	}
	return response
}

// result sends a request and reads the result.
func result[T any](t *testing.T, s *schema, request string) (of T) {
	t.Helper()
	response := struct{ Result, Error json.RawMessage }{}
	if err := json.Unmarshal([]byte(ask(t, s, request)), &response); err != nil {
		t.Fatal(err)
	}
	if response.Result == nil {
		t.Fatalf("%.300s: %s", request, response.Error)
	}
	if err := json.Unmarshal(response.Result, &of); err != nil {
		t.Fatal(err)
	}
	return of
}

var milliseconds = regexp.MustCompile(`"ms":[0-9.]+|[0-9.]+ ms`)

// untimed returns what clew says without the times.
func untimed(said string) string { return milliseconds.ReplaceAllString(said, "N") }

// aLines matches the lines of a monitor in a response. They may come with this call or with a later one.
var aLines = regexp.MustCompile(`"lines":"((?:[^"\\]|\\.)*)"`)

func TestTheDocumentAnswersAsItSays(t *testing.T) {
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	s := readSchema(t)
	handles.last = 0 // the document's handles begin with 1
	shown := map[string]bool{}
	var lines, wantLines, request string
	for line := range strings.Lines(string(text)) {
		if asked, is := strings.CutPrefix(line, "> "); is {
			request = asked
		}
		want, is := strings.CutPrefix(line, "< ")
		if !is {
			continue
		}
		got := ask(t, s, request)
		var h head
		if err := json.Unmarshal([]byte(request), &h); err != nil {
			t.Fatal(err)
		}
		shown[h.Call] = true
		for of, to := range map[*string]string{&lines: got, &wantLines: want} {
			if m := aLines.FindStringSubmatch(to); m != nil {
				*of += m[1]
			}
		}
		got, want = aLines.ReplaceAllString(got, ""), aLines.ReplaceAllString(want, "")
		if untimed(got) != untimed(want) {
			t.Errorf("%s\nis answered with\n%s\nand in the document with\n%s", request, got, want)
		}
	}
	if lines != wantLines || lines == "" {
		t.Errorf("a monitor says %s, in the document %s", lines, wantLines)
	}
	shown["version"] = true // in a sentence
	for call := range calls {
		if !shown[call] {
			t.Errorf("docs/api.md shows no %s", call)
		}
	}
}

func TestTheSchemaListsTheOptions(t *testing.T) {
	s := readSchema(t)
	for def, names := range map[string][]string{
		"check options":   checkNames(),
		"monitor options": slices.Concat(store.SettingNames, limitNames, monitorNames),
	} {
		listed := slices.Sorted(maps.Keys(s.defs[def].(map[string]any)["properties"].(map[string]any)))
		if slices.Sort(names); !slices.Equal(listed, names) {
			t.Errorf("%s: the schema lists %v, and clew takes %v", def, listed, names)
		}
	}
	if len(checking.SearchNames) == 0 {
		t.Error("no options of a search")
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	s := readSchema(t)
	history := fmt.Sprintf("%q", wrongRead)
	for _, test := range []struct{ name, request, kind, says string }{
		{"nothing", ``, "request", "expected an object of JSON: unexpected end of JSON input"},
		{"no JSON", `hello`, "request", "expected an object of JSON: invalid character 'h'"},
		{"an array", `[1]`, "request", "expected an object of JSON with"},
		{"no version", `{"call":"version"}`, "request", `expected "api": 1, the version of the protocol, found 0`},
		{"another version", `{"api":2,"call":"version"}`, "request", "found 2"},
		{"an unknown call", `{"api":1,"call":"chekc"}`, "request", `unknown call "chekc"; did you mean check?`},
		{"an unknown field", `{"api":1,"call":"check","hsitory":"x"}`, "request", `unknown field "hsitory"`},
		{"no history", `{"api":1,"call":"check"}`, "request", `expected "history"`},
		{"a number for a history", `{"api":1,"call":"check","history":7}`, "request", `"history" must be a text`},
		{"too few bytes", `{"api":1,"call":"check","bytes":7}` + "\nabc", "request", "expected 7 bytes after the request, as it says, found 3"},
		{"bytes that it does not announce", `{"api":1,"call":"check","history":"x"}` + "\nabc", "request", `which has no "bytes"`},
		{"a second request", `{"api":1,"call":"version"}` + "\n" + `{"api":1,"call":"version"}`, "request", "expected nothing after the request, found 26 bytes"},
		{"an option twice", `{"api":1,"call":"check","history":` + history + `,"options":{"model":"register","init":0,"init":7}}`, "request", `the request has "init" twice`},
		{"a key of an event twice", `{"api":1,"call":"recorder.invoke","handle":1,"process":0,"f":"put","value":1,"with":{"key":"a","key":"b"}}`, "request", `the request has "key" twice`},
		{"two histories", `{"api":1,"call":"check","history":"x","bytes":1}` + "\nx", "request", "found both"},
		{"an unknown option", `{"api":1,"call":"check","history":` + history + `,"options":{"modle":"register"}}`, "options", "did you mean model?"},
		{"an unknown model", `{"api":1,"call":"check","history":` + history + `,"options":{"model":"regster"}}`, "options", "did you mean register?"},
		{"an option of two values", `{"api":1,"call":"check","history":` + history + `,"options":{"model":["register"]}}`, "options", `"model" must be a string`},
		{"evidence into a file", `{"api":1,"call":"check","history":` + history + `,"options":{"svg":"x.svg"}}`, "options", `"svg" must be true or false`},
		{"an unknown form", `{"api":1,"call":"check","history":` + history + `,"options":{"output":"yaml"}}`, "options", "--output must be text, edn"},
		{"no such style", `{"api":1,"call":"check","history":` + history + `,"options":{"html-style":"x"}}`, "options", "--html-style must be clew or porcupine"},
		{"no such model file", `{"api":1,"call":"check","history":` + history + `,"options":{"model-file":"m.star"}}`, "options", `no such file among the "files"`},
		{"a broken model file", `{"api":1,"call":"check","history":` + history + `,"options":{"model-file":"m.star"},"files":{"m.star":"x ="}}`, "options", "m.star:1:"},
		{"no time", `{"api":1,"call":"check","history":` + history + `,"options":{"time-limit":"0s"}}`, "options", "--time-limit must be a positive duration"},
		{"a time without a unit", `{"api":1,"call":"check","history":` + history + `,"options":{"time-limit":"10"}}`, "options", "--time-limit must be a duration such as 30s or 5m, not 10"},
		{"a name for a process", `{"api":1,"call":"recorder.invoke","handle":1,"process":"alice","f":"read"}`, "request", `"process" must be an integer, not string`},
		{"a text for options", `{"api":1,"call":"check","history":` + history + `,"options":"register"}`, "request", `"options" must be an object, not string`},
		{"a key twice", `{"api":1,"call":"check","history":"{:process 0","HISTORY":""}`, "request", `the request has "history" twice`},
		{"other bytes than UTF-8", "{\"api\":1,\"call\":\"check\",\"history\":\"\xff\"}", "request", "expected UTF-8"},
		{"half a character", `{"api":1,"call":"check","history":"{:process 0, :type :ok, :f :read, :value \"\ud800\"}"}`, "request", "half of a pair"},
		{"half a character in an op map", `{"api":1,"call":"check","history":[{"process":0,"type":"invoke","f":"write","value":"\uD83D"}]}`, "request", "half of a pair"},
		{"half a character that is recorded", `{"api":1,"call":"recorder.invoke","handle":1,"process":0,"f":"write","value":"\ud83d-\ude00"}`, "request", "half of a pair"},
		{"an option that is neither true nor false", `{"api":1,"call":"check","history":` + history + `,"options":{"verify":"maybe"}}`, "options", "--verify must be true or false, not maybe"},
		{"a number for true", `{"api":1,"call":"check","history":` + history + `,"options":{"no-verify":1}}`, "options", "--no-verify must be true or false, not 1"},
		{"a large model file", `{"api":1,"call":"check","history":` + history + `,"options":{"model-file":"m.star"},"files":{"m.star":"init=x` + strings.Repeat(".b", 1<<20) + `"}}`, "options", "at most 1048576 bytes"},
		{"a handle that is not open", `{"api":1,"call":"recorder.check","handle":1000000}`, "handle", "not open"},
		{"a monitor of a model that there is not", `{"api":1,"call":"monitor.open","options":{"model":"frob"}}`, "options", "frob"},
		{"an archive", `{"api":1,"call":"check","file":"h.zip","bytes":4}` + "\nPK\x03\x04", "unreadable", "h.zip:1:1: expected EDN or log lines, found a zip archive in place of one history; unpack it first"},
		{"an unreadable history", `{"api":1,"call":"check","file":"h.edn","history":"{:process 0"}`, "unreadable", "h.edn:1:12: expected } to close {"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r struct{ Error failure }
			if err := json.Unmarshal([]byte(ask(t, s, test.request)), &r); err != nil {
				t.Fatal(err)
			}
			if r.Error.Kind != test.kind || !strings.Contains(r.Error.Message, test.says) {
				t.Errorf("%s: %s; expected %s: %s", r.Error.Kind, r.Error.Message, test.kind, test.says)
			}
		})
	}
}

// A request that is larger than its memory limit is not copied, whatever it has.
func TestAMemoryLimitCountsTheRequest(t *testing.T) {
	s := readSchema(t)
	blanks := strings.Repeat(" ", 8<<20)
	for name, request := range map[string]string{
		"a text":              `{"api":1,"call":"check","history":"` + blanks + `","options":{"model":"register","memory-limit":"1MB"}}`,
		"a text with escapes": `{"history":"\n` + blanks + `","api":1,"options":{"model":"register","memory-limit":"1MB"},"call":"check"}`,
		"op maps":             `{"api":1,"call":"check","history":[` + blanks + `],"options":{"model":"register","memory-limit":"1MB"}}`,
		"bytes after it":      fmt.Sprintf("{\"api\":1,\"call\":\"check\",\"bytes\":%d,\"options\":{\"model\":\"register\",\"memory-limit\":\"1MB\"}}\n%s", len(blanks), blanks),
	} {
		given := []byte(request)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		response := Call(given)
		runtime.ReadMemStats(&after)
		r := result[checkResult](t, s, request)
		if r.Status != 2 || !strings.Contains(string(r.Line), `"out-of-memory"`) {
			t.Errorf("%s: %s", name, response)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%s: it takes %d bytes", name, took)
		}
	}
}

func TestHalvesOfCharacters(t *testing.T) {
	for text, want := range map[string]bool{
		`"\ud83d\ude00"`: false, `"\uD83D\uDE00\ud83d\ude00"`: false, `"\ufffd \ud83d\ude00 �"`: false, `"� \\ud800"`: false, `"\\\\ud800"`: false,
		`"\ud83d"`: true, `"\ude00"`: true, `"\ude00\ud83d"`: true, `"\ud83d\ud83d\ude00"`: true, `"\ud83d\ude00\ude00"`: true, `"\ud83d \ude00"`: true,
		`"\ud83d\n"`: true, `"\\\ud800"`: true, `"\ud83d\\ude00"`: true, `"\ud83d\u0041"`: true,
	} {
		if got := isHalved([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	// What has both a replacement character and a pair of escapes is a text.
	s := readSchema(t)
	request := `{"api":1,"call":"check","history":"0 :invoke :write \"� \ud83d\ude00\"\n0 :ok :write \"� 😀\"\n0 :invoke :read nil\n0 :ok :read \"\ufffd \ud83d\ude00\"\n","options":{"model":"register"}}`
	if r := result[checkResult](t, s, request); r.Status != 0 {
		t.Errorf("%+v", r)
	}
}

func TestErrorsHaveTheirPlace(t *testing.T) {
	s := readSchema(t)
	var r struct {
		Error struct {
			File         string
			Line, Column int
			Result       checkResult
		}
	}
	response := ask(t, s, `{"api":1,"call":"check","file":"h.edn","history":"{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :frob, :value 1}","options":{"model":"register"}}`)
	if err := json.Unmarshal([]byte(response), &r); err != nil {
		t.Fatal(err)
	}
	if f := r.Error; f.File != "h.edn" || f.Line != 2 || f.Column != 1 || f.Result.Status != 254 || !strings.Contains(string(f.Result.Line), `"cause":"unreadable"`) {
		t.Error(response)
	}
}

func TestAModelOfOnesOwn(t *testing.T) {
	s := readSchema(t)
	source, err := os.ReadFile("../testdata/models/counter.star")
	if err != nil {
		entries, _ := os.ReadDir("../testdata/models")
		t.Fatal(err, entries)
	}
	text, _ := json.Marshal(string(source))
	response := ask(t, s, `{"api":1,"call":"check","history":[{"process":0,"type":"invoke","f":"read","value":null},{"process":0,"type":"ok","f":"read","value":7}],"options":{"model-file":"m.star"},"files":{"m.star":`+string(text)+`}}`)
	if !strings.Contains(response, `"valid":false`) {
		t.Error(response)
	}
}

func TestARecorderKeepsTheOrder(t *testing.T) {
	s := readSchema(t)
	h := result[opened](t, s, `{"api":1,"call":"recorder.open","options":{"model":"register","init":0,"html":true}}`).Handle
	say := func(request string) string {
		return ask(t, s, strings.Replace(request, "$", fmt.Sprint(h), 1))
	}
	for _, test := range []struct{ request, says string }{
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"ok"}`, `"kind":"order"`},
		{`{"api":1,"call":"recorder.invoke","handle":$,"process":1,"f":"read"}`, `"result":{}`},
		{`{"api":1,"call":"recorder.invoke","handle":$,"process":1,"f":"read"}`, `process 1 invokes read while its read is open`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"done"}`, `which is ok, fail or info`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"ok","value":1,"with":{"f":"x"}}`, `has a place of its own`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"ok","value":{"edn":"("}}`, `"kind":"request","message":"the op's {\"edn\": \"(\"} does not hold an EDN value`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"ok","value":1,"with":{"node":{"\u0065dn":")"}}}`, `does not hold an EDN value`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"ok","value":` + nested(1000) + `}`, `expected at most 1000 levels of nesting, found more`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"ok","value":` + strings.Repeat("9", 5000) + `}`, `expected a number of at most 4096 characters`},
		{`{"api":1,"call":"recorder.invoke","handle":$,"process":2,"f":"write","value":` + nested(999) + `}`, `"result":{}`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":2,"type":"info","value":{"edn":"(1 #{2})"}}`, `"result":{}`},
		{`{"api":1,"call":"recorder.complete","handle":$,"process":1,"type":"ok","value":1}`, `"result":{}`},
		{`{"api":1,"call":"recorder.check","handle":$}`, `"kind":"never-written"`},
		{`{"api":1,"call":"recorder.check","handle":$}`, `<!doctype html>`},
		{`{"api":1,"call":"monitor.feed","handle":$,"text":"x"}`, `stands for another thing`},
		{`{"api":1,"call":"close","handle":$}`, `"result":{}`},
		{`{"api":1,"call":"recorder.check","handle":$}`, `"kind":"handle"`},
	} {
		if said := say(test.request); !strings.Contains(said, test.says) {
			t.Errorf("%s: %.300s; expected %s", test.request, said, test.says)
		}
	}
}

// nested returns arrays in arrays.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

func TestAMonitorThatALimitEnds(t *testing.T) {
	s := readSchema(t)
	h := result[opened](t, s, `{"api":1,"call":"monitor.open","options":{"model":"register","time-limit":"1ms"}}`).Handle
	time.Sleep(20 * time.Millisecond)
	ask(t, s, fmt.Sprintf(`{"api":1,"call":"monitor.feed","handle":%d,"text":"{"}`, h))
	if said := ask(t, s, fmt.Sprintf(`{"api":1,"call":"monitor.close","handle":%d}`, h)); !strings.Contains(said, `"kind":"stopped"`) || !strings.Contains(said, `"status":2`) {
		t.Error(said)
	}
}

// Many threads may call at once. The race detector looks on.
func TestCallsSideBySide(t *testing.T) {
	s := readSchema(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			h := result[opened](t, s, `{"api":1,"call":"monitor.open","options":{"model":"register","init":0}}`).Handle
			for _, line := range strings.SplitAfter(wrongRead, "\n") {
				ask(t, s, fmt.Sprintf(`{"api":1,"call":"monitor.feed","handle":%d,"text":%q}`, h, line))
			}
			if r := result[passResult](t, s, fmt.Sprintf(`{"api":1,"call":"monitor.close","handle":%d}`, h)); r.Status != 1 {
				t.Errorf("%d: %+v", i, r)
			}
			if r := ask(t, s, fmt.Sprintf(`{"api":1,"call":"check","history":%q,"options":{"model":"register","init":0}}`, wrongRead)); !strings.Contains(r, `"status":1`) {
				t.Error(r)
			}
		})
	}
	all.Wait()
	if len(handles.open) != 0 {
		t.Errorf("%d handles are open", len(handles.open))
	}
}

// Whatever bytes come, there is a response.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{`{"api":1,"call":"version"}`, `{"api":1,"call":"check","bytes":2}` + "\n{}", `{"api":1,"call":"check","history":[{"process":0}],"options":{"model":"register","permits":1e9}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		defer fuzzing.Guard(t)()
		if !json.Valid(Call(request)) {
			t.Errorf("%q", request)
		}
	})
}
