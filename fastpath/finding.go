package fastpath

import (
	"fmt"
	"slices"

	"clew/internal/text"
	"clew/models"
)

// Finding is what a decision says about operations in a sentence: what is wrong
// with a core (a violation), or why the history could not be decided (an ambiguity).
type Finding struct {
	*Pattern
	// Rows holds its operations. Initial or Missing may take the place of one.
	Rows []models.Row
	// Values holds the classes of values that it is about and that its operations do not have alone, such as an element
	// of a set that was read as a whole. There may be none before a core is known.
	Values []int32
	// State, unless it is nil, is the state in which the first operation cannot happen.
	State models.State
}

// Pattern is a kind of finding. Each stands next to the code that finds it, and its comment says which
// operations it is about, in the order of Rows. NeverAdded is here because containers and sets share it.
type Pattern struct {
	// Name names a violation in reports, such as "never-written". Ambiguities have none.
	Name string
	// Says is the sentence, without a capital or a period. {did 0} in it stands for what models.Teller.Did
	// says about the first operation, {did -1} for the last one, and so on for the other words. {elements} stands for
	// Values.
	Says string
	// Choose returns the sentence in the form of Says if it depends on the operations.
	Choose func(t models.Teller, rows []models.Row) string
	// Bare says that the sentence does not say why, so that the story of the failure is told, too.
	Bare bool
	// Kind names the kind of failure that the violation always shows, or is "".
	Kind models.Anomaly
	// ChooseKind returns the kind if it depends on the operations.
	ChooseKind func(t models.Teller, rows []models.Row) models.Anomaly
	// Relate returns each step of the sentence in order if it relates its operations. For other
	// patterns, only the order in time of the operations is known. Rows may be Initial or Missing.
	Relate func(rows []models.Row) []models.Relation
	// Draws, unless it is nil, returns what pictures say of the operation that fails, "" for what the model says of it.
	Draws func(t models.Teller, f *Finding, failing models.Row, says string) string
}

// Of returns a finding of this pattern.
func (p *Pattern) Of(rows ...models.Row) *Finding {
	return &Finding{Pattern: p, Rows: slices.Clone(rows)}
}

// About returns the finding with Values.
func (f *Finding) About(values ...int32) *Finding {
	f.Values = values
	return f
}

// Is reports whether there is a finding and it is of a pattern.
func (f *Finding) Is(p *Pattern) bool { return f != nil && f.Pattern == p }

// words are what sentences say about operations.
var words = map[string]func(t models.Teller, row models.Row) string{
	"did": models.Teller.Did, "had": models.Teller.Had, "name": models.Teller.Name, "who": models.Teller.Who,
	"value": models.Teller.Value, "f": models.Teller.F,
}

var placeholder = text.Pattern(`\{(did|had|name|who|value|f|elements)(?: (-?\d+))?\}`)

// String returns the pattern and the operations, for tests.
func (f *Finding) String() string {
	s := f.Name + f.Says + fmt.Sprint(f.Rows)
	if len(f.Values) > 0 {
		s += " about " + fmt.Sprint(f.Values)
	}
	return s
}

// Tell returns the sentence.
func (f *Finding) Tell(t models.Teller) string {
	says := f.Says
	if f.Choose != nil {
		says = f.Choose(t, f.Rows)
	}
	return placeholder().ReplaceAllStringFunc(says, func(s string) string {
		var word string
		var k int
		fmt.Sscanf(s, "{%s %d}", &word, &k)
		if s == "{elements}" {
			return t.List(f.Values)
		}
		if k < 0 {
			k += len(f.Rows)
		}
		return words[word](t, f.Rows[k])
	})
}

// Anomaly returns the kind of failure, or "" if the violation does not show it for certain.
func (f *Finding) Anomaly(t models.Teller) models.Anomaly {
	if f.ChooseKind != nil {
		return f.ChooseKind(t, f.Rows)
	}
	return f.Kind
}

// Relations returns each step of the sentence in order, if the pattern has them.
func (f *Finding) Relations() []models.Relation {
	if f.Relate == nil {
		return nil
	}
	return f.Relate(f.Rows)
}

// Renumber renumbers the operations of a finding, which may be nil.
func (f *Finding) Renumber(number func(models.Row) models.Row) {
	if f == nil {
		return
	}
	for i, row := range f.Rows {
		if row >= 0 {
			f.Rows[i] = number(row)
		}
	}
}

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

// Steps returns the Relate of a pattern with these relations. They name operations by their places in Rows.
func Steps(relations ...models.Relation) func([]models.Row) []models.Relation {
	return func(rows []models.Row) []models.Relation {
		steps := slices.Clone(relations)
		for i, x := range steps {
			steps[i].From, steps[i].To = rows[x.From], rows[x.To]
		}
		return steps
	}
}

// Against returns the Relate of a pattern in which one operation of Rows
// returned before another one, but the other one must take effect first.
func Against(first, second models.Row) func([]models.Row) []models.Relation {
	return Steps(Returned(first, second), Must(second, first))
}

const (
	// MaxNamed bounds how many operations of the same kind a violation keeps.
	MaxNamed = 16
	// MaxListed bounds how many of them its sentence lists.
	MaxListed = 5
)

// ListProcesses lists in the form of Says which processes performed the first n
// operations, the latest last: "process 1 (index 80) and process 2 (index 83)".
func ListProcesses(n int) string {
	var list []string
	if n > MaxListed {
		list = append(list, "others")
	}
	for k := max(0, n-MaxListed); k < n; k++ {
		list = append(list, fmt.Sprintf("{who %d}", k))
	}
	return text.AllOf(list)
}

// NeverAdded: an operation took or saw a value that nothing had added when it
// returned. The second is the first operation that added it later, or Missing.
var NeverAdded = &Pattern{Name: "never-added", ChooseKind: OrFuture, Choose: func(t models.Teller, v []models.Row) string {
	s := "{did 0}, but nothing had added it by then"
	if !t.Adds(v[0]) { // a read of a whole set, which is not a value
		s = "{name 0} contains {elements}, which nothing had added by then"
	}
	if v[1] != Missing {
		s += "; {did 1} only later"
	}
	return s
}}

// OrFuture returns the kind of a value that nothing had written. The second row is what wrote it later, or Missing.
func OrFuture(_ models.Teller, v []models.Row) models.Anomaly {
	if v[1] != Missing {
		return models.FutureRead
	}
	return models.NeverWritten
}

// Stopped: the context ended the decision.
var Stopped = &Pattern{Says: "the fast path was still running"}

// Unsupported: the operation is of a kind that is not handled.
var Unsupported = &Pattern{Says: "the fast path does not handle {f 0}, such as {name 0}"}

// Repeated: the first operation may have seen its value from more than one operation,
// such as the other two. Initial may be one of them.
var Repeated = &Pattern{Choose: func(t models.Teller, v []models.Row) string {
	of, by := "", "{who 1} and {who 2}"
	switch Initial {
	case v[1]:
		of, by = "is the initial value, ", "{who 2}"
	case v[2]:
		of, by = "is the initial value, ", "{who 1}"
	}
	made, seen := "written", "read"
	if t.Adds(v[0]) {
		made, seen = "added", "seen"
	}
	return fmt.Sprintf("value {value 0} %sis %s by %s, and %s by {who 0}", of, made, by, seen)
}}
