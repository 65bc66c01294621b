package clewtest_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"clew/clewtest"
	"clew/models"
)

// replicated is a register whose reads come from a replica that has not got the last writes yet.
type replicated struct {
	mu     sync.Mutex
	writes []int
	lag    int // so many writes
}

func (r *replicated) write(v int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, v)
}

// read returns 0 if nothing has arrived.
func (r *replicated) read() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.writes) <= r.lag {
		return 0
	}
	return r.writes[len(r.writes)-1-r.lag]
}

// later is a register whose writes reach its replica some time later. Only one of the clients reads there.
type later struct {
	mu               sync.Mutex
	primary, replica int
}

func (r *later) write(v int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.primary = v
	time.AfterFunc(time.Millisecond, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.replica = v
	})
}

func (r *later) read(replica bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if replica {
		return r.replica
	}
	return r.primary
}

// register is a system with a correct register if the lag is 0.
func register(lag int) func(testing.TB) func(*clewtest.Client) {
	return func(testing.TB) func(*clewtest.Client) {
		r := &replicated{lag: lag}
		return func(c *clewtest.Client) {
			if c.Rand.IntN(2) == 0 {
				v := c.Unique()
				op := c.Invoke("write", v)
				r.write(v)
				op.OK()
			} else {
				op := c.Invoke("read")
				if v := r.read(); v != 0 {
					op.OK(v)
				} else {
					op.OK(nil)
				}
			}
		}
	}
}

// registers is a system with a register for each of ten keys, of which one is not correct.
func registers(testing.TB) func(*clewtest.Client) {
	var all [10]replicated
	all[6].lag = 1
	return func(c *clewtest.Client) {
		if key, v := c.Pick(10), c.Unique(); c.Rand.IntN(2) == 0 {
			op := c.Invoke("write", key, v)
			all[key].write(v)
			op.OK()
		} else {
			op := c.Invoke("read", key)
			if v := all[key].read(); v != 0 {
				op.OK(v)
			} else {
				op.OK(nil)
			}
		}
	}
}

// sleepy is a system with a register that takes its time.
func sleepy(testing.TB) func(*clewtest.Client) {
	r := &later{}
	return func(c *clewtest.Client) {
		time.Sleep(time.Duration(c.Rand.IntN(500)) * time.Microsecond)
		if v := c.Unique(); c.Rand.IntN(2) == 0 {
			op := c.Invoke("write", v)
			r.write(v)
			op.OK()
		} else {
			op := c.Invoke("read")
			op.OK(r.read(c.ID == 3))
		}
	}
}

// store is a system with a map that forgets the deletion of one of its keys.
func store(testing.TB) func(*clewtest.Client) {
	var m sync.Map
	return func(c *clewtest.Client) {
		switch key := c.Pick(10); c.Rand.IntN(3) {
		case 0:
			v := c.Unique()
			op := c.Invoke("put", key, v)
			m.Store(key, v)
			op.OK()
		case 1:
			op := c.Invoke("get", key)
			v, _ := m.Load(key)
			op.OK(v)
		default:
			op := c.Invoke("delete", key)
			if key != 7 {
				m.Delete(key)
			}
			op.OK()
		}
	}
}

// queue is a system with a queue whose two consumers may take the same element.
type queue struct {
	mu       sync.Mutex
	elements []int
}

func (q *queue) put(v int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.elements = append(q.elements, v)
}

func (q *queue) take() any {
	q.mu.Lock()
	if len(q.elements) == 0 {
		q.mu.Unlock()
		return nil
	}
	v := q.elements[0]
	q.mu.Unlock()
	runtime.Gosched()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.elements) > 0 {
		q.elements = q.elements[1:]
	}
	return v
}

func queues(testing.TB) func(*clewtest.Client) {
	q := &queue{}
	return func(c *clewtest.Client) {
		if v := c.Unique(); c.Rand.IntN(3) > 0 {
			op := c.Invoke("enqueue", v)
			q.put(v)
			op.OK()
		} else {
			op := c.Invoke("dequeue")
			op.OK(q.take())
		}
	}
}

// counters is a model of the test's own: an addition returns the new sum.
var counters = models.Own(models.Func[int64]{Name: "counters", Ops: map[string]models.StepFunc[int64]{
	"plus": func(n int64, c models.Call) ([]int64, error) {
		by, _ := c.Value.Int()
		if sum, _ := c.Out.Int(); c.OK && sum != n+by {
			return nil, models.Inconsistent("the sum is %d", n+by)
		}
		return []int64{n + by}, nil
	},
}}.Definition())

func adding(testing.TB) func(*clewtest.Client) {
	var mu sync.Mutex
	sum := 0
	get := func() int {
		mu.Lock()
		defer mu.Unlock()
		return sum
	}
	return func(c *clewtest.Client) {
		by := 1 + c.Pick(5)
		op := c.Invoke("plus", by)
		n := get() + by
		runtime.Gosched()
		mu.Lock()
		sum = n
		mu.Unlock()
		op.OK(n)
	}
}
