package main

import (
	"fmt"
	"strings"
)

// hard returns a history that is not linearizable, and that the general search does not decide quickly. n
// transactions happen at once, each writing its number to two of five registers, and 0 to a sixth one, so that values
// do not tell who was seen there. After all have returned, a read returns five different numbers. Whatever comes last leaves two equal ones, but a search tries every set of
// transactions: from n = 30 there are more than memory holds.
func hard(n int) string {
	var b strings.Builder
	event := func(process int, typ, txn string) {
		fmt.Fprintf(&b, "{:process %d, :type %s, :f :txn, :value [%s]}\n", process, typ, txn)
	}
	txn := func(i int) string { return fmt.Sprintf("[:w %d %d] [:w %d %d] [:w 5 0]", i%5, i, (i+1)%5, i) }
	for i := range n {
		event(i, ":invoke", txn(i))
	}
	for i := range n {
		event(i, ":ok", txn(i))
	}
	event(0, ":invoke", "[:r 0 0] [:r 1 1] [:r 2 2] [:r 3 3] [:r 4 4] [:r 5 0]")
	event(0, ":ok", "[:r 0 0] [:r 1 1] [:r 2 2] [:r 3 3] [:r 4 4] [:r 5 0]")
	return b.String()
}

// many returns a history that is not linearizable, with n crashed operations open at the failure: its results are
// long.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{:process %d, :type :invoke, :f :write, :value %d}\n", i+1, i)
	}
	b.WriteString("{:process 0, :type :invoke, :f :write, :value -1}\n{:process 0, :type :fail, :f :write, :value -1}\n") // so -1 was not there at first
	b.WriteString("{:process 0, :type :invoke, :f :read}\n{:process 0, :type :ok, :f :read, :value -1}\n")
	return b.String()
}
