package models

import "strings"

// Anomaly names a kind of failure as people search for it: "stale-read". docs/failures.md has a section for each. It
// is "" if the operations do not show the kind for certain.
type Anomaly string

// The kinds of failures, in the order of docs/failures.md.
const (
	// Of answers that show too little or too much.
	StaleRead    Anomaly = "stale-read"
	Rollback     Anomaly = "rollback"
	LostUpdate   Anomaly = "lost-update"
	NeverWritten Anomaly = "never-written"
	DirtyRead    Anomaly = "dirty-read"
	FutureRead   Anomaly = "future-read"
	TornRead     Anomaly = "torn-read"
	// Of queues, stacks and sets.
	LostElement   Anomaly = "lost-element"
	Resurrected   Anomaly = "resurrected-element"
	Duplicate     Anomaly = "duplicate-delivery"
	Reordered     Anomaly = "reordered-delivery"
	WrongEmpty    Anomaly = "wrong-empty"
	WrongSize     Anomaly = "wrong-size"
	LongFork      Anomaly = "long-fork"
	CausalReverse Anomaly = "causal-reverse"
	// Of locks and leases.
	SplitBrain     Anomaly = "split-brain"
	DoubleAcquire  Anomaly = "double-acquire"
	Oversold       Anomaly = "too-many-permits"
	ForeignRelease Anomaly = "foreign-release"
	DoubleRelease  Anomaly = "double-release"
	// Of ids, versions and offsets.
	ReusedID     Anomaly = "reused-id"
	NotMonotonic Anomaly = "time-going-backwards"
	Diverged     Anomaly = "divergence"
	GhostUpdate  Anomaly = "ghost-update"
	Circular     Anomaly = "circular-information-flow"
	// Of watches, and reads of old states.
	BrokenGuarantee Anomaly = "broken-guarantee"
	// Of sums.
	WrongSum        Anomaly = "wrong-sum"
	WrongTotal      Anomaly = "wrong-total"
	NegativeBalance Anomaly = "negative-balance"
)

// anomalies holds all kinds, each with what it means.
var anomalies = []struct {
	Anomaly
	means string
}{
	{StaleRead, "An operation saw a value that another one had already replaced."},
	{Rollback, "An operation saw a value that another one had already replaced; later ones saw the old value again, and none what had replaced it."},
	{LostUpdate, "An update rested on a value that another update had already replaced, and so undid the other one."},
	{NeverWritten, "An operation saw a value that nothing had written or added."},
	{DirtyRead, "An operation saw a value that only a failed operation wrote."},
	{FutureRead, "An operation saw a value before the operation that wrote it began, or one that led to that."},
	{TornRead, "A transaction saw one write of another transaction, and missed another write of it."},
	{LostElement, "An element that had been added, and not removed, was missing from an answer."},
	{Resurrected, "An element that had been removed was seen again."},
	{Duplicate, "An element came out more often than it had been put in."},
	{Reordered, "An element came out, or was first, although another one had to come before it."},
	{WrongEmpty, "An answer says that there was nothing, although something was there all the time."},
	{WrongSize, "An answer says how many elements there were, and there were more or fewer."},
	{LongFork, "Of two reads, each saw an element that the other one missed."},
	{CausalReverse, "A read saw an element, and missed another one that had been added before."},
	{SplitBrain, "A lock was granted, or kept, while another client held it."},
	{DoubleAcquire, "A lock was granted to the client that held it already."},
	{Oversold, "A permit was granted while all of them were held."},
	{ForeignRelease, "A client released a lock that it did not hold."},
	{DoubleRelease, "A lock or permit was released although it was free."},
	{ReusedID, "An id, epoch, fencing token, version or offset was given out twice."},
	{NotMonotonic, "A later operation got a lower id, epoch, fencing token or version."},
	{Diverged, "Two answers disagree about what one version is, or what stands at one offset."},
	{GhostUpdate, "A version counts an update that no operation can have made."},
	{Circular, "Several updates each rest on the result of another one, so none can have come first."},
	{BrokenGuarantee, "A watch, or a read of an old state, showed something other than the order of updates did."},
	{WrongSum, "An answer shows a sum that no choice of the additions gives."},
	{WrongTotal, "A read shows accounts whose total is not what it always must be."},
	{NegativeBalance, "An amount fell below zero, or was taken from too little."},
}

// Anomalies returns all kinds, in the order of docs/failures.md.
func Anomalies() []Anomaly {
	all := make([]Anomaly, len(anomalies))
	for i, x := range anomalies {
		all[i] = x.Anomaly
	}
	return all
}

// AnomalyOf returns the kind of a name, or "" if there is no such kind.
func AnomalyOf(name string) Anomaly {
	if a := Anomaly(name); a.Meaning() != "" {
		return a
	}
	return ""
}

// Words returns the kind in words: "stale read".
func (a Anomaly) Words() string { return strings.ReplaceAll(string(a), "-", " ") }

// First returns a sentence about a failure with the kind before it, "Stale read: value 1 was read ..", or as it is for no kind.
func (a Anomaly) First(sentence string) string {
	if a == "" || sentence == "" {
		return sentence
	}
	words := a.Words()
	return strings.ToUpper(words[:1]) + words[1:] + ": " + sentence
}

// Meaning returns a sentence that says what happened, or "" for no kind.
func (a Anomaly) Meaning() string {
	for _, x := range anomalies {
		if x.Anomaly == a {
			return x.means
		}
	}
	return ""
}

// Page returns where the documents describe the kind.
func (a Anomaly) Page() string { return "docs/failures.md#" + string(a) }
