// Package store finds histories: the runs in a Jepsen store, in any other
// folder or in an archive. It also reads what others have said about them.
//
//	found, err := store.Find("store/")
//	for _, s := range found {
//		h, err := s.Read(ctx, jepsen.Options{})
//		..
//	}
//
// FindFS does the same in any file system, FindIn in a file or archive that is opened
// by whoever knows how, and FindAmong chooses among names that somebody has listed,
// such as the objects below a prefix.
//
// ReadClaims reads a run's results.edn, ReadTestClaims the results in its
// test.jepsen, ReadTable a table of verdicts; all give Claims, which clew.Compare compares with its own results.
//
// The package knows only the names and places of files. Package forms reads
// what is in a history, and package models says what its operations mean.
package store
