package digits

import (
	"encoding/binary"
	"fmt"
	"testing"
)

func TestDigitsAreReadAsFarAsTheyGo(t *testing.T) {
	for _, after := range []string{" ", "\n", "/", ":", "\x00", "\xb0", "\xff", "a", "-"} {
		for n := range 9 {
			for _, digits := range []string{"00000000", "12345678", "99999999", "90817263"} {
				text := []byte(digits[:n] + after + "12345678")[:8]
				w := binary.LittleEndian.Uint64(text)
				if got := Leading(w); got != n {
					t.Fatalf("%q: %d digits", text, got)
				}
				if n == 0 {
					continue
				}
				var want uint64
				fmt.Sscan("1"+digits[:n], &want) // a leading zero would make it octal
				if want -= uint64(Powers[n]); Value(w, n) != want {
					t.Errorf("%q is %d", text, Value(w, n))
				}
			}
		}
	}
}
