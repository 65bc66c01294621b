package kit

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"

	"clew/internal/effort"
)

// CollectLess makes the garbage collector run less often while a test runs: reading a history takes large buffers,
// however small it is.
func CollectLess(t *testing.T) {
	collectLess.Lock()
	defer collectLess.Unlock()
	if collectLess.tests++; collectLess.tests == 1 {
		collectLess.before = debug.SetGCPercent(1000)
	}
	t.Cleanup(func() {
		collectLess.Lock()
		defer collectLess.Unlock()
		if collectLess.tests--; collectLess.tests == 0 {
			debug.SetGCPercent(collectLess.before)
		}
	})
}

// collectLess counts the tests at the same time that need it.
var collectLess struct {
	sync.Mutex
	tests, before int
}

// Histories is effort.Histories for tests that are slow for each history, and take few of them by default.
func Histories(few, full, long uint64) uint64 {
	if effort.Few() && !effort.Long() {
		return few
	}
	return effort.Histories(full, long)
}

// LongHistories returns how many histories a model gets in the long mode. CLEW_LONG_HISTORIES sets another number
// than the usual one.
func LongHistories(t *testing.T) int {
	text := os.Getenv("CLEW_LONG_HISTORIES")
	if text == "" {
		return longHistoriesPerModel
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CLEW_LONG_HISTORIES is a number of histories, not %q", text)
	}
	return n
}

// longHistoriesPerModel is how many histories a model gets in the long mode, shared by its configurations.
const longHistoriesPerModel = 100_000

// root is the folder of the module, above that in which tests begin.
var root = func() string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		} else if dir == filepath.Dir(dir) {
			err = missing
		}
	}
	panic(err)
}()

// Path returns a file or folder of the module, by its path below the root.
func Path(elements ...string) string { return filepath.Join(append([]string{root}, elements...)...) }
