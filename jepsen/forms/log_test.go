package forms

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"clew/internal/effort"
	"clew/jepsen"
)

func TestFieldsAreThoseOfThePackageBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	pieces := []string{" ", "\t", "\r", "\v", "\n", "\u00a0", "\u2003", "\u0085", "a", "7", ":ok", "é", "\xff", "\x00", "\x1f", "😀"}
	for range 20_000 {
		var text []byte
		for range r.IntN(8) {
			text = append(text, pieces[r.IntN(len(pieces))]...)
		}
		for rest := text; ; {
			want := bytes.Fields(rest)
			first, after := field(rest)
			if len(want) == 0 {
				if len(first) != 0 {
					t.Fatalf("%q: found %q where there is none", rest, first)
				}
				break
			}
			if !bytes.Equal(first, want[0]) || len(bytes.Fields(after)) != len(want)-1 {
				t.Fatalf("%q: %q and %q, bytes.Fields has %q", rest, first, after, want)
			}
			rest = after
		}
	}
}

// The text that a logger puts in front of its message is not part of the message.
func TestMessagesOfLoggers(t *testing.T) {
	for line, want := range map[string]string{
		"0 :invoke :read nil":   "0 :invoke :read nil",
		":nemesis :info :start": ":nemesis :info :start",
		"INFO [2024-01-02 03:04:05,678] worker 1 - jepsen.util 0 :invoke :read nil": "logged 0 :invoke :read nil",
		"INFO x - jepsen.util\t0 :ok :read 1":                                       "logged 0 :ok :read 1",
		"INFO x - a.b-c.d_e.f9 0 :ok :read 1":                                       "logged 0 :ok :read 1",
		"INFO x - jepsen 0 :ok :read 1":                                             "logged jepsen 0 :ok :read 1",
		"INFO x - a..b 0 :ok":                                                       "logged a..b 0 :ok",
		"INFO x - a.b. 0 :ok":                                                       "logged a.b. 0 :ok",
		"INFO x - .a.b 0 :ok":                                                       "logged .a.b 0 :ok",
		"INFO x - 9a.b 0 :ok":                                                       "logged 9a.b 0 :ok",
		"INFO x - a.b: 0 :ok":                                                       "logged a.b: 0 :ok",
		"INFO x - a.b":                                                              "logged a.b",
		"INFO x - ":                                                                 "logged ",
		"INFO jepsen: 0 :ok :read 1":                                                "logged 0 :ok :read 1",
		"INFO jepsen:   0 :ok - :read 1":                                            "logged 0 :ok - :read 1",
		"INFO a - b.c 0 :ok :write \"x: y\"":                                        "logged 0 :ok :write \"x: y\"",
		"INFO only words":                                                           "logged INFO only words",
		"other words":                                                               "other words",
		"other - words":                                                             "logged words",
		"2024-01-02 03:04:05 a: 0 :ok :read 1":                                      "logged 0 :ok :read 1",
		"2024-01-02T03:04:05 a - b.c 0 :ok :read 1":                                 "logged 0 :ok :read 1",
		"2024-01-02x03:04:05 a: 0 :ok":                                              "2024-01-02x03:04:05 a: 0 :ok",
		"2024-01-02 0x:04:05 a: 0 :ok":                                              "2024-01-02 0x:04:05 a: 0 :ok",
		"2024/01/02 03:04:05 a: 0 :ok":                                              "2024/01/02 03:04:05 a: 0 :ok",
		"INFO x - a.b [ 1350999542 ] 2 :ok :read 1":                                 "logged 2 :ok :read 1",
		"2024-01-02 03:04:05 INFO [w] a: [ -7 ]\t2 :ok :read 1":                     "logged 2 :ok :read 1",
		"INFO x - a.b [ 1x ] 2 :ok :read 1":                                         "logged [ 1x ] 2 :ok :read 1",
		"INFO x - a.b [7":                                                           "logged [7",
		"2024-01-02 03":                                                             "2024-01-02 03",
	} {
		m := messageIn([]byte(line))
		got := string(m.text)
		if m.logged {
			got = "logged " + got
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if n := loggerName(nil); n != 0 {
		t.Errorf("nothing has the name of a logger of %d bytes", n)
	}
}

// A reader of any form reports an input that fails, and never mistakes it for one that ends.
func TestAnErrorOfTheInputIsOneOfTheHistory(t *testing.T) {
	broken := errors.New("broken")
	for form, text := range map[Form]string{
		EDN:       "{:process 0, :type :invoke, :f :read, :value nil}\n",
		JSON:      `[{"process":0,"type":"invoke","f":"read","value":null},` + "\n",
		JSONL:     `{"process":0,"type":"invoke","f":"read","value":null}` + "\n",
		Log:       "INFO  jepsen.util - 0\t:invoke\t:read\tnil\n",
		Intervals: `{"process":0,"f":"read","value":1,"call":1,"return":2}` + "\n",
		Fastlin:   "# queue\nenq 2 0 1\n",
		Fptlin:    "# queue\n0 1 5 ENQ 10\n",
		LiMo:      "# @object atomic-queue\n[1] call enq(7)\n[1] return\n",
	} {
		for _, whole := range []string{text, text[:len(text)-1], text[:len(text)/2]} {
			_, err := Read(io.MultiReader(strings.NewReader(whole), iotest.ErrReader(broken)), "h", jepsen.Options{})
			if !errors.Is(err, broken) {
				t.Errorf("%s: %q: %v", form, whole, err)
			}
		}
	}
}

// Lines are read in the same way whether what comes before their events is known or not.
func TestLinesOfALogAreReadInOneWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	digits := regexp.MustCompile("9+")
	stamps := []string{
		"INFO [2019-04-09 11:25:23,719] jepsen worker 9 - jepsen.util ", "INFO [2019-04-09 11:25:23,719] jepsen worker 9 - jepsen.util99 ", "WARN [9999] main - db.log9 ",
		"2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 9] jepsen.util: ", "2022-11-11 15:14:13,020{GMT}\tINFO\t[jepsen worker 9] jepsen.util: [ 999999999999999999 ] ",
		"INFO  jepsen.util - ", "WARN main - db.log ", "WARN main - db.other ", "WARN main - db.log9 ", "9 - jepsen.util ", "main - jepsen.util ", "",
	}
	// No process has two events: they need not be paired.
	events := []string{"9999999\t:invoke\t:read\tnil", "9999999\t:invoke\t:read\t[9 99]", "9999999 :invoke :write 99", "9999999\t:invoke\t:write\t99\t:gone"}
	others := []string{":nemesis\t:info\t:start\tnil", "9\tsteps", "Process 9 crashed", "9999999\t:invoke\t:read\t[9", "9:ok\t:read\tnil"}
	failed := 0
	for i := range effort.Histories(600, 100_000) {
		some := []string{stamps[rng.IntN(len(stamps))], stamps[rng.IntN(len(stamps))]}
		var log strings.Builder
		for n := range 2 + rng.IntN(12) {
			line := some[rng.IntN(len(some))] + events[rng.IntN(len(events))] // no process has two: they need not be paired
			if n > 0 && rng.IntN(10) == 0 {
				line = some[rng.IntN(len(some))] + others[rng.IntN(len(others))]
			}
			log.WriteString(digits.ReplaceAllStringFunc(line, func(all string) string {
				return fmt.Sprint(rng.Uint64N(uint64(math.Pow10(len(all)))))
			}) + "\n")
		}
		if i == 0 { // the line that seems to be an event is from the logger of the event before, which is read quickly
			log.Reset()
			for n, logger := range []string{"log 1\t:invoke", "other 2\t:invoke", "log 3\t:invoke", "log 4"} {
				fmt.Fprintf(&log, "WARN main - db.%s\t:read\t%d\n", logger, n)
			}
		}
		text := []byte(log.String())
		if i%6 == 1 { // a byte that is not like the others
			text[rng.IntN(len(text))] = "0:x-] \t\x1b"[rng.IntN(8)]
		}
		text = append(text, strings.Repeat(" ", 100)+"\n"...) // else the last lines end too soon to be read quickly
		want := readAs(t, Log, iotest.OneByteReader(bytes.NewReader(text)), false)
		if got := readAs(t, Log, bytes.NewReader(text), true); got != want {
			if failed++; failed < 5 {
				t.Errorf("%q\n%s\nwant\n%s", text, got, want)
			}
		}
	}
}
