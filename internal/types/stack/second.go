package stack

import (
	"clew/internal/second"
	"clew/internal/types/queue"
)

func secondStack(o second.Options, s []string, a second.Op) [][]string {
	return queue.SecondQueue(o, s, a, func(s []string) [][2]any {
		if len(s) == 0 {
			return nil
		}
		return [][2]any{{s[len(s)-1], s[:len(s)-1]}}
	})
}
