package forms

import (
	"fmt"
	"strings"
	"testing"

	"clew/internal/effort"

	"clew/jepsen"
)

// said returns the content of a log: the events of its clients, what was skipped,
// and the warnings; or the error.
func said(text string) string {
	h, err := Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		return "error " + err.Error()
	}
	var b strings.Builder
	for e := range h.Type {
		fmt.Fprintf(&b, "%d %s\n", h.Line(jepsen.Event(e)), h.EventMap(jepsen.Event(e)))
	}
	if h.Skipped > 0 {
		fmt.Fprintf(&b, "skipped %d\n", h.Skipped)
	}
	for _, w := range h.Warnings {
		b.WriteString("warning " + w + "\n")
	}
	return b.String()
}

// Lines that are not events may look like events: Jepsen prints the test before it
// runs, and the results afterwards, over many lines.
func TestWhichLinesOfALogAreEvents(t *testing.T) {
	const stamp = "2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 3] jepsen.util: "
	for name, c := range map[string]struct{ text, want string }{
		"a test map and results": {
			"INFO  jepsen.core - Running test:\n {:generator\n  {:type :ok,\n   :f :read\n   :value 1}\n :type :info :f :x}\nINFO  jepsen.util - 3\t:invoke\t:read\tnil\nINFO  jepsen.util - 3\t:ok\t:read\t5\n" +
				"INFO  jepsen.core - {:valid? false,\n :op {:process 3,\n :type :ok,\n :f :read, :value 5}\n :ops #{:ok :fail :info}}\n",
			"7 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n8 {:f :read, :index 1, :process 3, :type :ok, :value 5}\n",
		},
		"a stack trace between events": {
			stamp + "3\t:invoke\t:read\tnil\n2022-11-11 15:14:13,021{GMT}\tWARN\t[jepsen worker 3] jepsen.core: Process 3 crashed\njava.lang.RuntimeException: timed out - :ok :read\n\tat clojure.core$deref.invoke(core.clj:1)\n" + stamp + "3\t:info\t:read\tnil\t:timeout\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n5 {:error :timeout, :f :read, :index 1, :process 3, :type :info, :value nil}\n",
		},
		"a time in brackets": {
			stamp + "[ 1350999542 ] 2\t:invoke\t:read\tnil\n" + stamp + "[ 1350999543 ] :nemesis\t:info\t:kill\t(\"n5\" \"n4\")\n" + stamp + "[ 1350999544 ] 2\t:ok\t:read\t5\n",
			"1 {:f :read, :index 0, :process 2, :type :invoke, :value nil}\n3 {:f :read, :index 2, :process 2, :type :ok, :value 5}\nskipped 1\n",
		},
		"a value over several lines": {
			stamp + "3\t:invoke\t:read\tnil\n" + stamp + "3\t:ok\t:read\t{:a 1,\n :b \"x\n\n3 :invoke :read 7\"}\t:seen\n" + stamp + "4\t:invoke\t:read\t[1\n",
			"error h:6:84: expected ] to close [ opened at 6:82, found end of input",
		},
		"a value over several lines to the end": {
			stamp + "3\t:invoke\t:read\tnil\n" + stamp + "3\t:ok\t:read\t{:a 1,\n :b [x\n;]\n y]}\t:seen\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n2 {:error :seen, :f :read, :index 1, :process 3, :type :ok, :value {:a 1, :b [x y]}}\n",
		},
		"an error over several lines": {
			"3\t:invoke\t:read\tnil\n3\t:info\t:read\tnil\tindeterminate: Malformed response:\n\n{:key 1, :type \"cas\"}\n\nSee doc - 3 times.\n\tat x(y.clj)\n8\t:invoke\t:read\tnil\n8\t:ok\t:read\t5\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n2 {:error \"indeterminate: Malformed response:\", :f :read, :index 1, :process 3, :type :info, :value nil}\n" +
				"8 {:f :read, :index 2, :process 8, :type :invoke, :value nil}\n9 {:f :read, :index 3, :process 8, :type :ok, :value 5}\n",
		},
		"an error that begins with a line end": {
			"3\t:invoke\t:read\tnil\n3\t:info\t:read\tnil\t\nand then\n4\t:invoke\t:read\tnil\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n2 {:f :read, :index 1, :process 3, :type :info, :value nil}\n4 {:f :read, :index 2, :process 4, :type :invoke, :value nil}\n",
		},
		"a value over several lines, without stamps": {
			"3\t:invoke\t:read\tnil\n3\t:ok\t:read\t#error {\n :cause \"x\"\n :via\n [{:type Foo}]}\n4\t:invoke\t:read\tnil\n4\t:ok\t:read\t[1\n5\t:invoke\t:read\tnil\n",
			"error h:7:15: expected ] to close [ opened at 7:13, found end of input",
		},
		"colors and CRLF": {
			"\x1b[32mINFO\x1b[0m  jepsen.util - 3\t:invoke\t:read\tnil\x1b[0m\r\n\x1b[32mINFO\x1b[0m  jepsen.util - 3\t:ok\t:read\t5\r\n\x1b[32mINFO\x1b[0m  jepsen.util - 4\t:invoke\t:read\tnil\r\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n2 {:f :read, :index 1, :process 3, :type :ok, :value 5}\n3 {:f :read, :index 2, :process 4, :type :invoke, :value nil}\n",
		},
		"another logger's message about an operation": {
			stamp + "3\t:invoke\t:read\tnil\n2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 3] my.client: 3 :ok\n2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 3] my.client: got 3 :ok :read 5\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\nwarning line 3 looks like an event, but is not one: it lacks the level or time that events begin with, or is part of another message\n",
		},
		"an op map": {
			stamp + "3\t:invoke\t:read\tnil\n" + stamp + "{:process 3, :type :ok, :f :read, :value 7}\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\nwarning line 2 looks like an event, but is not one: it lacks the level or time that events begin with, or is part of another message\n",
		},
		"op maps of another history": {
			stamp + "3\t:invoke\t:read\tnil\n{:process 0, :type :invoke, :f :read, :value nil}\n  {:index 1, :type :ok, :f :read, :value {:a 2}, :process 0}\r\n{\"process\": 0, \"type\": \"ok\"}\n[\n  {:type :ok, :process 1}\n{:process 0, :type :ok, :f :re",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\nwarning 5 lines look like events, but are not: they lack the level or time that events begin with, or are parts of other messages; the first is line 2\n" +
				"warning line 7: the last line does not end in a newline; if the file was cut off, its value may be too\n",
		},
		"op maps in a vector, after free text": {
			"3\t:invoke\t:read\tnil\n3\t:info\t:read\tnil\ttimed out\n[{:process 0, :type :invoke, :f :read, :value nil}\n #jepsen.history.Op{:process 0, :type :ok, :f :read, :value \"}\"}]\n{:process 1,\n :type :ok}\n{:type :ok,\n :process 1}\n{:process \"n1\", :type :ok}\n{:index 4,\n :type :ok, :process 1}\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n2 {:error \"timed out\", :f :read, :index 1, :process 3, :type :info, :value nil}\nwarning 6 lines look like events, but are not: they lack the level or time that events begin with, or are parts of other messages; the first is line 3\n",
		},
		"op maps in results, and those of the nemesis": {
			stamp + "3\t:invoke\t:read\tnil\nINFO  jepsen.core - {:valid? false,\n :pending [{:process 3, :type :ok}\n  {:process 4, :type :ok}],\n :op\n {:process 3, :type :ok}}\nINFO  jepsen.nemesis - Resolved:\n[{:type :info,\n  :process :nemesis}\n {:process :nemesis, :type :info}]\n{:op {:process 3, :type :ok}}\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\n",
		},
		"events without a stamp": {
			stamp + "3\t:invoke\t:read\tnil\n3\t:ok\t:read\t5\n4\t:invoke\t:write\t5\n",
			"1 {:f :read, :index 0, :process 3, :type :invoke, :value nil}\nwarning 2 lines look like events, but are not: they lack the level or time that events begin with, or are parts of other messages; the first is line 2\n",
		},
		"nothing but events without a stamp": {
			"INFO  jepsen.core - Running test\n3\t:invoke\t:read\tnil\n",
			"error h:1:1: no line of the log is an operation; expected lines such as \"INFO  jepsen.util - 0 :invoke :read nil\", found INFO  jepsen.core - Running test; line 2 looks like one, but lacks the level or time that the first line begins with",
		},
		"an event that was cut off behind its process": {
			stamp + "3\t:invoke\t:read\tnil\n" + stamp + "3\n" + stamp + "4\t:invoke\t:read\tnil\n",
			"error h:2:1: the line looks like an operation; expected one such as \"INFO  jepsen.util - 0 :invoke :read nil\", found 2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 3] jepsen.…",
		},
		"an event with another's line behind it": {
			stamp + "3\t:invoke\t:read\tnil " + stamp + "4\t:invoke\t:write\t5\n",
			"error h:1:66: expected a line for each event, found another event after the value of this one: 2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 3] jepsen.…",
		},
	} {
		if got := said(c.text); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

// kept returns how many client events a text has, and whether there was an error or a warning.
func kept(text string) (events int, told bool) {
	h, err := Read(strings.NewReader(text), "h", jepsen.Options{})
	if err != nil {
		return 0, true
	}
	return len(h.Type), len(h.Warnings) > 0
}

// Whichever bit of a log changes, there are as many events as before, or there is
// an error or a warning.
func TestNoFlippedBitOfALogLosesAnEventInSilence(t *testing.T) {
	const events = "0\t:invoke\t:read\tnil\n13\t:invoke\t:write\t5\n0\t:ok\t:read\t[3 nil]\n13\t:info\t:write\t5\tindeterminate: timed out\n203\t:invoke\t:cas\t[1 2]\n203\t:fail\t:cas\t[1 2]\t:gone\n"
	stamped := func(stamp string) string {
		return stamp + strings.ReplaceAll(strings.TrimSuffix(events, "\n"), "\n", "\n"+stamp) + "\n"
	}
	for name, text := range map[string]string{
		"history.txt": events,
		"2014":        stamped("INFO  jepsen.util - "),
		"2019":        stamped("INFO [2019-04-01 11:25:23,719] jepsen worker 8 - jepsen.util "),
		"2022":        stamped("2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 12] jepsen.util: [ 1350999542 ] "),
		"others":      strings.ReplaceAll(stamped("INFO  jepsen.util - "), "\nINFO  jepsen.util - 13\t:info", "\nWARN  jepsen.core - Process 13 crashed\njava.lang.Exception: x\n at y\nINFO  jepsen.util - 13\t:info"),
	} {
		whole, told := kept(text)
		if whole != 6 || told {
			t.Fatalf("%s: %d events, told %v\n%s", name, whole, told, said(text))
		}
		silent := 0
		for bit := range 8 * len(text) {
			if !effort.Takes(bit) {
				continue
			}
			changed := []byte(text)
			changed[bit/8] ^= 1 << (bit % 8)
			if n, told := kept(string(changed)); n < whole && !told {
				if silent++; silent < 10 {
					t.Errorf("%s: bit %d of byte %d: %d events\n%q", name, bit%8, bit/8, n, changed)
				}
			}
		}
		t.Logf("%s: %d of %d bits", name, silent, 8*len(text))
	}
}
