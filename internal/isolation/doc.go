// Package isolation decides at which levels of consistency transactions are, and finds the anomalies that break the others.
//
// It knows nothing about data types. A Graph has a node for each transaction, and edges that say why one comes before
// another: Add them, and the graph says at which levels it has no cycle, and which cycles it has. A History also knows which
// versions of each key there were and who read them, and makes that graph. Lists makes the History of transactions that append
// to lists. Registers has transactions that write registers: their versions have no known order, so it makes a graph of what is
// certain and has package transaction search for the rest (searched.go). certain.go finds a cycle in what that refutes, and trial.go
// tries all its orders.
//
// What a level means is in docs/transactions.md, and in the tests, which search for orders, snapshots and points in time
// exhaustively.
package isolation
