package models

import (
	"fmt"
	"slices"
	"strings"

	"clew/internal/text"
)

// Level is a level of consistency of transactions. docs/transactions.md says what each means.
type Level string

// The levels, each before those that it implies.
const (
	StrictSerializable             Level = "strict-serializable"
	StrongSessionSerializable      Level = "strong-session-serializable"
	SerializableLinearizableKeys   Level = "serializable-linearizable-keys"
	Serializable                   Level = "serializable"
	StrongSessionSnapshotIsolation Level = "strong-session-snapshot-isolation"
	SnapshotIsolation              Level = "snapshot-isolation"
	ReadCommitted                  Level = "read-committed"
	ReadUncommitted                Level = "read-uncommitted"
)

// weaker lists for each level the next weaker ones.
var weaker = []struct {
	level Level
	next  []Level
}{
	{StrictSerializable, []Level{StrongSessionSerializable, SerializableLinearizableKeys}},
	{StrongSessionSerializable, []Level{Serializable, StrongSessionSnapshotIsolation}},
	{SerializableLinearizableKeys, []Level{Serializable}},
	{Serializable, []Level{SnapshotIsolation}},
	{StrongSessionSnapshotIsolation, []Level{SnapshotIsolation}},
	{SnapshotIsolation, []Level{ReadCommitted}},
	{ReadCommitted, []Level{ReadUncommitted}},
	{ReadUncommitted, nil},
}

// AllLevels returns the levels, each before those that it implies.
func AllLevels() []Level {
	levels := make([]Level, len(weaker))
	for i, l := range weaker {
		levels[i] = l.level
	}
	return levels
}

// synonyms are names of Elle and of Adya for the same levels. The transactions here have no predicates, so the reads of
// repeatable-read (PL-2.99) are all reads.
var synonyms = map[string]Level{
	"strong-serializable": StrictSerializable, "conflict-serializable": Serializable, "repeatable-read": Serializable,
	"PL-SS": StrictSerializable, "PL-3": Serializable, "PL-2.99": Serializable, "PL-SI": SnapshotIsolation, "PL-2": ReadCommitted,
	"PL-1": ReadUncommitted,
}

// implying are names of Elle and of Adya for levels that are not decided, each with the strongest level that is and that
// holds wherever it does.
var implying = map[string]Level{
	"strong-snapshot-isolation": StrongSessionSnapshotIsolation, "view-serializable": Serializable,
	"update-serializable": ReadCommitted, "forward-consistent-view": ReadCommitted, "consistent-view": ReadCommitted,
	"cursor-stability": ReadCommitted, "monotonic-view": ReadCommitted, "monotonic-atomic-view": ReadCommitted,
	"monotonic-snapshot-read": ReadCommitted, "parallel-snapshot-isolation": ReadCommitted, "prefix": ReadCommitted,
	"causal-cerone": ReadCommitted, "read-atomic": ReadCommitted, "strong-session-consistent-view": ReadCommitted,
	"strong-read-committed": ReadCommitted, "strong-session-read-committed": ReadCommitted,
	"strong-read-uncommitted": ReadUncommitted, "strong-session-read-uncommitted": ReadUncommitted,
	"PL-3U": ReadCommitted, "PL-FCV": ReadCommitted, "PL-2+": ReadCommitted, "PL-2L": ReadCommitted, "PL-CS": ReadCommitted,
	"PL-MSR": ReadCommitted,
}

// Implied returns the strongest level that holds wherever the level with a name does, if that is not one of AllLevels. It
// returns "" for a level that is not known, or that implies none.
func Implied(name string) Level {
	for other, level := range implying {
		if strings.EqualFold(name, other) {
			return level
		}
	}
	return ""
}

// ParseLevel returns the level with a name or a synonym. The level of linearizable is "", for any model.
func ParseLevel(name string) (Level, error) {
	names := []string{"linearizable"}
	for _, level := range AllLevels() {
		names = append(names, string(level))
	}
	for synonym, level := range synonyms {
		if strings.EqualFold(name, synonym) {
			return level, nil
		}
	}
	at := slices.IndexFunc(names, func(known string) bool { return strings.EqualFold(name, known) })
	switch {
	case name == "" || at == 0:
		return "", nil
	case at < 0:
		return "", fmt.Errorf("unknown consistency level %q; %sclew knows %s", name, text.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return Level(names[at]), nil
}

// Linearizable is the level of any model. It differs from "" in that nothing else may be taken for it.
const Linearizable Level = "linearizable"

// Weaker reports whether the level asks for less than linearizability.
func (l Level) Weaker() bool { return l != "" && l != Linearizable && l != StrictSerializable }

// Implies reports whether each history at this level is also at the other one.
func (l Level) Implies(other Level) bool {
	if l == other {
		return true
	}
	for _, x := range weaker {
		if x.level == l {
			return slices.ContainsFunc(x.next, func(next Level) bool { return next.Implies(other) })
		}
	}
	return false
}
