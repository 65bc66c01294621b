package modelfile_test

import (
	"context"
	"slices"
	"testing"

	"clew"
	"clew/jepsen"
	"clew/models"
	"clew/models/modelfile"
)

// TestStatesMayBeBooleansAndPairs has models whose states look like the results of
// Porcupine's steps. They work.
func TestStatesMayBeBooleansAndPairs(t *testing.T) {
	for _, x := range []struct{ name, text, valid, invalid string }{
		{"a flag", `
init = False
def flip(state, op): return not state
def read(state, op): return state if state == op.out else inconsistent("no")
ops = {"flip": flip, "read": read}`, "flip nil, read nil -> true", "flip nil, read nil -> false"},
		{"a register of booleans that holds nothing at first", `
init = None
def write(state, op): return op.value
def read(state, op): return state if state == op.out else inconsistent("no")
ops = {"write": write, "read": read}`, "write true, read nil -> true", "write true, read nil -> false"},
		{"a register of anything", `
init = 0
def write(state, op): return op.value
def read(state, op): return op.out if state == op.out else inconsistent("no")
ops = {"write": write, "read": read}`, "write true, read nil -> true, write [true 1], read nil -> [true 1]", "write true, read nil -> false"},
		{"a cas of anything", `
init = 0
def cas(state, op): return op.value[1] if state == op.value[0] else inconsistent("no")
def both(state, op): return op.value["to"]
ops = {"cas": cas, "both": both}`, "cas [0 true], both {:to [false]}, both {:to false}, cas [false 1]", "cas [0 true], cas [false 1]"},
		{"a lock that is None or True", `
init = None
def lock(state, op): return True if state == None else inconsistent("held")
def unlock(state, op): return None if state else inconsistent("free")
ops = {"lock": lock, "unlock": unlock}`, "lock nil, unlock nil, lock nil", "lock nil, lock nil"},
		{"a lock and its owner", `
init = (False, 0)
def lock(state, op): return (True, op.value) if not state[0] else inconsistent("held")
ops = {"lock": lock}`, "lock 1", "lock 1, lock 2"},
		{"a queue of booleans", `
init = []
def put(state, op): return state + [op.value]
def size(state, op): return state if len(state) == op.out else inconsistent("no")
ops = {"put": put, "size": size}`, "put true, put false, size nil -> 2", "put true, put false, size nil -> 1"},
		{"a queue of booleans in a tuple", `
init = ()
def put(state, op): return state + (op.value,)
def size(state, op): return state if len(state) == op.out else inconsistent("no")
ops = {"put": put, "size": size}`, "put true, put false, size nil -> 2", "put true, put false, size nil -> 1"},
		{"a helper that says whether, and a loop", `
init = 0
def fits(state, op): return state == op.out
def both(state, op): return fits(state, op), state
def write(state, op): return op.value
def read(state, op):
    while True:
        ok, state = both(state, op)
        if not ok:
            return inconsistent("no")
        return state
ops = {"write": write, "read": read}`, "write 2, read nil -> 2", "write 2, read nil -> 3"},
		{"inconsistent(..) in a variable, and from a helper", `
init = 0
def write(state, op): return op.value
def fits(state, op): return state if state == op.out else inconsistent("no")
def read(state, op):
    next = state
    if state == 7:
        next = inconsistent("seven")
    if next == state:
        next = fits(next, op)
    return next
ops = {"write": write, "read": read}`, "write 2, read nil -> 2", "write 2, read nil -> 3"},
	} {
		f, err := modelfile.Parse("m.star", []byte(x.text))
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		for ops, want := range map[string]jepsen.Verdict{x.valid: jepsen.Valid, x.invalid: jepsen.Invalid} {
			r, err := clew.Check(context.Background(), history(t, ops), models.Own(f.Definition()), clew.Options{})
			if err != nil || r.Verdict != want || r.Vacuous != "" {
				t.Errorf("%s: %s: %v, %v", x.name, ops, err, r)
			}
		}
		if w := f.Warnings(); len(w) > 0 {
			t.Errorf("%s: %q", x.name, w)
		}
	}
}

// TestModelsThatRefuseNothingAreToldOf has models that are not errors, but useless.
func TestModelsThatRefuseNothingAreToldOf(t *testing.T) {
	const never = "no step returns inconsistent(why), so no history is ever invalid"
	for _, x := range []struct {
		text    string
		want    []string
		vacuous bool
	}{
		{`
init = 0
def read(state, op): return state if state == op.out else state
ops = {"read": read}`, []string{never}, true},
		{`
init = 0
def read(state, op): return str(state) if state == op.out or op.out == 7 else inconsistent("no")
ops = {"read": read}`, []string{"a state has type string after :read, but int initially"}, false},
		{`
init = {}
def read(state, op): return [state]
ops = {"read": read}`, []string{never, "a state has type list after :read, but dict initially"}, true},
	} {
		f, err := modelfile.Parse("m.star", []byte(x.text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := clew.Check(context.Background(), history(t, "read nil -> 7"), models.Own(f.Definition()), clew.Options{})
		if err != nil || (r.Vacuous != "") != x.vacuous {
			t.Errorf("%s: %v, %q", x.text, err, r.Vacuous)
		}
		if got := f.Warnings(); !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", x.text, got, x.want)
		}
	}
}
