package clewtest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// fake is a test whose failures a real one examines.
type fake struct {
	testing.TB
	mu       sync.Mutex
	failed   bool
	log      strings.Builder
	cleanups []func()
}

// examined runs a test to its end, and returns what it logged and whether it failed. The files that it left, which the
// log names, are removed when t ends.
func examined(t testing.TB, test func(t testing.TB)) (log string, failed bool) {
	t.Helper()
	f := &fake{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	for i := range f.cleanups {
		f.cleanups[len(f.cleanups)-1-i]()
	}
	log = f.log.String()
	if name := regexp.MustCompile(`\S+history\.edn`).FindString(log); name != "" {
		t.Cleanup(func() { os.RemoveAll(filepath.Dir(name)) })
	}
	return log, f.failed
}

func (f *fake) Helper() {}

func (f *fake) Cleanup(cleanup func()) { f.cleanups = append(f.cleanups, cleanup) }

func (f *fake) Log(args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintln(&f.log, args...)
}

func (f *fake) Error(args ...any) {
	f.Log(args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
}

func (f *fake) Logf(format string, args ...any)   { f.Log(fmt.Sprintf(format, args...)) }
func (f *fake) Errorf(format string, args ...any) { f.Error(fmt.Sprintf(format, args...)) }

func (f *fake) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// printer is a test of an example, which prints its log without what differs from run to run.
type printer struct{ fake }

func newPrinter() *printer { return &printer{} }

func (*printer) Name() string             { return "Example" }
func (*printer) Skipped() bool            { return false }
func (*printer) Context() context.Context { return context.Background() }

var (
	aDuration = regexp.MustCompile(`[0-9.]+ ms|\d+ smaller runs took [0-9.µms]+`)
	aFile     = regexp.MustCompile(`(?m)^(history|smallest|core|page|again): .*\n`)
)

func (p *printer) end() {
	for _, cleanup := range p.cleanups {
		cleanup()
	}
	log := p.log.String()
	if name := regexp.MustCompile(`\S+history\.edn`).FindString(log); name != "" {
		os.RemoveAll(filepath.Dir(name))
	}
	log = aDuration.ReplaceAllStringFunc(log, func(s string) string {
		if strings.HasSuffix(s, " ms") {
			return ".. ms"
		}
		return ".. smaller runs took .."
	})
	fmt.Println(strings.TrimSpace(aFile.ReplaceAllString(log, "")))
}
