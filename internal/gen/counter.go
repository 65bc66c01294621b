package gen

// The kinds of counters' histories.
const (
	anyAdds  = iota // everything
	UnitAdds        // adds of one amount, and reads
	Answers         // increments that tell the new value, of one amount or of some
	CounterKinds
)
