package forms

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"

	"clew/internal/opmap"
	"clew/jepsen/internal/feed"
)

// taker is a feed whose events a function takes.
type taker struct {
	eventwise
	take func(*opmap.Event) error
}

func (t taker) Add(e *opmap.Event, _ int32) error { return t.take(e) }

// eventwise is a feed that takes operations with times event by event.
type eventwise struct{ feed.Feed }

func (eventwise) AddTimedOps(context.Context, *feed.TimedOps) (bool, error) { return false, nil }

func TestEveryFormIsInTheTableOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	inDocs := map[Form]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllSubmatch(page, -1) {
		inDocs[Form(row[1])] = true
	}
	for _, form := range Readable {
		if !inDocs[form] {
			t.Errorf("docs/formats.md: expected a row for `%s` in the table of forms, found none", form)
		}
		if form.row().read == nil || (form.row().write.event != nil) != slices.Contains(All, form) {
			t.Errorf("%s: its row is not complete", form)
		}
	}
}
