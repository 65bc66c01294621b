package doctor

import (
	"slices"

	"clew/edn"
	"clew/jepsen"
	"clew/models"
)

// survey counts what a test did. All of it takes linear time.
type survey struct {
	operations, succeeded, crashed int

	told    int // answers that tell something that the call did not
	nils    int // answers of nil, of operations that change nothing
	unread  int // of those, how many say nothing to the model
	returns int // operations that returned and mean something to the model
	overlap int // of those, how many overlap another one of the same object

	updates  int // operations that change something
	valued   int // of those, how many are on objects whose values tell which operation saw which
	distinct int // of those, how many have a value that no other one of their object has

	objects        int
	keys, clients  map[string]*share // by key and by client: how many operations crashed
	refusesNothing bool

	damage []string // what shows that events are missing, or that files beside the history contradict it

	keyed   bool   // there are independent keys
	pairs   bool   // every value is a pair, and there are no independent keys
	vacuous string // why the verdict of all subjects together is vacuous, or ""
	likely  string // the initial value from which a subject is linearizable, unlike from the default
	either  string // the sentence about that
}

// share counts the operations of a key or of a client.
type share struct{ crashed, all int }

func newSurvey() *survey {
	return &survey{keys: map[string]*share{}, clients: map[string]*share{}}
}

// add counts the operations of a history, which is that of a key if there are keys.
func (c *survey) add(ops *models.Operations, key string) {
	h := ops.History
	c.refusesNothing = ops.Model.Traits().RefusesNothing
	c.operations += h.Operations()
	for op, row := range ops.Rows() {
		op := jepsen.Operation(op)
		c.answered(ops, op, row)
		own := key
		if k := h.Key(h.Invocation[op]); own == "" && k != edn.Nil {
			own = "key " + h.Values.Text(k)
		}
		if own != "" {
			c.count(c.keys, own, h.Status[op])
		}
	}
	for _, part := range ops.Parts() {
		if part.Len() == 0 {
			continue
		}
		c.objects++
		c.concurrency(part)
		c.values(part)
	}
}

// people counts the operations of each client of a whole history.
func (c *survey) people(h *jepsen.History) {
	of := clients(h)
	for op := range jepsen.Operation(h.Operations()) {
		c.count(c.clients, of(op), h.Status[op])
	}
}

func (c *survey) count(of map[string]*share, name string, s jepsen.Status) {
	x := of[name]
	if x == nil {
		x = new(share)
		of[name] = x
	}
	if x.all++; s == jepsen.Crashed {
		x.crashed++
	}
}

// answered counts what an operation returned. It has no row if it means nothing to the model.
func (c *survey) answered(ops *models.Operations, op jepsen.Operation, row models.Row) {
	h := ops.History
	mutates := row >= 0 && ops.Model.Mutates(ops.Op(row))
	if mutates {
		c.updates++
	}
	switch h.Status[op] {
	case jepsen.Crashed:
		c.crashed++
		return
	case jepsen.Failed:
		return
	}
	c.succeeded++
	switch value := h.OpValue(op); {
	case value == edn.Nil && !mutates:
		if c.nils++; row < 0 {
			c.unread++
		}
	case value != edn.Nil && value != h.Value[h.Invocation[op]]:
		c.told++
	}
}

// concurrency counts the operations of one object that returned and overlap others that returned. What crashed overlaps
// everything after it, which says nothing about how many clients work at once.
func (c *survey) concurrency(part *models.Operations) {
	last := int32(-1)        // the latest return so far
	before := models.Row(-1) // the operation that began last
	overlaps := false        // that operation overlaps another one
	note := func() {
		if before >= 0 && overlaps {
			c.overlap++
		}
	}
	for row := range models.Row(part.Len()) {
		if part.Res[row] == models.Open {
			continue
		}
		c.returns++
		if before >= 0 && part.Inv[row] < part.Res[before] {
			overlaps = true
		}
		note()
		before, overlaps = row, part.Inv[row] < last
		last = max(last, part.Res[row])
	}
	note()
}

// values counts the values of updates of one object, if values tell which operation saw which.
func (c *survey) values(part *models.Operations) {
	if !valuesTell(part.Model) {
		return
	}
	h, seen := part.History, map[edn.ID]bool{}
	for row, op := range part.Of {
		value := h.Values.Same(h.Value[h.Invocation[op]])
		if value == edn.Nil || !part.Model.Mutates(part.Op(models.Row(row))) {
			continue
		}
		if c.valued++; !seen[value] {
			seen[value] = true
			c.distinct++
		}
	}
}

// valuesTell says whether the values of a model show which operation saw which if each is used once, and only then.
func valuesTell(m models.Model) bool {
	t := m.Traits()
	if t.Visibility != nil {
		return true
	}
	if t.Shape == nil {
		return false
	}
	switch t.Shape().(type) {
	case models.RegisterShape, models.VersionsShape, models.FIFOShape, models.LIFOShape, models.PriorityShape, models.LogShape:
		return true
	}
	return false
}

// clients returns the name of the client of each operation. In Jepsen, a client whose operation crashes goes on as
// another process, whose number is larger by the number of clients. If the processes of the history do so, the client is
// the process modulo that number. Otherwise it is the process.
func clients(h *jepsen.History) func(jepsen.Operation) string {
	number := func(op jepsen.Operation) (int64, bool) {
		return h.Values.Int(h.Processes[h.Process[h.Invocation[op]]])
	}
	firstCrash := jepsen.Event(len(h.Type))
	crashed := make([]bool, len(h.Processes))
	renumbers, all := true, int64(0)
	for op := range jepsen.Operation(h.Operations()) {
		n, isInt := number(op)
		p := h.Process[h.Invocation[op]]
		renumbers = renumbers && isInt && n >= 0 && !crashed[p]
		if h.Invocation[op] < firstCrash {
			all = max(all, n+1)
		}
		if h.Status[op] == jepsen.Crashed {
			crashed[p] = true
			if end := h.Completion[op]; end != jepsen.None {
				firstCrash = min(firstCrash, end)
			}
		}
	}
	of := map[int64]bool{} // of the numbers of processes: whether they crashed
	for p := range h.Processes {
		if n, isInt := h.Values.Int(h.Processes[p]); isInt {
			of[n] = crashed[p]
		}
	}
	for n := range of {
		renumbers = renumbers && (n < all || of[n-all])
	}
	renumbers = renumbers && slices.Contains(crashed, true)
	return func(op jepsen.Operation) string {
		if n, _ := number(op); renumbers {
			return h.Values.Text(h.Values.InternInt(n % all))
		}
		return h.ProcessName(op)
	}
}
