package position_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/effort"
	"clew/internal/families"
	"clew/internal/families/position"
	"clew/internal/gen"
	"clew/internal/oracle"
	_ "clew/internal/types"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// thread is a client of a random history.
type thread struct {
	busy, done bool
	f          string
	value, out any
	at         int64
}

// random makes a small history of a map of two keys or a register with a counter, in which up to crashes of all
// operations crash, and up to lies of all answers are changed.
type random struct {
	r             *rand.Rand
	model         string
	sparse        bool
	crashes, lies float64
	untold        float64
	own           bool // an answer is [value position], for a model of one's own

	b   *jepsen.Builder
	now map[string]int
	at  int64
}

func (x *random) history(operations, clients int) (*jepsen.History, error) {
	x.b, x.now, x.at = jepsen.NewBuilder(jepsen.Options{}), map[string]int{}, int64(x.r.IntN(3))
	threads := make([]*thread, clients)
	process := make([]int, clients)
	for i := range threads {
		threads[i], process[i] = &thread{}, i
	}
	for left := operations; ; {
		var can []int
		for i, t := range threads {
			if t.busy || left > 0 {
				can = append(can, i)
			}
		}
		if len(can) == 0 {
			break
		}
		i := can[x.r.IntN(len(can))]
		t := threads[i]
		switch {
		case !t.busy:
			left--
			x.invoke(t, process[i])
		case !t.done && x.r.IntN(2) == 0:
			x.apply(t)
		default:
			x.complete(t, &process[i], clients)
		}
	}
	return x.b.History()
}

func (x *random) key() string {
	if x.model == "kv" {
		return string(rune('x' + x.r.IntN(2)))
	}
	return ""
}

func (x *random) invoke(t *thread, process int) {
	*t = thread{busy: true}
	key := x.key()
	switch x.r.IntN(5) {
	case 0, 1:
		t.f = map[string]string{"kv": "get"}[x.model]
		if t.f == "" {
			t.f = "read"
		}
	case 2:
		if x.model != "register" {
			t.f, t.value = "cas", []any{x.r.IntN(3), x.r.IntN(3)}
			break
		}
		fallthrough
	default:
		t.f, t.value = "write", x.r.IntN(3)
		if x.model == "kv" {
			t.f = "put"
		}
	}
	t.out = key
	x.b.Invoke(process, t.f, t.value, x.with(key)...)
}

func (x *random) with(key string) []jepsen.Extra {
	if key == "" {
		return nil
	}
	return []jepsen.Extra{jepsen.With("key", key)}
}

// apply lets an operation take effect.
func (x *random) apply(t *thread) {
	key := t.out.(string)
	switch t.f {
	case "cas":
		if pair := t.value.([]any); x.now[key] != pair[0].(int) {
			return // not yet, or never
		} else {
			x.now[key] = pair[1].(int)
		}
		x.moved()
	case "read", "get":
		t.value = x.now[key]
	default:
		x.now[key] = t.value.(int)
		x.moved()
	}
	t.at, t.done = x.at, true
}

func (x *random) moved() {
	x.at++
	if x.sparse {
		x.at += int64(x.r.IntN(3))
	}
}

func (x *random) complete(t *thread, process *int, clients int) {
	key := t.out.(string)
	if !t.done || x.r.Float64() < x.crashes {
		x.b.Info(*process, t.f, nil, x.with(key)...)
		*process += clients
		t.busy = false
		return
	}
	if x.r.Float64() < x.lies {
		t.at = max(0, t.at+int64(x.r.IntN(5))-2)
	}
	value := t.value
	if (t.f == "read" || t.f == "get") && x.r.Float64() < x.lies {
		value = x.r.IntN(3)
	}
	with, told := x.with(key), x.r.Float64() >= x.untold
	switch {
	case x.own && told:
		value = []any{value, t.at}
	case x.own:
		value = []any{value, nil}
	case told:
		with = append(with, jepsen.With("revision", t.at))
	}
	x.b.OK(*process, t.f, value, with...)
	t.busy = false
}

// TestAgainstTheOracle compares the path with exhaustive search of the model with a counter.
func TestAgainstTheOracle(t *testing.T) {
	againstTheOracle(t, effort.Histories(4000, 1_000_000))
}

// Without any one of its rules the path decides less, and nothing wrongly.
func TestNoRuleIsNeeded(t *testing.T) {
	all := againstTheOracle(t, effort.Histories(4000, 1_000_000))
	for rule := range position.Rules {
		position.Without(rule, func() {
			less := againstTheOracle(t, effort.Histories(4000, 1_000_000)).unknown()
			if less < all.unknown() || less == all.unknown() && rule != position.Runs { // few small histories need a search
				t.Errorf("without rule %d, %d histories are not decided, and %d with it", rule, less, all.unknown())
			}
		})
	}
}

func againstTheOracle(t *testing.T, histories uint64) verdicts {
	counts := verdicts{}
	for seed := range histories {
		r := rand.New(rand.NewPCG(uint64(seed), 39))
		x := &random{r: r, model: []string{"register", "cas-register", "kv"}[seed%3], sparse: seed/3%2 == 1}
		x.crashes, x.lies = []float64{0, 0.2, 0.5}[r.IntN(3)], []float64{0, 0.1, 0.3}[r.IntN(3)]
		x.untold = []float64{0, 0, 0.2}[r.IntN(3)]
		h, err := x.history(2+r.IntN(6), 2+r.IntN(3))
		if err != nil {
			t.Fatal(err)
		}
		init := "0"
		if x.model == "kv" {
			init = `{"x" 0 "y" 0}`
		}
		ops, err := models.Spec{Name: x.model, Init: init, Position: "revision", SparsePositions: x.sparse}.Read(h)
		if err != nil {
			if strings.Contains(err.Error(), "no operation that completed") {
				continue
			}
			t.Fatal(err)
		}
		if said := counts.compare(t, ops); said != "" {
			var text strings.Builder
			h.WriteEDN(&text)
			t.Fatalf("seed %d, %s, sparse %v: %s\n%s", seed, x.model, x.sparse, said, text.String())
		}
	}
	t.Log(counts)
	return counts
}

// Small histories of etcd have leases, conditions, compaction and reads of old states.
func TestEtcdAgainstTheOracle(t *testing.T) {
	counts := verdicts{}
	for seed := range effort.Histories(1200, 300_000) {
		g := gen.New(gen.Rand(seed), gen.Options{Model: "etcd", Operations: 7})
		h, err := forms.Read(strings.NewReader(g.Text), "etcd", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ops, err := models.Spec{Name: "etcd", Init: g.Init}.Read(h)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g.Text)
		}
		if said := counts.compare(t, ops); said != "" {
			t.Fatalf("seed %d: %s\n%s", seed, said, g.Text)
		}
	}
	t.Log(counts)
}

// verdicts counts verdicts.
type verdicts map[string]int

// unknown returns how many were not decided.
func (counts verdicts) unknown() int {
	return counts["undecided, linearizable true"] + counts["undecided, linearizable false"]
}

// compare says how the path and exhaustive search differ on some operations, "" if they do not.
func (counts verdicts) compare(t *testing.T, ops *models.Operations) string {
	want := oracle.Decide(ops, oracle.Options{})
	path, _ := families.Of(ops.Model)
	d := path.Decide(t.Context(), &ops.Columns, fastpath.WantWitness|fastpath.WantFailure)
	counts[fmt.Sprintf("%v, linearizable %v", d.Verdict, want.Linearizable)]++
	said := ""
	switch {
	case d.Verdict == jepsen.Unknown:
	case (d.Verdict == jepsen.Valid) != want.Linearizable:
		said = "another verdict"
	case d.Verdict == jepsen.Valid:
		if err := oracle.Shows(ops, d.Witness, ops.Events); err != nil {
			said = "a wrong witness: " + err.Error()
		}
	case d.FailEvent < 0:
		counts["invalid, no failing completion"]++
	case d.FailEvent != want.Fail:
		said = fmt.Sprintf("fails at %d instead of %d", d.FailEvent, want.Fail)
	default:
		if err := oracle.Shows(ops, d.Before, d.FailEvent); err != nil {
			said = "a wrong order before the failure: " + err.Error()
		}
	}
	if said != "" {
		said = fmt.Sprintf("%s; verdict %v, %v, the oracle %v", said, d.Verdict, d.Why, want)
	}
	return said
}
