// Package store finds histories: the runs in a Jepsen store, or the files in another
// folder or in an archive. It also reads what other checkers have said about them.
//
//	found, err := store.Find(ctx, "store/", store.Options{})
//	for _, s := range found {
//		h, err := s.Read(ctx, jepsen.Options{})
//		..
//	}
//
// FindFS does the same in any file system, and FindIn in a file or archive that the caller opens.
// FindAmong chooses among names that the caller has listed, such as the objects below a prefix.
// FindRun finds the history of one run, and never leaves the store.
//
// ReadClaims reads a run's results.edn, ReadTestClaims the results in its test.jepsen, and ReadTable
// a table of verdicts. All return claims, which clew.Compare compares with its own results.
//
// find.go walks folders, and elsewhere.go other file systems, or one run; archive.go, tar.go and zip.go read
// archives. choose.go chooses the histories among the names, and skipped.go says what looks like
// one and is not read. source.go opens a history, and testbeside.go compares it with the test.jepsen
// beside it. claims.go and checked.go read what others have said of it. reading.go and
// tests.go say how the histories of each test are read. shard.go splits a list of histories among
// machines.
//
// The package knows only the names and places of files. Package forms reads the
// contents of histories, and package models says what their operations mean.
package store
