package edn

import (
	"errors"
	"fmt"
	"testing"
)

func TestAnErrorSaysWhatIsKnownOfItsPlace(t *testing.T) {
	for want, at := range map[string]Pos{
		"f:3:4: 2 x":  {File: "f", Line: 3, Col: 4, Offset: 50},
		"3:4: 2 x":    {Line: 3, Col: 4},
		"a file: 2 x": {File: "a file"},
		"2 x":         {},
	} {
		err := fmt.Errorf("%w", at.Errorf("%d %s", 2, "x"))
		var located *Error
		if err.Error() != want || !errors.As(err, &located) || located.Pos != at || located.Msg != "2 x" {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
