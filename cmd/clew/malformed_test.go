package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/edn"
	"clew/internal/effort"
	"clew/internal/outputs"
	"clew/internal/text"
	"clew/jepsen/forms"
	"clew/models"
)

// write is a valid history of one operation.
const write = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`

// interval is an interval record.
const interval = `{"process":0,"f":"write","value":1,"call":10,"return":20}
`

// A badInput is something that a user may get wrong. The input is in h.edn, beside an empty directory. The arguments
// are separated by blanks (or by | if one of them has blanks); without any they are "check h.edn". The message leaves
// out "clew: " and the newline; $MODELS, $ALGORITHMS, $COMMANDS, $OUTPUTS, $MERGED (those of clew merge), $FORMS and
// $WRITTEN (those that are written) are the lists of them.
type badInput struct{ name, args, input, message string }

var malformed = []badInput{
	// Syntax.
	{"an op map that is not closed", "", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write",
		"h.edn:2:34: expected } to close { opened at 2:1, found end of input"},
	{"a vector around everything that is not closed", "", `[{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"h.edn:3:1: expected ] to close [ opened at 1:1, found end of input"},
	{"a list around everything that is not closed", "", `({:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"h.edn:3:1: expected ) to close ( opened at 1:1, found end of input"},
	{"a string that is not closed", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value "abc}
`,
		`h.edn:3:1: expected " to close the string opened at 2:43, found end of input`},
	{"a string that is not closed in a key nobody reads", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1, :error "abc}
`,
		`h.edn:3:1: expected " to close the string opened at 2:53, found end of input`},
	{"a vector in an op closed by a brace", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :txn, :value [[:r :x 1}]}
`,
		"h.edn:2:50: expected ] to close [ opened at 2:42, found }"},
	{"an op map closed by a bracket", "", "[{:process 0, :type :invoke, :f :read]]\n",
		"h.edn:1:38: expected } to close { opened at 1:2, found ]"},
	{"a vector around everything closed by a parenthesis", "", `[{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
)
`,
		"h.edn:3:1: expected ] to close [ opened at 1:1, found )"},
	{"a closing bracket without an opening one", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
]
`,
		"h.edn:3:1: expected an op map, found ]"},
	{"a closing brace too many", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}}
`,
		"h.edn:2:45: expected an op map, found }"},
	{"a key without a value", "", "{:process 0, :type :invoke, :f}\n",
		"h.edn:1:31: expected a value for :f, found }"},
	{"a map as value with a key too many", "", "{:process 0, :type :invoke, :f :write, :value {:a}}\n",
		"h.edn:1:50: expected a value for :a, found }"},
	{"two values in one op", "", "{:process 0, :type :invoke, :f :write, :value 1, :value 2}\n",
		"h.edn:1:50: duplicate key :value"},
	{"two processes in one op", "", "{:process 0, :process 1, :type :invoke, :f :write, :value 1}\n",
		"h.edn:1:14: duplicate key :process"},
	{"two equal keys in a value", "", "{:process 0, :type :invoke, :f :write, :value {:a 1 :a 2}}\n",
		"h.edn:1:53: duplicate key :a"},
	{"two equal elements in a set", "", "{:process 0, :type :invoke, :f :write, :value #{1 1}}\n",
		"h.edn:1:51: duplicate element 1"},
	{"a number with a letter in a client value", "", "{:process 0, :type :invoke, :f :write, :value 1x3}\n",
		"h.edn:1:47: expected a number, found 1x3"},
	{"a ratio with denominator zero", "", "{:process 0, :type :invoke, :f :write, :value 1/0}\n",
		"h.edn:1:47: expected a number, found 1/0"},
	{"a number with two points", "", "{:process 0, :type :invoke, :f :write, :value 1.2.3}\n",
		"h.edn:1:47: expected a number, found 1.2.3"},
	{"an unknown symbolic value", "", "{:process 0, :type :invoke, :f :write, :value ##Infinity}\n",
		"h.edn:1:47: expected ##Inf, ##-Inf or ##NaN, found ##Infinity"},
	{"an unknown character", "", `{:process 0, :type :invoke, :f :write, :value \nobody}
`,
		`h.edn:1:47: expected a character, found \nobody`},
	{"an unknown escape in a string", "", `{:process 0, :type :invoke, :f :write, :value "a\qb"}
`,
		`h.edn:1:49: expected an escape such as \n or \u0041, found \q`},
	{"a keyword without a name", "", "{:process 0, :type :invoke, :f :write, :value : }\n",
		"h.edn:1:47: expected a keyword, found :"},
	{"a number that is bad on the third line", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
  {:process 0, :type :invoke, :f :write, :value 0x}
`,
		"h.edn:3:49: expected a number, found 0x"},
	{"a tag without a value", "", "{:process 0, :type :invoke, :f :write, :value #inst}\n",
		"h.edn:1:52: expected a value after #inst, found }"},
	{"a discard without a value", "", "{:process 0, :type :invoke, :f :write, :value 1 #_}\n",
		"h.edn:1:51: expected a value after #_, found }"},
	{"a tag at the end of the file", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
#jepsen.history.Op`,
		"h.edn:3:19: expected an op map after #jepsen.history.Op, found end of input"},
	{"metadata at the end of the file", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
^:x `,
		"h.edn:3:5: expected an op map after metadata, found end of input"},
	{"brackets a thousand deep", "", "{:process 0, :type :invoke, :f :write, :value " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}\n",
		"h.edn:1:1046: expected at most 1000 levels of nesting, found more"},
	{"text after the vector around everything", "", `[{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
] and more
`,
		"h.edn:3:3: expected end of input, found a symbol"},
	{"an op after the vector around everything", "", `[{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
]
{:process 0, :type :invoke, :f :write, :value 1}
`,
		"h.edn:4:1: expected end of input, found a map"},
	{"two vectors around everything", "", `[{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
]
[{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
]
`,
		"h.edn:4:1: expected end of input, found a vector"},
	{"a vector in the place of an op", "", "[[:invoke 0 :read nil]]\n",
		"h.edn:1:2: expected an op map, found a vector"},
	{"a number in the place of an op", "", "[{:process 0, :type :invoke, :f :write, :value 1} 42]\n",
		"h.edn:1:51: expected an op map, found a number"},
	{"a string in the place of an op", "", `["abc"]
`,
		"h.edn:1:2: expected an op map, found a string"},
	{"nil in the place of an op", "", "[nil]\n",
		"h.edn:1:2: expected an op map, found nil"},
	{"a keyword in the place of an op", "", "[:invoke]\n",
		"h.edn:1:2: expected an op map, found a keyword"},
	{"a set in the place of an op", "", "#{1 2}\n",
		"h.edn:1:1: expected an op map, found a set"},
	{"a string alone", "", `"abc"
`,
		"h.edn:1:1: expected an op map, found a string"},
	{"a string after an op", "", `{:process 0, :type :invoke, :f :write, :value 1}
"abc"
`,
		"h.edn:2:1: expected an op map, found a string"},

	// Not EDN at all.
	{"random bytes", "", "\x89PNG\x0d\n\x1a\n\x00\x00\x00\x0dIHDR",
		"h.edn:1:1: expected EDN or log lines, found binary data"},
	{"NUL bytes alone", "", "\x00\x00\x00\x00\x00\x00\x00\x00",
		"h.edn:1:1: expected EDN or log lines, found binary data"},
	{"a test.jepsen that is cut in its header", "", "JEPSEN\x00\x00\x00\x01\x00\x00",
		"h.edn: offset 12: expected the header of a test.jepsen, 18 bytes, found the end of the file"},
	{"a test.jepsen of a version to come", "", "JEPSEN\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x12",
		"h.edn: offset 6: expected version 0 or 1, found 2: the file was written by a newer Jepsen than clew knows"},
	{"a test.jepsen that leads to another block than the index", "", "JEPSEN\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x12" + strings.Repeat("\x00", 28),
		"h.edn: offset 18: expected an index, to which the header leads, found another block"},
	{"NUL bytes after an op", "", "{:process 0, :type :invoke, :f :write, :value 1}\n\x00\x00\x00\x00\x00\x00\x00\x00",
		"h.edn:2:1: expected an op map, found a NUL byte"},
	{"UTF-16 with a byte order mark, little end first", "", "\xff\xfe[\x00{\x00:\x00p\x00r\x00o\x00c\x00e\x00s\x00s\x00 \x000\x00}\x00]\x00",
		"h.edn:1:1: expected EDN or log lines, found UTF-16; convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8"},
	{"UTF-16 with a byte order mark, big end first", "", "\xfe\xff\x00[\x00{\x00:\x00p\x00r\x00o\x00c\x00e\x00s\x00s\x00 \x000\x00}\x00]",
		"h.edn:1:1: expected EDN or log lines, found UTF-16; convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8"},
	{"UTF-16 without a byte order mark", "", "[\x00{\x00:\x00p\x00r\x00o\x00c\x00e\x00s\x00s\x00 \x000\x00}\x00]\x00",
		"h.edn:1:1: expected EDN or log lines, found UTF-16; convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8"},
	{"HTML", "", `<!DOCTYPE html>
<html><body>404</body></html>
`,
		"h.edn:1:1: expected EDN or log lines, found HTML or XML"},
	{"a map in JSON that is not an op", "", `{"name": "etcd", "nodes": ["n1", "n2"]}
`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are :name, :nodes"},
	{"a history in JSON within a map", "", `{"history": [{"process":0,"type":"invoke","f":"write","value":1}]}
`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are :history"},
	{"keys in JSON in capitals", "", `{"Process":0,"Type":"invoke","F":"write","Value":1,"Time":1,"Index":0}
`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are :Process, :Type, :F, :Value, :Time, where these are in lower case: {:process 0, :type :invoke, :f :write, :value 1}, in JSON {\"process\": 0, \"type\": \"invoke\", \"f\": \"write\", \"value\": 1}"},
	{"keys of an interval record in capitals", "", `{"Process":0,"F":"write","Value":1,"Call":1,"Return":2}
`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are :Process, :F, :Value, :Call, :Return, where these are in lower case: {\"process\": 0, \"f\": \"write\", \"value\": 1, \"call\": 0, \"return\": 2}"},
	{"keys in JSON with their colons", "", `{":process":0,":type":"invoke"}
`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are ::process, ::type"},
	{"keys that are long", "", `{"` + strings.Repeat("k", 100) + `" 1}
`,
		`h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are "` + strings.Repeat("k", 38) + `…`},
	{"a dict as Python prints it", "", `[{'process': 0, 'type': 'invoke', 'f': 'write', 'value': 1}]
`,
		"h.edn:1:1: expected EDN or log lines, found single quotes; JSON needs double quotes, such as Python's json.dumps writes"},
	{"a table", "", "process,type,f,value\n0,invoke,write,1\n",
		`h.edn:1:1: expected an op map, or a log line such as "INFO  jepsen.util - 0 :invoke :read nil", found process,type,f,value; clew does not read CSV: interval records in JSON lines are as easy to write, {"process": 0, "f": "write", "value": 1, "call": 0, "return": 2} (docs/own-system.md)`},
	{"a table with tabs", "", "process\ttype\tf\tvalue\n0\tinvoke\twrite\t1\n",
		`h.edn:1:1: expected an op map, or a log line such as "INFO  jepsen.util - 0 :invoke :read nil", found process` + "\ttype\tf\tvalue; clew does not read CSV: interval records in JSON lines are as easy to write, {\"process\": 0, \"f\": \"write\", \"value\": 1, \"call\": 0, \"return\": 2} (docs/own-system.md)"},
	{"a table without a heading", "", "0,invoke,write,1\n",
		"h.edn:1:1: the op has :type invoke; expected :invoke, :ok, :fail or :info"},
	{"bzip2", "", "BZh91AY&SYH",
		"h.edn:1:1: expected EDN or log lines, found bzip2 data; unpack it first: bzcat FILE | clew check -"},
	{"xz", "", "\xfd7zXZ\x00\x00\x04",
		"h.edn:1:1: expected EDN or log lines, found xz data; unpack it first: xzcat FILE | clew check -"},
	{"a zip archive of another name", "", "PK\x03\x04\x0a\x00\x00\x00",
		"h.edn:1:1: expected EDN or log lines, found a zip archive; its name must end in .zip"},
	{"an interval record with start and end", "", `{"process":0,"f":"write","value":1,"start":0,"end":5}
`,
		`h.edn:1:1: the op has no :type; expected :invoke, :ok, :fail or :info, or an interval record with "call" and "return" instead of :start and :end`},
	{"an interval record with an input", "", interval + `{"process":0,"f":"write","input":1,"call":30,"return":40}
`,
		`h.edn:2:1: process 0's :invoke :write (index 2) has "input" and no "value"; expected "value" for what it was called with, or null if there is none`},
	{"an interval record with a result", "", interval + `{"process":0,"f":"read","result":7,"call":30,"return":40}
`,
		`h.edn:2:1: process 0's :ok :read (index 3) has "result" and no "output"; expected "output" for what it returned, or null if there is none`},
	{"an interval record with a result beside a value of null", "", interval + `{"process":0,"f":"read","value":null,"resultat":7,"call":30,"return":40}
`,
		`h.edn:2:1: process 0's :ok :read (index 3) has "resultat" and no "output"; expected "output" for what it returned, or null if there is none`},
	{"an interval record with a capital", "", interval + `{"process":0,"f":"read","Output":7,"call":30,"return":40}
`,
		`h.edn:2:1: process 0's :ok :read (index 3) has "Output" and no "output"; expected "output" for what it returned, or null if there is none`},
	{"an interval record with an end", "", interval + `{"process":0,"f":"write","value":2,"call":30,"end":40}
`,
		`h.edn:2:1: the record has "end" and no "return"; expected "return" for the time at which it returned, or null if it is not known whether it happened`},
	{"an interval record with an end of another name", "", interval + `{"process":0,"f":"write","value":2,"call":30,"Ende":40}
`,
		`h.edn:2:1: the record has "Ende" and no "return"; expected "return" for the time at which it returned, or null if it is not known whether it happened`},
	{"an interval record with a client", "", interval + `{"client":0,"f":"write","value":2,"call":30,"return":40}
`,
		`h.edn:2:1: the record has "client" and no "process"; expected one such as {"process":0,"f":"read","output":1,"call":10,"return":20}`},
	{"an interval record with a start", "", interval + `{"process":0,"f":"write","value":2,"start":30,"return":40}
`,
		`h.edn:2:1: the record has "start" and no "call"; expected one such as {"process":0,"f":"read","output":1,"call":10,"return":20}`},
	{"an op whose result has another name", "", "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :result 5}\n",
		"h.edn:2:1: process 0's :ok :read (index 1) has :result and no :value; expected :value for what it returned, or nil if there is none"},
	{"an op whose result has an unknown name", "", "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :resultat 5}\n",
		"h.edn:2:1: process 0's :ok :read (index 1) has :resultat and no :value; expected :value for what it returned, or nil if there is none"},
	{"an op in JSON whose result has another name", "", `{"process":0,"type":"invoke","f":"read","value":null}
{"process":0,"type":"ok","f":"read","ret":5}
`,
		"h.edn:2:1: process 0's :ok :read (index 1) has :ret and no :value; expected :value for what it returned, or nil if there is none"},
	{"an op whose argument has another name", "", "{:process 0, :type :invoke, :f :write, :args 3}\n",
		"h.edn:1:1: process 0's :invoke :write (index 0) has :args and no :value; expected :value for what it was called with, or nil if there is none"},
	{"an op whose key has another name", "check --model kv h.edn", "{:process 0, :type :invoke, :f :put, :k \"x\", :value 3}\n",
		"h.edn:1:1: process 0's :invoke :put (index 0) has :k and no :key; expected :key for the key that it is about, or nil if there is none"},
	{"an op whose f has another name", "", "{:process 0, :type :invoke, :op :write, :value 3}\n",
		"h.edn:1:1: the op has :op and no :f; expected the :f that says what it does, such as :read"},
	{"an op whose type has a capital", "", "{:process 0, :Type :invoke, :f :write, :value 3}\n",
		"h.edn:1:1: the op has :Type and no :type; expected :invoke, :ok, :fail or :info"},
	{"a type in JSON with its colon", "", `{"process":0,"type":":invoke","f":"write","value":1}
`,
		"h.edn:1:1: the op has :type ::invoke; expected :invoke, :ok, :fail or :info; in JSON they are written without the colon"},
	{"NaN in JSON", "", `{"process":0,"type":"invoke","f":"write","value":NaN}
`,
		`h.edn:1:50: the JSON is malformed: invalid character 'N' looking for beginning of value; JSON has no NaN, but {"edn": "##NaN"}`},
	{"None in JSON", "", `{"process":0,"type":"invoke","f":"write","value":None}
`,
		"h.edn:1:50: the JSON is malformed: invalid character 'N' looking for beginning of value; JSON has no None, but null"},
	{"nil in JSON", "", `{"process":0,"type":"invoke","f":"write","value":nil}
`,
		"h.edn:1:51: the JSON is malformed: invalid character 'i' in literal null (expecting 'u'); JSON has no nil, but null"},
	{"an interval record without a process", "", interval + `{"f":"write","value":1,"call":10}
`,
		`h.edn:2:1: the record has no "process"; expected one such as {"process":0,"f":"read","output":1,"call":10,"return":20}`},
	{"an interval record without an f", "", interval + `{"process":0,"call":10}
`,
		`h.edn:2:1: the record has no "f"; expected one such as {"process":0,"f":"read","output":1,"call":10,"return":20}`},
	{"an interval record without a call", "", interval + `  {"process":0,"f":"read","return":10}
`,
		`h.edn:2:3: the record has no "call"; expected one such as {"process":0,"f":"read","output":1,"call":10,"return":20}`},
	{"an interval record with a time that is no integer", "", interval + `{"process":0,"f":"read","call":10.5,"return":20}
`,
		`h.edn:2:1: expected an integer for "call", such as nanoseconds of a clock, found 10.5; if it is in seconds, write "call": 10500000000 (time.time_ns() in Python)`},
	{"an interval record with a date", "", interval + `{"process":0,"f":"read","call":"2024-01-01T10:00:00.123456","return":20}
`,
		`h.edn:2:1: expected an integer for "call", such as nanoseconds of a clock, found "2024-01-01T10:00:00.123456"; write "call": 1704103200123456000, the nanoseconds since 1970 (in Python, int(t.timestamp() * 1e6) * 1000)`},
	{"an interval record with a time beyond 64 bits", "", interval + `{"process":0,"f":"read","call":10,"return":9223372036854775808}
`,
		`h.edn:2:1: expected an integer for "return", such as nanoseconds of a clock, found 9223372036854775808`},
	{"an interval record that returns before its call", "", interval + `{"process":0,"f":"read","call":10,"return":9}
`,
		`h.edn:2:1: the record returns at 9, before its call at 10`},
	{"an interval record with an output and no return", "", interval + `{"process":0,"f":"read","output":1,"call":10,"return":null}
`,
		`h.edn:2:1: the record has an "output" and no "return"; expected the time at which it returned`},
	{"an event among interval records", "", interval + `{"process":0,"type":"invoke","f":"read"}
`,
		`h.edn:2:1: the record has a "type", which events have; expected an operation with a "call" and a "return"`},
	{"an interval record with a field twice", "", interval + `{"process":0,"f":"read","call":10,"call":11}
`,
		`h.edn:2:1: the record has two fields "call" with different values`},
	{"an interval record that returned and says that it failed", "", interval + `{"process":0,"f":"write","value":2,"call":10,"return":11,"ok":false}
`,
		`h.edn:2:1: the record has a "return", so it succeeded and its "ok": false is ignored; leave out an operation that certainly failed, or give it "status": "fail", and leave out the "return" of one that may have happened`},
	{"an object of another monitor that is not known", "", "# deque\npush 1 0 1\n",
		"h.edn:1:1: deque is not an object that clew knows in this form: expected # priorityqueue, # queue, # stack, # set, # rmw, # semaphore or # unordered-queue, or a comment of several words"},
	{"a get without a key", "check --model kv h.edn", `{:process 0, :type :invoke, :f :put, :key :a, :value 1}
{:process 0, :type :ok, :f :put, :key :a, :value 1}
{:process 0, :type :invoke, :f :get, :value nil}
{:process 0, :type :ok, :f :get, :value 1}
`,
		"h.edn:4:1: process 0's :put :a 1 (index 1) has a :key, and process 0's :get 1 (index 3) has none: give every operation its :key"},
	{"offsets told and not", "check --model log h.edn", `{:process 0, :type :invoke, :f :append, :value :a}
{:process 0, :type :ok, :f :append, :value 0}
{:process 0, :type :invoke, :f :append, :value :b}
{:process 0, :type :ok, :f :append, :value :b}
`,
		"h.edn:4:1: process 0's :append :b (index 3) repeats the value of its invocation, but process 0's :append :a → 0 (index 1) returns an offset; give --answers told if completions return it where they can, or --answers echo if none does"},
	{"an interval record whose f is a number", "", interval + `{"process":0,"f":3,"call":10,"return":11}
`,
		`h.edn:2:1: expected the name of a function for "f", such as "read", found 3`},
	{"an interval record whose f the model does not know", "check --model register h.edn", interval + `{"process":0,"f":"rdea","call":10,"return":11}
`,
		`h.edn:2:1: register does not know :f :rdea (index 2); it knows :read, :write`},
	{"an interval record that is cut off", "", interval + `{"process":0,"f":"read","call":10,
`,
		`h.edn:3:1: expected } to close { opened at 2:1, found end of input`},
	{"a clock error that is none", "check --clock-error -5ms h.edn", interval + `
`,
		`--clock-error must be a number in the unit of the times, or a duration such as 5ms if they are in nanoseconds, not "-5ms"`},
	{"a clock error of events", "check --clock-error 5ms h.edn", write,
		"h.edn:1:1: --clock-error requires interval records, and this is edn"},
	{"an op in JSON without a process", "", `{"client": 0, "type": "invoke", "f": "write", "value": 1}
`,
		"h.edn:1:1: :invoke :write (index 0) has :client and no :process; expected the process that performs the operation"},
	{"an op of Elle's without a process", "", `{:type :ok, :f :txn, :value [[:append :x 1]], :index 7}
`,
		"h.edn:1:1: :ok :txn (index 7) has no :process; expected the process that performs the operation"},
	{"a type alone", "", write + "{:type :info}\n",
		"h.edn:3:1: :info (index 2) has no :process; expected the process that performs the operation"},
	{"clients that are strings", "", `{:process "client-1", :type :invoke, :f :write, :value 1}
`,
		`h.edn:1:1: no operation of a client: the first event is process "client-1"'s :invoke :write (index 0); its process is not an integer, so it would not be checked; with --clients all, every process but :nemesis is a client`},
	{"a client that is a string", "", write + `{:process "client-1", :type :invoke, :f :read}
`,
		`h.edn:3:1: process "client-1"'s :invoke :read (index 2): its process is not an integer, so it would not be checked; with --clients all, every process but :nemesis is a client`},
	{"a process that is a float", "", `{:process 1, :type :invoke, :f :write, :value 1}
{:process 1.0, :type :ok, :f :write, :value 1}
`,
		"h.edn:2:1: process 1.0's :ok :write (index 1): its process is not an integer, so it would not be checked; with --clients all, every process but :nemesis is a client"},
	{"completions alone", "", "{:process 0, :type :info, :f :write, :value 1}\n",
		"h.edn:1:1: no operation of a client: only completions without an invocation"},
	{"more permits than clew counts", "check --model semaphore --permits 2147483647 h.edn", write,
		"--permits must be at most 1073741824, not 2147483647"},
	{"more permits than a machine counts", "check --model semaphore --permits 99999999999999999999 h.edn", write,
		`--permits must be a number of at least 1, not "99999999999999999999"`},
	{"more holds than clew counts", "check --model reentrant-mutex --max-holds 2147483647 h.edn", write,
		"--max-holds must be at most 1073741824, not 2147483647"},
	{"more threads than clew counts", "check --model owner-mutex --threads 2147483647 h.edn", write,
		"--threads must be at most 1073741824, not 2147483647"},
	{"a depth in words", "check --algorithm hitting --depth deep h.edn", write,
		`--depth must be a number of at least 1, not "deep"`},
	{"permits in an op that clew cannot count", "check --model semaphore --permits 1 h.edn", "{:process 0, :type :invoke, :f :acquire, :value 99999999999999999999}\n",
		"h.edn:1:1: semaphore cannot read the value of :acquire (index 0): expected a number of permits from 1 to 1073741824, found 99999999999999999999; it knows :acquire, :release, with :value n or {:permits n} for n permits"},
	{"a cas of three elements", "check h.edn", "{:process 0, :type :invoke, :f :cas, :value [:x 1 2]}\n{:process 0, :type :ok, :f :cas, :value [:x 1 2]}\n",
		"h.edn:2:1: cas-register cannot read the value of :cas (index 1): expected [old new], found [:x 1 2]; if the first element is a key, give --independent; it knows :read, :write, :cas [old new]"},
	{"clients that nobody knows", "check --clients some h.edn", write,
		`--clients must be integers or all, not "some"`},
	{"digits with a sign as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision \"+5\"}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found "+5"`},
	{"hexadecimal digits with a sign as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision \"0x+5\"}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found "0x+5"`},
	{"a ratio as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision 5/1}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found 5/1`},
	{"a negative number as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision -1}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found -1`},
	{"a string without digits as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision \"0x\"}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found "0x"`},
	{"a number with a fraction as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision 5.0}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found 5.0`},
	{"a large string as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision \"4611686018427387904\"}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found "4611686018427387904"`},
	{"a large number as a position", "check --model register --position revision h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1, :revision 4611686018427387904}\n",
		`h.edn:2:1: cannot read the revision of process 0's :write 1 (index 1): expected a natural number below 2^62, such as 7, "7" or "0x7", found 4611686018427387904`},
	{"a map that is not an op", "", `{:name "etcd", :nodes ["n1" "n2"]}
`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are :name, :nodes"},
	{"a results file", "", "{:valid? true, :count 3}\n",
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; it looks like a result: check the history beside it"},
	// Forms of other programs, and where to go with them.
	{"a message of Maelstrom", "", `{"id":0,"src":"c0","dest":"n0","body":{"type":"init","msg_id":1}}`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are those of a message that Maelstrom's nodes exchange; the history of the test is the history.edn in its folder in store/"},
	{"an operation of Porcupine", "", `{"ClientID":0,"Input":{"op":1},"Call":1,"Output":{},"Return":2}`,
		`h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are those of a Porcupine operation. If it is of etcd's robustness tests, check its whole report (docs/formats.md#etcd); otherwise write interval records, {"process": 0, "f": "write", "value": 1, "call": 0, "return": 2} (docs/own-system.md), or give the operations to contrib/porcupine, which takes Porcupine's models`},
	{"events of Porcupine", "", `[{"ClientId":0,"Kind":false,"Value":1,"Id":0}]`,
		`h.edn:1:2: this map is not an operation: it lacks :process, :type and :f; its keys are those of a Porcupine event; write op maps, {"process": 0, "type": "invoke", "f": "write", "value": 1}, or give the events to contrib/porcupine, which takes Porcupine's models`},
	{"the data of Porcupine's picture", "", `{"Partitions":[],"Annotations":[]}`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are those of a picture drawn by Porcupine, which holds its operations only as sentences; write the operations as interval records (docs/own-system.md)"},
	{"a watch of etcd's report", "", `{:Request {:Key "key"}, :Responses []}`,
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are those of a watch of etcd's robustness tests; check its whole report (docs/formats.md#etcd)"},
	{"an operation of etcd without what it asks for", "", `{"ClientID":0,"Input":{"Type":"range"},"Call":1,"Output":{},"Return":2}`,
		`h.edn:1:1: expected a request of type range, txn, leaseGrant, leaseRevoke, compact or defragment, and what it asks for, found "range"`},
	{"a test.fressian", "", "\xc0\xec\x1c\xca\xf7\xcd\xe3\x0bconcurrency\x05",
		"h.edn:1:1: expected EDN or log lines, found a test.fressian, as Jepsen kept tests before test.jepsen; check the history.edn or history.txt beside it"},
	{"a list-append's initial list with a value twice", "check|--model|list-append|--init|{:x [1 1]}|h.edn", "",
		"list-append's --init must be lists that have each value once, such as {:x [1 2]}, not {:x [1 1]}"},
	{"a list-append's append of nothing", "", "{:process 0, :type :invoke, :f :txn, :value [[:r :x nil] [:append :x 1]]}\n{:process 1, :type :invoke, :f :txn, :value [[:append :x]]}\n",
		"h.edn:2:1: list-append cannot read the value of :txn (index 1): expected [:append k v] or [:r k [v ..]], found [:append :x]; it knows :txn with [[:append k v] [:r k [v ..]] ..]"},
	{"a list-append's other step", "", "{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:w :x 2]]}\n",
		"h.edn:1:1: list-append cannot read the value of :txn (index 0): expected [:append k v] or [:r k [v ..]], found [:w :x 2]; it knows :txn with [[:append k v] [:r k [v ..]] ..]"},
	{"a list-append's read of no list", "", "{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:r :x nil]]}\n{:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:r :x 1]]}\n",
		"h.edn:2:1: list-append cannot read the value of :txn (index 1): expected the list that was read, or nil if there is none, found [:r :x 1]; it knows :txn with [[:append k v] [:r k [v ..]] ..]"},
	{"a list-append's completion with other steps", "", "{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:r :x nil]]}\n{:process 0, :type :ok, :f :txn, :value [[:append :x 2] [:r :x [2]]]}\n",
		"h.edn:2:1: list-append cannot read the value of :txn (index 1): expected micro-operation 1 to be that of its invocation, [:append :x 1], found [:append :x 2]; it knows :txn with [[:append k v] [:r k [v ..]] ..]"},
	{"a list-append's completion with fewer steps", "", "{:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:r :x nil]]}\n{:process 0, :type :ok, :f :txn, :value [[:append :x 1]]}\n",
		"h.edn:2:1: list-append cannot read the value of :txn (index 1): expected the micro-operations of its invocation, [[:append :x 1] [:r :x nil]], found [[:append :x 1]]; it knows :txn with [[:append k v] [:r k [v ..]] ..]"},
	{"a list-append's value", "check --model list-append h.edn", "{:process 0, :type :invoke, :f :txn, :value 5}\n",
		"h.edn:1:1: list-append cannot read the value of :txn (index 0): expected [[:append k v] [:r k [v ..]] ..], found 5; it knows :txn with [[:append k v] [:r k [v ..]] ..]"},
	{"a list-append's :f", "check --model list-append h.edn", "{:process 0, :type :invoke, :f :read, :value 5}\n",
		"h.edn:1:1: list-append does not know :f :read (index 0); it knows :txn with [[:append k v] [:r k [v ..]] ..]"},
	{"an --init for list-append", "check|--model|list-append|--init|{:x 1}|h.edn", "{:process 0, :type :invoke, :f :txn, :value nil}\n",
		"list-append's --init must be a map such as {:x [1 2]}, not {:x 1}"},
	{"prose", "", "Hello, world.\n",
		`h.edn:1:1: expected an op map, or a log line such as "INFO  jepsen.util - 0 :invoke :read nil", found Hello, world.`},
	{"a shell script", "", `#!/bin/sh
echo hi
`,
		"h.edn:2:1: expected an op map after #!/bin/sh, found a symbol"},
	{"a YAML file", "", `---
process: 0
`,
		"h.edn:1:1: expected PROCESS :TYPE :F VALUE, found ---"},
	{"a zstd file that says that it takes 256 MB to be unpacked", "", "\x28\xb5\x2f\xfd\x00\x90\x0b\x00\x00\n",
		"h.edn: the zstd data needs more than 128 MB to unpack; expected data that zstd compressed without --long=28 or more"},

	// Log lines.
	{"a log line with two fields only", "", "0\t:invoke\n",
		"h.edn:1:1: expected PROCESS :TYPE :F VALUE, found 0\t:invoke"},
	{"a log line with a process that is a string", "", "0\t:invoke\t:read\tnil\nINFO  jepsen.util - \"a\"\t:invoke\t:read\tnil\n",
		`h.edn:2:1: the line looks like an operation; expected one such as "INFO  jepsen.util - 0 :invoke :read nil", found INFO  jepsen.util - "a"` + "\t:invoke\t:read\tnil"},
	{"a logger's line with more in front of an operation", "", "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - worker 0\t:ok\t:read\tnil\n",
		`h.edn:2:1: the line looks like an operation; expected one such as "INFO  jepsen.util - 0 :invoke :read nil", found INFO  jepsen.util - worker 0` + "\t:ok\t:read\tnil"},
	{"a log line whose stamp is damaged", "", "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.core - all of it:\nINFX  jepsen.util - 0\t:ok\t:read\tnil\n",
		`h.edn:3:1: the line looks like an operation; expected one such as "INFO  jepsen.util - 0 :invoke :read nil", found INFX  jepsen.util - 0` + "\t:ok\t:read\tnil"},
	{"a log line that lost all before its type", "", "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n:ok\t:read\t1\n",
		`h.edn:2:1: the line looks like an operation; expected one such as "INFO  jepsen.util - 0 :invoke :read nil", found :ok` + "\t:read\t1"},
	{"a type alone, beside events in a log", "", "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n:ok\nINFO  jepsen.util - 0\t:invoke\t:read\tnil\n",
		"h.edn:3:21: process 0's :invoke :read (index 1) begins while its :invoke :read (index 0, line 1) is still open; expected a completion first"},
	{"an event that lost its process, in a log without levels", "", "0\t:invoke\t:read\tnil\n\t\t:ok\t:read\t1\n",
		`h.edn:2:1: the line looks like an operation; expected one such as "INFO  jepsen.util - 0 :invoke :read nil", found :ok` + "\t:read\t1"},
	{"a log line in history.txt whose process is damaged", "", "0\t:invoke\t:read\tnil\n0\t:fail\t:read\tnil\tfor\nmany reasons\n;\t:invoke\t:read\tnil\n",
		`h.edn:4:1: the line looks like an operation; expected one such as "INFO  jepsen.util - 0 :invoke :read nil", found ;` + "\t:invoke\t:read\tnil"},
	{"two log lines in one", "", "INFO  jepsen.util - 0\t:invoke\t:read\tnil INFO  jepsen.util - 1\t:invoke\t:read\tnil\n",
		"h.edn:1:21: expected a line for each event, found another event after the value of this one: INFO  jepsen.util - 1\t:invoke\t:read\tnil"},
	{"a log whose first line alone has a stamp", "", "INFO  jepsen.core - Running test\n0\t:invoke\t:read\tnil\n",
		`h.edn:1:1: no line of the log is an operation; expected lines such as "INFO  jepsen.util - 0 :invoke :read nil", found INFO  jepsen.core - Running test; line 2 looks like one, but lacks the level or time that the first line begins with`},
	{"text glued to the value of a log line", "", "0\t:invoke\t:write\t1)\n",
		"h.edn:1:19: expected a value, found )"},
	{"a log without an operation", "", "INFO  jepsen.core - Running test\n\nINFO  jepsen.core - Run complete\n",
		`h.edn:1:1: no line of the log is an operation; expected lines such as "INFO  jepsen.util - 0 :invoke :read nil", found INFO  jepsen.core - Running test`},
	{"a log line with a bracket that is not closed", "", "INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:ok\t:write\t[1\n",
		"h.edn:2:36: expected ] to close [ opened at 2:34, found end of input"},
	{"a log line with a bracket that was not opened", "", "0\t:invoke\t:write\t1]\n",
		"h.edn:1:19: expected a value, found ]"},
	{"a log line with a number that is bad", "", "0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:ok\t:write\t1x\n",
		"h.edn:2:34: expected a number, found 1x"},
	{"a log line with an unknown type", "", "0\tinvoke\t:read\tnil\n",
		"h.edn:1:1: the op has :type invoke; expected :invoke, :ok, :fail or :info"},
	{"a log line with a type that is none", "", "0\t:begin\t:read\tnil\n",
		"h.edn:1:1: the op has :type :begin; expected :invoke, :ok, :fail or :info"},
	{"a log line of prose between events", "", "0\t:invoke\t:read\tnil\nand then it crashed\n",
		`h.edn:2:1: expected an op map, or a log line such as "INFO  jepsen.util - 0 :invoke :read nil", found and then it crashed`},
	{"a completion without invocation in a log", "", "0\t:invoke\t:read\tnil\n0\t:ok\t:read\tnil\nINFO  jepsen.util - 1\t:ok\t:read\tnil\n",
		"h.edn:3:21: process 1's :ok :read (index 2) has no invocation: it is the first event of its process"},
	{"a number alone", "", "42\n",
		"h.edn:1:1: expected PROCESS :TYPE :F VALUE, found 42"},
	{"a date first", "", "2026-01-01 00:00:00 GMT [jepsen worker 0] 0 :invoke :read nil\n",
		`h.edn:1:1: the line looks like an operation; expected one such as "INFO  jepsen.util - 0 :invoke :read nil", found 2026-01-01 00:00:00 GMT [jepsen worker 0] 0 :invoke :read n…`},

	// JSON.
	{"JSON with a comma too many", "", `{"process":0,"type":"invoke","f":"write","value":1}
  {"process":0,"type":"ok","f":"write","value":1,}
`,
		"h.edn:2:50: the JSON is malformed: invalid character '}' looking for beginning of object key string; JSON has no comma before a closing bracket"},
	{"JSON with a bracket closed by a brace", "", `{"process":0,"type":"invoke","f":"write","value":"é[" , "x": [1}}`,
		"h.edn:1:64: the JSON is malformed: invalid character '}' after array element"},
	{"JSON that ends in an op", "", `{"process":0,"type":"invoke","f":"write","value":1}
{"process":0,"type":"ok","f":"write","value":1`,
		"h.edn:2:47: expected } to close { opened at 2:1, found end of input"},
	{"a JSON array that ends early", "", `[{"process":0,"type":"invoke","f":"write","value":1},
`,
		"h.edn:2:1: expected ] to close [ opened at 1:1, found end of input"},
	{"a JSON array without commas", "", `[{"process":0,"type":"invoke","f":"write","value":1} {"process":0,"type":"ok","f":"write","value":1}]`,
		"h.edn:1:54: expected , or ] after an op, found {"},
	{"a JSON array with a comma at its end", "", `[{"process":0,"type":"invoke","f":"write","value":1},]`,
		"h.edn:1:54: expected an op after the comma, found ]"},
	{"JSON after the array", "", `[{"process":0,"type":"invoke","f":"write","value":1}]
[]`,
		"h.edn:2:1: expected end of input, found an array"},
	{"a number among JSON ops", "", `{"process":0,"type":"invoke","f":"write","value":1}
42`,
		"h.edn:2:1: expected an op as a JSON object, found a number"},
	{"JSON that is not UTF-8", "", "{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"value\":\"\xff\"}",
		"h.edn:1:1: the op is not UTF-8, as JSON must be"},
	{"EDN in JSON that is none", "", `{"process":0,"type":"invoke","f":"write","value":1}
{"process":0,"type":"ok","f":"write","value":{"edn":"#{1"}}`,
		"h.edn:2:1: the op's {\"edn\": \"#{1\"} does not hold an EDN value: expected } to close { opened at 1:2, found end of input"},
	{"EDN in JSON that is two values", "", `{"process":0,"type":"invoke","f":"write","value":{"edn":"1} {:process 1"}}`,
		"h.edn:1:1: the op's {\"edn\": \"1} {:process 1\"} does not hold an EDN value: expected end of input, found }"},
	{"EDN in JSON in the place of an op that is none", "", `{"process":0,"type":"invoke","f":"write"}
{"edn":"[{:process 0}]"}`,
		"h.edn:2:1: expected an op map, found [{:process 0}]"},
	{"a key twice in JSON", "", `{"process":0,"type":"invoke","f":"write","value":1,"value":2}`,
		"h.edn:1:1: duplicate key :value"},
	{"a key twice in a value in JSON", "", `{"process":0,"type":"invoke","f":"write","value":{"a":1,"a":2}}`,
		"h.edn:1:1: duplicate key :a"},
	{"a number that EDN does not take", "", `{"process":0,"type":"invoke","f":"write","value":{"edn":"1x3"}}`,
		"h.edn:1:1: expected a number, found 1x3"},
	{"JSON a thousand levels deep", "", `{"process":0,"type":"invoke","f":"write","value":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}",
		"h.edn:1:1: expected at most 1000 levels of nesting, found more"},
	{"JSON a hundred thousand levels deep", "", `{"process":0,"type":"invoke","f":"write","value":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
		"h.edn:1:10049: expected at most 1000 levels of nesting, found more"},
	{"an unknown type in JSON", "", `{"process":0,"type":"invoke","f":"write","value":1}
	{"process":0,"type":"done it","f":"write","value":1}`,
		`h.edn:2:2: the op has :type "done it"; expected :invoke, :ok, :fail or :info`},
	{":ok without invocation in JSON", "", `[
 {"process":3,"type":"ok","f":"read","value":1}]`,
		"h.edn:2:2: process 3's :ok :read (index 0) has no invocation: it is the first event of its process"},

	// The text forms of other monitors.
	{"a line of fastlin with three words", "", "# queue\nenq 1 2\n",
		"h.edn:2:1: expected METHOD VALUE START END, found enq 1 2"},
	{"a line of fastlin that ends before it begins", "", "# queue\n  enq 1 3 3\n",
		"h.edn:2:3: expected a time after 3, found 3"},
	{"a line of fastlin with a time that is none", "", "# queue\nenq 1 x 3\n",
		"h.edn:2:1: expected a time as an integer, found x"},
	{"a line of fastlin with a value that is no integer", "", "# queue\nenq a 0 3\n",
		"h.edn:2:1: expected an integer for the value, found a"},
	{"a value that stands for an empty queue put in", "", "# queue\nenq 1 0 3\n  enq -1 4 5\ndeq -1 6 7\n",
		"h.edn:3:3: a value of -1 cannot be added, since -1 is the answer of an empty container in this form; expected another value"},
	{"the same in a priority queue of fptlin", "", "# priorityqueue\n0 1 2 INSERT -1\n",
		"h.edn:2:1: a value of -1 cannot be added, since -1 is the answer of an empty container in this form; expected another value"},
	{"a method that is none", "", "# queue\n\"enq\" 1 0 3\n",
		"h.edn:2:1: expected a method such as enq, found \"enq\""},
	{"a line of fptlin with four words", "", "# queue\n0 1 2 POP\n",
		"h.edn:2:1: expected PROCESS START END METHOD VALUE, found 0 1 2 POP"},
	{"a line of fptlin with a process that is none", "", "0 1 2 ENQ 1\nx 3 4 ENQ 1\n",
		"h.edn:2:1: expected a process such as 0, found x"},
	{"a line of fptlin with an answer that is none", "", "# set\n0 1 2 INSERT 1 2\n",
		"h.edn:2:1: expected 0 or 1 for the answer, found 2"},
	{"operations of one process at the same time in fptlin", "", "# queue\n0 1 4 ENQ 1\n0 2 3 ENQ 2\n",
		"h.edn:3:1: process 0's :invoke :enqueue (index 1) begins while its :invoke :enqueue (index 0, line 2) is still open; expected a completion first"},
	{"a return without a call", "", "[1] call pop\n[1] return\n  [1] return\n",
		"h.edn:3:3: thread 1 returns, but has not called"},
	{"two calls of a thread", "", "[1] call pop\n[1] call pop\n",
		"h.edn:2:1: thread 1 calls while its call on line 1 has not returned"},
	{"a thread that throws", "", "[1] call pop\n[1] throws\n",
		"h.edn:2:1: expected call or return, found throws"},
	{"a call of nothing", "", "[1] call (1)\n",
		"h.edn:1:1: expected a method such as push(1) after call, found (1)"},
	{"a word of LiMo that might end in a comment", "", "# @object atomic-queue\n[0] call enq(a#1)\n[0] return\n",
		"h.edn:2:1: expected a blank before #, which begins a comment, found [0] call enq(a#1)"},
	{"a line of LiMo without a thread", "", "# @object atomic-stack\n[1] call pop\ncall pop\n",
		"h.edn:3:1: expected [THREAD] call METHOD(VALUE) or [THREAD] return VALUE, found call pop"},

	// Conversion: what a form cannot hold.
	{"a crashed operation in fastlin", "convert --to fastlin h.edn", `{:process 0, :type :invoke, :f :enqueue, :value 1}
{:process 0, :type :info, :f :enqueue, :value 1}
`,
		"h.edn:2:1: fastlin cannot hold process 0's :info :enqueue: it has no crashed operations"},
	{"an operation that never ends in fptlin", "convert --to fptlin h.edn", `{:process 0, :type :invoke, :f :enqueue, :value 1}
`,
		"h.edn:1:1: fptlin cannot hold process 0's :invoke :enqueue: it has no crashed operations, and this one never ends"},
	{"an operation that failed in LiMo", "convert --to limo h.edn", `{:process 0, :type :invoke, :f :pop, :value nil}
{:process 0, :type :fail, :f :pop, :value nil}
`,
		"h.edn:2:1: limo cannot hold process 0's :fail :pop: it has no operations that failed"},
	{"a process that goes on after a crash in LiMo", "convert --to limo h.edn", `{:process 0, :type :invoke, :f :push, :value 1}
{:process 0, :type :info, :f :push, :value 1}
{:process 0, :type :invoke, :f :push, :value 2}
`,
		"h.edn:3:1: limo cannot hold process 0's :invoke :push: a process whose operation has crashed (index 0, line 1) cannot begin another there"},
	{"a crashed dequeue that says what it takes in LiMo", "convert --to limo h.edn", `{:process 0, :type :invoke, :f :dequeue, :value 1}
`,
		"h.edn:1:1: limo cannot hold process 0's :invoke :dequeue: a crashed call has no value there, and this one has 1"},
	{"a value that is no integer in fastlin", "convert --to fastlin h.edn", `{:process 0, :type :invoke, :f :push, :value 1.5}
{:process 0, :type :ok, :f :push, :value 1.5}
`,
		"h.edn:2:1: fastlin cannot hold process 0's :ok :push: its value 1.5 is not an integer"},
	{"-1 in fptlin", "convert --to fptlin h.edn", `{:process 0, :type :invoke, :f :push, :value -1}
{:process 0, :type :ok, :f :push, :value -1}
`,
		"h.edn:2:1: fptlin cannot hold process 0's :ok :push: -1 stands for an empty container there"},
	{"a process below 0 in fptlin", "convert --to fptlin h.edn", `{:process -1, :type :invoke, :f :push, :value 1}
{:process -1, :type :ok, :f :push, :value 1}
`,
		"h.edn:1:1: fptlin cannot hold process -1's :invoke :push: a process is an integer from 0 on there"},
	{"a word that LiMo has for nothing", "convert --to limo h.edn", `{:process 0, :type :invoke, :f :dequeue, :value nil}
{:process 0, :type :ok, :f :dequeue, :value "Empty"}
`,
		"h.edn:2:1: limo cannot hold process 0's :ok :dequeue: its value \"Empty\" is not an integer"},
	{"a register in LiMo", "convert --to limo h.edn", write,
		"h.edn:1:1: limo cannot hold process 0's :invoke :write: it has queues and stacks"},
	{"a register in fptlin", "convert --to fptlin h.edn", write,
		"h.edn:1:1: fptlin cannot hold process 0's :invoke :write: it has queues, stacks, priority queues and sets"},
	{"a drain in fastlin", "convert --to fastlin h.edn", `{:process 0, :type :invoke, :f :enqueue, :value 1}
{:process 0, :type :ok, :f :enqueue, :value 1}
{:process 0, :type :invoke, :f :drain, :value nil}
{:process 0, :type :ok, :f :drain, :value [1]}
`,
		"h.edn:3:1: fastlin cannot hold process 0's :invoke :drain: a queue has :dequeue, :enqueue, :peek there"},
	{"a set in LiMo", "convert --to limo h.edn", `{:process 0, :type :invoke, :f :contains, :value 1}
{:process 0, :type :ok, :f :contains, :value [1 true]}
`,
		"h.edn:1:1: limo cannot hold process 0's :invoke :contains: it has no set"},
	{"an insertion into a set that did nothing in fastlin", "convert --to fastlin h.edn", `{:process 0, :type :invoke, :f :add, :value 1}
{:process 0, :type :ok, :f :add, :value [1 false]}
`,
		"h.edn:2:1: fastlin cannot hold process 0's :ok :add: it has no insert that did nothing"},
	{"a cas in fastlin", "convert --to fastlin h.edn", `{:process 0, :type :invoke, :f :cas, :value [0 1]}
{:process 0, :type :ok, :f :cas, :value [0 1]}
`,
		"h.edn:1:1: fastlin cannot hold process 0's :invoke :cas: it has no rmw"},
	{"a cas of three values in fptlin", "convert --to fptlin h.edn", `{:process 0, :type :invoke, :f :cas, :value [0 1]}
{:process 0, :type :ok, :f :cas, :value [0 1 2]}
`,
		"h.edn:2:1: fptlin cannot hold process 0's :ok :cas: expected two integers for its value, found [0 1 2]"},
	{"half a cas in fptlin", "check h.edn", "# rmw\n0 0 2 READ_MODIFY_WRITE 0\n",
		"h.edn:2:1: expected what READ_MODIFY_WRITE read and what it wrote, two integers, found 0"},
	{"a semaphore that counts", "check h.edn", "# semaphore\n0 0 2 INCR 2\n",
		"h.edn:2:1: expected 0 or 1 for the answer, found 2"},
	{"a set's answer that is none in fptlin", "convert --to fptlin h.edn", `{:process 0, :type :invoke, :f :contains, :value 1}
{:process 0, :type :ok, :f :contains, :value 1}
`,
		"h.edn:2:1: fptlin cannot hold process 0's :ok :contains: expected [VALUE true] or [VALUE false] for its value, found 1"},
	{"a nemesis in fastlin", "convert --to fastlin h.edn", "{:process :nemesis, :type :info, :f :start}\n",
		"h.edn:1:1: fastlin cannot hold process :nemesis's :info :start: it has no place for processes that are not clients"},
	{"a :key in a log", "convert --to log h.edn", "{:process 0, :type :invoke, :f :get, :key \"a\"}\n",
		"h.edn:1:1: log cannot hold process 0's :invoke :get: it has no place for a :key"},
	{"a process with a name in a log", "convert --to log h.edn", "{:process \"n1\", :type :invoke, :f :read}\n",
		"h.edn:1:1: log cannot hold process \"n1\"'s :invoke :read: a process is an integer or a keyword there"},
	{"a type that is not a keyword in a log", "convert --to log h.edn", "{:process 0, :type \"ok\", :f :read}\n",
		"h.edn:1:1: log cannot hold process 0's \"ok\" :read: a type is :invoke, :ok, :fail or :info there"},
	{"what is not a value in a log", "convert --to log h.edn", "{:process :nemesis, :type :info, :f :kill, :value 1x3}\n",
		"h.edn:1:1: log cannot hold process :nemesis's :info :kill: it has a value that is not EDN"},
	{"text that is not UTF-8 in JSON", "convert --to jsonl h.edn", write + "{:process 0, :type :invoke, :f :write, :value \"\\ud800\"}\n",
		"h.edn:3:1: jsonl cannot hold process 0's :invoke :write: it has text that is not UTF-8"},
	{"what is not a value and holds a comment in JSON", "convert --to json h.edn", "{:process :nemesis, :type :info, :f :kill, :value {:a ; no\n :b :c}}\n",
		"h.edn:1:1: json cannot hold process :nemesis's :info :kill: it has a value that is not EDN"},
	{"what is not a value and holds a comment in EDN", "convert --to edn h.edn", "{:process :nemesis, :type :info, :f :kill, :value {:a ; no\n :b :c}}\n",
		"h.edn:1:1: edn cannot hold process :nemesis's :info :kill: it has a value that is not EDN"},
	{"a key that nobody reads twice", "convert --to edn h.edn", write + "{:process 0, :type :invoke, :f :read, :x 1, :x 2}\n",
		"h.edn:3:45: duplicate key :x"},
	{"a conversion of no op", "convert --to jsonl h.edn", "{:a 1}\n",
		"h.edn:1:1: this map is not an operation: it lacks :process, :type and :f; its keys are :a"},
	{"a conversion of what does not pair to a queue", "convert --to fastlin h.edn", "{:process 0, :type :ok, :f :enqueue, :value 1}\n",
		"h.edn:1:1: process 0's :ok :enqueue (index 0) has no invocation: it is the first event of its process"},
	{"a form that is forced", "convert --from json --to edn h.edn", write,
		"h.edn:1:2: the JSON is malformed: invalid character ':' looking for beginning of object key string"},
	{"another form that is forced", "convert --from limo --to edn h.edn", write,
		"h.edn:1:1: expected [THREAD] call METHOD(VALUE) or [THREAD] return VALUE, found {:process 0, :type :invoke, :f :write, :value 1}"},
	{"an output without its file", "render h.edn -o", write,
		"-o needs a value; clew render --help lists the flags"},
	{"a flag of one letter that there is not", "check -v h.edn", write,
		"unknown flag -v; clew check --help lists the flags"},
	{"a conversion without a form", "convert h.edn", write,
		"convert needs --to with one of $WRITTEN"},
	{"a conversion to an unknown form", "convert --to yaml h.edn", write,
		`--to: expected one of $WRITTEN, not "yaml"`},
	{"a conversion from an unknown form", "convert --to edn --from yaml h.edn", write,
		`--from: expected one of $FORMS, not "yaml"`},
	{"a conversion of nothing", "convert --to edn", write,
		"convert takes one history; clew convert --help shows how"},
	{"a conversion of two histories", "convert --to edn h.edn h.edn", write,
		"convert takes one history; clew convert --help shows how"},
	{"a conversion of a missing file", "convert --to edn nothing.edn", write,
		"nothing.edn: no such file or directory"},
	{"a conversion of a directory", "convert --to edn empty", write,
		"empty: is a directory"},

	// Positions of a model whose answers tell them.
	{"a position of etcd under another key", "check --model etcd --position rev h.edn", "0 :invoke :put {:key 1}\n0 :ok :put {:revision 2}\n",
		"h.edn: --position rev: no operation that completed has a :rev; the answers of etcd tell the revision, without --position"},
	{"sparse revisions of etcd", "check --model etcd --position revision --positions sparse h.edn", "0 :invoke :put {:key 1}\n0 :ok :put {:revision 2}\n",
		"h.edn: --positions sparse: in etcd, every update adds one to the revision"},

	// Generation.
	{"a history of no model", "gen", "",
		"gen needs --model; clew models lists them"},
	{"a history of an unknown model", "gen --model frob", "",
		`unknown model "frob"; clew knows $MODELS`},
	{"a generator that is given a history", "gen --model register h.edn", write,
		"gen takes no arguments, but found h.edn; clew gen --help shows how"},
	{"a bug that the model does not have", "gen --model mutex --bug stale-read", "",
		"mutex has no stale-read; it has two-holders"},
	{"a bug that nobody has", "gen --model register --bug frob", "",
		`--bug must be none, stale-read, lost-write or impossible-read, not "frob"`},
	{"two holders among one process", "gen --model owner-mutex --bug two-holders --processes 1", "",
		"two-holders needs at least 2 processes"},
	{"permits of what has none", "gen --model mutex --permits 3", "",
		"--permits applies to semaphore and owner-semaphore, not to mutex"},
	{"a semaphore of any permits", "gen --model semaphore", "",
		"semaphore needs --permits K, the number of its permits, at least 1"},
	{"more keys than operations", "gen --model register --operations 5 --keys 6", "",
		"6 keys need as many operations, not 5"},
	{"a history without operations", "gen --model register --operations 0", "",
		"--operations must be a number from 1 to 1000000000, not 0"},
	{"a history of some operations", "gen --model register --operations some", "",
		`--operations must be a number of at least 1, not "some"`},
	{"values below 0", "gen --model register --values -1", "",
		"--values must be a number from 0 to 1000000000, not -1"},
	{"values that are not a number", "gen --model register --values x", "",
		`--values must be a number of at least 0, not "x"`},
	{"too many processes", "gen --model register --processes 1000001", "",
		"--processes must be a number from 1 to 1000000, not 1000001"},
	{"a rate above 1", "gen --model register --crash-rate 1.5", "",
		"--crash-rate must be a number from 0 to 1, not 1.5"},
	{"a rate that is none", "gen --model register --fail-rate NaN", "",
		"--fail-rate must be a number from 0 to 1, not NaN"},
	{"a rate that is not a number", "gen --model register --bug-at end", "",
		`--bug-at must be a number from 0 to 1, not "end"`},
	{"a seed below 0", "gen --model register --seed -1", "",
		`--seed must be a number of at least 0, not "-1"`},
	{"a history and its promise in one file", "gen --model register -o g.edn --promise ./g.edn", "",
		"-o and --promise both go to ./g.edn; expected a file for each"},
	{"a generated history in a directory", "gen --model register -o empty", "",
		"-o empty: is a directory"},
	{"a promise in a missing directory", "gen --model register --promise no/p.edn", "",
		"--promise no/p.edn: no such file or directory"},

	// Pairing.
	{":ok without invocation", "", "{:process 3, :type :ok, :f :read, :value 1}\n",
		"h.edn:1:1: process 3's :ok :read (index 0) has no invocation: it is the first event of its process"},
	{":fail without invocation", "", "{:process 3, :type :fail, :f :read, :value 1}\n",
		"h.edn:1:1: process 3's :fail :read (index 0) has no invocation: it is the first event of its process"},
	{":ok twice", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"h.edn:3:1: process 0's :ok :write (index 2) has no invocation: the process's last operation was completed by its :ok :write (index 1, line 2)"},
	{":fail after :ok", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 0, :type :fail, :f :write, :value 1}
`,
		"h.edn:3:1: process 0's :fail :write (index 2) has no invocation: the process's last operation was completed by its :ok :write (index 1, line 2)"},
	{":ok after :fail", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :fail, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"h.edn:3:1: process 0's :ok :write (index 2) has no invocation: the process's last operation was completed by its :fail :write (index 1, line 2)"},
	{":ok after its own :info", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :info, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"h.edn:3:1: process 0's :ok :write (index 2) comes after its own :info :write (index 1, line 2); expected an invocation"},
	{"an invocation while the process is busy", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :invoke, :f :read}
`,
		"h.edn:2:1: process 0's :invoke :read (index 1) begins while its :invoke :write (index 0, line 1) is still open; expected a completion first"},
	{"an invocation while the process is busy, with indices", "", `{:index 7, :process 0, :type :invoke, :f :write, :value 1}
{:index 9, :process 0, :type :invoke, :f :read}
`,
		"h.edn:2:1: process 0's :invoke :read (index 9) begins while its :invoke :write (index 7, line 1) is still open; expected a completion first"},
	{"another :f in the :ok", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :read, :value 1}
`,
		"h.edn:2:1: process 0's :ok :read (index 1) completes its :invoke :write (index 0, line 1) with a different :f; expected :write"},
	{"another :f in the :info", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :info, :f :read, :value 1}
`,
		"h.edn:2:1: process 0's :info :read (index 1) completes its :invoke :write (index 0, line 1) with a different :f; expected :write"},
	{"another :f in the :fail", "", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :fail, :f :read, :value 1}
`,
		"h.edn:2:1: process 0's :fail :read (index 1) completes its :invoke :write (index 0, line 1) with a different :f; expected :write"},
	{"an op without :type", "", "{:process 0, :f :read}\n",
		"h.edn:1:1: the op has no :type; expected :invoke, :ok, :fail or :info"},
	{"an unknown :type", "", "{:process 0, :type :start, :f :read}\n",
		"h.edn:1:1: the op has :type :start; expected :invoke, :ok, :fail or :info"},
	{"a :type of another case", "", "{:process 0, :type :Invoke, :f :read}\n",
		"h.edn:1:1: the op has :type :Invoke; expected :invoke, :ok, :fail or :info"},
	{"a :type that is a string", "", `{:process 0, :type "invoke", :f :read}
`,
		`h.edn:1:1: the op has :type "invoke"; expected :invoke, :ok, :fail or :info`},
	{"a :type that is nil", "", "{:process 0, :type nil, :f :read}\n",
		"h.edn:1:1: the op has :type nil; expected :invoke, :ok, :fail or :info"},
	{"a :type with a namespace", "", "{:process 0, :type :jepsen/invoke, :f :read}\n",
		"h.edn:1:1: the op has :type :jepsen/invoke; expected :invoke, :ok, :fail or :info"},

	// Models.
	{"an :f that the register does not know", "check --model register h.edn", "{:process 0, :type :invoke, :f :cas, :value [1 2]}\n",
		"h.edn:1:1: register does not know :f :cas (index 0); it knows :read, :write"},
	{"an :f that the set does not know", "check --model set h.edn", "{:process 0, :type :invoke, :f :remove, :value 1}\n",
		"h.edn:1:1: set does not know :f :remove (index 0); it knows :add v, :read"},
	{"an :f that is a string", "check --model register h.edn", `{:process 0, :type :invoke, :f "read"}
`,
		`h.edn:1:1: register does not know :f "read" (index 0); it knows :read, :write`},
	{"an :f that is missing", "check --model register h.edn", "{:process 0, :type :invoke}\n",
		"h.edn:1:1: register does not know :f nil (index 0); it knows :read, :write"},
	{"an :f that is missing for a mutex", "check --model mutex h.edn", "{:process 0, :type :invoke}\n",
		"h.edn:1:1: mutex does not know :f nil (index 0); it knows :acquire, :release"},
	{"a cas of a number", "check --model cas-register h.edn", "{:process 0, :type :invoke, :f :cas, :value 7}\n",
		"h.edn:1:1: cas-register cannot read the value of :cas (index 0): expected [old new], found 7; it knows :read, :write, :cas [old new]"},
	{"a cas of a set", "check --model cas-register h.edn", "{:process 0, :type :invoke, :f :cas, :value #{1 2}}\n",
		"h.edn:1:1: cas-register cannot read the value of :cas (index 0): expected [old new], found #{1 2}; it knows :read, :write, :cas [old new]"},
	{"a cas of one value", "check --model cas-register h.edn", "{:process 0, :type :invoke, :f :cas, :value [1]}\n",
		"h.edn:1:1: cas-register cannot read the value of :cas (index 0): expected [old new], found [1]; it knows :read, :write, :cas [old new]"},
	{"a cas that is bad in its :ok only", "check --model cas-register h.edn", `{:process 0, :type :invoke, :f :cas, :value [1 2]}
{:process 0, :type :ok, :f :cas, :value true}
`,
		"h.edn:2:1: cas-register cannot read the value of :cas (index 1): expected [old new], found true; it knows :read, :write, :cas [old new]"},
	{"an enqueue of nil", "check --model fifo-queue h.edn", "{:process 0, :type :invoke, :f :enqueue, :value nil}\n",
		"h.edn:1:1: fifo-queue cannot read the value of :enqueue (index 0): expected an element, found nil, which says that the queue is empty (--semantics knossos takes it for an element); it knows :enqueue v, :dequeue, :peek, :drain"},
	{"an enqueue of :empty", "check --model unordered-queue h.edn", "{:process 0, :type :invoke, :f :enqueue, :value :empty, :index 5}\n",
		"h.edn:1:1: unordered-queue cannot read the value of :enqueue (index 5): expected an element, found :empty, which says that the queue is empty (--semantics knossos takes it for an element); it knows :enqueue v, :dequeue, :drain"},
	{"a drain of a number", "check --model fifo-queue h.edn", `{:process 0, :type :invoke, :f :drain}
{:process 0, :type :ok, :f :drain, :value 5}
`,
		"h.edn:2:1: fifo-queue cannot read the value of :drain (index 1): expected [v ..], the elements drained, found 5; it knows :enqueue v, :dequeue, :peek, :drain"},
	{"a set read of a number", "check --model set h.edn", `{:process 0, :type :invoke, :f :read}
{:process 0, :type :ok, :f :read, :value 5}
`,
		"h.edn:2:1: set cannot read the value of :read (index 1): expected the set that was read, found 5; it knows :add v, :read"},
	{"a set read of a map", "check --model set h.edn", `{:process 0, :type :invoke, :f :read}
{:process 0, :type :ok, :f :read, :value {1 2}}
`,
		"h.edn:2:1: set cannot read the value of :read (index 1): expected the set that was read, found {1 2}; it knows :add v, :read"},
	{"a txn with an unknown micro-op", "check --model multi-register h.edn", "{:process 0, :type :invoke, :f :txn, :value [[:r :x nil] [:append :x 1]]}\n",
		"h.edn:1:1: multi-register cannot read the value of :txn (index 0): expected [:read k v] or [:write k v], found [:append :x 1] (such transactions are of the model list-append, with :f :txn); it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn with a micro-op of two", "check --model multi-register h.edn", "{:process 0, :type :invoke, :f :txn, :value [[:r :x]]}\n",
		"h.edn:1:1: multi-register cannot read the value of :txn (index 0): expected [:read k v] or [:write k v], found [:r :x]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn that lost its write", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value [[:w :x 1] [:r :y nil]]}
{:process 0, :type :ok, :f :txn, :value [[:r :y 0]]}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected the micro-operations of its invocation (index 0, line 1), [[:w :x 1] [:r :y nil]], found [[:r :y 0]]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn that lost everything", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value [[:w :x 1]]}
{:process 0, :type :ok, :f :txn, :value nil}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected the micro-operations of its invocation (index 0, line 1), [[:w :x 1]], found nil; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn that was no txn when it was called", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value {:x 1}}
{:process 0, :type :ok, :f :txn, :value [[:w :x 1]]}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected the micro-operations of its invocation (index 0, line 1), {:x 1}, found [[:w :x 1]]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn that wrote something else", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value [[:r :y nil] [:w :x 1]]}
{:process 0, :type :ok, :f :txn, :value [[:r :y nil] [:w :x 2]]}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected micro-operation 2 to be that of its invocation (index 0, line 1), [:w :x 1], found [:w :x 2]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn that read another key", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value [[:r :x nil]]}
{:process 0, :type :ok, :f :txn, :value [[:r :y nil]]}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected micro-operation 1 to be that of its invocation (index 0, line 1), [:r :x nil], found [:r :y nil]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn whose write became a read", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value [[:w :x 1]]}
{:process 0, :type :ok, :f :txn, :value [[:r :x 1]]}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected micro-operation 1 to be that of its invocation (index 0, line 1), [:w :x 1], found [:r :x 1]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn whose read became a write", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value [[:read :x nil]]}
{:process 0, :type :ok, :f :txn, :value [[:write :x nil]]}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected micro-operation 1 to be that of its invocation (index 0, line 1), [:read :x nil], found [:write :x nil]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn in another order", "check --model multi-register h.edn", `{:process 0, :type :invoke, :f :txn, :value [[:w :x 1] [:w :y 2]]}
{:process 0, :type :ok, :f :txn, :value [[:w :y 2] [:w :x 1]]}
`,
		"h.edn:2:1: multi-register cannot read the value of :txn (index 1): expected micro-operation 1 to be that of its invocation (index 0, line 1), [:w :x 1], found [:w :y 2]; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"a txn that is a map", "check --model multi-register h.edn", "{:process 0, :type :invoke, :f :txn, :value {:x 1}}\n",
		"h.edn:1:1: multi-register cannot read the value of :txn (index 0): expected [[:read k v] [:write k v] ..], found {:x 1}; it knows :txn [[:read k v] [:write k v] ..], also :read and :write with such a vector"},
	{"keys of a register", "check h.edn", `{"process":0,"f":"write","key":"x","value":1,"call":10,"return":20}
{"process":0,"f":"read","key":"y","output":1,"call":30,"return":40}
`,
		"h.edn:2:1: register does not look at :key, and two differ: that of process 0's :write \"x\" 1 (index 1) is \"x\", and that of process 0's :read \"y\" 1 (index 3) is \"y\"; use values [key value] with --independent, or a history for each key"},
	{"keys of a set", "check --model set h.edn", `{:process 0, :type :invoke, :f :add, :key :x, :value 1}
{:process 1, :type :invoke, :f :add, :key :y, :value 1}
`,
		"h.edn:2:1: set does not look at :key, and two differ: that of process 0's :add :x 1 (index 0) is :x, and that of process 1's :add :y 1 (index 1) is :y; use values [key value] with --independent, or a history for each key"},
	{"keys of a queue, of which one is missing", "check --model fifo-queue h.edn", `{:process 0, :type :invoke, :f :enqueue, :key :x, :value 1}
{:process 0, :type :ok, :f :enqueue, :value 1}
{:process 0, :type :invoke, :f :dequeue}
{:process 0, :type :ok, :f :dequeue, :value 1}
`,
		"h.edn:4:1: fifo-queue does not look at :key, and two differ: that of process 0's :enqueue :x 1 (index 1) is :x, and that of process 0's :dequeue 1 (index 3) is none; use values [key value] with --independent, or a history for each key"},
	{"keys of a mutex, in completions", "check --model mutex h.edn", `{:process 0, :type :invoke, :f :acquire}
{:process 0, :type :ok, :f :acquire, :key :x}
{:process 0, :type :invoke, :f :release}
{:process 0, :type :ok, :f :release, :key :y}
`,
		"h.edn:4:1: mutex does not look at :key, and two differ: that of process 0's :acquire (index 1) is :x, and that of process 0's :release (index 3) is :y; use values [key value] with --independent, or a history for each key"},
	{"a put of a number behind an append", "check --model kv h.edn", `{:process 1, :type :invoke, :f :append, :value "a", :key "x"}
{:process 0, :type :invoke, :f :put, :value 5, :key "x"}
`,
		"h.edn:2:1: kv cannot read the value of :put (index 1): expected a string, found 5; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a get of a keyword behind an append", "check --model kv h.edn", `{:process 1, :type :invoke, :f :append, :value "a", :key "x"}
{:process 0, :type :invoke, :f :get, :key "x"}
{:process 0, :type :ok, :f :get, :value :v, :key "x"}
`,
		"h.edn:3:1: kv cannot read the value of :get (index 2): expected a string, found :v; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"an append behind a put of a number", "check --model kv h.edn", `{:process 0, :type :invoke, :f :put, :value 5, :key "x"}
{:process 1, :type :invoke, :f :append, :value "a", :key "x"}
`,
		"h.edn:2:1: kv cannot read the value of :append (index 1): only strings can be appended to, and the value is 5; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"an append of nil", "check --model kv h.edn", `{:process 0, :type :invoke, :f :append, :key "x"}
`,
		"h.edn:1:1: kv cannot read the value of :append (index 0): expected a string, found nil; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a key where no value belongs", "check --model kv h.edn", `{:process 0, :type :invoke, :f :delete, :value "x"}
`,
		"h.edn:1:1: kv cannot read the value of :delete (index 0): expected a :key or [key value], found \"x\"; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a get of a key that stands where no value belongs", "check --model kv h.edn", `{:process 0, :type :invoke, :f :get, :value "x"}
{:process 0, :type :ok, :f :get, :value 1}
`,
		"h.edn:2:1: kv cannot read the value of :get (index 1): expected a :key or [key value], found \"x\"; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a get that returns with another key", "check --model kv h.edn", `{:process 0, :type :invoke, :f :get, :key "x"}
{:process 0, :type :ok, :f :get, :key "y", :value 1}
`,
		"h.edn:2:1: kv cannot read the value of :get (index 1): expected the key of its invocation, \"x\", found \"y\"; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a get of two keys", "check --model kv h.edn", `{:process 0, :type :invoke, :f :get, :value ["x" "y"]}
`,
		"h.edn:1:1: kv cannot read the value of :get (index 0): expected one key, found [\"x\" \"y\"]; for several keys at once use multi-register; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a get of another key than it asked for", "check --model kv h.edn", `{:process 0, :type :invoke, :f :get, :value ["x" nil]}
{:process 0, :type :ok, :f :get, :value ["y" 1]}
`,
		"h.edn:2:1: kv cannot read the value of :get (index 1): expected [\"x\" value], found [\"y\" 1]; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a get that found nil", "check --model kv h.edn", `{:process 0, :type :invoke, :f :get, :key "x"}
{:process 0, :type :ok, :f :get, :key "x", :value {:found true}}
`,
		"h.edn:2:1: kv cannot read the value of :get (index 1): expected the value that was found, found nil; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a cas of kv with one value", "check --model kv h.edn", `{:process 0, :type :invoke, :f :cas, :key "x", :value 1}
`,
		"h.edn:1:1: kv cannot read the value of :cas (index 0): expected [old new], found 1; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"an --init that is not a set", "check --model set --init 5 h.edn", "",
		"set's --init must be a set such as #{1 2}, not 5"},

	// Inference.
	{"a queue could be two", "", "{:process 0, :type :invoke, :f :enqueue, :value 1}\n",
		"h.edn: cannot infer the model from :enqueue; give --model fifo-queue, unordered-queue or priority-queue"},
	{"an :f that no model has", "", "{:process 0, :type :invoke, :f :frobnicate, :value 1}\n",
		"h.edn: cannot infer the model from :frobnicate: no model knows :frobnicate; docs/models.md lists the models, and docs/own-models.md says how to write one"},
	{"a mistyped :f", "", "{:process 0, :type :invoke, :f :raed}\n{:process 1, :type :invoke, :f :write, :value 1}\n",
		"h.edn: cannot infer the model from :raed, :write: no model knows :raed; did you mean :read? docs/models.md lists the models, and docs/own-models.md says how to write one"},
	{"an :f that only models know that are never inferred", "", "{:process 0, :type :invoke, :f :transfer, :value {:from 1, :to 2, :amount 3}}\n",
		"h.edn: cannot infer the model from :transfer: only bank fits, but is not inferred from that; give --model bank"},
	{"a set's updates alone", "", "{:process 0, :type :invoke, :f :insert, :value 1}\n{:process 1, :type :invoke, :f :delete, :value 1}\n",
		"h.edn: cannot infer the model from :delete, :insert: only lookup-set fits, but is not inferred from that; give --model lookup-set"},
	{":f's that no model has together", "", "{:process 0, :type :invoke, :f :generate}\n{:process 1, :type :invoke, :f :tail}\n",
		"h.edn: cannot infer the model from :generate, :tail: no model knows all of them; docs/models.md lists the models, and docs/own-models.md says how to write one"},
	{"an :f that is missing, without a model", "", "{:process 0, :type :invoke}\n",
		"h.edn: cannot infer the model from nil: no model knows nil; docs/models.md lists the models, and docs/own-models.md says how to write one"},
	{"reads of numbers with adds", "", `{:process 0, :type :invoke, :f :add, :value 1}
{:process 1, :type :invoke, :f :read}
{:process 1, :type :ok, :f :read, :value 5}
`,
		"h.edn: cannot infer the model from :add, :read: only counter fits, but is not inferred from that; give --model counter"},
	{"an --init that does not fit the inferred model", "check --init 1 h.edn", "{:process 0, :type :invoke, :f :acquire}\n",
		"h.edn: mutex does not take --init: it starts free"},
	{"a flag that does not fit the inferred model", "check --failed-cas observe h.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n",
		"h.edn: --failed-cas observe applies to cas-register and kv, not to register"},

	// Paths.
	{"a file that is not there", "check nothing.edn", "",
		"nothing.edn: no such file or directory"},
	{"a directory that is not there", "check no/such/dir/", "",
		"no/such/dir/: no such file or directory"},
	{"a file in the place of a directory", "check h.edn/history.edn", "{:process 0, :type :invoke, :f :write, :value 1}\n",
		"h.edn/history.edn: not a directory"},
	{"a directory without histories", "check empty", "",
		"empty: no history.edn or test.jepsen, and no .edn, .edn.gz or .edn.zst file below it"},
	{"an empty path", "check|", "",
		"expected a path, found an empty argument"},

	// Arguments.
	{"no path", "check", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"no history given; clew check --help shows how"},
	{"no path after a flag", "check --model register", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"no history given; clew check --help shows how"},
	{"a shard that is none", "check --shard 17/16 h.edn", write,
		`--shard: expected I/N, such as 3/16, or auto, with an I from 1 to N, found "17/16"`},
	{"a shard of none", "check --shard 1/0 h.edn", write,
		`--shard: expected I/N, such as 3/16, or auto, with an N from 1 to 100000, found "1/0"`},
	{"a shard without its value", "check h.edn --shard", write,
		"--shard needs a value; clew check --help lists the flags"},
	{"a shard in another form", "check --shard 1/2 --output edn h.edn", write,
		"--shard prints lines of JSON for clew merge, which makes $MERGED of them; found --output edn"},
	{"a shard that stops at a failure", "check --shard 1/2 --fail-fast h.edn", write,
		"--shard cannot be combined with --fail-fast: clew merge needs all of a shard"},
	{"a shard that is followed", "check --shard 1/2 --follow --model register h.edn", write,
		"--shard cannot be combined with --follow, which is for a single history"},
	{"a witness of a shard", "check --shard 1/2 --witness x h.edn", write,
		"--shard cannot be combined with --witness, which is for a single history; --evidence DIR and --html-dir DIR have a file for each"},
	{"keys without a shard", "check --independent --shard-keys h.edn", write,
		"--shard-keys requires --shard"},
	{"keys in shards that are none", "check --shard 1/2 --shard-keys h.edn", write,
		"--shard-keys requires --independent"},
	{"no shard to merge", "merge", write,
		"no shard given; clew merge --help shows how"},
	{"a history to merge", "merge h.edn", write,
		"h.edn:1: this is not a line of clew check --shard: invalid character ':' looking for beginning of object key string\n" +
			"clew: h.edn:2: this is not a line of clew check --shard: invalid character ':' looking for beginning of object key string"},
	{"standard input merged twice", "merge - -", write,
		"standard input (-) can be read only once"},
	{"a merge in another form", "merge --output edn h.edn", write,
		`--output must be $MERGED, not "edn"`},
	{"a folder to merge", "merge empty", write,
		"empty: is a directory"},
	{"no history to examine", "doctor", write,
		"no history given; clew doctor --help shows how"},
	{"standard input examined twice", "doctor - -", write,
		"standard input (-) can be read only once"},
	{"an examination in another form", "doctor --output edn h.edn", write,
		`--output must be text or json, not "edn"`},
	{"no mutant", "doctor --mutants 0 h.edn", write,
		"--mutants must be a number from 1 to 1000000, not 0"},
	{"mutants that are no number", "doctor --mutants many h.edn", write,
		`--mutants must be a number of at least 1, not "many"`},
	{"a seed below 0", "doctor --seed -1 h.edn", write,
		`--seed must be a number of at least 0, not "-1"`},
	{"an examination without time", "doctor --time-limit 0s h.edn", write,
		"--time-limit must be a positive duration, not 0s"},
	{"an examination by an unknown model", "doctor --model regster h.edn", write,
		`unknown model "regster"; did you mean register? clew knows $MODELS`},
	{"a mistyped flag of an examination", "doctor --mutant 3 h.edn", write,
		"unknown flag --mutant; did you mean --mutants? clew doctor --help lists the flags"},
	{"an examination of events that make no sense", "doctor h.edn", `{:process 0, :type :ok, :f :write, :value 1}
`,
		"h.edn:1:1: process 0's :ok :write (index 0) has no invocation: it is the first event of its process"},
	{"an unknown command", "frob h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`unknown command "frob"; clew knows $COMMANDS (clew --help)`},
	{"an unknown flag", "check --bogus h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"unknown flag --bogus; clew check --help lists the flags"},
	{"an unknown flag after the path", "check h.edn --bogus", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"unknown flag --bogus; clew check --help lists the flags"},
	{"an unknown flag before the command", "--bogus check h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"unknown flag --bogus; clew --help lists the flags"},
	{"a flag without its value", "check h.edn --model", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--model needs a value; clew check --help lists the flags"},
	{"a bad model", "check --model regster h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`unknown model "regster"; did you mean register? clew knows $MODELS`},
	{"a part of a model's name", "check --model queue h.edn", write,
		`unknown model "queue"; did you mean fifo-queue, unordered-queue, priority-queue or java-queue? clew knows $MODELS`},
	{"a model as a keyword", "check --model :cas-register h.edn", write,
		`unknown model ":cas-register"; did you mean cas-register? clew knows $MODELS`},
	{"a model with an underscore", "check --model cas_register h.edn", write,
		`unknown model "cas_register"; did you mean cas-register? clew knows $MODELS`},
	{"a model in capitals", "verify --model Mutex h.edn h.edn", write,
		`unknown model "Mutex"; did you mean mutex? clew knows $MODELS`},
	{"a generator's mistyped model", "gen --model stakc", "",
		`unknown model "stakc"; did you mean stack? clew knows $MODELS`},
	{"a model that is called otherwise", "check --model lock h.edn", write,
		`unknown model "lock"; did you mean mutex? clew knows $MODELS`},
	{"a model that Elle calls otherwise", "check --model rw-register h.edn", write,
		`unknown model "rw-register"; did you mean multi-register? clew knows $MODELS`},
	{"a mistyped algorithm", "check --algorithm fronteir h.edn", write,
		`unknown algorithm "fronteir"; did you mean frontier? clew knows $ALGORITHMS`},
	{"a mistyped flag", "check --modle register h.edn", write,
		"unknown flag --modle; did you mean --model? clew check --help lists the flags"},
	{"a mistyped flag after the path", "check h.edn --time_limit 5s", write,
		"unknown flag --time_limit; did you mean --time-limit? clew check --help lists the flags"},
	{"a mistyped flag with one dash and a value", "check -timelimit=5s h.edn", write,
		"unknown flag --timelimit; did you mean --time-limit? clew check --help lists the flags"},
	{"a part of a flag", "check --limit 5s h.edn", write,
		"unknown flag --limit; did you mean --time-limit or --memory-limit? clew check --help lists the flags"},
	{"a mistyped flag of another command", "merge --htmldir pages h.edn", write,
		"unknown flag --htmldir; did you mean --html-dir? clew merge --help lists the flags"},
	{"a mistyped command", "chekc h.edn", write,
		`unknown command "chekc"; did you mean check? clew knows $COMMANDS (clew --help)`},
	{"a mistyped flag without a command", "--modle register h.edn", write,
		"unknown flag --modle; did you mean --model? clew check --help lists the flags"},
	{"a command that is another's", "diff h.edn h.edn", write,
		`unknown command "diff"; clew knows $COMMANDS (clew --help)`},
	{"a bad algorithm", "check --algorithm magic h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`unknown algorithm "magic"; clew knows $ALGORITHMS`},
	{"a bad output", "check --output xml h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--output must be $OUTPUTS, not "xml"`},
	{"bad nil reads", "check --nil-reads none h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--nil-reads must be any or exact, not "none"`},
	{"bad failed cas", "check --failed-cas true h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--failed-cas must be ignore or observe, not "true"`},
	{"bad semantics", "check --semantics elle h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--semantics must be jepsen or knossos, not "elle"`},
	{"--nil-reads for a set", "check --model set --nil-reads exact h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--nil-reads exact applies to registers, not to set"},
	{"--failed-cas for a register", "check --model register --failed-cas observe h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--failed-cas observe applies to cas-register and kv, not to register"},
	{"an --init that is no EDN", "check --model register --init [1 h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--init:1:3: expected ] to close [ opened at 1:1, found end of input"},
	{"an --init that is no EDN, without a model", "check --init 1x h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--init:1:1: expected a number, found 1x"},
	{"an --init of two values", "check|--model|register|--init|1 2|h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--init:1:3: expected end of input, found a number"},
	{"an empty --init", "check --init= h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--init must be an EDN value such as 0 or nil, not empty"},
	{"an --init for a mutex", "check --model mutex --init 1 h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"mutex does not take --init: it starts free"},
	{"an --init for a queue that is not a vector", "check --model fifo-queue --init 1 h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"fifo-queue's --init must be a vector of its elements such as [1 2], not 1"},
	{"an --init for multi-register that is not a map", "check --model multi-register --init 1 h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"multi-register's --init must be a map such as {:x 0 :y 0}, or {:default 0}, not 1"},
	{"an --init for kv that is not a map", "check --model kv --init 1 h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`kv's --init must be a map such as {"k" "v"}, or {:default "v"}, not 1`},
	{"an --init for kv with a number, and appends", `check|--model|kv|--init|{"x" 1}|h.edn`, `{:process 0, :type :invoke, :f :append, :key "x", :value "a"}
{:process 0, :type :ok, :f :append, :key "x", :value "a"}
`,
		"h.edn:2:1: kv cannot read the value of :append (index 1): only strings can be appended to, and the value is 1; it knows :get, :put, :append, :delete, :cas [old new], :put-if-absent, with :key and :value or a value [key value]"},
	{"a duration without unit", "check --time-limit 5 h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--time-limit must be a duration such as 30s or 5m, not "5"`},
	{"a duration in words", "check --time-limit soon h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--time-limit must be a duration such as 30s or 5m, not "soon"`},
	{"a duration of zero", "check --time-limit 0s h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--time-limit must be a positive duration, not 0s"},
	{"a negative duration", "check --time-limit -5s h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--time-limit must be a positive duration, not -5s"},
	{"silence in words", "check --follow --idle soon h.edn", write,
		`--idle must be a duration such as 30s or 5m, not "soon"`},
	{"rows in words", "render -o x.svg --rows many h.edn", write,
		`--rows must be a number of at least 1, not "many"`},
	{"an event in words", "render -o x.svg --around here h.edn", write,
		`--around must be the :index of an event, a number, not "here"`},
	{"a file where a table's folder belongs", "compare --verdicts table.tsv h.edn", write,
		"--verdicts needs a folder, and h.edn is a file"},
	{"completions for two shells", "completion bash zsh", write,
		`completion takes one shell: bash, zsh or fish; found "bash zsh"`},
	{"a size without number", "check --memory-limit MB h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--memory-limit must be a size such as 512MB or 8GB, not "MB"`},
	{"a size of an unknown unit", "check --memory-limit 5X h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--memory-limit must be a size such as 512MB or 8GB, not "5X"`},
	{"a size of zero", "check --memory-limit 0 h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--memory-limit must be a size such as 512MB or 8GB, not "0"`},
	{"a negative size", "check --memory-limit=-1GB h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--memory-limit must be a size such as 512MB or 8GB, not "-1GB"`},
	{"a size of two fractions", "check --memory-limit 1.5.5GB h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--memory-limit must be a size such as 512MB or 8GB, not "1.5.5GB"`},
	{"a size without a unit", "check --memory-limit 512 h.edn", write,
		"--memory-limit 512 needs a unit, such as 512MB"},
	{"a fraction of a byte", "check --memory-limit 0.5B h.edn", write,
		`--memory-limit must be a size such as 512MB or 8GB, not "0.5B"`},
	{"a size too large", "check --memory-limit 99999999T h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--memory-limit must be a size such as 512MB or 8GB, not "99999999T"`},
	{"standard input twice", "check - -", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"standard input (-) can be read only once"},
	{"standard input as history and lifeline", "check --stdin-is-lifeline -", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"--stdin-is-lifeline cannot be combined with reading a history from standard input (-)"},
	{"a lifeline with a value", "check --stdin-is-lifeline=maybe h.edn", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		`--stdin-is-lifeline must be given without a value, not "maybe"`},
	{"an unknown flag of models", "models --bogus", `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
`,
		"unknown flag --bogus; clew models --help lists the flags"},
}

// clewRun runs the program with arguments, "clew" left out.
func clewRun(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), append([]string{"clew"}, args...), nil, &out, &err)
	return status, out.String(), err.String()
}

func putFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestMalformedInputsHaveClearMessages(t *testing.T) {
	var names []string
	for _, m := range models.All() {
		names = append(names, m.Name)
	}
	lists := strings.NewReplacer("$MODELS", strings.Join(names, ", "), "$ALGORITHMS", strings.Join(clew.Algorithms(), ", "),
		"$COMMANDS", strings.Join(commandNames(newApp(nil, io.Discard, io.Discard, new(int))), ", "),
		"$OUTPUTS", text.OneOf(outputs.Names(outputs.Check())), "$MERGED", text.OneOf(outputs.Names(outputs.Merge())), "$FORMS", forms.Names(forms.Readable), "$WRITTEN", forms.Names(forms.All))
	t.Chdir(t.TempDir())
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	for i, c := range slices.Concat(malformed, damaged()) {
		if !effort.Races(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			putFile(t, "h.edn", c.input)
			args := strings.Fields(c.args)
			switch {
			case strings.Contains(c.args, "|"):
				args = strings.Split(c.args, "|")
			case c.args == "":
				args = []string{"check", "h.edn"}
			}
			status, stdout, stderr := clewRun(args...)
			if want := "clew: " + lists.Replace(c.message) + "\n"; stderr != want {
				t.Errorf("message\n%s\nwant\n%s", stderr, want)
			}
			if status != exitUsage || stdout != "" {
				t.Errorf("status %d, output %q; want %d and none", status, stdout, exitUsage)
			}
		})
	}
}

func TestUnreadableFilesHaveALineInEDNAndJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, c := range slices.Concat(malformed, damaged()) {
		if c.args != "" || !effort.Takes(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			putFile(t, "h.edn", c.input)
			_, _, stderr := clewRun("check", "h.edn")
			message := strings.TrimSuffix(strings.TrimPrefix(stderr, "clew: "), "\n")

			status, stdout, again := clewRun("check", "--output", "json", "h.edn")
			var j struct {
				File, Cause, Error string
				Valid              any
			}
			if err := json.Unmarshal([]byte(stdout), &j); err != nil {
				t.Fatalf("%v in %q", err, stdout)
			}
			if status != exitUsage || again != stderr || strings.Count(stdout, "\n") != 1 ||
				j.File != "h.edn" || j.Valid != "unknown" || j.Cause != "unreadable" || j.Error != message {
				t.Errorf("status %d, output %s, message %s", status, stdout, again)
			}

			status, stdout, again = clewRun("check", "--output", "edn", "h.edn")
			v := edn.NewValues()
			m, err := v.Parse([]byte(stdout), edn.Pos{Line: 1, Col: 1})
			if err != nil {
				t.Fatalf("%v in %q", err, stdout)
			}
			for key, want := range map[string]string{
				"file": `"h.edn"`, "valid?": ":unknown", "cause": ":unreadable", "configs": "()", "final-paths": "()",
			} {
				if got, _ := v.Get(m, v.InternKeyword(key)); v.Text(got) != want {
					t.Errorf(":%s is %s, want %s", key, v.Text(got), want)
				}
			}
			if got, _ := v.Get(m, v.InternKeyword("error")); v.Str(got) != message {
				t.Errorf(":error is %q, want %q", v.Str(got), message)
			}
			if status != exitUsage || again != stderr || strings.Count(stdout, "\n") != 1 {
				t.Errorf("status %d, output %s, message %s", status, stdout, again)
			}
		})
	}
}

func TestAFileWithoutPermissionIsUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	t.Chdir(t.TempDir())
	putFile(t, "h.edn", write)
	if err := os.Chmod("h.edn", 0); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := clewRun("check", "h.edn")
	if status != exitUsage || stdout != "" || stderr != "clew: h.edn: permission denied\n" {
		t.Errorf("status %d, output %q, message %q", status, stdout, stderr)
	}
}

func TestADirectoryWithoutPermissionIsUnreadableButNotWhatIsBesideIt(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	t.Chdir(t.TempDir())
	for _, dir := range []string{"store/1", "store/2", "store/3"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		putFile(t, dir+"/history.edn", write)
	}
	if err := os.Chmod("store/2", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("store/2", 0o777)
	status, stdout, stderr := clewRun("check", "--output", "json", "store")
	if status != exitUsage || stderr != "clew: store/2: permission denied\n" || strings.Count(stdout, `"valid":true`) != 2 ||
		strings.Count(stdout, `{"file":"store","valid":"unknown"`) != 1 {
		t.Errorf("status %d, output %s, message %s", status, stdout, stderr)
	}
}

func TestTenMillionBracketsAreAnError(t *testing.T) {
	t.Chdir(t.TempDir())
	brackets := strings.Repeat("[", 10_000_000)
	for name, text := range map[string]string{
		"alone":                brackets,
		"in a value":           "{:process 0, :type :invoke, :f :write, :value " + brackets,
		"in a key nobody uses": "{:process 0, :type :invoke, :f :write, :error " + brackets,
		"of maps":              strings.Repeat("{", 10_000_000),
		"of tags":              "{:process 0, :type :invoke, :f :write, :value " + strings.Repeat("#a ", 10_000_000),
		"of discards":          strings.Repeat("#_ ", 10_000_000),
		"in a log":             "0 :invoke :write " + brackets,
	} {
		t.Run(name, func(t *testing.T) {
			putFile(t, "h.edn", text)
			status, stdout, stderr := clewRun("check", "h.edn")
			if status != exitUsage || stdout != "" || !strings.HasPrefix(stderr, "clew: h.edn:1:") || len(stderr) > 200 {
				t.Errorf("status %d, output %q, message %.300q", status, stdout, stderr)
			}
		})
	}
}

func TestWhatComesAfterAMalformedFileIsStillChecked(t *testing.T) {
	t.Chdir(t.TempDir())
	stale := write + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 2}\n"
	putFile(t, "1.edn", "{:process 0")
	putFile(t, "2.edn", write)
	putFile(t, "3.edn", "[1]")
	putFile(t, "4.edn", stale)
	for _, c := range []struct {
		files  string
		status int
		starts string // what begins the lines of the output about a file, and the summary
	}{
		{"1.edn 2.edn", exitUsage, "2.edn: valid|2 histories: 1 valid (1 vacuous), 0 invalid, 0 unknown, 1 unreadable"},
		{"1.edn 2.edn 3.edn 4.edn", exitInvalid, "2.edn: valid|4.edn: INVALID|4 histories: 1 valid (1 vacuous), 1 invalid, 0 unknown, 2 unreadable"},
		{"4.edn none.edn", exitInvalid, "4.edn: INVALID|2 histories: 0 valid, 1 invalid, 0 unknown, 1 unreadable"},
		{".", exitInvalid, "test model verdict operations crashed skipped engine ms|1.edn unreadable|2.edn register (inferred) valid 1 0 0 clew/fast-register N|3.edn unreadable|" +
			"4.edn register (inferred) INVALID 2 0 0 clew/fast-register N|4 histories: 1 valid (1 vacuous), 1 invalid, 0 unknown, 2 unreadable"},
	} {
		status, stdout, stderr := clewRun(append([]string{"check"}, strings.Fields(c.files)...)...)
		var starts []string
		for line := range strings.Lines(stdout) {
			if line[0] != ' ' && line[0] != '\n' {
				fields := strings.Fields(line)
				if last := len(fields) - 1; strings.Contains(fields[last], ".") {
					fields[last] = "N" // ms
				}
				starts = append(starts, strings.Join(fields, " "))
			}
		}
		if got := strings.Join(starts, "|"); status != c.status || got != c.starts {
			t.Errorf("%s: status %d, %s; want %d, %s\n%s", c.files, status, got, c.status, c.starts, stderr)
		}
	}
}

// prefixes holds small valid histories. Bare op maps may be cut between maps without becoming malformed. Op maps in a
// wrapper may be cut only before it and after it.
var prefixes = map[string]string{
	"op maps": `{:process 0, :type :invoke, :f :write, :value "a\nb"} ; first
{:process 1, :type :invoke, :f :read, :value nil, :error [:x #_ gone {:y \}}]}
#jepsen.history.Op{:process 0, :type :ok, :f :write, :value "a\nb"}
#_ {:process 5} {:process 1, :type :ok, :f :read, :value nil}
`,
	"a vector": `[{:process 0, :type :invoke, :f :write, :value 12.5M}
 {:process 0, :type :ok, :f :write, :value 12.5M}]
; the end
`,
	"a list": `({:process 0, :type :invoke, :f :cas, :value [nil #{1 2}]} {:process 0, :type :ok, :f :cas, :value [nil #{1 2}]})`,
}

// complete reports whether a cut history is a whole one. It reads it in the simplest way: outside of strings,
// comments and characters, brackets count. It shares nothing with the reader.
func complete(text string) bool {
	depth := 0
	pending := false // a tag or a discard waits for what it belongs to
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ';':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i - 1
			}
			i += end
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return false
			}
		case c == '\\':
			i++
		case strings.IndexByte("([{", c) >= 0:
			depth++
			pending = false
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == '#' && depth == 0:
			pending = true
		}
	}
	return depth == 0 && !pending
}

func TestNoTruncationIsTakenForAWholeHistory(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, history := range prefixes {
		t.Run(name, func(t *testing.T) {
			whole := 0
			for n := 0; n <= len(history); n++ {
				if !effort.Races(n) {
					continue
				}
				text := history[:n]
				putFile(t, "h.edn", text)
				status, stdout, stderr := clewRun("check", "--model", "cas-register", "h.edn")
				want := exitUsage
				if complete(text) {
					want = exitValid
					whole++
				}
				if status != want || (stdout == "") != (want == exitUsage) {
					t.Errorf("%q: status %d, want %d\n%s%s", text, status, want, stdout, stderr)
				}
			}
			t.Logf("%d of %d prefixes are whole histories", whole, len(history)+1)
		})
	}
}

func TestNoTruncationOfACompressedHistoryIsReadable(t *testing.T) {
	t.Chdir(t.TempDir())
	read := write + "{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value 1}\n"
	for name, text := range map[string]string{
		"gzip": gzipped(read),
		"zstd": zstandard(read),
	} {
		t.Run(name, func(t *testing.T) {
			// The empty file is an empty history, with a warning.
			for n := 1; n < len(text); n++ {
				if !effort.Races(n) {
					continue
				}
				putFile(t, "h.edn", text[:n])
				if status, stdout, stderr := clewRun("check", "h.edn"); status != exitUsage || stdout != "" {
					t.Errorf("%d of %d bytes: status %d\n%s%s", n, len(text), status, stdout, stderr)
				}
			}
			putFile(t, "h.edn", text)
			if status, stdout, stderr := clewRun("check", "h.edn"); status != exitValid || stderr != "" {
				t.Errorf("all of it: status %d\n%s%s", status, stdout, stderr)
			}
		})
	}
}

func TestNoTruncationOfALogPassesUnnoticed(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "INFO  jepsen.util - 0\t:invoke\t:write\t[12 34]\nINFO  jepsen.core - starting\nINFO  jepsen.util - 0\t:ok\t:write\t[12 34]\nINFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:info\t:read\tnil\t:timeout\n"
	for n := 0; n <= len(text); n++ {
		if !effort.Races(n) {
			continue
		}
		putFile(t, "h.log", text[:n])
		status, stdout, stderr := clewRun("check", "--model", "register", "h.log")
		warned := strings.Contains(stderr, "the last line does not end in a newline")
		between := n == 0 || text[n-1] == '\n'
		if status == exitBug || status == exitValid && between == warned || status != exitValid && (between || stdout != "") {
			t.Errorf("%q: status %d\n%s%s", text[:n], status, stdout, stderr)
		}
	}
}

func TestALastLineThatMayBeCutIsTold(t *testing.T) {
	t.Chdir(t.TempDir())
	for form, text := range map[string]string{
		"LiMo":    "# @object atomic-queue\n[1] call enq(1)\n[1] return\n[1] call deq\n[1] return 12\n",
		"fptlin":  "# queue\n0 0 2 ENQ 1\n0 3 4 DEQ 12\n",
		"fastlin": "# queue\nenq 1 0 2\ndeq 1 3 145\n",
		"log":     "1\t:invoke\t:enqueue\t1\n1\t:ok\t:enqueue\t1\n1\t:invoke\t:dequeue\tnil\n1\t:ok\t:dequeue\t12\n",
	} {
		for cut := range 3 {
			putFile(t, "h.txt", text[:len(text)-cut])
			status, _, stderr := clewRun("check", "--model", "fifo-queue", "h.txt")
			warned := strings.Contains(stderr, "the last line does not end in a newline; if the file was cut off, its value may be too")
			if warned != (cut > 0) || status == exitUsage && cut < 2 {
				t.Errorf("%s without %d bytes: status %d, %s", form, cut, status, stderr)
			}
			if strict, _, _ := clewRun("check", "--strict", "--model", "fifo-queue", "h.txt"); cut > 0 && strict == exitValid {
				t.Errorf("%s without %d bytes: valid with --strict", form, cut)
			}
		}
	}
}

func TestNoChangeOfAFewBytesIsABug(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "histories", "*.edn"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no example histories:", err)
	}
	var texts []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"", "{", "}", "[", "]", "(", ")", `"`, `\`, "#", "#_", ":", ";", "^", "'", "\n", "0", "9", "-", ".", "N", "/", "nil", "1/2", "##NaN", "\x00", "\xff", "é"}
	seen := map[int]int{}
	located := regexp.MustCompile(`^clew: h\.edn:(\d+:\d+:| cannot infer the model from) .+\n$`)
	n := 3000
	if effort.Few() {
		n = 500
	}
	for range n {
		text := texts[r.IntN(len(texts))]
		for range 1 + r.IntN(2) {
			i := r.IntN(len(text))
			text = text[:i] + pieces[r.IntN(len(pieces))] + text[min(len(text), i+r.IntN(3)):]
		}
		putFile(t, "h.edn", text)
		status, stdout, stderr := clewRun("check", "--output", "edn", "--time-limit", "10s", "h.edn")
		seen[status]++
		// clew prints ops as they stand, with text that is not a value in keys that it does not read.
		if _, err := edn.NewValues().ParseLenient([]byte(stdout)); err != nil || status > exitUnknown && status != exitUsage {
			t.Errorf("status %d, %v\n%s%s\n%s", status, err, stdout, stderr, text)
		}
		if status == exitUsage && !located.MatchString(stderr) {
			t.Errorf("a message without a place: %s\n%s", stderr, text)
		}
	}
	t.Log("statuses:", seen)
}

func TestNothingIsDrawnWhereStandardErrorIsNoTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	putFile(t, "h.edn", hard(40))
	for _, limit := range []string{"1ms", "900ms"} { // the bar would come after half a second
		status, _, stderr := clewRun("check", "--time-limit", limit, "h.edn")
		if status != exitUnknown || stderr != "" {
			t.Errorf("status %d, message %q", status, stderr)
		}
	}
}
