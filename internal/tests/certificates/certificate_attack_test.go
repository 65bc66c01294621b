package certificates_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clew"
	"clew/internal/campaign"
	"clew/internal/certificate"
	"clew/internal/effort"
	"clew/internal/gen"
	"clew/internal/tests/kit"
	"clew/jepsen"
	"clew/models"
	"clew/report"
)

// withParameters returns a certificate with other parameters.
func withParameters(t *testing.T, text string, parameters any) string {
	t.Helper()
	head, rest, _ := strings.Cut(text, "\n")
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(head), &fields); err != nil {
		t.Fatal(err)
	}
	fields["parameters"] = parameters
	changed, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(changed) + "\n" + rest
}

// shortOf returns a small linearizable history of a model.
func shortOf(t *testing.T, model string) (h *jepsen.History, spec models.Spec) {
	t.Helper()
	h, spec, _ = kit.LongHistory(t, gen.LongOptions{Model: model, Kind: gen.Linearizable, Operations: 6, Processes: 2, At: 0.5, Seed: 5})
	return h, spec
}

// The parameters of a model are a closed table: any other name, and any other text, might mean something to clew that
// the program would ignore.
func TestAnotherProgramKnowsEveryParameterOrRefuses(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	all := []string{"nil-reads", "failed-cas", "semantics", "priority", "permits", "max-holds", "threads", "ids", "negative-balances", "init", "answers", "kv-keys", "accounts"}
	fits := map[string][]string{"nil-reads": {"any", "exact"}, "failed-cas": {"ignore", "observe"}, "semantics": {"jepsen", "knossos"}, "priority": {"max", "min"},
		"permits": {"2"}, "max-holds": {"2"}, "threads": {"2"}, "ids": {"distinct", "growing"}, "negative-balances": {"refuse", "allow"}, "init": {"[]"}, "answers": {"told", "echo"}, "kv-keys": {"pairs", "none"}, "accounts": {"as-written", "numbers", "strings"}}
	attacks := 0
	for _, model := range models.All() {
		if model.Name == "java-queue" {
			continue
		}
		h, spec := shortOf(t, model.Name)
		file := c.file(h)
		text := c.add(model.Name, file, checkedSpec(t, h, spec))
		given := map[string]any{}
		for name, value := range spec.Given() {
			given[string(name)] = value
		}
		attack := func(how string, parameters any) {
			if attacks++; !effort.Takes(attacks) {
				return
			}
			c.put(fmt.Sprintf("%s: %s (%d)", model.Name, how, len(c.pairs)/2), file, withParameters(t, text, parameters))
		}
		with := func(name string, value any) map[string]any {
			p := maps.Clone(given)
			p[name] = value
			return p
		}
		for name, value := range map[string]any{"unknown": "1", "": "", "Semantics": "jepsen", "semantics ": "jepsen", "sematics": "knossos", "keyless": "every", "model": "register"} {
			attack(fmt.Sprintf("%q %v", name, value), with(name, value))
		}
		for _, name := range all {
			if !model.Takes(models.Param(name)) {
				attack("another model's "+name, with(name, fits[name][len(fits[name])-1]))
				continue
			}
			for _, value := range fits[name] {
				if name == "init" {
					value = "nil x" // two values
				}
				for _, wrong := range []any{value + " ", " " + value, value + "\n", strings.ToUpper(value[:1]) + value[1:] + "!", "", "0", "auto", "-1", "02", "2.0", "1e1", "2147483648", "\u0662", nil, true, 2, 2.5, []string{value}, map[string]any{}} {
					if text, ok := wrong.(string); ok && name == "init" && text != "" && text != value+" " {
						continue // any value of EDN is one, and the model says which it takes
					}
					attack(fmt.Sprintf("%s %q", name, fmt.Sprint(wrong))+fmt.Sprintf(" %T", wrong), with(name, wrong))
				}
				if capital := strings.ToUpper(value[:1]) + value[1:]; capital != value {
					attack(name+" "+capital, with(name, capital))
				}
			}
		}
		for name := range given {
			less := maps.Clone(given)
			delete(less, name)
			if name == "permits" {
				attack("no "+name, less)
			}
		}
		for _, wrong := range []any{nil, []any{}, "", 1} {
			attack(fmt.Sprintf("parameters %v", wrong), wrong)
		}
	}
	for model, inits := range map[string][]string{
		"set": {"5", ":a", "nil", "{1 2}"}, "lookup-set": {"5", "nil", "{1 2}"}, "fifo-queue": {"5", "#{1}", "{}", "nil"}, "stack": {"5", "nil"}, "unordered-queue": {"nil"}, "priority-queue": {"nil"},
		"multi-register": {"5", "[]", "nil", "#{}"}, "kv": {"5", "[]", "nil"}, "versioned-register": {"5", "[0]", "[nil 1]", "[-1 1]", "[0 1 2]", "[1.0 1]", "nil"}, "counter": {"nil", ":a", "1.0", "[1]", "2305843009213693953"},
		"bank": {"5", "{0 nil}", "{0 1.5}", "nil", "[]"}, "log": {"5", "nil", "#{1}"}, "lease": {"5", "[1]", "nil", "[nil -1]", "[:a nil]"},
	} {
		h, spec := shortOf(t, model)
		file := c.file(h)
		text := c.add(model+" again", file, checkedSpec(t, h, spec))
		for _, init := range inits {
			c.put(model+": init "+init, file, withParameters(t, text, map[string]string{"init": init}))
			if err := (&models.Spec{Name: model, Init: init}).Check(); err == nil {
				t.Errorf("%s from %s is fine with clew", model, init)
			}
		}
	}
	said := c.check()
	for _, name := range slices.Sorted(maps.Keys(said)) {
		what := said[name]
		if _, attacked, _ := strings.Cut(name, ": "); strings.HasPrefix(what, "proved: ") != (attacked == "") {
			t.Errorf("%s: %s", name, what)
		}
	}
	t.Logf("%d certificates", len(said))
}

// checkedSpec returns the result of a history.
func checkedSpec(t *testing.T, h *jepsen.History, spec models.Spec) *report.Result {
	t.Helper()
	r, err := clew.Check(context.Background(), h, spec, clew.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tamperedWith returns certificates with one change each, at every place of every line, by what was changed. It
// leaves out changes that leave the proof as good as it was: other words for people, a larger core, and no hash of
// the file.
func tamperedWith(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		put := func(how string, fields map[string]any) {
			changed, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			all[fmt.Sprintf("line %d: %s", i+1, how)] = strings.Join(lines[:i], "") + string(changed) + "\n" + strings.Join(lines[i+1:], "")
		}
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		with := func(name string, value any) map[string]any {
			changed := maps.Clone(fields)
			changed[name] = value
			return changed
		}
		for name, value := range fields {
			forPeople := name == "analyzer" || name == "pattern" || name == "explanation"
			for _, other := range others(name, value) {
				if _, isText := other.(string); !forPeople || !isText {
					put(fmt.Sprintf("%s %T %.60v", name, other, other), with(name, other))
				}
			}
			less := maps.Clone(fields)
			delete(less, name)
			if !forPeople && name != "sha256" && name != "named" {
				put("no "+name, less)
			}
			less[strings.ToUpper(name)] = value
			put("another name for "+name, less)
			twice := strings.Replace(line, "{", fmt.Sprintf(`{"%s":0,`, name), 1)
			all[fmt.Sprintf("line %d: %s twice", i+1, name)] = strings.Join(lines[:i], "") + twice + strings.Join(lines[i+1:], "")
		}
		put("something else", with("else", 1))
		all[fmt.Sprintf("line %d again", i+1)] = strings.Join(lines[:i+1], "") + strings.TrimSuffix(line, "\n") + "\n" + strings.Join(lines[i+1:], "")
		all[fmt.Sprintf("no line %d", i+1)] = strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
	}
	return all
}

// others returns values that mean something else than a given value of a certificate.
func others(name string, value any) (all []any) {
	all = []any{[]any{}, map[string]any{}, "", "x", 1.5, 77, true, nil}
	switch value := value.(type) {
	case float64:
		all = append(all, value+1, value-1, fmt.Sprint(value))
	case bool:
		all = append(all, !value, fmt.Sprint(value), map[bool]int{true: 1}[value])
	case string:
		all = append(all, value+" ", strings.ToUpper(value), value+"\n", value[:len(value)-1])
	case []any:
		for i, x := range value {
			for _, y := range []any{nil, "0", 99, -1, 0.5, []any{x}, true} {
				changed := slices.Clone(value)
				changed[i] = y
				all = append(all, changed)
			}
			if name != "named" {
				all = append(all, slices.Delete(slices.Clone(value), i, i+1), append(slices.Clone(value), x))
			}
			if _, is := x.(map[string]any); is {
				for k, v := range x.(map[string]any) {
					for _, y := range []any{v.(float64) + 1, "1", nil} {
						changed := slices.Clone(value)
						changed[i] = maps.Clone(x.(map[string]any))
						changed[i].(map[string]any)[k] = y
						all = append(all, changed)
					}
				}
			}
		}
		if n := len(value); n > 1 && name != "core" && name != "named" {
			all = append(all, append(slices.Clone(value[1:]), value[0]), append([]any{value[n-1]}, value[:n-1]...))
		}
	}
	return slices.DeleteFunc(all, func(other any) bool { return fmt.Sprintf("%T%v", other, other) == fmt.Sprintf("%T%v", value, value) })
}

const (
	oneByOne = `{:process 0, :type :invoke, :f :write, :value 1}
{:process 0, :type :ok, :f :write, :value 1}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 1}
{:process 0, :type :invoke, :f :write, :value 2}
{:process 0, :type :ok, :f :write, :value 2}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 2}
`
	stale = oneByOne + `{:process 3, :type :invoke, :f :read, :value nil, :index 70}
{:process 3, :type :ok, :f :read, :value 1, :index 71}
{:process 3, :type :invoke, :f :read, :value nil}
{:process 3, :type :ok, :f :read, :value 9}
`
	oneByOneOfKeys = `{:process 0, :type :invoke, :f :write, :value [7 1]}
{:process 0, :type :ok, :f :write, :value [7 1]}
{:process 1, :type :invoke, :f :write, :value [8 2]}
{:process 1, :type :ok, :f :write, :value [8 2]}
{:process 3, :type :invoke, :f :read, :value [8 nil]}
{:process 3, :type :ok, :f :read, :value [8 2]}
`
	oneWithoutKey = oneByOneOfKeys + `{:process 3, :type :invoke, :f :write, :value 3}
{:process 3, :type :ok, :f :write, :value 3}
`
)

// certificateOf returns the certificate of a history of a register.
func certificateOf(t *testing.T, c *certified, name, text string, o clew.Options) (file, proof string) {
	t.Helper()
	file = filepath.Join(c.dir, name+".edn")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	h, err := clew.ReadFile(file, jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := clew.Check(context.Background(), h, models.Spec{Name: "register"}, o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := certificate.Write(context.Background(), &b, r, certificate.Options{SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text))), Keyless: o.Keyless}); err != nil {
		t.Fatal(err)
	}
	c.put(name, file, b.String())
	return file, b.String()
}

// A certificate cannot be changed without notice, except in its words for people.
func TestAnotherProgramRejectsWhateverIsChangedInACertificate(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	for name, x := range map[string]struct {
		text string
		o    clew.Options
	}{
		"right":      {oneByOne, clew.Options{}},
		"wrong":      {stale, clew.Options{}},
		"keys":       {oneByOneOfKeys, clew.Options{Independent: true}},
		"wrong keys": {strings.Replace(oneByOneOfKeys, ":read, :value [8 2]", ":read, :value [8 5]", 1), clew.Options{Independent: true}},
		"keyless":    {oneWithoutKey, clew.Options{Independent: true, Keyless: true}},
	} {
		file, proof := certificateOf(t, c, name, x.text, x.o)
		changed := tamperedWith(t, proof)
		for i, how := range slices.Sorted(maps.Keys(changed)) {
			if effort.Takes(i) {
				c.put(name+": "+how, file, changed[how])
			}
		}
	}
	said := c.check()
	for _, name := range slices.Sorted(maps.Keys(said)) {
		_, how, attacked := strings.Cut(name, ": ")
		if how == "no line 2" && strings.HasPrefix(name, "wrong keys") {
			continue // one key that fails is enough, whatever is known of others
		}
		if strings.HasPrefix(said[name], "proved: ") == attacked {
			t.Errorf("%s %s: %s", name, how, said[name])
		}
	}
	t.Logf("%d certificates", len(said))
}

// A certificate says that an operation is the first one that fails. The proof once covered only that the history
// fails up to there, so a later failure would have passed, too.
func TestAnotherProgramProvesThatAFailureIsTheFirst(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	file, proof := certificateOf(t, c, "the first", stale, clew.Options{})
	head, _, _ := strings.Cut(proof, "\n")
	for name, section := range map[string]string{
		"the second, without an order":                       `"fails":5,"core":[5]`,
		"the second, with an order of all":                   `"fails":5,"core":[5],"before":[0,1,2,3,4]`,
		"the second, with an order without the first":        `"fails":5,"core":[5],"before":[0,1,2,3]`,
		"the second, with the first where it would fit":      `"fails":5,"core":[5],"before":[0,1,4,2,3]`,
		"the first, without an order":                        `"fails":4,"core":[0,2,4]`,
		"the first, with too short an order":                 `"fails":4,"core":[0,2,4],"before":[0,1,2]`,
		"the first, with the second in its order":            `"fails":4,"core":[0,2,4],"before":[0,1,2,3,5]`,
		"the first, with the failing operation in its order": `"fails":4,"core":[0,2,4],"before":[0,1,2,3,4]`,
	} {
		c.put(name, file, head+"\n"+`{"key":null,"valid":false,`+section+"}\n")
	}
	c.put("by hand", file, head+"\n"+`{"key":null,"valid":false,"fails":4,"core":[0,2,4],"before":[0,1,2,3]}`+"\n")
	for name, what := range c.check() {
		if strings.HasPrefix(what, "proved: not linearizable") != (name == "the first" || name == "by hand") {
			t.Errorf("%s: %s", name, what)
		}
	}
}

// An operation without a key belongs to every key only if the certificate says so. The program's output says so, too.
func TestAnotherProgramHonorsKeyless(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	file, proof := certificateOf(t, c, "said", oneWithoutKey, clew.Options{Independent: true, Keyless: true})
	if !strings.Contains(proof, `"independent":true,"keyless":true,`) {
		t.Error(proof)
	}
	_, plain := certificateOf(t, c, "all have keys", oneByOneOfKeys, clew.Options{Independent: true})
	if strings.Contains(plain, "keyless") {
		t.Error(plain)
	}
	c.put("not said", file, strings.Replace(proof, `"keyless":true,`, "", 1))
	want := map[string]string{"said": "independent: True, clients: integers, keyless: True", "all have keys": "independent: True, clients: integers",
		"not said": "rejected: operations [3] have no key, and the certificate does not say keyless"}
	for name, what := range c.check() {
		if !strings.HasSuffix(what, want[name]) {
			t.Errorf("%s: %s; expected %s", name, what, want[name])
		}
	}
}

// A completion can neither take back a write of its transaction nor turn it into another one.
func TestAnotherProgramProvesNothingOfStepsThatWereNotCalled(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	proof := `{"clew-certificate":1,"operations":1,"model":"multi-register","parameters":{},"independent":false,"clients":"integers","valid":true}` +
		"\n" + `{"key":null,"valid":true,"order":[0]}` + "\n"
	completions := map[string]string{"[[:read :y nil] [:write :x 1N]]": "proved: ", "[[:r :y nil]]": "rejected: ", "[[:r :y nil] [:w :x 2]]": "rejected: ",
		"[[:r :z nil] [:w :x 1]]": "rejected: ", "[[:w :x 1] [:r :y nil]]": "rejected: ", "[[:r :y nil] [:r :x nil]]": "rejected: ", "nil": "rejected: "}
	for value := range completions {
		c.put(value, c.text("{:process 0 :type :invoke :f :txn :value [[:r :y nil] [:w :x 1]]}\n{:process 0 :type :ok :f :txn :value "+value+"}\n"), proof)
	}
	c.expect(completions)
}

// A certificate under other parameters is about another question. If the program still proves it, clew must answer
// that question in the same way.
func TestAnotherProgramProvesNothingElseUnderOtherParameters(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	want := map[string]string{}
	texts := map[string]string{}
	histories := map[bool]int{true: 1, false: 5}[effort.Few()]
	if effort.Long() {
		histories = 300
	}
	for i, model := range models.All() {
		if model.Name == "java-queue" {
			continue
		}
		r := gen.Rand(uint64(51_000 + i))
		for range histories {
			spec := campaign.WithParameters(r, models.Spec{Name: model.Name}).FromDefault()
			g := gen.New(r, campaign.GenOptions(spec))
			h, _, err := campaign.ReadText(spec, g.Text)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(c.dir, fmt.Sprintf("%d.edn", len(c.pairs)))
			if err := os.WriteFile(file, []byte(g.Text), 0o666); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s %d", model.Name, len(c.pairs))
			text := c.add(name, file, checkedSpec(t, h, spec))
			want[name] = "proved: "
			for param, values := range map[models.Param][]string{"nil-reads": {"any", "exact"}, "failed-cas": {"ignore", "observe"}, "semantics": {"jepsen", "knossos"}, "priority": {"max", "min"}, "permits": {"1", "2", "3"},
				"max-holds": {"1", "2", "3"}, "threads": {"1", "2", "3"}, "ids": {"distinct", "growing"}, "negative-balances": {"refuse", "allow"}, "answers": {"told", "echo"}, "kv-keys": {"pairs", "none"},
				"init": {"0", "1", "nil", "[]", "[1]", "#{1}", "{}", "{:x 1}", "[0 1]", "[1 1]"}} {
				for _, value := range values {
					other, given := spec, map[string]string{}
					if !model.Takes(param) || other.Set(param, value) != nil {
						continue
					}
					for name, text := range other.Given() {
						given[string(name)] = text
					}
					given[string(param)] = value
					name := fmt.Sprintf("%s %s %s %d", model.Name, param, value, len(c.pairs))
					c.put(name, file, withParameters(t, text, given))
					texts[name] = g.Text + withParameters(t, text, given)
					again, err := clew.Read(strings.NewReader(g.Text), "h.edn", other.Pairing())
					if err != nil {
						want[name] = "nothing: " + err.Error()
						continue
					}
					answer, err := clew.Check(context.Background(), again, other, clew.Options{})
					switch {
					case err != nil:
						want[name] = "nothing: " + err.Error()
					case answer.Verdict == jepsen.Valid:
						want[name] = "proved: linearizable "
					case answer.Verdict == jepsen.Invalid:
						want[name] = "proved: not linearizable "
						if fails := fmt.Sprintf(`"fails":%d,`, answer.History.OpOf[answer.FailEvent.OrNone()]); strings.Contains(text, `"consistency"`) {
							want[name] = "proved: strict-serializable does not hold "
						} else if !strings.Contains(text, fails) {
							want[name] = "nothing: it fails elsewhere: " + fails
						}
					}
				}
			}
		}
	}
	wrong := 0
	for name, what := range c.check() {
		if strings.HasPrefix(what, "proved: ") && !strings.HasPrefix(what, want[name]) {
			if wrong++; wrong < 8 {
				t.Errorf("%s: %s; expected %s\n%s", name, what, want[name], texts[name])
			}
		}
		if _, asItWas := texts[name]; !asItWas && !strings.HasPrefix(what, "proved: ") {
			t.Errorf("%s: %s", name, what)
		}
	}
	t.Logf("%d certificates, %d of them wrong", len(want), wrong)
}

// forged returns what a forger would say of a history: that it is linearizable if it is not, that it fails if it does
// not, and that it fails elsewhere.
func forged(random *rand.Rand, r *report.Result) (sections []string) {
	h := r.History
	list := func(ops []jepsen.Operation) string {
		text, _ := json.Marshal(append([]jepsen.Operation{}, ops...))
		return string(text)
	}
	var all, done []jepsen.Operation
	for op := range jepsen.Operation(h.Operations()) {
		if h.Status[op] != jepsen.Failed {
			all = append(all, op)
		}
		if h.Status[op] == jepsen.Succeeded {
			done = append(done, op)
		}
	}
	order := r.Witness
	if r.Verdict == jepsen.Invalid {
		for range 3 {
			order = slices.Clone(r.Prior)
			for _, i := range random.Perm(len(done)) {
				if !slices.Contains(order, done[i]) {
					order = append(order, done[i])
				}
			}
			sections = append(sections, `{"key":null,"valid":true,"order":`+list(order)+"}")
		}
	}
	for _, fails := range done {
		if r.Verdict == jepsen.Invalid && h.Completion[fails] == r.FailEvent.OrNone() {
			continue
		}
		before, n := slices.Clone(order), 0
		for i, op := range before {
			if c := h.Completion[op]; h.Status[op] == jepsen.Succeeded && c < h.Completion[fails] {
				n = i + 1
			}
		}
		core := slices.DeleteFunc(slices.Clone(all), func(op jepsen.Operation) bool { return op != fails && random.IntN(4) == 0 })
		for _, core := range [][]jepsen.Operation{all, core, {fails}, append(slices.Clone(r.Core), fails)} {
			slices.Sort(core)
			sections = append(sections, fmt.Sprintf(`{"key":null,"valid":false,"fails":%d,"before":%s,"core":%s}`, fails, list(before[:n]), list(slices.Compact(core))))
		}
	}
	return sections
}

// A forger of a certificate may write anything at all.
func TestAnotherProgramProvesNoForgery(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	texts := map[string]string{}
	histories := map[bool]int{true: 1, false: 3}[effort.Few()]
	if effort.Long() {
		histories = 200
	}
	for i, spec := range campaign.Configs() {
		if spec.Name == "java-queue" {
			continue
		}
		random := gen.Rand(uint64(40_000 + i))
		for range histories {
			spec := campaign.WithParameters(random, spec).FromDefault()
			g := gen.New(random, campaign.GenOptions(spec))
			h, _, err := campaign.ReadText(spec, g.Text)
			if err != nil {
				t.Fatal(err)
			}
			r := checkedSpec(t, h, spec)
			file := filepath.Join(c.dir, fmt.Sprintf("%d.edn", len(c.pairs)))
			if err := os.WriteFile(file, []byte(g.Text), 0o666); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := certificate.Write(context.Background(), &b, r, certificate.Options{}); err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(b.String(), "\n")
			for k, section := range forged(random, r) {
				valid := strings.Contains(section, `"valid":true`)
				head := strings.Replace(strings.Replace(head, `"valid":true`, `"valid":?`, 1), `"valid":false`, `"valid":?`, 1)
				text := strings.Replace(head, "?", fmt.Sprint(valid), 1) + "\n" + section + "\n"
				name := fmt.Sprintf("%s, %s, %d: %d", campaign.Name(spec), r.Verdict, len(c.pairs), k)
				c.put(name, file, text)
				texts[name] = g.Text + text
			}
		}
	}
	said, wrong := c.check(), 0
	for name, what := range said {
		if strings.HasPrefix(what, "proved: ") {
			if wrong++; wrong < 6 {
				t.Errorf("%s: %s\n%s", name, what, texts[name])
			}
		}
	}
	t.Logf("%d forgeries, %d of them proved", len(said), wrong)
}

// check.py names more.py for other models, and more.py does not name itself.
func TestOnlyTheProgramOfFewerModelsNamesTheOther(t *testing.T) {
	t.Parallel()
	c := newCertified(t)
	file, proof := certificateOf(t, c, "mine", oneByOne, clew.Options{})
	other := filepath.Join(c.dir, "other.json")
	if err := os.WriteFile(other, []byte(strings.Replace(proof, `"register"`, `"java-queue"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{"check.py": "the model java-queue (more.py knows more of clew's own)\n", "more.py": "the model java-queue\n"} {
		out, err := exec.Command("python3", "-B", kit.Path("docs", "certificate", program), file, other).Output()
		if err == nil || !strings.HasSuffix(string(out), want) {
			t.Errorf("%s: %s (%v); expected %s", program, out, err, want)
		}
	}
}
