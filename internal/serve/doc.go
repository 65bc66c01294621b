// Package serve shows a store to a browser: its runs, the page of each run, and the files of a run. It only reads.
//
//	s, err := serve.New(serve.Options{Store: "store", Checker: checker, Job: job, Follow: follow})
//	defer s.Close()
//	err = s.Serve(ctx, listener)
//
// server.go refuses what may do harm, and leads requests to their pages. index.go lists the runs by the names of
// folders alone, and facts.go looks into the folders of those that are shown. front.go is the list for people.
// check.go checks a run when its page is asked for, and live.go follows runs that still grow. file.go hands out
// the files of a run. listen.go serves until a signal comes.
//
// The store may be hostile. Everything is opened below an os.Root, so links cannot lead out of the store, nor out of a
// run. Package page escapes names and values. No script of the store can run.
package serve
