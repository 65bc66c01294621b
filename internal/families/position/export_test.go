package position

// Rules is how many rules a decision can do without. Runs is the last one.
const (
	Rules = rules
	Runs  = byRuns
)

// Without calls f while a rule is left out.
func Without(rule int, f func()) {
	without[rule] = true
	defer func() { without[rule] = false }()
	f()
}
