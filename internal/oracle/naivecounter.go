package oracle

import "math/big"

// naiveCounter adds and reads numbers of any size.
func naiveCounter(_ NaiveOptions, s []string, a naiveOp) [][]string {
	switch {
	case a.f == ":add":
		now, _ := new(big.Int).SetString(s[0], 10)
		n, _ := new(big.Int).SetString(a.value.canon(), 10)
		return [][]string{{now.Add(now, n).String()}}
	case a.crashed:
		return [][]string{s}
	}
	return stay(s, a.value.canon() == s[0])
}

// naiveCounterInit is where a counter starts.
func naiveCounterInit(given form, isGiven bool) []string {
	if isGiven {
		return []string{given.canon()}
	}
	return []string{"0"}
}
