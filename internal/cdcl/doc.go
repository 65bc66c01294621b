// Package cdcl is a small solver for propositional formulas by conflict-driven
// clause learning (Marques-Silva & Sakallah, 1996). It is made for a theory that
// speaks at every fixpoint of propagation, and for formulas that grow along time.
//
// A Solver holds clauses over variables. It decides literals and propagates. From
// every conflict it learns a clause that keeps it from running into the same one
// again:
//
//   - Two literals of a clause are watched (Moskewicz et al., Chaff, 2001). The
//     lists of watches run through the clauses themselves, which lie in one array
//     (Biere, PicoSAT, 2008): a variable takes some 40 bytes.
//   - It learns the first unique implication point, minimized (Sörensson & Biere, 2009).
//   - Variables that are alternatives of one question form a group. Groups that
//     took part in recent conflicts are decided first (VSIDS, Chaff). The theory
//     says which alternative.
//   - Restarts follow Luby's sequence. Learnt clauses stay if their literals come
//     from few levels (Audemard & Simon, 2009).
//   - Backtracking is chronological if need be (Nadel & Ryvchin, 2018; Möhle & Biere,
//     2019). A jump goes back to level Base at most, and assigns the learnt literal
//     there with its own, lower level. So the work before Base is not repeated for each
//     conflict after it. If a conflict lies below Base, Base goes down, twice as far
//     each time.
//
// Variables and clauses can be added at any level, while a solution is being
// built, and by the theory while it checks one. A Solver does not guess: unless it
// was stopped, it is right.
//
// It is not a solver for large formulas: there is no preprocessing. gophersat, which others keep, would not do: it takes
// clauses only between searches, lets no theory speak during one, and does not bound its memory.
//
// solver.go has the formula, propagate.go the search, analyze.go what is learned from a conflict, reduce.go what is
// dropped again, and heap.go the order of decisions.
package cdcl
