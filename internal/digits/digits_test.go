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

func TestANumberIsAllOfAText(t *testing.T) {
	const all = "98765432109876543"
	for n := range len(all) + 1 {
		text := all[:n]
		var want int64
		_, bad := fmt.Sscanf(text, "%d", &want)
		if got, is := Number([]byte(text)); is != (bad == nil && n <= 16) || is && got != want {
			t.Errorf("%q is %d, %v", text, got, is)
		}
		for i := range n {
			for _, c := range []string{" ", "/", ":", "\xb0"} {
				if _, is := Number([]byte(text[:i] + c + text[i+1:])); is {
					t.Errorf("%q at %d of %s is taken for a digit", c, i, text)
				}
			}
		}
	}
	if n, is := Number([]byte("00000000000012")); n != 12 || !is {
		t.Error(n, is)
	}
}
