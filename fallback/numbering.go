package fallback

// Numbering gives values dense numbers, in the order in which they come up.
type Numbering map[int32]int32

// Of returns the number of a value.
func (n Numbering) Of(value int32) int32 {
	number, known := n[value]
	if !known {
		number = int32(len(n))
		n[value] = number
	}
	return number
}
