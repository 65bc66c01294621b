package models_test

import (
	"context"
	"fmt"

	"clew"
	"clew/jepsen"
	"clew/models"
)

// A bank with accounts a and b. A transfer may not take more than the account has.
type bank struct{ A, B int64 }

var twoAccounts = models.Func[bank]{
	Name: "two-accounts",
	Init: bank{A: 10},
	Ops: map[string]models.StepFunc[bank]{
		"transfer": func(s bank, c models.Call) ([]bank, error) {
			n, ok := c.Value.Int()
			if !ok {
				return nil, fmt.Errorf("expected an amount, found %v", c.Value)
			}
			s.A, s.B = s.A-n, s.B+n
			if s.A < 0 {
				return nil, models.Inconsistent("a would have %d", s.A)
			}
			return []bank{s}, nil
		},
		"read": func(s bank, c models.Call) ([]bank, error) {
			if b, _ := c.Out.Int(); b != s.B {
				return nil, models.Inconsistent("b has %d", s.B)
			}
			return []bank{s}, nil
		},
	},
	Reads:    []string{"read"},
	Describe: func(s bank) any { return []int64{s.A, s.B} },
}

func ExampleFunc() {
	b := jepsen.NewBuilder(jepsen.Options{})
	b.Invoke(0, "transfer", 7)
	b.OK(0, "transfer", 7)
	b.Invoke(1, "transfer", 5)
	b.Info(1, "transfer", 5) // it may have happened
	b.Invoke(2, "read", nil)
	b.OK(2, "read", 12)
	h, err := b.History()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := clew.Check(context.Background(), h, models.Own(twoAccounts.Definition()), clew.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict)
	fmt.Println(r.Explanation)
	// Output:
	// not linearizable
	// process 2's :read 12 (index 5) cannot happen after process 0's :transfer 7 (index 1): b has 7
}

// Steps may have several outcomes. A step that fails ends the check with an error that
// names the operation and the state.
func ExampleFunc_errors() {
	f := models.Func[int64]{
		Name: "die",
		Ops: map[string]models.StepFunc[int64]{
			"roll": func(int64, models.Call) ([]int64, error) { return []int64{1, 2, 3, 4, 5, 6}, nil },
			"look": func(n int64, c models.Call) ([]int64, error) {
				if seen := c.Out.Go().(int64); seen != n {
					return nil, models.Inconsistent("it shows %d", n)
				}
				return []int64{n}, nil
			},
		},
	}
	for _, seen := range []any{4, "four"} {
		b := jepsen.NewBuilder(jepsen.Options{})
		b.Invoke(0, "roll", nil)
		b.OK(0, "roll", nil)
		b.Invoke(0, "look", nil)
		b.OK(0, "look", seen)
		h, err := b.History()
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := clew.Check(context.Background(), h, models.Own(f.Definition()), clew.Options{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r.Verdict, r.Final)
	}
	// Output:
	// linearizable 4
	// die: in look: panic: interface conversion: interface {} is string, not int64, on :look "four" (index 3) in state 1
}
