package reading_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"clew"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
)

// If completions may tell answers or repeat their invocations, all of a history do the same. The verdicts and
// readings are worked out on paper.
func TestAHistoryHasOneReading(t *testing.T) {
	t.Parallel()
	told, echo := models.Spec{Answers: models.AnswersTold}, models.Spec{Answers: models.AnswersEcho}
	pairs, none := models.Spec{KVKeys: models.KVKeysPairs}, models.Spec{KVKeys: models.KVKeysNone}
	observed := models.Spec{ObserveFailedCAS: true}
	for _, c := range []struct {
		name, model, ops string
		spec             models.Spec
		want             string // "valid", "invalid at INDEX", or what an error says
		reading          string
	}{
		{"all repeat", "log", "append 3", models.Spec{}, "valid", "answers echo"},
		{"and they are offsets", "log", "append 3", told, "invalid at 1", "answers told"},
		{"one tells, so all do", "log", "append 7 -> 0; append 0 -> 0", models.Spec{}, "invalid at 3", "answers told"},
		{"even if that is the last", "log", "append 0; append 1; append 7 -> 2", models.Spec{}, "valid", "answers told"},
		{"none tells, by the user's word", "log", "append 7 -> 0; append 0 -> 0", echo, "valid", "answers echo"},
		{"a map tells", "log", "append :a -> {:offset 0}; append 1 -> 0", models.Spec{}, "invalid at 3", "answers told"},
		{"nil fits either", "log", "append :a -> nil; append :b -> 1", models.Spec{}, "valid", "answers told"},
		{"and either", "log", "append :a -> nil; append :b", models.Spec{}, "valid", "answers echo"},
		{"nil alone", "log", "append :a -> nil; tail nil -> 1", models.Spec{}, "valid", "answers echo"},
		{"no append", "log", "tail nil -> 0", models.Spec{}, "valid", ""},
		{"no append that returned", "log", "!append 1; ~append 2 -> 7; tail nil -> 0", models.Spec{}, "valid", ""},
		{"both", "log", "append :a; append :b -> 1", models.Spec{},
			"h:4:1: process 0's :append :a (index 1) repeats the value of its invocation, but process 0's :append :b → 1 (index 3) returns an offset; give Spec.Answers told if completions return it where they can, or Spec.Answers echo if none does", ""},
		{"both, and the user says told", "log", "append :a; append :b -> 0", told, "invalid at 3", "answers told"},
		{"both, and the user says echo", "log", "append :a; append :b -> 0", echo, "valid", "answers echo"},
		{"what is neither", "log", "append :a; append :b -> :c", models.Spec{},
			"h:4:1: log cannot read the value of :append (index 3): expected an offset from 0 on, less than 1073741824, found :c", ""},
		{"a map that tells nothing", "log", "append :a -> {:at 1}", models.Spec{}, "found :at in {:at 1}", ""},
		{"an expected offset counts anyhow", "log", "append {:msg 1 :match-seq-num 1}", models.Spec{}, "invalid at 1", "answers echo"},

		{"all repeat", "counter", "incr 1; incr 1", models.Spec{}, "valid", "answers echo"},
		{"and they are new values", "counter", "incr 1; incr 1", told, "invalid at 3", "answers told"},
		{"the right answers", "counter", "incr 1; incr 1 -> 2", models.Spec{}, "valid", "answers told"},
		{"a wrong one", "counter", "incr 1; incr 1 -> 2; incr 1 -> 2", models.Spec{}, "invalid at 5", "answers told"},
		{"one that repeats and is wrong", "counter", "incr 1 -> 1; incr 1 -> 2; incr 1 -> 1", models.Spec{}, "invalid at 5", "answers told"},
		{"beside what was added", "counter", "incr 2 -> [2 2]; decr 2; read nil -> 0", models.Spec{}, "invalid at 3", "answers told"},
		{"an :incr of nil", "counter", "incr nil -> 1; incr 1 -> 1", models.Spec{}, "invalid at 3", "answers told"},
		{"nil alone", "counter", "incr nil; read nil -> 1", models.Spec{}, "valid", "answers echo"},
		{"nil and told", "counter", "incr nil; incr nil -> 2", models.Spec{}, "valid", "answers told"},
		{"an :add tells nothing", "counter", "add 1; add 1", models.Spec{}, "valid", ""},
		{"an :add-and-get always does", "counter", "add-and-get 1 -> [1 2]", models.Spec{Init: "0"}, "invalid at 1", ""},
		{"whatever others do", "counter", "incr 1; add-and-get 1 -> [1 1]", models.Spec{Init: "0", Answers: models.AnswersEcho}, "invalid at 3", "answers echo"},
		{"what is neither", "counter", "incr 1 -> :done", models.Spec{}, "expected the new value, [1 new], 1 or nil, found :done", ""},

		{"no keys", "kv", "put 1; get nil -> 1; cas [1 2]; get nil -> 2", models.Spec{}, "valid", "kv-keys none"},
		{"no keys, and a cas that fails", "kv", "put 1; cas [2 3]", models.Spec{}, "invalid at 3", "kv-keys none"},
		{"no keys, and values that are pairs", "kv", "put [1 2]; get nil -> [1 2]", models.Spec{},
			"h:4:1: process 0's :put [1 2] (index 1) may be [key value], and process 0's :get [1 2] (index 3) has no key: give Spec.KVKeys none if no operation has one and pairs are values, or every operation its key", ""},
		{"by the user's word", "kv", "put [1 2]; get nil -> [1 2]; cas [[1 2] [3 4]]; get nil -> [3 4]", none, "valid", "kv-keys none"},
		{"a cas to a pair", "kv", "put 1; cas [1 [2 3]]", models.Spec{}, "process 0's :cas [1 [2 3]] (index 3) may be [key value], and process 0's :put 1 (index 1) has no key", ""},
		{"a get of a pair", "kv", "put 1; get nil -> [1 1]", models.Spec{}, "process 0's :get [1 1] (index 3) may be [key value], and process 0's :put 1 (index 1) has no key", ""},
		{"pairs", "kv", "put [1 2]; get [1 nil] -> [1 2]; cas [1 [2 3]]; get [1 nil] -> [1 2]", models.Spec{}, "invalid at 7", "kv-keys pairs"},
		{"pairs alone", "kv", "put [1 2]; put [1 3]", models.Spec{}, "valid", "kv-keys pairs"},
		{"pairs and no keys", "kv", "put [1 2]; delete [1 nil]; put 3", models.Spec{},
			"h:6:1: process 0's :delete [1 nil] (index 3) has a key, and process 0's :put 3 (index 5) has none: give every operation its key, as :key or in [key value]", ""},
		{"pairs, by the user's word", "kv", "put [1 2]; put 3", pairs, "expected [key value], found 3", ""},
		{"a :key and none", "kv", "put {:key 1 :value 2}; get nil -> 2", models.Spec{},
			"h:4:1: process 0's :put {:key 1, :value 2} (index 1) has a :key, and process 0's :get 2 (index 3) has none: give every operation its :key", ""},
		{"a :key and a pair", "kv", "put {:key 1 :value 2}; put [1 2]", models.Spec{}, "has a :key, and process 0's :put [1 2] (index 3) has none", ""},
		{"a :key, and the user says none", "kv", "put {:key 1 :value 2}", none, "expected no :key, found {:key 1, :value 2}", ""},
		{"a :key", "kv", "put {:key 1 :value [3 4]}; get {:key 1} -> {:key 1 :value [3 4]}", models.Spec{}, "valid", ""},
		{"what failed counts for nothing", "kv", "~put [1 2]; put 1; get nil -> 1", models.Spec{}, "valid", "kv-keys none"},

		{"a put-if-absent that failed says nothing", "kv", "~put-if-absent 1; get nil -> nil", observed, "valid", "kv-keys none"},
		{"as a cas would", "kv", "~cas [nil 1]; get nil -> nil", observed, "invalid at 1", "kv-keys none"},
		{"one that answers false does", "kv", "put-if-absent 1 -> false", observed, "invalid at 1", "kv-keys none"},

		{"an answer about another element", "lookup-set", "insert 2 -> [1 true]", models.Spec{}, "expected [2 true], [2 false], true or false, found [1 true]", ""},

		{"as much as an operation adds", "counter", "add 2147483647; add -2147483647; read nil -> 0", models.Spec{}, "valid", ""},
		{"more", "counter", "add 2147483648", models.Spec{}, "expected an integer from -2147483647 to 2147483647, found 2147483648", ""},
		{"as much as it starts with", "counter", "incr nil -> 2305843009213693953", models.Spec{Init: "2305843009213693952"}, "valid", "answers told"},
		{"a total beyond 64 bits", "counter", "read nil -> 9223372036854775808", models.Spec{}, "expected the integer that was read, of at most 64 bits, found 9223372036854775808", ""},
	} {
		t.Run(c.model+": "+c.name, func(t *testing.T) {
			c.spec.Name = c.model
			r, err := kit.CheckLog(kit.Sequential(c.ops), c.spec, clew.Options{})
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case r.Verdict == jepsen.Invalid:
				got = fmt.Sprint("invalid at ", r.FailingIndex())
			case r.Verdict == jepsen.Valid:
				got = "valid"
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
				t.Errorf("%s: found %q, expected %q", c.ops, got, c.want)
			}
			if err == nil && r.Spec.Reading() != c.reading {
				t.Errorf("%s: found reading %q, expected %q", c.ops, r.Spec.Reading(), c.reading)
			}
		})
	}
}

// All independent keys have the same reading.
func TestKeysHaveOneReading(t *testing.T) {
	t.Parallel()
	const right, twice = "incr [:a 1] -> [:a 1]; incr [:a 1] -> [:a 2]; ", "incr [:b 1] -> [:b 1]; incr [:b 1] -> [:b 1]"
	for ops, want := range map[string]string{
		right + twice: "not linearizable, answers told", // those of :b alone would repeat what they were called with
		twice:         "linearizable, answers echo",
	} {
		r, err := kit.CheckLog(kit.Sequential(ops), models.Spec{Name: "counter"}, clew.Options{Independent: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Verdict, ", ", r.Spec.Reading()); got != want {
			t.Errorf("%s: %s, expected %s", ops, got, want)
		}
		for _, key := range r.Keys {
			if key.Result().Spec.Reading() != r.Spec.Reading() {
				t.Errorf("%s: key %s has reading %q", ops, key.Key, key.Result().Spec.Reading())
			}
		}
	}
}

// A cas of an independent key may have its key beside it, as [key old new].
func TestACASBesideItsKey(t *testing.T) {
	t.Parallel()
	for ops, want := range map[string]string{
		"write [:a 1]; cas [:a 1 2]; read [:a nil] -> [:a 2]":                                    "true",
		"write [:a 1]; cas [:a [1 2]] -> [:a 1 2]; read [:a nil] -> [:a 2]":                      "true",
		"write [:a 1]; cas [:a 2 3]; read [:a nil] -> [:a 3]":                                    "false",
		"write [:a 1]; write [1 5]; cas [1 5 6]; read [:a nil] -> [:a 1]; read [1 nil] -> [1 6]": "true",
		"write [:a 1]; cas [:a 1 2] -> [:b 1 2]":                                                 "h:4:1: the op's key is :b (index 3), but its invocation's is :a (index 2, line 3)",
		"write [:a 1]; cas [:a 1 2 3]":                                                           "expected [key value] for the value of :cas",
		"write [:a 1]; write [:a 1 2]":                                                           "expected [key value] for the value of :write",
	} {
		r, err := kit.CheckLog(kit.Sequential(ops), models.Spec{Name: "cas-register"}, clew.Options{Independent: true})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = kit.VerdictText(r)
		}
		if got != want && !(err != nil && strings.Contains(got, want)) {
			t.Errorf("%s: found %s, expected %s", ops, got, want)
		}
	}
	r, err := kit.CheckLog(kit.Sequential("write [:a 1]; write [:b 2]; cas [:a 1 2]; read [:a nil] -> [:a 2]"), models.Spec{Name: "cas-register"}, clew.Options{})
	if err == nil && !strings.Contains(r.Hint, "Options.Independent") {
		t.Errorf("hint %q, expected Options.Independent", r.Hint)
	}
}

// A heading says what holds for its object without flags: fptlin's registers are 0 at first.
func TestAHeadingSaysAllOfItsObject(t *testing.T) {
	t.Parallel()
	const rmw, other = "# rmw\n0 0 2 READ_MODIFY_WRITE 2 3\n1 1 3 READ_MODIFY_WRITE 0 2\n", "# rmw\n0 0 1 READ_MODIFY_WRITE 1 2\n"
	for _, c := range []struct {
		text string
		spec models.Spec
		want string
		init string
	}{
		{rmw, models.Spec{}, "true", "0"},
		{rmw, models.Spec{Name: "cas-register"}, "true", "0"},
		{rmw, models.Spec{Init: "5"}, "false", "5"},
		{rmw, models.Spec{Init: "nil"}, "false", "nil"},
		{other, models.Spec{}, "false", "0"},
		{other, models.Spec{Init: "1"}, "true", "1"},
	} {
		r, err := kit.CheckLog(c.text, c.spec, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if kit.VerdictText(r) != c.want || r.Init != c.init {
			t.Errorf("%+v %s: %s from %s, expected %s from %s", c.spec, c.text, kit.VerdictText(r), r.Init, c.want, c.init)
		}
	}
}

// fptlin's semaphores count from 0: a decrement that answers 0 found 0.
func TestASemaphoreOfFptlinCounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0 0 2 INCR 1\n1 0 4 DECR 1\n0 3 5 DECR 0\n":                             "true",
		"0 0 2 INCR 1\n1 3 4 DECR 0\n":                                           "false", // one was left
		"0 0 2 INCR 1\n1 1 3 DECR 0\n":                                           "true",  // before
		"0 0 2 DECR 1\n1 1 3 INCR 1\n":                                           "true",  // after
		"0 0 1 DECR 1\n1 2 3 INCR 1\n":                                           "false", // there was none
		"0 0 1 INCR 1\n0 2 3 INCR 1\n0 4 5 DECR 1\n1 6 7 DECR 1\n0 8 9 DECR 1\n": "false",
	} {
		for _, algorithm := range []string{"auto", "porcupine", "window"} {
			r, err := kit.CheckLog("# semaphore\n"+text, models.Spec{}, clew.Options{Algorithm: algorithm})
			if err != nil {
				t.Fatal(err)
			}
			if kit.VerdictText(r) != want || r.Model != "counting-semaphore" {
				t.Errorf("%s: %s as %s by %s, expected %s", text, kit.VerdictText(r), r.Model, algorithm, want)
			}
		}
	}
}

// Every output says which reading was taken.
func TestEveryOutputSaysTheReading(t *testing.T) {
	t.Parallel()
	for _, o := range []clew.Options{{}, {Independent: true}} {
		ops := "incr 1; incr 1 -> 3"
		if o.Independent {
			ops = "incr [1 1]; incr [1 1] -> [1 3]"
		}
		r, err := kit.CheckLog(kit.Sequential(ops), models.Spec{Name: "counter"}, o)
		if err != nil {
			t.Fatal(err)
		}
		json, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for output, want := range map[string]string{
			r.Text(): "counter with answers told, 2 operations", r.EDN(): `:reading {:answers [:told :history], `, string(json): `"answers":["told","history"]`,
			r.Summary(): "counter with answers told",
		} {
			if !strings.Contains(output, want) {
				t.Errorf("%s: expected %q", output, want)
			}
		}
	}
	for _, c := range []struct{ model, ops, want string }{ // reads are checked
		{"counter", "incr 1; incr 1; read -> 2", "\n  increments do not return new values, so none was checked\n"},
		{"log", "append 0; append 1; read -> [0 1]", "\n  appends do not return offsets, so none was checked\n"},
	} {
		r, err := kit.CheckLog(kit.Sequential(c.ops), models.Spec{Name: c.model}, clew.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Text(), c.want) {
			t.Errorf("%s: expected %q", r.Text(), c.want)
		}
	}
}

// operation is one operation of a small random history.
type operation struct {
	f             string
	given, answer any // answer is nil if none is told
}

// answering holds what docs/models.md says of counters and logs, as models for porcupine. Their states are an int and
// a string of letters.
var answering = map[string]porcupine.Model{
	"counter": {
		Init: func() any { return 0 },
		Step: func(state, input, _ any) (bool, any) {
			o, now := input.(operation), state.(int)
			if o.f == "read" {
				return o.answer == now, now
			}
			now += o.given.(int)
			return o.answer == nil || o.answer == now, now
		},
	},
	"log": {
		Init: func() any { return "" },
		Step: func(state, input, _ any) (bool, any) {
			o, now := input.(operation), state.(string)
			if o.f == "tail" {
				return o.answer == len(now), now
			}
			return o.answer == nil || o.answer == len(now), now + fmt.Sprint(o.given)
		},
	},
}

// Verdicts on counters and logs agree with porcupine's, under either reading.
func TestAnswersAsPorcupineHasThem(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(35, 1))
	update := map[string]string{"counter": "incr", "log": "append"}
	seen := map[string]int{}
	for range kit.Histories(1000, 3000, 3000) {
		model := [...]string{"counter", "log"}[r.IntN(2)]
		var text strings.Builder
		var events []porcupine.Event
		open, told := map[int]operation{}, false
		for id := 0; id < 6 || len(open) > 0; {
			p := r.IntN(3)
			o, busy := open[p]
			switch {
			case !busy && id < 6:
				o = operation{f: update[model], given: 1 + r.IntN(2)}
				if r.IntN(4) == 0 {
					o = operation{f: map[string]string{"counter": "read", "log": "tail"}[model]}
				}
				if o.given == nil || r.IntN(3) > 0 {
					o.answer = r.IntN(6)
				}
				id++
				open[p] = o
				fmt.Fprintf(&text, "%d\t:invoke\t:%s\t%s\n", p, o.f, ednOf(o.given))
				events = append(events, porcupine.Event{ClientId: p, Kind: porcupine.CallEvent, Value: o, Id: p})
			case busy:
				delete(open, p)
				told = told || o.f == update[model] && o.answer != nil && o.answer != o.given
				fmt.Fprintf(&text, "%d\t:ok\t:%s\t%s\n", p, o.f, ednOf(o.answer))
				events = append(events, porcupine.Event{ClientId: p, Kind: porcupine.ReturnEvent, Id: p})
			}
		}
		// The n-th operation of a process has an id of its own, and its call says what the outcome was.
		ids, next := map[int]int{}, 0
		for i := range events {
			e := &events[i]
			if e.Kind == porcupine.CallEvent {
				ids[e.ClientId] = next
				next++
				if o := e.Value.(operation); !told && o.f == update[model] {
					o.answer = nil
					e.Value = o
				}
			}
			e.Id = ids[e.ClientId]
		}
		want := porcupine.CheckEvents(answering[model], events)
		got, err := kit.CheckLog(text.String(), models.Spec{Name: model}, clew.Options{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		reading := got.Spec.Reading()
		if (got.Verdict == jepsen.Valid) != want || told != (reading == "answers told") {
			t.Fatalf("%s is %s with %q; porcupine says %t, told %t of\n%s", model, got.Verdict, reading, want, told, text.String())
		}
		seen[fmt.Sprint(model, reading, want)]++
	}
	if len(seen) < 8 {
		t.Errorf("%v: expected all kinds", seen)
	}
}

func ednOf(v any) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprint(v)
}
