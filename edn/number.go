package edn

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"

	goedn "olympos.io/encoding/edn"
)

// plainInt reads a decimal integer that fits in an int64 and is spelled as Clojure prints it.
func plainInt(text []byte) (int64, bool) {
	if len(text) > len("-9223372036854775808") {
		return 0, false
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == string(text)
}

// readNumber reads a number in any of Clojure's notations. It must begin
// with a digit, or with a sign and a digit.
func readNumber(text string) (token, bool) {
	if len(text) > MaxNumber {
		return token{}, false
	}
	body := unsigned(text)
	negative := text[0] == '-'
	if n, d, ok := strings.Cut(body, "/"); ok {
		return readRatio(negative, n, d)
	}
	if n, ok := readInt(body); ok {
		if negative {
			n.Neg(n)
		}
		return intToken(n), true
	}
	if isDigits(strings.TrimSuffix(body, "N")) {
		return token{}, false // A malformed octal such as 08 is not a float either.
	}
	return readFloat(text)
}

func intToken(n *big.Int) token {
	if n.IsInt64() {
		return token{kind: KindInt, fits: true, n: n.Int64()}
	}
	return token{kind: KindInt, canonical: n.String() + "N"}
}

// readInt reads an unsigned integer: decimal, 0x1F, 017 or 2r101.
func readInt(body string) (*big.Int, bool) {
	digits, base := body, 10
	switch r := strings.IndexAny(body, "rR"); {
	case r == 1 || r == 2:
		b, err := strconv.Atoi(body[:r])
		if err != nil || b < 2 || b > 36 || body[0] == '0' {
			return nil, false
		}
		return parseBase(body[r+1:], b)
	case strings.HasPrefix(body, "0x"), strings.HasPrefix(body, "0X"):
		digits, base = body[2:], 16
	case len(body) > 1 && body[0] == '0' && body[1] != 'N':
		digits, base = body[1:], 8
	}
	return parseBase(strings.TrimSuffix(digits, "N"), base)
}

func parseBase(digits string, base int) (*big.Int, bool) {
	if digits == "" || strings.ContainsAny(digits, "+-_") {
		return nil, false
	}
	if base == 10 && isDigits(digits) {
		var n *big.Int
		err := goedn.UnmarshalString(digits+"N", &n)
		return n, err == nil
	}
	return new(big.Int).SetString(digits, base)
}

func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// readRatio reads n/d in lowest terms. It returns 4/2 as an integer.
func readRatio(negative bool, n, d string) (token, bool) {
	if !isDigits(n) || !isDigits(d) || strings.Trim(d, "0") == "" {
		return token{}, false
	}
	// A leading zero does not mean octal here, but it does to big.Rat.
	r, ok := new(big.Rat).SetString(cmp.Or(strings.TrimLeft(n, "0"), "0") + "/" + strings.TrimLeft(d, "0"))
	if !ok {
		return token{}, false
	}
	if negative {
		r.Neg(r)
	}
	if r.IsInt() {
		return intToken(r.Num()), true
	}
	return token{kind: KindRatio, canonical: r.String()}, true
}

// readFloat reads a double, or a decimal if it ends in M.
func readFloat(text string) (token, bool) {
	body, decimal := strings.CutSuffix(text, "M")
	mantissa, exponent := body, "0"
	if e := strings.IndexAny(body, "eE"); e >= 0 {
		mantissa, exponent = body[:e], body[e+1:]
	}
	whole, fraction, _ := strings.Cut(unsigned(mantissa), ".")
	if !isDigits(whole) || fraction != "" && !isDigits(fraction) || !isDigits(unsigned(exponent)) {
		return token{}, false
	}
	if decimal {
		return token{kind: KindDecimal, canonical: canonicalDecimal(text[0] == '-', whole, fraction, exponent)}, true
	}
	f, err := strconv.ParseFloat(body, 64)
	if err != nil && !math.IsInf(f, 0) {
		return token{}, false
	}
	return token{kind: KindFloat, canonical: canonicalFloat(f)}, true
}

// canonicalDecimal writes a decimal as its shortest integer and an exponent. It
// works on the text alone because 1e999999999M has too many digits to spell out.
func canonicalDecimal(negative bool, whole, fraction, exponent string) string {
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0E0M"
	}
	short := strings.TrimRight(digits, "0")
	scale, _ := new(big.Int).SetString(exponent, 10)
	scale.Add(scale, big.NewInt(int64(len(digits)-len(short)-len(fraction))))
	if negative {
		short = "-" + short
	}
	return short + "E" + scale.String() + "M"
}

// Float returns the number nearest to a floating-point number's text, and 0 for other forms.
func (v *Values) Float(id ID) float64 {
	if v.Kind(id) != KindFloat {
		return 0
	}
	return goFloat(v.Str(id))
}

// Rat returns the exact value of a number. It returns false for other forms, for
// infinity and NaN, and for more than [MaxNumber] digits before or after the point.
func (v *Values) Rat(id ID) (*big.Rat, bool) {
	switch v.Kind(id) {
	case KindInt:
		return new(big.Rat).SetInt(v.big(id)), true
	case KindFloat:
		r := new(big.Rat).SetFloat64(v.Float(id))
		return r, r != nil
	case KindRatio, KindDecimal:
		t, _ := readNumber(v.Str(id))
		text := strings.TrimSuffix(t.canonical, "M")
		_, exponent, _ := strings.Cut(text, "E")
		if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || max(n, -n) > MaxNumber {
			return nil, false
		}
		return new(big.Rat).SetString(text)
	}
	return nil, false
}

// canonicalFloat returns the text that names the class of f: 0.0 and -0.0 are equal.
func canonicalFloat(f float64) string {
	if f == 0 {
		return "0.0"
	}
	return floatText(f)
}

// floatText prints a float as Clojure does.
func floatText(f float64) string {
	switch {
	case f != f:
		return "##NaN"
	case math.IsInf(f, 1):
		return "##Inf"
	case math.IsInf(f, -1):
		return "##-Inf"
	case f == 0 || math.Abs(f) >= 1e-3 && math.Abs(f) < 1e7:
		return withPoint(strconv.FormatFloat(f, 'f', -1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	n, _ := strconv.Atoi(exponent)
	return withPoint(mantissa) + "E" + strconv.Itoa(n)
}

func withPoint(s string) string {
	if strings.Contains(s, ".") {
		return s
	}
	return s + ".0"
}
