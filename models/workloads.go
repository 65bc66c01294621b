package models

// workloads are tests that people record and that no model is of, by an :f that shows them.
var workloads = map[string]string{
	":echo":      "Maelstrom's echo",
	":broadcast": "Maelstrom's broadcast",
	":send":      "Jepsen's or Maelstrom's test of Kafka",
	":read-init": "Jepsen's test of causal consistency",
}

// workload returns the test that a history without a model is of, or "".
func (s *Seen) workload() string {
	for _, f := range s.fs {
		if name := workloads[f]; name != "" {
			return name
		}
	}
	return ""
}
