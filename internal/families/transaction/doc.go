// Package transaction decides histories of transactions on a map of lists that only grow, or of registers. It is for
// transactions that append or write each value once to a key, and not for other transactions.
//
// Each kind of transaction has a file that says what is decided and why: listappend.go and rwregister.go. cycle.go
// finds the cycle that the former tells. versions.go reads what registers held, and order.go keeps the order that the
// latter repairs. keeping.go has weaker orders of transactions on registers, and snapshots.
package transaction
