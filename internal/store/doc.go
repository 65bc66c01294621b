// Package store finds histories: the runs in a Jepsen store, or the files in another
// folder or in an archive. It also reads what other checkers have said about them.
//
//	found, err := store.Find("store/")
//	for _, s := range found {
//		h, err := s.Read(ctx, jepsen.Options{})
//		..
//	}
//
// FindFS does the same in any file system, and FindIn in a file or archive that the caller opens.
// FindAmong chooses among names that the caller has listed, such as the objects below a prefix.
//
// ReadClaims reads a run's results.edn, ReadTestClaims the results in its test.jepsen, and ReadTable
// a table of verdicts. All return claims, which clew.Compare compares with its own results.
//
// The package knows only the names and places of files. Package forms reads the
// contents of histories, and package models says what their operations mean.
package store
