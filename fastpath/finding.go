package fastpath

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"clew/models"
)

// Finding is what a decision says about operations in a sentence: a Violation or an Ambiguity.
type Finding interface {
	// Tell returns the sentence, without a capital or a period.
	Tell(t models.Teller) string
	// Rows returns pointers to its operations, so that they can be renumbered.
	// Initial or Missing may take the place of an operation.
	Rows() []*models.Row
}

// Violation is what is wrong with a core. Each pattern is a small type next to the
// code that finds it. NeverAdded is here because containers and sets share it.
type Violation interface{ Finding }

// PatternOf returns the name of a pattern in reports: the name of its type
// in lower case, such as "never-written".
func PatternOf(v Violation) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := []rune(t.Name())
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(name[i-1]) || i+1 < len(name) && unicode.IsLower(name[i+1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Related is a violation whose sentence relates its operations. Relations
// returns each step of the sentence in order. For other violations, only the
// order in time of their operations is known. Rows may be Initial or Missing.
type Related interface{ Relations() []models.Relation }

// Returned returns the relation of two operations of which the first
// returned before the second was invoked.
func Returned(first, second models.Row) models.Relation {
	return models.Relation{Kind: models.ReturnedBefore, From: first, To: second}
}

// Must returns the relation of two operations of which the first must take effect first.
func Must(first, second models.Row) models.Relation {
	return models.Relation{Kind: models.MustBeBefore, From: first, To: second}
}

// Seen returns the relation between an operation and one that saw its effect.
func Seen(first, second models.Row) models.Relation {
	return models.Relation{Kind: models.Saw, From: first, To: second}
}

// Against returns the relations of two operations of which the first
// returned before the second, but the second must take effect first.
func Against(first, second models.Row) []models.Relation {
	return []models.Relation{Returned(first, second), Must(second, first)}
}

// Ambiguity is why a procedure could not decide. Each reason is also a small type.
type Ambiguity interface{ Finding }

// Renumber renumbers the operations of a violation or an ambiguity. x may be nil.
func Renumber(x Finding, number func(models.Row) models.Row) {
	if x == nil {
		return
	}
	for _, row := range x.Rows() {
		if *row >= 0 {
			*row = number(*row)
		}
	}
}

// RowsOf returns pointers to every row of a list.
func RowsOf(list []models.Row) []*models.Row {
	rows := make([]*models.Row, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	return rows
}

// NeverAdded: Taker took or saw a value that nothing had added when it
// returned. Adder is the first operation that added it later, or Missing.
type NeverAdded struct{ Taker, Adder models.Row }

// Rows returns the operations.
func (v *NeverAdded) Rows() []*models.Row { return []*models.Row{&v.Taker, &v.Adder} }

// Tell returns the sentence.
func (v *NeverAdded) Tell(t models.Teller) string {
	s := ""
	if t.Adds(v.Taker) {
		s = t.Did(v.Taker) + ", but nothing had added it by then"
	} else { // a read of a whole set, which is not a value
		s = t.Name(v.Taker) + " contains a value that no operation had added by then"
	}
	if v.Adder != Missing {
		s += "; " + t.Did(v.Adder) + " only later"
	}
	return s
}

const (
	// MaxNamed bounds how many operations of the same kind a violation keeps.
	MaxNamed = 16
	// MaxListed bounds how many of them its sentence lists.
	MaxListed = 5
)

// ListProcesses lists which processes did something, the latest last: "process 1 (index 80)".
func ListProcesses(t models.Teller, rows []models.Row) string {
	var who []string
	for _, row := range rows[max(0, len(rows)-MaxListed):] {
		who = append(who, t.Who(row))
	}
	s := strings.Join(who, ", ")
	if len(rows) > MaxListed {
		return "others and " + s
	}
	return s
}

// Stopped: the context ended the decision.
type Stopped struct{}

// Rows returns nil, because no operation is involved.
func (Stopped) Rows() []*models.Row { return nil }

// Tell returns the sentence.
func (Stopped) Tell(models.Teller) string { return "the fast path was still running" }

// Unsupported: Op is an operation of a kind that is not handled.
type Unsupported struct{ Op models.Row }

// Rows returns the operations.
func (a *Unsupported) Rows() []*models.Row { return []*models.Row{&a.Op} }

// Tell returns the sentence.
func (a *Unsupported) Tell(t models.Teller) string {
	return fmt.Sprintf("the fast path does not handle %s, such as op %d", t.F(a.Op), t.Index(a.Op))
}

// Repeated: Reader may have seen its value from more than one operation,
// such as these two Producers. Initial may be one of them.
type Repeated struct {
	Reader    models.Row
	Producers [2]models.Row
}

// Rows returns the operations.
func (a *Repeated) Rows() []*models.Row {
	return []*models.Row{&a.Reader, &a.Producers[0], &a.Producers[1]}
}

// Tell returns the sentence: "value 3 is written by ops 4 and 19 and read
// by op 40". It names operations by the index of their invocation.
func (a *Repeated) Tell(t models.Teller) string {
	var ops []string
	initial := ""
	for _, row := range a.Producers {
		if row == Initial {
			initial = "is the initial value, "
		} else {
			ops = append(ops, fmt.Sprint(t.Index(row)))
		}
	}
	noun := "op "
	if len(ops) > 1 {
		noun = "ops "
	}
	made, seen := "written", "read"
	if t.Adds(a.Reader) {
		made, seen = "added", "seen"
	}
	return fmt.Sprintf("value %s %sis %s by %s%s and %s by op %d",
		t.Value(a.Reader), initial, made, noun, strings.Join(ops, " and "), seen, t.Index(a.Reader))
}
