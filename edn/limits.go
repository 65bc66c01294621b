package edn

// These limits keep a file from exhausting the stack, the memory or the
// time of a program that reads it.
const (
	// MaxDepth bounds the nesting of forms: values are read and printed by
	// recursion. No history nests more than a few dozen levels.
	MaxDepth = 1000

	// MaxNumber bounds the length of a number's text in bytes, because
	// conversions between bases take quadratic time.
	MaxNumber = 4096

	// MaxForm bounds the length in bytes of a single map of [Maps], and of the
	// text between two of them. A map is held in memory as a whole, and the
	// number of its items must fit in an int32.
	MaxForm = 1 << 30

	// maxClip bounds how much of a token a message quotes.
	maxClip = 40
)
