package cdcl

import "slices"

// firstReduce is how many conflicts precede the first time that learnt clauses are
// dropped, and moreReduce is how many more precede the next time. Tests change
// both.
var firstReduce, moreReduce int64 = 2000, 300

// keptGlue is the largest number of levels of clauses that are never dropped.
const keptGlue = 2

// drop removes the worse half of those learnt clauses that were not used since
// the last time and are not reasons.
func (s *Solver) drop() {
	s.reduce = s.Conflicts + firstReduce + moreReduce*s.restarts/8
	var worse []int32
	for _, c := range s.learnt {
		info := s.clauses[c+infoAt]
		if info&isUsed == 0 && info/glueOne > keptGlue && s.clauses[c+sizeAt] > 2 && !s.isReason(c) {
			worse = append(worse, c)
		}
		s.clauses[c+infoAt] = info &^ isUsed
	}
	slices.SortStableFunc(worse, func(a, b int32) int { return int(s.clauses[b+infoAt]/glueOne - s.clauses[a+infoAt]/glueOne) })
	for _, c := range worse[:len(worse)/2] {
		s.clauses[c+infoAt] |= isDead
		s.garbage += int(litsAt + s.clauses[c+sizeAt])
	}
	s.learnt = slices.DeleteFunc(s.learnt, func(c int32) bool { return s.clauses[c+infoAt]&isDead != 0 })
	if 4*s.garbage > len(s.clauses) {
		s.compact()
	}
}

// isReason says whether a clause has implied one of its watched literals.
func (s *Solver) isReason(c int32) bool {
	for _, x := range s.clauses[c+litsAt : c+litsAt+2] {
		if s.value[x] > 0 && s.reason[Lit(x).Var()] == c {
			return true
		}
	}
	return false
}

// compact moves the remaining clauses together, and rebuilds the lists of watches.
func (s *Solver) compact() {
	clear(s.head)
	to, n := int32(1), int32(len(s.clauses))
	learnt := 0
	for c := int32(1); c < n; {
		size := litsAt + s.clauses[c+sizeAt]
		if s.clauses[c+infoAt]&isDead == 0 {
			for _, x := range s.clauses[c+litsAt : c+litsAt+2] {
				if v := Lit(x).Var(); s.reason[v] == c && s.value[x] > 0 {
					s.reason[v] = to
				}
			}
			if s.clauses[c+infoAt] != 0 {
				s.learnt[learnt] = to
				learnt++
			}
			copy(s.clauses[to:], s.clauses[c:c+size])
			for k := range int32(2) {
				l := s.clauses[to+litsAt+k]
				s.clauses[to+nextAt+k], s.head[l] = s.head[l], to
			}
			to += size
		}
		c += size
	}
	s.clauses, s.garbage = s.clauses[:to], 0
}
