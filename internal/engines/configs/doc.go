// Package configs searches over compressed configurations: Window goes depth first, and Frontier breadth first over the
// returns. They decide any model, see package fallback.
//
// window.go says what a configuration is and why the rules that shrink the search lose nothing. configs.go holds
// configurations, how one leads to another, and antichains of them. liveness.go says which values of a state still
// matter. localproof.go shows a failure by the last returns alone; Window asks for that when it is stuck.
package configs
