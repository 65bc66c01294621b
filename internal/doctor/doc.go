// Package doctor says what weakens a test, before its verdict is believed, and shows that the check can fail.
//
// A history is surveyed as a whole, in linear time: whether anything returned, was read or was written, whether values
// repeat, how many operations overlap, and where operations crashed. Each weakness is a Finding.
//
// Then a small part of the history is changed in many ways, into mutants: two answers are exchanged, an answer becomes
// another one, or a write never happened. A mutant that is not linearizable is refuted. If mutants are hardly ever
// refuted, a real error would hardly ever be found either.
//
// doctor.go examines a history and chooses what is changed. survey.go counts, and findings.go judges what was counted.
// answers.go finds what operations returned, mutants.go changes it, and why.go says why a mutant stayed
// linearizable. diagnosis.go prints what was found.
//
// The package does not decide anything itself. Package clew does.
package doctor
