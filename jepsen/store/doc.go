// Package store finds histories: the runs in a store of Jepsen's, in any folder or
// in an archive, and what others have said of them.
//
//	found, err := store.Find("store/")
//	for _, s := range found {
//		h, err := s.Read(jepsen.Options{})
//		..
//	}
//
// ReadClaims reads a run's results.edn, ReadTable a table of verdicts; both give
// Claims, which clew.Compare compares with its own results.
//
// The package knows names and places. What is in a history package forms reads,
// and what its operations mean models say.
package store
