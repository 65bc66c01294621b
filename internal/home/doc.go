// Package home is what a data type's home consists of, and what several homes share: what
// every model has, numbers and pairs as states, sets of values, and how first reads show
// what was there initially.
//
// home.go has Home and Type, and base.go what models embed. print.go turns classes into
// text; sums.go, pairs.go,
// members.go, pervalue.go, steps.go and greatest.go are states and parts of runs; opening.go finds
// initial values.
package home
