package forms

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

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
