package fallback

import "math/bits"

// Count says where a configuration counts the used operations of a class.
type Count struct {
	word  int
	shift uint
	mask  uint64
}

// Used returns how many operations a configuration uses.
func (n Count) Used(config []uint64) int { return int(config[n.word] >> n.shift & n.mask) }

// Use counts one more.
func (n Count) Use(config []uint64) { config[n.word] += 1 << n.shift }

// Tally packs the counts of several classes into the words of a configuration.
type Tally struct {
	Of    []Count
	guard []uint64 // by word: the bit above every count, which stays free
}

// Words returns how many words the counts take.
func (c *Tally) Words() int { return len(c.guard) }

// Add adds a class of at most so many operations. first is the first word of the counts.
func (c *Tally) Add(first, operations int) {
	width := uint(bits.Len(uint(operations))) + 1
	shift := uint(64)
	if n := len(c.guard); n > 0 {
		shift = uint(bits.Len64(c.guard[n-1]))
	}
	if shift+width > 64 {
		c.guard, shift = append(c.guard, 0), 0
	}
	c.Of = append(c.Of, Count{first + len(c.guard) - 1, shift, 1<<(width-1) - 1})
	c.guard[len(c.guard)-1] |= 1 << (shift + width - 1)
}

// NoMore says whether no count of a is greater than that of b. Both begin with the
// first word of the counts.
func (c *Tally) NoMore(a, b []uint64) bool {
	for i, guard := range c.guard {
		if ((b[i]|guard)-a[i])&guard != guard {
			return false
		}
	}
	return true
}
