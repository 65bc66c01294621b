// Package store finds histories: the runs in a Jepsen store, in any other
// folder or in an archive. It also reads what others have said about them.
//
//	found, err := store.Find("store/")
//	for _, s := range found {
//		h, err := s.Read(jepsen.Options{})
//		..
//	}
//
// ReadClaims reads a run's results.edn, ReadTestClaims the results in its
// test.jepsen, ReadTable a table of verdicts; all give Claims, which clew.Compare compares with its own results.
//
// The package knows only the names and places of files. Package forms reads
// what is in a history, and package models says what its operations mean.
package store
