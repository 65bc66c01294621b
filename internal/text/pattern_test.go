package text

import "testing"

// A pattern is compiled once, and only when it is asked for.
func TestAPatternIsCompiledWhenItIsAskedFor(t *testing.T) {
	wrong, right := Pattern(`(`), Pattern(`^a+$`)
	if first := right(); first != right() || !first.MatchString("aa") || first.MatchString("ab") {
		t.Error("the pattern does not match what it should, or was compiled twice")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression is compiled")
		}
	}()
	wrong()
}
