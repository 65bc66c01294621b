package campaign

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"clew/internal/gen"
	"clew/internal/second"
	"clew/models"
)

// Configs returns all ways to read each model.
func Configs() []models.Spec {
	var specs []models.Spec
	both := []bool{false, true}
	for _, about := range models.All() {
		name := about.Name
		for _, knossos := range both {
			for _, exact := range both {
				for _, observe := range both {
					spec := models.Spec{Name: name, Knossos: knossos, NilReadsExact: exact, ObserveFailedCAS: observe}
					if spec.Check() != nil && WithParameters(gen.Rand(0), spec).Check() != nil || knossos && !slices.Contains(knossosReads, name) {
						continue
					}
					specs = append(specs, spec)
				}
			}
		}
	}
	return specs
}

// knossosReads are the models that Knossos also has, or that read values as its
// queues do.
var knossosReads = append([]string{"register", "cas-register", "mutex", "multi-register", "set", "kv"}, Containers...)

// WithParameters gives a model the parameters that it needs or may have, at
// random.
func WithParameters(r *rand.Rand, s models.Spec) models.Spec {
	switch s.Name {
	case "semaphore", "owner-semaphore":
		s.Permits = 1 + r.IntN(3)
	case "reentrant-mutex", "reentrant-fenced-mutex":
		s.MaxHolds = 1 + r.IntN(3)
	case "priority-queue":
		s.Priority = [...]string{"max", "min"}[r.IntN(2)]
	case "id-generator":
		s.GrowingIDs = r.IntN(2) == 0
	case "bank":
		s.NegativeBalances = r.IntN(2) == 0
	}
	if owned(s.Name) {
		s.Threads = max(0, r.IntN(6)-1)
	}
	return s
}

// owned says whether a model is a lock that has an owner.
func owned(name string) bool {
	return strings.HasPrefix(name, "owner-") || strings.HasPrefix(name, "reentrant-") || name == "fenced-mutex"
}

// Containers are the models that return what was put in.
var Containers = []string{"fifo-queue", "unordered-queue", "stack", "priority-queue"}

// Name returns a name that distinguishes configurations.
func Name(s models.Spec) string {
	name := s.Name
	for _, flag := range []struct {
		on   bool
		name string
	}{{s.Knossos, "knossos"}, {s.NilReadsExact, "nil reads exact"}, {s.ObserveFailedCAS, "failed cas observe"},
		{s.Init != "", "from " + s.Init}, {s.Priority == "min", "least first"}, {s.Permits > 0, fmt.Sprint(s.Permits, " permits")},
		{s.MaxHolds > 0, fmt.Sprint(s.MaxHolds, " holds")}, {s.Threads > 0, fmt.Sprint(s.Threads, " threads")},
		{s.GrowingIDs, "growing"}, {s.NegativeBalances, "negative balances"}} {
		if flag.on {
			name += ", " + flag.name
		}
	}
	return name
}

// Args returns a configuration as testdata/cases has it. Commas are blanks in EDN, and
// do not end an argument there.
func Args(s models.Spec) string {
	args, given := s.Name, s.Given()
	for _, p := range slices.Sorted(maps.Keys(given)) {
		args += fmt.Sprintf(" %s=%s", string(p), strings.ReplaceAll(given[p], " ", ","))
	}
	return args
}

// GenOptions returns the options for making histories of a configuration.
func GenOptions(s models.Spec) gen.Options {
	return gen.Options{Model: s.Name, Knossos: s.Knossos, NilReadsExact: s.NilReadsExact, ObserveFailedCAS: s.ObserveFailedCAS,
		Least: s.Priority == "min", Permits: s.Permits, MaxHolds: s.MaxHolds, Threads: s.Threads, Growing: s.GrowingIDs, Negative: s.NegativeBalances}
}

// NaiveOptions returns a configuration as oracle.Naive takes it.
func NaiveOptions(s models.Spec) second.Options {
	return second.Options{Model: s.Name, Knossos: s.Knossos, NilReadsExact: s.NilReadsExact, ObserveFailedCAS: s.ObserveFailedCAS,
		Least: s.Priority == "min", Init: s.Init, Permits: s.Permits, MaxHolds: s.MaxHolds, Threads: s.Threads, Growing: s.GrowingIDs, Negative: s.NegativeBalances,
		Answers: s.Answers, KVKeys: s.KVKeys, Accounts: s.Accounts}
}
