package priorityqueue

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"clew/internal/second"
	"clew/internal/types/queue"
)

// secondPriority holds numbers, or strings without escapes. The highest come first (or the
// least), and equal ones in any order.
func secondPriority(o second.Options, s []string, a second.Op) [][]string {
	higher := func(x, y string) bool {
		if o.Least {
			x, y = y, x
		}
		return secondCompare(x, y) > 0
	}
	return queue.SecondQueue(o, s, a, func(s []string, i int) bool {
		return !slices.ContainsFunc(s, func(other string) bool { return higher(other, s[i]) })
	})
}

// secondCompare compares numbers, exactly, or strings by their UTF-16 units.
func secondCompare(x, y string) int {
	if strings.HasPrefix(x, `"`) && strings.HasPrefix(y, `"`) {
		return slices.Compare(utf16.Encode([]rune(strings.Trim(x, `"`))), utf16.Encode([]rune(strings.Trim(y, `"`))))
	}
	number := func(text string) *big.Rat {
		n, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "N"))
		if f, err := strconv.ParseFloat(text, 64); ok && err == nil && strings.ContainsAny(text, ".e") {
			n.SetFloat64(f) // A double is the value that its text is read as.
		}
		if !ok {
			panic("naive: no number: " + text)
		}
		return n
	}
	return number(x).Cmp(number(y))
}
