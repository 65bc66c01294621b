package isolation

import (
	"slices"

	"clew/models"
)

// Kind is a kind of anomaly other than a cycle, as Elle names it.
type Kind string

// The kinds of anomalies other than cycles.
const (
	Internal     Kind = "internal"           // a read does not show what the transaction itself had read and updated before
	FutureRead   Kind = "future-read"        // a read shows what the transaction itself updates later
	Garbage      Kind = "garbage-read"       // a read shows what nothing had written
	AbortedRead  Kind = "G1a"                // a read shows what a failed transaction wrote
	HalfRead     Kind = "G1b"                // a read shows what a transaction replaced itself
	Duplicates   Kind = "duplicate-elements" // a read shows twice what was appended once
	Incompatible Kind = "incompatible-order" // two reads, or a read and the order within a transaction, contradict each other
	DirtyUpdate  Kind = "dirty-update"       // an update of what a failed transaction wrote
	LostUpdate   Kind = "lost-update"        // two transactions read the same version and both updated it
	Interfering  Kind = "G-SI"               // updates that nothing read can have no order
	NoOrder      Kind = "no-order"           // writes to registers can have no order that explains what was read
)

// forbidden is the weakest level that does not allow an anomaly. What is not listed follows from cycles.
var forbidden = map[Kind]models.Level{
	Internal: models.SnapshotIsolation, FutureRead: models.ReadCommitted, Garbage: models.ReadUncommitted,
	AbortedRead: models.ReadCommitted, HalfRead: models.ReadCommitted, Duplicates: models.ReadUncommitted,
	Incompatible: models.ReadCommitted, DirtyUpdate: models.ReadCommitted, LostUpdate: models.SnapshotIsolation,
}

// Anomaly is an anomaly that is not a cycle.
type Anomaly struct {
	Kind    Kind
	Txn     int32   // the one that read, or updated
	Other   int32   // the one that it contradicts, or -1
	Failed  int32   // AbortedRead and DirtyUpdate: the place of the transaction among those that failed, else -1
	Key     int32   //
	Element int32   // what it is about, or -1
	Others  []int32 // LostUpdate: the transactions
	Within  bool    // Incompatible: with the order in which Other appends
	Step    int32   // the place of the read in Txn, unless it is Within, a DirtyUpdate or a LostUpdate
}

// Forbidden returns the weakest level that does not allow the anomaly.
func (a *Anomaly) Forbidden() models.Level { return forbidden[a.Kind] }

// Breaks reports whether the anomaly contradicts a level.
func (a *Anomaly) Breaks(level models.Level) bool { return level.Implies(forbidden[a.Kind]) }

// cycleLevels is the weakest level that does not allow a kind of cycle.
var cycleLevels = map[string][3]models.Level{ // without a suffix, -process, -realtime
	"G0":                 {models.ReadUncommitted, models.StrongSessionSnapshotIsolation, models.StrictSerializable},
	"G1c":                {models.ReadCommitted, models.StrongSessionSnapshotIsolation, models.StrictSerializable},
	"G-single-item":      {models.SnapshotIsolation, models.StrongSessionSnapshotIsolation, models.StrictSerializable},
	"G-nonadjacent-item": {models.SnapshotIsolation, models.StrongSessionSnapshotIsolation, models.StrictSerializable},
	"G2-item":            {models.Serializable, models.StrongSessionSerializable, models.StrictSerializable},
}

// Forbidden returns the weakest level that does not allow a kind of cycle.
func Forbidden(kind string) models.Level {
	base, suffix := split(kind)
	return cycleLevels[base][suffix]
}

// Forbidden returns the weakest level that does not allow a cycle.
func (h *History) Forbidden(c *Cycle) models.Level {
	level := Forbidden(c.Kind)
	if level == models.StrictSerializable && !slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Why == Time && !h.shareKey(s.From, s.To) }) {
		return models.SerializableLinearizableKeys
	}
	return level
}

// shareKey reports whether two transactions have a key in common.
func (h *History) shareKey(a, b int32) bool {
	keys := slices.Sorted(slices.Values(h.touched(b)))
	return slices.ContainsFunc(h.touched(a), func(key int32) bool {
		_, both := slices.BinarySearch(keys, key)
		return both
	})
}

// Breaks reports whether a cycle contradicts a level.
func (c *Cycle) Breaks(level models.Level) bool { return level.Implies(Forbidden(c.Kind)) }
