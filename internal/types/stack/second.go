package stack

import (
	"clew/internal/second"
	"clew/internal/types/queue"
)

func secondStack(o second.Options, s []string, a second.Op) [][]string {
	return queue.SecondQueue(o, s, a, func(s []string, i int) bool { return i == len(s)-1 })
}
