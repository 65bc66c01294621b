package blocks

import (
	"errors"
	"io"
	"testing"
)

// idle is an input that returns nothing for some time.
type idle int

func (n *idle) Read([]byte) (int, error) {
	if *n--; *n < 0 {
		return 0, io.EOF
	}
	return 0, nil
}

func TestAnInputThatGivesNothingHasABound(t *testing.T) {
	for n, want := range map[int]error{maxEmptyReads - 1: io.EOF, maxEmptyReads + 1: io.ErrNoProgress} {
		in := idle(n)
		if err := (&Blocks{In: &in}).More(0); !errors.Is(err, want) {
			t.Errorf("nothing %d times: %v, want %v", n, err, want)
		}
	}
}
