package fressian

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"clew/edn"
)

// str returns the string that begins with a code. Fressian encodes each of Java's 16-bit
// units as UTF-8, so that a character of two units takes six bytes. A unit without its
// other half stays as it is, as in package edn. The bytes are valid until the next string.
func (r *Reader) str(code byte) []byte {
	at := r.at
	text := r.chunks(code, stringPacked, stringChunk, stringCode, "a string")
	if bytes.IndexByte(text, 0xed) < 0 {
		if !utf8.Valid(text) {
			r.fail(at, "expected UTF-8 in a string, found other bytes")
		}
		return text
	}
	whole := make([]byte, 0, len(text))
	for rest := string(text); rest != ""; {
		c, size := edn.DecodeRune(rest)
		if c == utf8.RuneError && size < 3 {
			r.fail(at, "expected UTF-8 in a string, found other bytes")
			return nil
		}
		if low, _ := edn.DecodeRune(rest[size:]); utf16.IsSurrogate(c) && utf16.DecodeRune(c, low) != utf8.RuneError {
			whole, rest = utf8.AppendRune(whole, utf16.DecodeRune(c, low)), rest[6:]
			continue
		}
		whole, rest = append(whole, rest[:size]...), rest[size:]
	}
	return whole
}

// byteArray returns the bytes that begin with a code.
func (r *Reader) byteArray(code byte) []byte {
	if code < bytesPacked || code > bytesCode {
		if r.err == nil {
			r.unexpected(r.at-1, "bytes")
		}
		return nil
	}
	return r.chunks(code, bytesPacked, bytesChunk, bytesCode, "bytes")
}

// chunks returns a text of bytes. Its length is in the code or follows it. Otherwise it
// comes in chunks, and the last one has one of the other codes.
func (r *Reader) chunks(code, packed, chunk, last byte, of string) []byte {
	r.text = r.text[:0]
	for code == chunk && r.err == nil {
		r.text = append(r.text, r.bytes(r.count("bytes"), of)...)
		if r.at >= len(r.data) || r.data[r.at] < packed || r.data[r.at] > last {
			r.unexpected(r.at, "the rest of "+of)
			return nil
		}
		code = r.data[r.at]
		r.at++
	}
	n := int(code) - int(packed)
	if code == last {
		n = r.count("bytes")
	}
	if r.err != nil {
		return nil
	}
	if len(r.text) == 0 {
		return r.bytes(n, of)
	}
	r.text = append(r.text, r.bytes(n, of)...)
	return r.text
}

// printed returns the number that a float prints as.
func printed(f float32) float64 {
	n, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	return n
}

// maxBytes bounds the bytes of an integer: more bytes have more than edn.MaxNumber digits.
const maxBytes = edn.MaxNumber / 2

// integer reads the bytes of an integer, in two's complement, and returns it as text.
func (r *Reader) integer() string {
	i := r.at
	b := r.byteArray(r.code("bytes"))
	if len(b) > maxBytes {
		r.fail(i, "expected a number of at most %d digits, found one of %d bytes", edn.MaxNumber, len(b))
		return ""
	}
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n.String()
}

// whole reads an integer of any size and returns it as text.
func (r *Reader) whole(depth int) string {
	return strings.TrimSuffix(r.v.Str(r.ofKind(edn.KindInt, "an integer", depth)), "N")
}

// number returns the number of a text that was made from the object at i.
func (r *Reader) number(i int, text string) edn.ID {
	if r.err != nil {
		return edn.Nil
	}
	id, err := r.v.Parse([]byte(text), edn.Pos{})
	if err != nil {
		r.fail(i, "expected a number of at most %d digits, found one of %d characters", edn.MaxNumber, len(text))
	}
	return id
}

func (r *Reader) ratio(i, depth int) edn.ID {
	n := r.whole(depth)
	d := r.whole(depth)
	if r.err == nil && (d == "0" || d[0] == '-') {
		r.fail(i, "expected a ratio with a positive denominator, found %s/%s", n, d)
	}
	return r.number(i, n+"/"+d)
}

// decimal reads a decimal: its digits and its scale, the number of digits behind the point.
func (r *Reader) decimal(i, _ int) edn.ID {
	digits := r.integer()
	scale := r.Int()
	if r.err == nil && (scale > math.MaxInt32 || scale < math.MinInt32) {
		r.fail(i, "expected a decimal with a scale of 32 bits, found %d", scale)
	}
	if r.err != nil {
		return edn.Nil
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	return r.number(i, sign+scaled(digits, int(scale))+"M")
}

// scaled returns a decimal as Java prints it: with an exponent if the scale is negative or
// if many zeros would come before the digits.
func scaled(digits string, scale int) string {
	exponent := len(digits) - 1 - scale
	switch {
	case scale == 0:
		return digits
	case scale < 0 || exponent < -6:
		if len(digits) > 1 {
			digits = digits[:1] + "." + digits[1:]
		}
		return fmt.Sprintf("%sE%+d", digits, exponent)
	case exponent < 0:
		return "0." + strings.Repeat("0", -1-exponent) + digits
	}
	return digits[:exponent+1] + "." + digits[exponent+1:]
}
