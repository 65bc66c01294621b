package porcupine

import "slices"

// room returns a slice with room for n more, doubled if it is full. append alone copies long slices five times.
func room[T any](s []T, n int) []T {
	if len(s)+n > cap(s) {
		s = slices.Grow(s, max(n, cap(s)))
	}
	return s
}

// table finds numbers by hash: those that were added with it. The numbers are 0, 1, 2 and so on.
type table struct {
	heads  []int32 // lists of numbers, plus 1
	chains []chain // by number
}

type chain struct {
	hash uint64
	next int32 // in its list, plus 1
}

// minTable is the first size of a table or a cache, a power of two.
const minTable = 16

// first returns the last number with a hash, or -1.
func (t *table) first(hash uint64) int32 {
	if len(t.heads) == 0 {
		return -1
	}
	return t.from(t.heads[hash&uint64(len(t.heads)-1)], hash)
}

// after returns the number before with the same hash, or -1.
func (t *table) after(number int32) int32 {
	return t.from(t.chains[number].next, t.chains[number].hash)
}

func (t *table) from(at int32, hash uint64) int32 {
	for at != 0 && t.chains[at-1].hash != hash {
		at = t.chains[at-1].next
	}
	return at - 1
}

// add gives the next number a hash.
func (t *table) add(hash uint64) {
	if len(t.chains) >= len(t.heads) {
		t.heads = make([]int32, max(minTable, 4*len(t.heads)))
		for i := range t.chains {
			t.link(int32(i))
		}
	}
	t.chains = append(room(t.chains, 1), chain{hash: hash})
	t.link(int32(len(t.chains) - 1))
}

func (t *table) link(number int32) {
	c := &t.chains[number]
	head := &t.heads[c.hash&uint64(len(t.heads)-1)]
	c.next, *head = *head, number+1
}

// cache remembers steps, the last of each place. A search asks for most of them again soon, or never.
type cache struct {
	places []cached
	puts   int
}

// cached says where a step leads. The state has 1 added.
type cached struct{ state, class, to int32 }

// maxCache bounds a cache, in steps: it stays near the processor.
const maxCache = 1 << 18

// at returns the place of a step.
func (c *cache) at(state, class int32) *cached {
	if len(c.places) == 0 {
		c.places = make([]cached, minTable)
	}
	h := (uint64(uint32(state))<<32 | uint64(uint32(class))) * 0x9e3779b97f4a7c15
	return &c.places[h>>32&uint64(len(c.places)-1)]
}

// put returns the place of a step that is to be remembered.
func (c *cache) put(state, class int32) *cached {
	if c.puts++; c.puts > 2*len(c.places) && len(c.places) < maxCache {
		old := c.places
		c.places = make([]cached, 4*len(old))
		for _, p := range old {
			if p.state > 0 {
				*c.at(p.state-1, p.class) = p
			}
		}
	}
	return c.at(state, class)
}
