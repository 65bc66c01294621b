// Package transaction decides histories of transactions on a map of lists that only grow. It is for transactions that
// append values once to a key, and not for other transactions.
package transaction
