package shards

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"clew/internal/outputs"
)

// Sum is the checksum of a line, or of several. Those of several lines are added
// up, so the order of the lines does not matter.
type Sum uint64

// MarshalText returns 16 hexadecimal digits.
func (s Sum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(s)), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Sum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*s = Sum(n)
	return err
}

func sumOf(text []byte) Sum {
	sum := sha256.Sum256(text)
	return Sum(binary.BigEndian.Uint64(sum[:]))
}

// Sealed returns a Line or a Trailer as a line of JSON. Its last key is the
// checksum of everything before that key.
func Sealed(of any) (line string, sum Sum) {
	text := bytes.TrimSuffix([]byte(outputs.JSONLine(of)), []byte("}\n"))
	sum = sumOf(text)
	return string(text) + seal(sum) + "\n", sum
}

const sealBegins = `,"sum":"`

// seal returns the end of a line.
func seal(sum Sum) string { return fmt.Sprintf("%s%016x\"}", sealBegins, uint64(sum)) }

// unsealed returns the checksum of a line of JSON without its end. It also says
// whether the line has a checksum, and whether the line is unchanged.
func unsealed(line []byte) (sum Sum, sealed, whole bool) {
	at := max(0, len(line)-len(seal(0)))
	sum = sumOf(line[:at])
	end := string(line[at:])
	return sum, strings.HasPrefix(end, sealBegins), end == seal(sum)
}
