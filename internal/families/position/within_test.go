package position_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clew/internal/effort"
	"clew/jepsen"
	"clew/jepsen/forms"
	"clew/models"
)

// leases is a random history of etcd in which grants, revocations and puts with a lease share positions.
type leases struct {
	r        *rand.Rand
	text     strings.Builder
	revision int
	granted  map[int]bool
	keys     map[string]struct{ value, lease int }
	next     int
}

// client is a process of it.
type client struct {
	f, key, answer string
	value, lease   int
	busy, done     bool
}

func (x *leases) history(operations, clients int, crashes, lies float64) string {
	x.revision, x.granted, x.keys = 1, map[int]bool{}, map[string]struct{ value, lease int }{}
	threads := make([]client, clients)
	for left := operations; ; {
		busy := 0
		for i := range threads {
			if threads[i].busy {
				busy++
			}
		}
		if left == 0 && busy == 0 {
			return x.text.String()
		}
		i := x.r.IntN(clients)
		switch c := &threads[i]; {
		case !c.busy && left > 0:
			left--
			x.invoke(c, i)
		case !c.busy:
		case !c.done && x.r.IntN(2) == 0:
			x.apply(c)
		case !c.done && x.r.IntN(4) > 0:
		default:
			x.complete(c, i, crashes, lies)
		}
	}
}

func (x *leases) say(i int, kind, f, value string) {
	fmt.Fprintf(&x.text, "{:process %d, :type :%s, :f :%s, :value %s}\n", i, kind, f, value)
}

func (x *leases) invoke(c *client, i int) {
	x.next++
	*c = client{busy: true, key: []string{"a", "b"}[x.r.IntN(2)], lease: 1 + x.r.IntN(2), value: x.next}
	switch c.f = []string{"lease-grant", "lease-revoke", "put", "put", "put", "delete", "range"}[x.r.IntN(7)]; {
	case strings.HasPrefix(c.f, "lease"):
		x.say(i, "invoke", c.f, fmt.Sprintf("{:lease %d}", c.lease))
	case c.f == "put" && x.r.IntN(3) == 0:
		c.lease = 0
		x.say(i, "invoke", c.f, fmt.Sprintf("{:key %q, :value %d}", c.key, c.value))
	case c.f == "put":
		x.say(i, "invoke", c.f, fmt.Sprintf("{:key %q, :value %d, :lease %d}", c.key, c.value, c.lease))
	default:
		x.say(i, "invoke", c.f, fmt.Sprintf("{:key %q}", c.key))
	}
}

// apply lets an operation take effect, if it can.
func (x *leases) apply(c *client) {
	_, there := x.keys[c.key]
	switch c.f {
	case "lease-grant":
		if x.granted[c.lease] {
			return
		}
		x.granted[c.lease] = true
	case "lease-revoke":
		if !x.granted[c.lease] {
			return
		}
		moved := 0
		for key, v := range x.keys {
			if v.lease == c.lease {
				delete(x.keys, key)
				moved = 1
			}
		}
		x.revision += moved
		delete(x.granted, c.lease)
	case "put":
		if c.lease == 0 || x.granted[c.lease] {
			x.keys[c.key] = struct{ value, lease int }{c.value, c.lease}
			x.revision++
		}
	case "delete":
		if c.answer = ", :deleted 0"; there {
			c.answer = ", :deleted 1"
			delete(x.keys, c.key)
			x.revision++
		}
	default:
		if c.answer = ", :kvs [], :count 0"; there {
			c.answer = fmt.Sprintf(", :kvs [{:key %q, :value %d}], :count 1", c.key, x.keys[c.key].value)
		}
	}
	c.done, c.answer = true, fmt.Sprintf("{:revision %d%s}", x.revision, c.answer)
}

func (x *leases) complete(c *client, i int, crashes, lies float64) {
	switch c.busy = false; {
	case !c.done || x.r.Float64() < crashes:
		x.say(i, "info", c.f, "nil")
	case x.r.Float64() < lies:
		answer := strings.Replace(c.answer, fmt.Sprint(x.revision), fmt.Sprint(max(1, x.revision+x.r.IntN(3)-1)), 1)
		x.say(i, "ok", c.f, answer)
	default:
		x.say(i, "ok", c.f, c.answer)
	}
}

// Positions that grants, revocations and puts with a lease share are searched, so that nothing is left if nothing crashed.
func TestLeasesAgainstTheOracle(t *testing.T) {
	counts, complete := verdicts{}, verdicts{}
	for seed := range effort.Histories(6000, 3_000_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 43))
		x := &leases{r: r}
		text := x.history(3+r.IntN(6), 2+r.IntN(4), []float64{0, 0, 0.1}[r.IntN(3)], []float64{0, 0, 0.2}[r.IntN(3)])
		h, err := forms.Read(strings.NewReader(text), "etcd", jepsen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ops, err := models.Spec{Name: "etcd"}.Read(h)
		if err != nil {
			if strings.Contains(err.Error(), "no operation that completed") {
				continue
			}
			t.Fatal(err)
		}
		of := counts
		if !strings.Contains(text, ":info") {
			of = complete
		}
		if said := of.compare(t, ops); said != "" {
			t.Fatalf("seed %d: %s\n%s", seed, said, text)
		}
	}
	t.Log(counts, complete)
	if n := complete["undecided, linearizable true"]; n > 0 {
		t.Errorf("%d linearizable histories without crashes are not decided", n)
	}
}
