package counter

import (
	"fmt"

	"clew/edn"
	"clew/internal/home"
	"clew/internal/types/queue"
	"clew/jepsen"
	"clew/models"
)

var countingSemaphoreDefinition = models.Definition{
	Name: "counting-semaphore", Fs: ":incr -> true, :decr -> true, or false if the count was 0", About: "a count that never falls below 0",
	NoInit: "it starts at 0",
	Record: "clew.model.CountingSemaphore",
	Verbs:  map[string]string{":incr": "incremented", ":decr": "decremented"},
	Object: "counting semaphore",
	New: func(b *models.Binding) (models.Reader, error) {
		q, err := queue.NewBag(b)
		q.Offered.Because = nil
		q.Offered.Text = func(int32) string { return "" }
		q.Offered.Anomaly = func(ops *models.Operations, row models.Row) models.Anomaly {
			return home.ByLevels(ops, row, func(op models.Op, x home.Beyond) models.Anomaly {
				if op.Kind == models.DequeueEmpty {
					return models.WrongEmpty
				}
				return models.NegativeBalance
			})
		}
		q.Offered.Hard = func() models.Hard {
			return models.Hard{Change: []string{"use more semaphores with fewer operations each"}}
		}
		return &countingSemaphore{q, b.Values.InternKeyword("incr"), b.Values.InternKeyword("decr"), int32(b.Values.Same(b.Values.InternInt(1)))}, err
	},
}

// countingSemaphore is a bag of permits that are all alike. A :decr takes one out, or
// finds none.
type countingSemaphore struct {
	*queue.Unordered
	fIncr, fDecr edn.ID
	permit       int32
}

func (m *countingSemaphore) Read(o models.Operation) (models.Op, bool, error) {
	completed := o.Status == jepsen.Succeeded
	switch {
	case o.FID != m.fIncr && o.FID != m.fDecr:
		return models.Op{}, false, models.ErrUnknownF
	case o.GivenID != edn.Nil && o.GivenID != edn.True && m.Class(o.GivenID) != m.permit:
		return models.Op{}, false, fmt.Errorf("expected nil or 1, since each counts one, found %s", m.V.Text(o.GivenID))
	case o.FID == m.fIncr && completed && o.ValueID != edn.True && o.ValueID != edn.Nil:
		return models.Op{}, false, fmt.Errorf("expected true or nil, found %s", m.V.Text(o.ValueID))
	case o.FID == m.fIncr:
		return models.Op{Kind: models.Enqueue, A: m.permit}, true, nil
	case completed && o.ValueID == edn.False:
		return models.Op{Kind: models.DequeueEmpty}, true, nil
	case completed && o.ValueID != edn.True:
		return models.Op{}, false, fmt.Errorf("expected true or false, found %s", m.V.Text(o.ValueID))
	}
	return models.Op{Kind: models.Dequeue, A: m.permit}, true, nil
}

func (m *countingSemaphore) Why(s models.State, op models.Op) string {
	if op.Kind == models.DequeueEmpty {
		return fmt.Sprintf("the count is not 0: it is %d", len(s))
	}
	return "can't decrement 0"
}

func (m *countingSemaphore) Record(s models.State) edn.Value {
	return m.Print("count", m.V.InternInt(int64(len(s))))
}
