package serve_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"clew/internal/pagetest"
)

// runsOf returns the number of runs of a large store.
func runsOf(tb testing.TB) int {
	if testing.Short() {
		return 500
	}
	return 20_000
}

// large makes a store of n runs of some tests. Most have results.
func large(tb testing.TB, n, tests int) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := range n {
		run := fmt.Sprintf("%s/test-%05d/2024%02d%02dT%02d%02d%02d.000Z", dir, i%tests, 1+i/28/24/60%12, 1+i/24/60%28, i/60%24, i%60, i/tests%60)
		if err := os.MkdirAll(run, 0o777); err != nil {
			tb.Fatal(err)
		}
		valid := i%7 != 0
		for name, text := range map[string]string{
			"history.edn": pagetest.StaleRead,
			"results.edn": fmt.Sprintf("{:stats {:valid? true, :count 11, :by-f {:read {:valid? true, :count 6}}},\n :linear {:valid? %t, :configs (), :final-paths (), :analyzer :linear},\n :valid? %t}\n", valid, valid),
		} {
			if i%11 == 0 && name == "results.edn" {
				continue
			}
			if err := os.WriteFile(run+"/"+name, []byte(text), 0o666); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return dir
}

// The first page of a new server, with the listing of the whole store.
func BenchmarkFirstPage(b *testing.B) {
	n := runsOf(b)
	for _, tests := range []int{1, 200, n} {
		b.Run(fmt.Sprintf("%d runs of %d tests", n, tests), func(b *testing.B) {
			dir := large(b, n, tests)
			for b.Loop() {
				s := served(b, dir)
				if a := s.get("/"); a.status != http.StatusOK {
					b.Fatal(a.body)
				}
				s.close()
			}
		})
	}
}

// A page of a server that has shown others before.
func BenchmarkNextPage(b *testing.B) {
	n := runsOf(b)
	s := served(b, large(b, n, 200))
	s.get("/")
	for _, path := range []string{"/", "/?q=test-00012", "/?page=7", "/?verdict=invalid&failures=first"} {
		b.Run(path, func(b *testing.B) {
			for s.list(path) == "" {
			}
			for b.Loop() {
				s.get(path)
			}
		})
	}
}

// All runs are looked at, as a list by verdicts needs.
func BenchmarkLookingAtAll(b *testing.B) {
	dir := large(b, runsOf(b), 200)
	for b.Loop() {
		s := served(b, dir)
		for s.list("/?verdict=invalid") == "" {
		}
		s.close()
	}
}
