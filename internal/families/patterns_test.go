package families

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"clew/fastpath"
	"clew/internal/families/container"
	"clew/internal/families/lock"
	"clew/internal/families/register"
	"clew/internal/families/sequence"
	"clew/internal/families/set"
)

// Pipelines know violations by these names, which must not change.
func TestPatternsHaveNames(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]fastpath.Violation{
		"never-added":        &fastpath.NeverAdded{},
		"fence-too-low":      &lock.FenceTooLow{},
		"fence-differs":      &lock.FenceDiffers{},
		"held-already":       &lock.HeldAlready{},
		"not-held":           &lock.NotHeld{},
		"passed":             &sequence.Passed{},
		"out-of-reach":       &sequence.OutOfReach{},
		"same-id":            &sequence.SameID{},
		"not-greater":        &sequence.NotGreater{},
		"grown":              &sequence.Grown{},
		"disagree":           &sequence.Disagree{},
		"never-written":      &register.NeverWritten{},
		"initial-late":       &register.InitialLate{},
		"interleaved":        &register.Interleaved{},
		"no-update":          &register.NoUpdate{},
		"overwritten":        &register.Overwritten{},
		"backwards":          &register.Backwards{},
		"replaced-twice":     &register.ReplacedTwice{},
		"circle":             &register.Circle{},
		"made-twice":         &register.MadeTwice{},
		"before-first":       &register.BeforeFirst{},
		"wrong-version":      &register.WrongVersion{},
		"other-value":        &register.OtherValue{},
		"too-few-updates":    &register.TooFewUpdates{},
		"never-current":      &register.NeverCurrent{},
		"removed-twice":      &container.RemovedTwice{},
		"seen-after-removed": &container.SeenAfterRemoved{},
		"not-empty":          &container.NotEmpty{},
		"taken-too-often":    &container.TakenTooOften{},
		"never-empty":        &container.NeverEmpty{},
		"out-of-order":       &container.OutOfOrder{},
		"both-first":         &container.BothFirst{},
		"buried":             &container.Buried{},
		"overtaken":          &container.Overtaken{},
		"incomparable":       &set.Incomparable{},
		"not-read":           &set.NotRead{},
		"added-before":       &set.AddedBefore{},
		"not-a-set":          &set.NotASet{},
		"unchanged":          &set.Unchanged{},
	}
	for want, v := range named {
		if got := fastpath.PatternOf(v); got != want {
			t.Errorf("%T is %s, want %s", v, got, want)
		}
		if !strings.Contains(string(guide), "`"+want+"`") {
			t.Errorf("docs/ci.md does not list %s", want)
		}
	}
	// By convention the receiver of a violation is v, and that of an ambiguity is a.
	tells := regexp.MustCompile(`(?m)^func \(v \*(\w+)\) Tell\(`)
	told := 0
	count := func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		told += len(tells.FindAll(text, -1))
		return err
	}
	if err := errors.Join(filepath.WalkDir(".", count), filepath.WalkDir("../../fastpath", count)); err != nil || told != len(named) {
		t.Errorf("%d of %d violations have a name here, %v", len(named), told, err)
	}
}
