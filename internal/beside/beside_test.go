package beside

import "testing"

func TestCallPanics(t *testing.T) {
	for which := range 2 {
		func() {
			ran := [2]bool{}
			defer func() {
				if p := recover(); p != which || !ran[0] || !ran[1] {
					t.Errorf("%v, %v", p, ran)
				}
			}()
			f := func(i int) func() {
				return func() {
					ran[i] = true
					if i == which {
						panic(i)
					}
				}
			}
			Call(f(0), f(1))
		}()
	}
}
