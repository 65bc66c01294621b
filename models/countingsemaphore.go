package models

import (
	"fmt"

	"clew/edn"
	"clew/jepsen"
)

var countingSemaphoreDefinition = Definition{
	Name: "counting-semaphore", Fs: ":incr -> true, :decr -> true, or false if the count was 0", About: "a count that never falls below 0",
	NoInit: "it starts at 0",
	Record: "clew.model.CountingSemaphore",
	Verbs:  map[string]string{":incr": "incremented", ":decr": "decremented"},
	Object: "counting semaphore",
	New: func(b *Binding) (Reader, error) {
		q, err := newBag(b)
		return &countingSemaphore{q, b.v.InternKeyword("incr"), b.v.InternKeyword("decr"), int32(b.v.Same(b.v.InternInt(1)))}, err
	},
}

// countingSemaphore is a bag of permits that are all alike. A :decr takes one out, or
// finds none.
type countingSemaphore struct {
	*unorderedQueue
	fIncr, fDecr edn.ID
	permit       int32
}

func (m *countingSemaphore) Read(o Operation) (Op, bool, error) {
	completed := o.status == jepsen.Succeeded
	switch {
	case o.f != m.fIncr && o.f != m.fDecr:
		return Op{}, false, ErrUnknownF
	case o.given != edn.Nil && o.given != edn.True && int32(m.v.Same(o.given)) != m.permit:
		return Op{}, false, fmt.Errorf("expected nil or 1, since each counts one, found %s", m.v.Text(o.given))
	case o.f == m.fIncr && completed && o.value != edn.True && o.value != edn.Nil:
		return Op{}, false, fmt.Errorf("expected true or nil, found %s", m.v.Text(o.value))
	case o.f == m.fIncr:
		return Op{Kind: Enqueue, A: m.permit}, true, nil
	case completed && o.value == edn.False:
		return Op{Kind: DequeueEmpty}, true, nil
	case completed && o.value != edn.True:
		return Op{}, false, fmt.Errorf("expected true or false, found %s", m.v.Text(o.value))
	}
	return Op{Kind: Dequeue, A: m.permit}, true, nil
}

func (m *countingSemaphore) Why(s State, op Op) string {
	if op.Kind == DequeueEmpty {
		return fmt.Sprintf("the count is not 0: it is %d", len(s))
	}
	return "can't decrement 0"
}

func (m *countingSemaphore) Record(s State) edn.Value {
	return record(m.v, m.record, field{"count", m.v.InternInt(int64(len(s)))})
}
